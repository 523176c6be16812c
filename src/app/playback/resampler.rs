//! From the clips' rate to the device's: a windowed sinc, enough for the ear.

/// Samples on either side that a value is made of.
pub const HALF: usize = 12;
/// Fractions of a sample for which weights are stored.
const PHASES: usize = 256;

/// Weights for every fraction of a sample.
#[derive(Debug, Clone)]
pub struct Kernel {
    weights: Vec<[f32; 2 * HALF]>,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { weights: (0..=PHASES).map(|phase| weights(phase as f64 / PHASES as f64)).collect() }
    }
}

impl Kernel {
    /// The value `fraction` of a sample after the one in the middle: `frames[HALF - 1]`.
    pub fn value(&self, frames: &[[f32; 2]], fraction: f64) -> [f32; 2] {
        let weights = &self.weights[(fraction * PHASES as f64).round() as usize];
        let mut sum = [0.0; 2];
        for (frame, weight) in frames[..2 * HALF].iter().zip(weights) {
            sum[0] += frame[0] * weight;
            sum[1] += frame[1] * weight;
        }
        sum
    }
}

fn weights(fraction: f64) -> [f32; 2 * HALF] {
    let raw: [f64; 2 * HALF] = std::array::from_fn(|tap| {
        let x = tap as f64 - (HALF - 1) as f64 - fraction;
        let sinc = if x.abs() < 1e-9 { 1.0 } else { (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x) };
        let window = (std::f64::consts::FRAC_PI_2 * x / HALF as f64).cos().max(0.0).powi(2);
        sinc * window
    });
    let total: f64 = raw.iter().sum();
    raw.map(|weight| (weight / total) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_between_samples_is_what_it_would_have_been() {
        let tone = |t: f64| (t * 0.9).sin() as f32;
        let frames: Vec<[f32; 2]> = (0..2 * HALF).map(|n| [tone(n as f64), -tone(n as f64)]).collect();
        let kernel = Kernel::default();
        for fraction in [0.0, 0.25, 0.5, 0.8, 1.0] {
            let [left, right] = kernel.value(&frames, fraction);
            let expected = tone((HALF - 1) as f64 + fraction);
            assert!((left - expected).abs() < 0.01, "{left} against {expected}");
            assert_eq!(left, -right);
        }
    }
}
