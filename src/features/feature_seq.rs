//! A sequence of feature vectors with the times of its frames.

use crate::base::error::Result;
use crate::warping::Signal;

/// Row-major feature vectors, one per time.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureSeq {
    /// Frame times in seconds, strictly increasing.
    pub times: Vec<f64>,
    /// `times.len() * dim` values.
    pub values: Vec<f32>,
    /// Values per frame.
    pub dim: usize,
}

impl FeatureSeq {
    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.times.len()
    }

    /// The vector of one frame.
    pub fn frame(&self, index: usize) -> &[f32] {
        &self.values[index * self.dim..(index + 1) * self.dim]
    }

    /// Appends the vector at a time to `out`, linear between frames, constant beyond the ends.
    pub fn interpolate_into(&self, time_s: f64, out: &mut Vec<f32>) {
        let next = self.times.partition_point(|&t| t <= time_s);
        if next == 0 || next == self.frames() {
            out.extend_from_slice(self.frame(next.min(self.frames() - 1)));
            return;
        }
        let (t0, t1) = (self.times[next - 1], self.times[next]);
        let share = ((time_s - t0) / (t1 - t0)) as f32;
        out.extend(self.frame(next - 1).iter().zip(self.frame(next)).map(|(a, b)| a + share * (b - a)));
    }

    /// The checked view that the alignment engine takes.
    pub fn signal(&self) -> Result<Signal<'_>> {
        Signal::new(&self.times, &self.values, self.dim)
    }
}
