//! How far a recording is tuned from A = 440 Hz.

use rayon::prelude::*;

use super::extract::check_clip;
use super::stft::Stft;
use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;

const N_FFT: usize = 8192;
/// No more windows than this are looked at, spread over the whole clip.
const MOST_WINDOWS: usize = 800;
/// Partials are looked for between these: below, a semitone is too narrow; above, strings are too stiff.
const PITCH_RANGE_HZ: (f64, f64) = (130.0, 1600.0);
/// Peaks count down to this power relative to the loudest of their window.
const WEAKEST_PEAK: f32 = 1e-3;
/// Windows count down to this power relative to the loudest window.
const WEAKEST_WINDOW: f32 = 1e-5;
/// One cent each.
const HISTOGRAM: usize = 100;
/// The peak of the histogram is smoothed and measured over this many cents to either side.
const SMOOTHING_CENTS: f64 = 5.0;
const REACH_CENTS: i64 = 15;
/// How far the histogram's peak must stand above its mean for the tuning to be believed.
const LEAST_CONTRAST: f64 = 1.5;

/// How much higher than A = 440 Hz a recording is tuned, in semitones from -0.5 to 0.5. Without clear pitches: 0.
///
/// Spectral peaks vote with their distance from the nearest semitone; the place where most agree wins.
pub fn estimate_tuning(ctx: &JobContext, clip: &AudioClip) -> Result<f64> {
    check_clip(clip)?;
    let windows = (clip.samples.len() / (N_FFT / 2)).clamp(1, MOST_WINDOWS);
    let stft = Stft::new(N_FFT);
    let peaks_of_windows: Vec<(f32, Vec<Peak>)> = (0..windows)
        .into_par_iter()
        .map_init(
            || stft.scratch(),
            |scratch, window| {
                ctx.check()?;
                let centre = (2 * window + 1) * clip.samples.len() / (2 * windows);
                Ok(peaks(stft.power(&clip.samples, centre, scratch)))
            },
        )
        .collect::<Result<_>>()?;
    let loudest = peaks_of_windows.iter().fold(0.0, |loudest: f32, (power, _)| loudest.max(*power));
    let heard = peaks_of_windows.iter().filter(|(power, _)| *power > loudest * WEAKEST_WINDOW);
    let mut histogram = [0.0; HISTOGRAM];
    for peak in heard.flat_map(|(_, peaks)| peaks) {
        let cents = (100.0 * peak.midi).round().rem_euclid(HISTOGRAM as f64);
        histogram[cents as usize % HISTOGRAM] += peak.weight;
    }
    Ok(centre_of_votes(&histogram))
}

struct Peak {
    midi: f64,
    weight: f64,
}

/// The largest power of a window in the range of pitches, and its peaks with interpolated pitch.
fn peaks(power: &[f32]) -> (f32, Vec<Peak>) {
    let spacing = f64::from(ANALYSIS_RATE) / N_FFT as f64;
    let (first, last) = ((PITCH_RANGE_HZ.0 / spacing) as usize, (PITCH_RANGE_HZ.1 / spacing) as usize);
    let loudest = power[first..=last].iter().copied().fold(0.0, f32::max);
    let found = (first..=last)
        .filter(|&bin| {
            power[bin] > loudest * WEAKEST_PEAK && power[bin] > power[bin - 1] && power[bin] >= power[bin + 1]
        })
        .map(|bin| {
            // A parabola through the logarithms fits the peak of a Hann window well.
            let [left, middle, right] =
                [bin - 1, bin, bin + 1].map(|b| f64::from(power[b].max(f32::MIN_POSITIVE)).ln());
            let curvature = left - 2.0 * middle + right;
            let shift = if curvature < 0.0 { 0.5 * (left - right) / curvature } else { 0.0 };
            let midi = 69.0 + 12.0 * ((bin as f64 + shift) * spacing / 440.0).log2();
            Peak { midi, weight: f64::from(power[bin]).sqrt().sqrt() }
        })
        .collect();
    (loudest, found)
}

/// The mean of the votes round the place where they are densest, in semitones from -0.5 to 0.5.
fn centre_of_votes(histogram: &[f64; HISTOGRAM]) -> f64 {
    let around = |cents: i64| histogram[cents.rem_euclid(HISTOGRAM as i64) as usize];
    let density = |cents: i64| -> f64 {
        let weighted = |d: i64| around(cents + d) * (-0.5 * (d as f64 / SMOOTHING_CENTS).powi(2)).exp();
        (-REACH_CENTS..=REACH_CENTS).map(weighted).sum()
    };
    let densities: Vec<f64> = (0..HISTOGRAM as i64).map(density).collect();
    let mean = densities.iter().sum::<f64>() / HISTOGRAM as f64;
    let best = (0..HISTOGRAM).fold(0, |best, cents| if densities[cents] > densities[best] { cents } else { best });
    if densities[best] <= LEAST_CONTRAST * mean {
        return 0.0;
    }
    let best = best as i64;
    let votes: f64 = (-REACH_CENTS..=REACH_CENTS).map(|d| around(best + d)).sum();
    let shift = (-REACH_CENTS..=REACH_CENTS).map(|d| d as f64 * around(best + d)).sum::<f64>() / votes;
    let semitones = (best as f64 + shift) / HISTOGRAM as f64;
    semitones - semitones.round()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    fn clip(wave: impl Fn(f64) -> f64) -> AudioClip {
        let rate = f64::from(ANALYSIS_RATE);
        AudioClip {
            samples: (0..66_150).map(|n| wave(f64::from(n) / rate) as f32).collect(),
            sample_rate: ANALYSIS_RATE,
        }
    }

    #[test]
    fn detuned_notes_with_partials_reveal_their_tuning() {
        for tuning in [-0.45, -0.2, 0.0, 0.13, 0.31, 0.48] {
            let notes = [48.0, 55.0, 60.0, 64.0, 70.0, 74.0];
            let clip = clip(|t| {
                let note = notes[(t * 2.0) as usize % notes.len()] + tuning;
                let hz = 440.0 * ((note - 69.0) / 12.0f64).exp2();
                (1..=8).map(|h| 0.1 / f64::from(h) * (TAU * hz * f64::from(h) * t).sin()).sum()
            });
            let found = estimate_tuning(&JobContext::new(), &clip).unwrap();
            assert!((found - tuning).abs() < 0.02, "{found} instead of {tuning}");
        }
    }

    #[test]
    fn silence_and_noise_count_as_in_tune() {
        let mut state = 1u32;
        let noise: Vec<f32> = (0..66_150)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 16_777_216.0 - 0.5
            })
            .collect();
        for samples in [vec![0.0; 30_000], vec![0.5], noise] {
            let clip = AudioClip { samples, sample_rate: ANALYSIS_RATE };
            let found = estimate_tuning(&JobContext::new(), &clip).unwrap();
            assert_eq!(found, 0.0);
        }
    }
}
