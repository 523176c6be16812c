//! A sequence of feature vectors with the times of its frames.

use crate::alignment::Signal;
use crate::error::Result;

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

    /// The checked view that the alignment engine takes.
    pub fn signal(&self) -> Result<Signal<'_>> {
        Signal::new(&self.times, &self.values, self.dim)
    }
}
