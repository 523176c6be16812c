//! Coarse frames for the robust start: unit vectors of harmony, attack and silence.

use rayon::prelude::*;

use super::LogSpectrum;
use super::spectrum::BANDS;
use crate::features::{FeatureSeq, loud_level};

/// Values per coarse frame: the spectrum, the attacks by pitch class, and one that stands for silence.
pub const DIM: usize = BANDS + ATTACKS + 1;
const ATTACKS: usize = 12;

/// How much the attacks weigh against the spectrum.
const ATTACK_WEIGHT: f32 = 0.7;
/// An attack fades over this time, so that nearby ones still match.
const ATTACK_DECAY_S: f64 = 0.2;
/// Semitones to either side that make up a band's neighbourhood.
const NEIGHBOURHOOD: usize = 5;
/// The length of the silence component, relative to a typical frame: frames much quieter than this count as silent.
const SILENCE_SHARE: f32 = 0.25;

/// Unit vectors at a fixed rate.
#[derive(Debug, Clone)]
pub struct CoarseFrames {
    /// Seconds between frames; frame k is centred on (k + 1/2) hops.
    pub hop_s: f64,
    /// [`DIM`] values per frame, of norm 1.
    pub values: Vec<f32>,
    /// Loudness of each frame relative to a typical one.
    pub level: Vec<f32>,
}

impl CoarseFrames {
    /// Number of frames.
    pub fn len(&self) -> usize {
        self.level.len()
    }

    /// One frame.
    pub fn frame(&self, index: usize) -> &[f32] {
        &self.values[index * DIM..(index + 1) * DIM]
    }

    /// The same as a feature sequence.
    pub fn features(&self) -> FeatureSeq {
        let times = (0..self.len()).map(|index| self.time_s(index as f64)).collect();
        FeatureSeq { times, values: self.values.clone(), dim: DIM }
    }

    /// Time of a frame's centre.
    pub fn time_s(&self, index: f64) -> f64 {
        (index + 0.5) * self.hop_s
    }
}

/// Averages `factor` frames of a spectrum into each coarse frame.
pub fn coarse_frames(spectrum: &LogSpectrum, factor: usize) -> CoarseFrames {
    let attacks = attack_channel(spectrum);
    let coarse = spectrum.frames().div_ceil(factor);
    let mut values = vec![0.0f32; coarse * DIM];
    values.par_chunks_mut(DIM).enumerate().for_each(|(index, out)| {
        let range = index * factor..((index + 1) * factor).min(spectrum.frames());
        let scale = 1.0 / range.len() as f32;
        for frame in range {
            for (sum, value) in out.iter_mut().zip(spectrum.frame(frame)) {
                *sum += value * scale;
            }
            for (sum, value) in out[BANDS..].iter_mut().zip(&attacks[frame * ATTACKS..(frame + 1) * ATTACKS]) {
                *sum += value * scale;
            }
        }
    });
    values.par_chunks_mut(DIM).for_each(|row| sharpen(&mut row[..BANDS]));
    normalise(&mut values, spectrum.hop_s * factor as f64)
}

/// Takes each band's neighbourhood away from it, so that noise, which fills all bands, resembles no chord.
pub(super) fn sharpen(bands: &mut [f32]) {
    let mut sums = [0.0f32; BANDS + 1];
    for (band, value) in bands.iter().enumerate() {
        sums[band + 1] = sums[band] + value;
    }
    for (band, value) in bands.iter_mut().enumerate() {
        let (low, high) = (band.saturating_sub(NEIGHBOURHOOD), (band + NEIGHBOURHOOD + 1).min(BANDS));
        *value -= (sums[high] - sums[low]) / (high - low) as f32;
    }
}

/// Rises of the spectrum by pitch class, evened out over time (square root) and decaying slowly.
fn attack_channel(spectrum: &LogSpectrum) -> Vec<f32> {
    let frames = spectrum.frames();
    let mut attacks = vec![0.0f32; frames * ATTACKS];
    for frame in 1..frames {
        let (before, now) = (spectrum.frame(frame - 1), spectrum.frame(frame));
        let out = &mut attacks[frame * ATTACKS..(frame + 1) * ATTACKS];
        for (band, (new, old)) in now.iter().zip(before).enumerate() {
            out[band % ATTACKS] += (new - old).max(0.0);
        }
    }
    let peak = local_peak(&attacks, ATTACKS, (1.0 / spectrum.hop_s) as usize);
    let decay = (-spectrum.hop_s / ATTACK_DECAY_S).exp() as f32;
    let mut held = [0.0f32; ATTACKS];
    for (row, peak) in attacks.chunks_mut(ATTACKS).zip(peak) {
        for (value, held) in row.iter_mut().zip(&mut held) {
            *value = (*value / peak.max(f32::MIN_POSITIVE)).sqrt().max(*held * decay);
            *held = *value;
        }
    }
    attacks
}

/// The largest value within `radius` frames of each, never less than a tenth of the overall largest.
fn local_peak(values: &[f32], width: usize, radius: usize) -> Vec<f32> {
    let maxima: Vec<f32> = values.chunks(width).map(|row| row.iter().copied().fold(0.0, f32::max)).collect();
    let floor = maxima.iter().copied().fold(0.0, f32::max) * 0.1;
    (0..maxima.len())
        .map(|frame| {
            let near = &maxima[frame.saturating_sub(radius)..(frame + radius + 1).min(maxima.len())];
            near.iter().copied().fold(floor, f32::max)
        })
        .collect()
}

fn normalise(values: &mut [f32], hop_s: f64) -> CoarseFrames {
    let norms: Vec<f32> = values.chunks(DIM).map(|row| norm(&row[..BANDS])).collect();
    let typical = loud_level(norms.iter().copied(), 0.7, f32::MIN_POSITIVE);
    values.par_chunks_mut(DIM).zip(&norms).for_each(|(row, &level)| {
        // Attacks are brought to the scale of the frame's own spectrum: a soft attack in a soft passage counts as much.
        let attack_scale = ATTACK_WEIGHT * level;
        for value in &mut row[BANDS..BANDS + ATTACKS] {
            *value *= attack_scale;
        }
        row[DIM - 1] = SILENCE_SHARE * typical;
        let length = norm(row).max(f32::MIN_POSITIVE);
        for value in row {
            *value /= length;
        }
    });
    let level = norms.iter().map(|n| n / typical).collect();
    CoarseFrames { hop_s, values: values.to_vec(), level }
}

fn norm(row: &[f32]) -> f32 {
    row.iter().map(|v| v * v).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_recording_that_is_nearly_all_silence_every_frame_is_a_unit_vector_and_no_level_is_infinite() {
        let mut values = vec![0.0; 1000 * BANDS];
        for frame in 900..950 {
            values[frame * BANDS + 30 + frame % 20] = 4.0;
        }
        let spectrum = LogSpectrum { hop_s: 0.0232, values, tuning_semitones: 0.0 };
        let coarse = coarse_frames(&spectrum, 4);
        assert!(coarse.values.chunks(DIM).all(|row| (norm(row) - 1.0).abs() < 1e-5));
        assert!(coarse.level.iter().all(|level| (0.0..=10.0).contains(level)));
    }
}
