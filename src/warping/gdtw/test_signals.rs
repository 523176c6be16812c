//! Generated signals that several tests align.

use super::tests::random;

/// Values per frame of a [`Curve`].
pub(super) const DIM: usize = 6;

/// A smooth random curve: noise of one value per half second, interpolated.
pub(super) struct Curve(Vec<f64>);

impl Curve {
    pub fn new(seconds: f64, seed: u64) -> Self {
        Self(random(((2.0 * seconds) as usize + 3) * DIM, seed))
    }

    pub fn at(&self, time: f64) -> impl Iterator<Item = f32> + '_ {
        let position = (2.0 * time).clamp(0.0, (self.0.len() / DIM) as f64 - 1.001);
        let k = position as usize;
        let a = position - k as f64;
        (0..DIM).map(move |c| ((1.0 - a) * self.0[k * DIM + c] + a * self.0[(k + 1) * DIM + c]) as f32)
    }
}
