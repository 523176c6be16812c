//! Chroma: the energy of the twelve pitch classes from C, as librosa's `chroma_stft(tuning=0, norm=2)`.

use super::decibel::{power_to_db, relative_to_loudest};
use super::frames::fill_rows;
use super::stft::Stft;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;

const CLASSES: usize = 12;
const N_FFT: usize = 4096;

/// Octaves above A0 round which the pitch classes are weighted, and the deviation of that weight.
const CENTRE_OCTAVE: f64 = 5.0;
const OCTAVE_WIDTH: f64 = 2.0;

/// Chroma of unit length in dB relative to the loudest of the clip, floor -80 dB, `frames` rows of 12.
pub(super) fn log_chroma(ctx: &JobContext, samples: &[f32], hop: usize, frames: usize) -> Result<Vec<f32>> {
    let stft = Stft::new(N_FFT);
    let weights = class_weights();
    let mut rows = vec![0.0; frames * CLASSES];
    fill_rows(
        ctx,
        &mut rows,
        CLASSES,
        || stft.scratch(),
        |scratch, frame, row| {
            let mut classes = [0.0; CLASSES];
            for (power, weights) in stft.power(samples, frame * hop, scratch).iter().zip(&weights) {
                for (class, weight) in classes.iter_mut().zip(weights) {
                    *class += power * weight;
                }
            }
            let length = classes.iter().map(|c| c * c).sum::<f32>().sqrt();
            // A silent frame has no direction: it stays zero and falls to the floor.
            let scale = if length > f32::MIN_POSITIVE { 1.0 / length } else { 1.0 };
            for (out, class) in row.iter_mut().zip(classes) {
                *out = power_to_db(class * scale);
            }
        },
    )?;
    relative_to_loudest(&mut rows);
    Ok(rows)
}

/// How much each frequency bin adds to each pitch class: a Gaussian round the class in pitch, of unit length over the
/// classes, times a Gaussian round the centre octave.
fn class_weights() -> Vec<[f32; CLASSES]> {
    let classes = CLASSES as f64;
    // Semitones above A0; for 0 Hz, librosa takes a value one and a half octaves below the first bin.
    let semitones_of_bin = |bin: usize| {
        let hz = bin.max(1) as f64 * f64::from(ANALYSIS_RATE) / N_FFT as f64;
        classes * (hz / 27.5).log2() - if bin == 0 { 1.5 * classes } else { 0.0 }
    };
    (0..=N_FFT / 2)
        .map(|bin| {
            let semitones = semitones_of_bin(bin);
            let width = (semitones_of_bin(bin + 1) - semitones).max(1.0);
            let octave_weight = (-0.5 * ((semitones / classes - CENTRE_OCTAVE) / OCTAVE_WIDTH).powi(2)).exp();
            let bumps: [f64; CLASSES] = std::array::from_fn(|class| {
                // Classes count from C, semitones from A: C is three above A.
                let distance = semitones - (class as f64 - 9.0);
                let wrapped = (distance + classes / 2.0).rem_euclid(classes) - classes / 2.0;
                (-0.5 * (2.0 * wrapped / width).powi(2)).exp()
            });
            let length = bumps.iter().map(|b| b * b).sum::<f64>().sqrt();
            bumps.map(|bump| (bump / length * octave_weight) as f32)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_lights_its_own_class_in_every_octave() {
        for midi in [48, 57, 60, 64, 69, 83] {
            let hz = 440.0 * 2f64.powf((f64::from(midi) - 69.0) / 12.0);
            let step = std::f64::consts::TAU * hz / f64::from(ANALYSIS_RATE);
            let samples: Vec<f32> = (0..8192).map(|n| (step * f64::from(n)).sin() as f32).collect();
            let rows = log_chroma(&JobContext::new(), &samples, 4096, 3).unwrap();
            let middle = &rows[CLASSES..2 * CLASSES];
            let best = (0..CLASSES).max_by(|&a, &b| middle[a].total_cmp(&middle[b])).unwrap();
            assert_eq!(best, midi as usize % 12, "{midi}: {middle:?}");
        }
    }

    #[test]
    fn silent_frames_lie_at_the_floor_of_a_sounding_clip() {
        let mut samples = vec![0.0_f32; 20_000];
        for (n, sample) in samples[..4000].iter_mut().enumerate() {
            *sample = (n as f32 * 0.1).sin();
        }
        let rows = log_chroma(&JobContext::new(), &samples, 1024, 20).unwrap();
        assert!(rows[19 * CLASSES..].iter().all(|&level| level == -80.0));
    }
}
