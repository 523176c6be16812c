//! The log-compressed semitone spectrum that score and recording are compared by.

/// Bands, one per semitone from [`LOWEST_PITCH`].
pub const BANDS: usize = 96;
/// MIDI pitch of the first band.
pub const LOWEST_PITCH: usize = 21;

/// How strongly quiet bands are lifted: L = ln(1 + GAIN S / reference).
const GAIN: f32 = 100.0;

/// Log-compressed semitone magnitudes, frame k at k hops.
#[derive(Debug, Clone)]
pub struct LogSpectrum {
    /// Seconds between frames.
    pub hop_s: f64,
    /// [`BANDS`] values per frame.
    pub values: Vec<f32>,
}

impl LogSpectrum {
    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.values.len() / BANDS
    }

    /// One frame.
    pub fn frame(&self, index: usize) -> &[f32] {
        &self.values[index * BANDS..(index + 1) * BANDS]
    }
}

/// Compresses magnitudes in place, relative to the 90th percentile of the frames' maxima.
pub fn compress(values: &mut [f32]) {
    let mut maxima: Vec<f32> = values.chunks(BANDS).map(|row| row.iter().copied().fold(0.0, f32::max)).collect();
    maxima.sort_by(f32::total_cmp);
    let reference = maxima.get(maxima.len() * 9 / 10).copied().unwrap_or(0.0).max(f32::MIN_POSITIVE);
    for value in values {
        *value = (GAIN * *value / reference).ln_1p();
    }
}
