//! Decoded mono audio.

use crate::base::error::{Error, Result};
use crate::base::time::samples_to_seconds;

/// A clip whose loudest sample stays below this (-90 dBFS, the last bit of a 16-bit recording) is silent.
const SILENCE_PEAK: f32 = 3.2e-5;

/// A clip shorter than this holds no music to align.
const SHORTEST_S: f64 = 0.1;

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

    /// Refuses, as [`Error::Unsuitable`], a clip that no aligner can use: empty, shorter than 0.1 s, or digital silence
    /// (peak below -90 dBFS). `subject` names the clip in the message.
    pub fn check_usable(&self, subject: &str) -> Result<()> {
        if self.samples.is_empty() {
            return Err(Error::unsuitable(subject, "the audio has no samples", "choose a recording that has sound"));
        }
        if self.duration_s() < SHORTEST_S {
            let cause = format!("the audio lasts only {:.0} ms", self.duration_s() * 1000.0);
            return Err(Error::unsuitable(subject, cause, "choose a longer recording"));
        }
        if self.peak() < SILENCE_PEAK {
            return Err(Error::unsuitable(
                subject,
                "the audio is silent (it never exceeds -90 dBFS)",
                "choose a recording that has sound, or export it again from its source",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(level: f32, len: usize) -> AudioClip {
        AudioClip { samples: vec![level; len], sample_rate: 22_050 }
    }

    #[test]
    fn silence_and_scraps_are_unsuitable_but_quiet_music_is_not() {
        for unusable in [clip(0.0, 22_050), clip(3.0e-5, 22_050), clip(0.5, 0), clip(0.5, 2204)] {
            let error = unusable.check_usable("x.wav").unwrap_err();
            assert!(matches!(error, Error::Unsuitable { .. }) && error.to_string().starts_with("x.wav: "), "{error}");
        }
        // -80 dBFS: a very quiet recording is still one.
        clip(1.0e-4, 22_050).check_usable("x.wav").unwrap();
        clip(-1.0e-4, 2205).check_usable("x.wav").unwrap();
    }
}
