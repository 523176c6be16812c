//! Short-time Fourier transform with a periodic Hann window and frames centred on samples.

use std::f64::consts::TAU;
use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex32;

/// A plan for windows of one length. The signal counts as zero beyond its ends.
pub(super) struct Stft {
    window: Vec<f32>,
    fft: Arc<dyn RealToComplex<f32>>,
}

/// Buffers that one thread reuses for all its frames.
pub(super) struct StftScratch {
    windowed: Vec<f32>,
    spectrum: Vec<Complex32>,
    power: Vec<f32>,
    fft: Vec<Complex32>,
}

impl Stft {
    /// A plan for windows of `n_fft` samples.
    pub(super) fn new(n_fft: usize) -> Self {
        let window = (0..n_fft).map(|n| (0.5 - 0.5 * (TAU * n as f64 / n_fft as f64).cos()) as f32).collect();
        Self { window, fft: RealFftPlanner::new().plan_fft_forward(n_fft) }
    }

    /// Buffers for one thread.
    pub(super) fn scratch(&self) -> StftScratch {
        StftScratch {
            windowed: self.fft.make_input_vec(),
            spectrum: self.fft.make_output_vec(),
            power: vec![0.0; self.bins()],
            fft: self.fft.make_scratch_vec(),
        }
    }

    /// Window length.
    pub(super) fn n_fft(&self) -> usize {
        self.window.len()
    }

    /// Frequencies from 0 to half the sample rate.
    pub(super) fn bins(&self) -> usize {
        self.n_fft() / 2 + 1
    }

    /// Squared magnitudes of the spectrum of the window centred on sample `centre`.
    pub(super) fn power<'s>(&self, samples: &[f32], centre: usize, scratch: &'s mut StftScratch) -> &'s [f32] {
        self.transform(samples, centre, scratch);
        for (power, value) in scratch.power.iter_mut().zip(&scratch.spectrum) {
            *power = value.norm_sqr();
        }
        &scratch.power
    }

    /// Magnitudes of the first `bins` frequencies of the window centred on sample `centre`.
    pub(super) fn magnitudes<'s>(
        &self,
        samples: &[f32],
        centre: usize,
        bins: usize,
        scratch: &'s mut StftScratch,
    ) -> &'s [f32] {
        self.transform(samples, centre, scratch);
        for (magnitude, value) in scratch.power[..bins].iter_mut().zip(&scratch.spectrum) {
            *magnitude = value.norm_sqr().sqrt();
        }
        &scratch.power[..bins]
    }

    fn transform(&self, samples: &[f32], centre: usize, scratch: &mut StftScratch) {
        // Position of the window's first sample is `centre - half`, which may lie before the signal.
        let half = self.n_fft() / 2;
        let skipped = half.saturating_sub(centre);
        let start = (centre + skipped - half).min(samples.len());
        let end = (centre + self.n_fft() - half).min(samples.len()).max(start);
        let inside = skipped.min(self.n_fft())..(skipped + end - start).min(self.n_fft());
        scratch.windowed[..inside.start].fill(0.0);
        scratch.windowed[inside.end..].fill(0.0);
        let windowed = scratch.windowed[inside.clone()].iter_mut();
        for ((out, sample), weight) in windowed.zip(&samples[start..end]).zip(&self.window[inside]) {
            *out = sample * weight;
        }
        self.fft
            .process_with_scratch(&mut scratch.windowed, &mut scratch.spectrum, &mut scratch.fft)
            .expect("the buffers were made by this plan");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive_power(samples: &[f32], n_fft: usize, centre: usize, bin: usize) -> f64 {
        let (mut re, mut im) = (0.0, 0.0);
        for n in 0..n_fft {
            let position = centre as i64 + n as i64 - (n_fft / 2) as i64;
            let sample = usize::try_from(position).ok().and_then(|p| samples.get(p)).copied().unwrap_or(0.0);
            let window = 0.5 - 0.5 * (TAU * n as f64 / n_fft as f64).cos();
            let angle = TAU * (bin * n) as f64 / n_fft as f64;
            re += f64::from(sample) * window * angle.cos();
            im -= f64::from(sample) * window * angle.sin();
        }
        re * re + im * im
    }

    #[test]
    fn agrees_with_a_naive_dft_inside_and_beyond_both_ends() {
        let samples: Vec<f32> = (0..300).map(|n| ((n * n) as f32 * 0.013).sin()).collect();
        let stft = Stft::new(128);
        let mut scratch = stft.scratch();
        for (signal, centres) in [(&samples[..], vec![150, 0, 20, 299, 256, 63, 64]), (&samples[..10], vec![0, 5, 9])] {
            for centre in centres {
                let power = stft.power(signal, centre, &mut scratch);
                for (bin, power) in power.iter().enumerate() {
                    let expected = naive_power(signal, 128, centre, bin);
                    assert!(
                        (f64::from(*power) - expected).abs() < 1e-3,
                        "centre {centre} bin {bin}: {power} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_signal_outside_the_window_gives_silence_and_scratch_keeps_no_trace() {
        let stft = Stft::new(64);
        let mut scratch = stft.scratch();
        assert!(stft.power(&[1.0; 64], 32, &mut scratch)[0] > 1.0);
        assert!(stft.power(&[1.0; 64], 500, &mut scratch).iter().all(|&p| p == 0.0));
    }
}
