//! Reproducible numbers for tests.

use crate::base::random::Random;

/// Numbers in 0 .. 1, the same for the same seed.
pub(super) fn unit_noise(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::at(seed, &[]);
    (0..count).map(|_| random.unit()).collect()
}
