//! Resonances of a wooden board: a chain of peaking filters.

use std::f64::consts::TAU;

use crate::base::random::Random;
use crate::base::time::ANALYSIS_RATE;

/// Peaks and dips of a soundboard.
#[derive(Debug, Clone)]
pub(super) struct Soundboard {
    filters: Vec<[f32; 5]>,
}

impl Soundboard {
    pub fn draw(random: &mut Random) -> Self {
        let count = 4 + random.below(9);
        let depth = random.between(2.0, 7.0);
        let filter = |_| {
            let hz = 60.0 * 2f64.powf(random.between(0.0, 6.7));
            peaking(hz, depth * random.normal().clamp(-1.8, 1.8), random.between(0.7, 5.0))
        };
        Self { filters: (0..count).map(filter).collect() }
    }

    /// Colours a sound.
    pub fn colour(&self, sound: &mut [f32]) {
        for &[b0, b1, b2, a1, a2] in &self.filters {
            let (mut s1, mut s2) = (0.0f32, 0.0f32);
            for sample in sound.iter_mut() {
                let input = *sample;
                let output = b0 * input + s1;
                s1 = b1 * input - a1 * output + s2;
                s2 = b2 * input - a2 * output;
                // Denormal numbers in the silence would take a hundred times as long.
                if s1.abs() + s2.abs() < 1e-20 {
                    (s1, s2) = (0.0, 0.0);
                }
                *sample = output;
            }
        }
    }
}

/// Coefficients of a second-order peak (Robert Bristow-Johnson's cookbook): b0, b1, b2, a1, a2.
fn peaking(hz: f64, gain_db: f64, q: f64) -> [f32; 5] {
    let amplitude = 10f64.powf(gain_db / 40.0);
    let turn = TAU * hz / f64::from(ANALYSIS_RATE);
    let alpha = turn.sin() / (2.0 * q);
    let a0 = 1.0 + alpha / amplitude;
    let middle = -2.0 * turn.cos();
    [1.0 + alpha * amplitude, middle, 1.0 - alpha * amplitude, middle, 1.0 - alpha / amplitude].map(|c| (c / a0) as f32)
}
