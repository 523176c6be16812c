//! Long convolutions through the spectrum.

use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

use crate::base::error::{Error, Result};

/// The transform of sounds of one length, there and back.
pub(super) struct Transform {
    length: usize,
    forward: Arc<dyn RealToComplex<f32>>,
    backward: Arc<dyn ComplexToReal<f32>>,
}

impl Transform {
    /// For sounds of at least `least` samples.
    pub fn new(least: usize) -> Self {
        let length = smooth_length(least);
        let mut planner = RealFftPlanner::new();
        Self { length, forward: planner.plan_fft_forward(length), backward: planner.plan_fft_inverse(length) }
    }

    /// Silence as long as the transform.
    pub fn silence(&self) -> Vec<f32> {
        vec![0.0; self.length]
    }

    /// Number of samples.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The spectrum of a sound as long as the transform.
    pub fn spectrum(&self, mut sound: Vec<f32>) -> Result<Vec<Complex<f32>>> {
        let mut spectrum = self.forward.make_output_vec();
        self.forward.process(&mut sound, &mut spectrum).map_err(failed)?;
        Ok(spectrum)
    }

    /// The sound of a spectrum, louder by the length of the transform.
    pub fn sound(&self, mut spectrum: Vec<Complex<f32>>) -> Result<Vec<f32>> {
        // These two have no phase.
        spectrum[0].im = 0.0;
        if let Some(last) = spectrum.last_mut() {
            last.im = 0.0;
        }
        let mut sound = self.silence();
        self.backward.process(&mut spectrum, &mut sound).map_err(failed)?;
        Ok(sound)
    }

    /// A sound convolved with an answer to a click, both as long as the transform.
    pub fn convolved(&self, sound: Vec<f32>, answer: Vec<f32>) -> Result<Vec<f32>> {
        let (mut spectrum, answer) = (self.spectrum(sound)?, self.spectrum(answer)?);
        let scale = 1.0 / self.length as f32;
        spectrum.iter_mut().zip(&answer).for_each(|(value, answer)| *value *= answer * scale);
        self.sound(spectrum)
    }
}

fn failed(error: realfft::FftError) -> Error {
    Error::unsuitable("the room", format!("its echo could not be computed ({error})"), "report this as a bug")
}

/// The next even length that is a product of small primes: the transform is fast for those.
fn smooth_length(least: usize) -> usize {
    let is_smooth = |mut length: usize| {
        for prime in [2, 3, 5] {
            while length.is_multiple_of(prime) {
                length /= prime;
            }
        }
        length == 1
    };
    (least.next_multiple_of(2)..).step_by(2).find(|&length| is_smooth(length)).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_have_lengths_of_small_primes() {
        assert_eq!([1001, 1024, 600_001].map(smooth_length), [1024, 1024, 607_500]);
    }

    #[test]
    fn a_convolution_is_the_sum_of_shifted_answers() {
        let transform = Transform::new(40);
        let (mut sound, mut answer) = (transform.silence(), transform.silence());
        (sound[3], sound[10], answer[0], answer[4]) = (2.0, -1.0, 1.0, 0.5);
        let heard = transform.convolved(sound, answer).unwrap();
        for (k, value) in heard.iter().enumerate() {
            let wanted = match k {
                3 => 2.0,
                7 => 1.0,
                10 => -1.0,
                14 => -0.5,
                _ => 0.0,
            };
            assert!((value - wanted).abs() < 1e-5, "{k}: {value}");
        }
    }
}
