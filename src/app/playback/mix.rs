//! What is heard: recording, score and clicks, and how loud each is in which ear.

use std::sync::Arc;

use crate::audio::AudioClip;

/// A metronome click.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Click {
    /// When, in seconds of the recording.
    pub time_s: f64,
    /// The first beat of a bar.
    pub accent: bool,
}

/// What can be heard. All clips are in the recording's time and at its rate.
#[derive(Debug, Clone, Default)]
pub struct Tracks {
    /// The recording.
    pub recording: Option<Arc<AudioClip>>,
    /// The score, warped to it.
    pub score: Option<Arc<AudioClip>>,
    /// Clicks in order of time.
    pub clicks: Arc<Vec<Click>>,
}

/// How it is mixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mix {
    /// 0: only the recording, 1: only the score.
    pub balance: f32,
    /// Recording in the left ear, score in the right one.
    pub split: bool,
    /// Clicks on beats.
    pub clicks: bool,
}

impl Default for Mix {
    fn default() -> Self {
        Self { balance: 0.0, split: false, clicks: false }
    }
}

impl Mix {
    /// Left and right from the recording's and the score's sample. In the middle both are at full level.
    pub fn stereo(&self, recording: f32, score: f32) -> [f32; 2] {
        let recording = recording * (2.0 * (1.0 - self.balance)).clamp(0.0, 1.0);
        let score = score * (2.0 * self.balance).clamp(0.0, 1.0);
        if self.split {
            [recording, score]
        } else {
            let both = 0.8 * (recording + score);
            [both, both]
        }
    }
}

impl Tracks {
    /// Samples per second; the engine works at this rate.
    pub fn rate(&self) -> u32 {
        self.recording.as_ref().map_or(crate::base::time::ANALYSIS_RATE, |clip| clip.sample_rate)
    }

    /// Length of the recording.
    pub fn duration_s(&self) -> f64 {
        self.recording.as_ref().map_or(0.0, |clip| clip.duration_s())
    }

    /// Left and right at a sample; silence outside.
    pub fn at(&self, sample: i64, mix: &Mix) -> [f32; 2] {
        let of = |clip: &Option<Arc<AudioClip>>| {
            let sample = usize::try_from(sample).ok()?;
            clip.as_ref()?.samples.get(sample).copied()
        };
        mix.stereo(of(&self.recording).unwrap_or(0.0), of(&self.score).unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_balance_fades_and_the_split_keeps_ears_apart() {
        let mix = |balance, split| Mix { balance, split, clicks: false };
        assert_eq!(mix(0.0, true).stereo(0.5, 0.3), [0.5, 0.0]);
        assert_eq!(mix(1.0, true).stereo(0.5, 0.3), [0.0, 0.3]);
        assert_eq!(mix(0.5, true).stereo(0.5, 0.3), [0.5, 0.3]);
        let [left, right] = mix(0.5, false).stereo(0.5, 0.25);
        assert_eq!(left, right);
        assert!((left - 0.6).abs() < 1e-6);
    }
}
