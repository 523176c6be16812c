//! Onset evidence of a whole recording, kept small: an hour takes 120 MB.

use std::ops::Range;

use crate::audio::AudioClip;
use crate::error::Result;
use crate::features::{SEMITONE_BANDS, SemitoneAnalyzer, SemitoneParams, pitch_evidence};
use crate::job::JobContext;
use crate::time::{ANALYSIS_RATE, samples_to_seconds};

/// Samples between frames: 5.8 ms.
pub(super) const HOP: usize = 128;
/// Frames that are analysed at a time.
const CHUNK: usize = 4096;
/// Steps per unit of evidence, which is 1.5 at most.
const STEPS: f32 = 40_000.0;

/// Evidence for an onset of each pitch in each frame.
#[derive(Debug, Clone)]
pub struct Evidence {
    values: Vec<u16>,
}

impl Evidence {
    /// Listens to a recording that is tuned `tuning_semitones` above A = 440 Hz.
    pub fn of(ctx: &JobContext, clip: &AudioClip, tuning_semitones: f64) -> Result<Self> {
        let analyzer = SemitoneAnalyzer::new(ctx, clip, &SemitoneParams { hop: HOP, tuning_semitones })?;
        let mut values = Vec::with_capacity(analyzer.frames() * SEMITONE_BANDS);
        for first in (0..analyzer.frames()).step_by(CHUNK) {
            ctx.report("onsets", first as f32 / analyzer.frames() as f32)?;
            let chunk = pitch_evidence(&ctx.quiet(), &analyzer, first..first + CHUNK)?;
            for frame in 0..chunk.frames() {
                values.extend(chunk.frame(frame).iter().map(|value| (value * STEPS).round() as u16));
            }
        }
        Ok(Self { values })
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.values.len() / SEMITONE_BANDS
    }

    /// Seconds between frames; frame 0 is at 0 s.
    pub fn step_s() -> f64 {
        samples_to_seconds(HOP, ANALYSIS_RATE)
    }

    /// Evidence for a band in a frame.
    pub fn at(&self, frame: usize, band: usize) -> f32 {
        f32::from(self.values[frame * SEMITONE_BANDS + band]) / STEPS
    }

    /// Sum over bands, for each frame of a range.
    pub fn sums(&self, frames: Range<usize>, bands: &[usize]) -> impl Iterator<Item = f32> {
        self.values[frames.start * SEMITONE_BANDS..frames.end * SEMITONE_BANDS]
            .chunks_exact(SEMITONE_BANDS)
            .map(|row| bands.iter().map(|&band| f32::from(row[band])).sum::<f32>() / STEPS)
    }
}
