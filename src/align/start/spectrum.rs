//! The log-compressed semitone spectrum that score and recording are compared by.

use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;
use crate::features::{LOWEST_SEMITONE, SEMITONE_BANDS, SemitoneAnalyzer, SemitoneParams, estimate_tuning, loud_level};

/// Bands, one per semitone from [`LOWEST_PITCH`].
pub const BANDS: usize = SEMITONE_BANDS;
/// MIDI pitch of the first band.
pub const LOWEST_PITCH: usize = LOWEST_SEMITONE;

/// Samples between frames: 23 ms.
const HOP: usize = 512;
/// The same in seconds.
pub const FRAME_S: f64 = HOP as f64 / ANALYSIS_RATE as f64;
/// Frames that are analysed between two looks at progress and cancellation.
const CHUNK: usize = 4096;

/// How strongly quiet bands are lifted: L = ln(1 + GAIN S / reference).
const GAIN: f32 = 100.0;

/// Log-compressed semitone magnitudes, frame k at k hops.
#[derive(Debug, Clone)]
pub struct LogSpectrum {
    /// Seconds between frames.
    pub hop_s: f64,
    /// `BANDS` values per frame.
    pub values: Vec<f32>,
    /// How much higher than A = 440 Hz the bands are laid, in semitones.
    pub tuning_semitones: f64,
}

impl LogSpectrum {
    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.values.len() / BANDS
    }

    /// The average frame.
    pub fn mean(&self) -> [f32; BANDS] {
        let mut mean = [0.0; BANDS];
        for frame in self.values.chunks(BANDS) {
            for (sum, value) in mean.iter_mut().zip(frame) {
                *sum += value / self.frames() as f32;
            }
        }
        mean
    }

    /// Lays the bands whole semitones higher or lower, so that a transposed recording reads as the score is written.
    pub fn retune(&mut self, tuning_semitones: f64) {
        let shift = (tuning_semitones - self.tuning_semitones).round() as isize;
        self.tuning_semitones += shift as f64;
        for frame in self.values.chunks_mut(BANDS) {
            let before: [f32; BANDS] = std::array::from_fn(|band| frame[band]);
            for (band, value) in frame.iter_mut().enumerate() {
                *value = band.checked_add_signed(shift).and_then(|from| before.get(from)).copied().unwrap_or(0.0);
            }
        }
    }

    /// One frame.
    pub fn frame(&self, index: usize) -> &[f32] {
        &self.values[index * BANDS..(index + 1) * BANDS]
    }
}

/// The recording's spectrum, its fraction-of-a-semitone tuning compensated.
pub fn recording_spectrum(ctx: &JobContext, clip: &AudioClip) -> Result<LogSpectrum> {
    spectrum_in_tuning(ctx, clip, estimate_tuning(ctx, clip)?)
}

/// The spectrum of a recording that is taken to be tuned so much higher than A = 440 Hz.
pub fn spectrum_in_tuning(ctx: &JobContext, clip: &AudioClip, tuning_semitones: f64) -> Result<LogSpectrum> {
    let analyzer = SemitoneAnalyzer::new(ctx, clip, &SemitoneParams { hop: HOP, tuning_semitones })?;
    let mut values = Vec::with_capacity(analyzer.frames() * BANDS);
    for first in (0..analyzer.frames()).step_by(CHUNK) {
        ctx.report("listening", first as f32 / analyzer.frames() as f32)?;
        let spectra = analyzer.spectra(&ctx.quiet(), first..first + CHUNK)?;
        for frame in 0..spectra.frames() {
            values.extend_from_slice(spectra.mid(frame));
        }
    }
    Ok(LogSpectrum { hop_s: FRAME_S, values, tuning_semitones })
}

/// Compresses magnitudes in place, relative to the 90th percentile of the sounding frames' maxima.
pub fn compress(values: &mut [f32]) {
    let maxima = values.chunks(BANDS).map(|row| row.iter().copied().fold(0.0, f32::max));
    let reference = loud_level(maxima, 0.9, f32::MIN_POSITIVE);
    for value in values {
        *value = (GAIN * *value / reference).ln_1p();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_sounding_frames_among_many_empty_ones_have_finite_levels() {
        let mut values = vec![0.0; 1000 * BANDS];
        values[7 * BANDS + 40] = 1.0;
        compress(&mut values);
        assert!(values.iter().all(|value| value.is_finite()));
        assert!(values[7 * BANDS + 40] > 1.0);
    }
}
