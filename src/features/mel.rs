//! Log-mel spectrum: 128 bands on Slaney's scale, as librosa's defaults.

use super::decibel::{limit_range, power_to_db};
use super::dot::dot;
use super::frames::fill_rows;
use super::stft::Stft;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;

const BANDS: usize = 128;
const N_FFT: usize = 2048;

/// Mel power in dB with absolute reference 1, no more than 80 dB below the loudest, `frames` rows of 128.
pub(super) fn log_mel(ctx: &JobContext, samples: &[f32], hop: usize, frames: usize) -> Result<Vec<f32>> {
    let stft = Stft::new(N_FFT);
    let bands = mel_bands();
    let mut rows = vec![0.0; frames * BANDS];
    fill_rows(
        ctx,
        &mut rows,
        BANDS,
        || stft.scratch(),
        |scratch, frame, row| {
            let power = stft.power(samples, frame * hop, scratch);
            for (out, band) in row.iter_mut().zip(&bands) {
                *out = power_to_db(dot(&band.weights, &power[band.first_bin..band.first_bin + band.weights.len()]));
            }
        },
    )?;
    limit_range(&mut rows);
    Ok(rows)
}

/// The non-zero part of a triangular filter.
struct Band {
    first_bin: usize,
    weights: Vec<f32>,
}

/// Triangles of equal area (Slaney's normalisation) between neighbouring points of the mel scale.
fn mel_bands() -> Vec<Band> {
    let rate = f64::from(ANALYSIS_RATE);
    let top = hz_to_mel(rate / 2.0);
    let edges: Vec<f64> = (0..BANDS + 2).map(|i| mel_to_hz(top * i as f64 / (BANDS + 1) as f64)).collect();
    edges
        .windows(3)
        .map(|edge| {
            let weight = |bin: usize| {
                let hz = bin as f64 * rate / N_FFT as f64;
                let triangle = ((hz - edge[0]) / (edge[1] - edge[0])).min((edge[2] - hz) / (edge[2] - edge[1]));
                (triangle.max(0.0) * 2.0 / (edge[2] - edge[0])) as f32
            };
            let inside = |bin: &usize| weight(*bin) > 0.0;
            let first_bin = (0..=N_FFT / 2).find(inside).unwrap_or(0);
            Band { first_bin, weights: (first_bin..=N_FFT / 2).take_while(inside).map(weight).collect() }
        })
        .collect()
}

/// Linear below 1 kHz (15 mel), logarithmic above.
const LINEAR_HZ_PER_MEL: f64 = 200.0 / 3.0;
const LOG_START_HZ: f64 = 1000.0;
const LOG_START_MEL: f64 = LOG_START_HZ / LINEAR_HZ_PER_MEL;

/// Growth of the logarithm of the frequency per mel above 1 kHz.
fn log_step() -> f64 {
    6.4_f64.ln() / 27.0
}

fn hz_to_mel(hz: f64) -> f64 {
    if hz < LOG_START_HZ { hz / LINEAR_HZ_PER_MEL } else { LOG_START_MEL + (hz / LOG_START_HZ).ln() / log_step() }
}

fn mel_to_hz(mel: f64) -> f64 {
    if mel < LOG_START_MEL {
        mel * LINEAR_HZ_PER_MEL
    } else {
        LOG_START_HZ * ((mel - LOG_START_MEL) * log_step()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mel_scale_round_trips_and_is_continuous_at_its_bend() {
        for hz in [0.0, 440.0, 999.999, 1000.0, 6400.0, 11025.0] {
            assert!((mel_to_hz(hz_to_mel(hz)) - hz).abs() < 1e-8);
        }
        assert!((hz_to_mel(6400.0) - 42.0).abs() < 1e-9);
    }

    #[test]
    fn every_band_holds_at_least_one_bin_and_stays_in_the_spectrum() {
        for band in mel_bands() {
            assert!(!band.weights.is_empty());
            assert!(band.first_bin + band.weights.len() <= N_FFT / 2 + 1);
        }
    }
}
