//! Constant-Q spectrum: 48 semitones from MIDI 36.
//!
//! Each bin is the inner product of the signal with a complex tone under a Hann window that spans about 17 periods.
//! The windows are symmetric, so the real part needs only the even, the imaginary part only the odd half of the signal
//! round the frame's centre. All bins lie below 1 kHz: at a quarter of the rate this direct sum takes a few microseconds.

use std::f64::consts::TAU;

use super::decibel::{amplitude_to_db, relative_to_loudest};
use super::decimate::{decimate, factor_for_hop};
use super::dot::dot;
use super::frames::fill_rows;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;

const BINS: usize = 48;
const LOWEST_MIDI: f64 = 36.0;

/// The rate is lowered by up to this factor. Tones above the passband reach even the highest bin (988 Hz) only 80 dB down.
const MOST_DECIMATION: usize = 4;
const PASSBAND_HZ: f64 = 2000.0;

/// Level of the constant-Q spectrum in dB relative to the loudest of the clip with a floor at -80 dB; each of the `frames`
/// rows of 48 then has unit length.
pub(super) fn unit_log_cqt(ctx: &JobContext, samples: &[f32], hop: usize, frames: usize) -> Result<Vec<f32>> {
    let mut rows = log_cqt(ctx, samples, hop, frames)?;
    for row in rows.chunks_exact_mut(BINS) {
        normalize(row);
    }
    Ok(rows)
}

/// The spectrum in dB relative to the loudest, before the frames are normalised.
pub(super) fn log_cqt(ctx: &JobContext, samples: &[f32], hop: usize, frames: usize) -> Result<Vec<f32>> {
    let mut rows = magnitudes(ctx, samples, hop, frames)?;
    for value in &mut rows {
        *value = amplitude_to_db(*value);
    }
    relative_to_loudest(&mut rows);
    Ok(rows)
}

/// Scales a row to unit length. A row without direction (every bin as loud as the loudest: a silent clip) gets that of silence.
fn normalize(row: &mut [f32]) {
    let length = dot(row, row).sqrt();
    if length > f32::MIN_POSITIVE {
        row.iter_mut().for_each(|value| *value /= length);
    } else {
        row.fill(-1.0 / (BINS as f32).sqrt());
    }
}

/// Magnitudes with librosa's scale: filters of unit L1 norm, times the square root of their length.
fn magnitudes(ctx: &JobContext, samples: &[f32], hop: usize, frames: usize) -> Result<Vec<f32>> {
    let factor = factor_for_hop(hop, MOST_DECIMATION);
    let low = decimate(ctx, samples, factor, PASSBAND_HZ / f64::from(ANALYSIS_RATE))?;
    let kernels: Vec<Kernel> = (0..BINS).map(|bin| Kernel::new(bin, factor)).collect();
    let reach = kernels[0].cosine.len();
    let mut rows = vec![0.0; frames * BINS];
    fill_rows(
        ctx,
        &mut rows,
        BINS,
        || (vec![0.0; reach], vec![0.0; reach]),
        |(even, odd), frame, row| {
            fold(&low.samples, low.index_of(frame * hop), even, odd);
            for (out, kernel) in row.iter_mut().zip(&kernels) {
                let re = dot(&even[..kernel.cosine.len()], &kernel.cosine);
                let im = dot(&odd[..kernel.sine.len()], &kernel.sine);
                *out = (re * re + im * im).sqrt();
            }
        },
    )?;
    Ok(rows)
}

/// Right half of a symmetric filter: cosine and sine under the window, for offsets 0, 1, 2 …
struct Kernel {
    cosine: Vec<f32>,
    sine: Vec<f32>,
}

impl Kernel {
    /// The filter of a bin for a signal of which every `factor`-th sample is left.
    fn new(bin: usize, factor: usize) -> Self {
        let (full_length, full_step) = length_and_step(bin);
        let (length, step) = (full_length / factor as f64, full_step * factor as f64);
        let reach = (length / 2.0).ceil() as usize;
        let window: Vec<f64> = (0..reach).map(|n| 0.5 + 0.5 * (TAU * n as f64 / length).cos()).collect();
        let l1_norm = 2.0 * window.iter().sum::<f64>() - window[0];
        let scale = full_length.sqrt() / l1_norm;
        let tone = |part: fn(f64) -> f64| {
            window.iter().enumerate().map(|(n, w)| (scale * w * part(step * n as f64)) as f32).collect()
        };
        Self { cosine: tone(f64::cos), sine: tone(f64::sin) }
    }
}

/// Length in samples of a bin's filter, and its frequency in radians per sample.
fn length_and_step(bin: usize) -> (f64, f64) {
    let rate = f64::from(ANALYSIS_RATE);
    let hz = 440.0 * ((LOWEST_MIDI + bin as f64 - 69.0) / 12.0).exp2();
    // Bandwidth relative to the frequency when neighbours are a semitone away on either side.
    let squared_ratio = (2.0_f64 / 12.0).exp2();
    let quality = (squared_ratio + 1.0) / (squared_ratio - 1.0);
    (quality * rate / hz, TAU * hz / rate)
}

/// Splits the signal round `centre` into its even and odd part; it counts as zero beyond its ends.
fn fold(samples: &[f32], centre: usize, even: &mut [f32], odd: &mut [f32]) {
    let reach = even.len();
    if centre >= reach && centre + reach <= samples.len() {
        let after = &samples[centre..centre + reach];
        let before = samples[centre + 1 - reach..=centre].iter().rev();
        for (((even, odd), after), before) in even.iter_mut().zip(odd.iter_mut()).zip(after).zip(before) {
            *even = after + before;
            *odd = after - before;
        }
    } else {
        for n in 0..reach {
            let after = samples.get(centre + n).copied().unwrap_or(0.0);
            let before = centre.checked_sub(n).and_then(|p| samples.get(p)).copied().unwrap_or(0.0);
            even[n] = after + before;
            odd[n] = after - before;
        }
    }
    // The centre itself counts once.
    even[0] *= 0.5;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chirp(len: usize) -> Vec<f32> {
        (0..len).map(|n| (0.02 * n as f64 + 6e-6 * (n * n) as f64).sin() as f32).collect()
    }

    /// The definition, written out: correlation with the windowed complex tone.
    fn naive_magnitude(samples: &[f32], centre: usize, bin: usize) -> f64 {
        let (length, step) = length_and_step(bin);
        let half = (length / 2.0).floor() as i64;
        let (mut re, mut im, mut norm) = (0.0, 0.0, 0.0);
        for n in -half..=half {
            let window = 0.5 + 0.5 * (TAU * n as f64 / length).cos();
            norm += window;
            let Some(&sample) = usize::try_from(centre as i64 + n).ok().and_then(|p| samples.get(p)) else { continue };
            re += f64::from(sample) * window * (step * n as f64).cos();
            im -= f64::from(sample) * window * (step * n as f64).sin();
        }
        re.hypot(im) / norm * length.sqrt()
    }

    #[test]
    fn agrees_with_direct_correlation_within_1e_4_at_ends_and_inside() {
        for (len, hop) in [(1, 1024), (700, 1024), (16_000, 1024), (16_000, 1022), (16_000, 1001)] {
            let samples = chirp(len);
            let frames = len / hop + 1;
            let rows = magnitudes(&JobContext::new(), &samples, hop, frames).unwrap();
            for frame in 0..frames {
                for bin in 0..BINS {
                    let expected = naive_magnitude(&samples, frame * hop, bin);
                    let got = f64::from(rows[frame * BINS + bin]);
                    assert!(
                        (got - expected).abs() < 1e-4 * expected.max(1.0),
                        "{len} {hop} {frame} {bin}: {got} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_semitone_rings_in_its_own_bin_with_half_the_root_of_the_filter_length() {
        for bin in [0, 13, 47] {
            let (length, step) = length_and_step(bin);
            let samples: Vec<f32> = (0..20_000).map(|n| (step * f64::from(n)).cos() as f32).collect();
            let rows = magnitudes(&JobContext::new(), &samples, 10_000, 2).unwrap();
            let row = &rows[BINS..];
            let best = (0..BINS).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
            assert_eq!(best, bin);
            assert!((f64::from(row[bin]) / (0.5 * length.sqrt()) - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn silence_points_the_same_way_whether_or_not_the_clip_has_sound() {
        let floor = -1.0 / 48f32.sqrt();
        let mut samples = vec![0.0; 30_000];
        let silent = unit_log_cqt(&JobContext::new(), &samples, 1024, 2).unwrap();
        samples[..3000].copy_from_slice(&chirp(3000));
        let mixed = unit_log_cqt(&JobContext::new(), &samples, 1024, 30).unwrap();
        assert!(silent.iter().chain(&mixed[29 * BINS..]).all(|v| (v - floor).abs() < 1e-6));
    }
}
