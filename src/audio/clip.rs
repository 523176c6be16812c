//! Decoded mono audio.

use crate::time::samples_to_seconds;

/// Mono samples at one rate, nominally within -1 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct AudioClip {
    /// The samples.
    pub samples: Vec<f32>,
    /// Samples per second.
    pub sample_rate: u32,
}

impl AudioClip {
    /// Length in seconds.
    pub fn duration_s(&self) -> f64 {
        samples_to_seconds(self.samples.len(), self.sample_rate)
    }

    /// Largest absolute sample.
    pub fn peak(&self) -> f32 {
        self.samples.iter().fold(0.0, |peak, s| peak.max(s.abs()))
    }
}
