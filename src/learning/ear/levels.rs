//! What an ear hears of a recording that it learns from, kept small.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;
use crate::features::{EAR_HOP, EAR_ROW, EarAnalyzer};

/// Steps per unit of a stored level. Levels are at most 8.
const STEPS: f32 = 8000.0;
/// Frames that are analysed at a time.
const CHUNK: usize = 4096;

/// Frames of the ear per second.
pub(super) const FRAMES_PER_S: f64 = ANALYSIS_RATE as f64 / EAR_HOP as f64;

/// Levels of a whole recording: an hour takes 270 MB.
#[derive(Debug, Clone)]
pub(in crate::learning) struct Levels {
    rows: Vec<u16>,
}

impl Levels {
    /// Those of a recording that is tuned `tuning_semitones` above A = 440 Hz.
    pub fn of(ctx: &JobContext, clip: &AudioClip, tuning_semitones: f64) -> Result<Self> {
        let analyzer = EarAnalyzer::new(ctx, clip, tuning_semitones)?;
        let frames = analyzer.frames();
        let mut rows = Vec::with_capacity(frames * EAR_ROW);
        for first in (0..frames).step_by(CHUNK) {
            let levels = analyzer.levels(ctx, first..(first + CHUNK).min(frames))?;
            rows.extend(levels.iter().map(|level| (STEPS * level).round() as u16));
        }
        Ok(Self { rows })
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.rows.len() / EAR_ROW
    }

    /// The rows of some frames; beyond the recording there is silence.
    pub fn rows(&self, frames: Range<isize>) -> Vec<f32> {
        let mut rows = vec![0.0; frames.len() * EAR_ROW];
        for (frame, row) in frames.zip(rows.chunks_exact_mut(EAR_ROW)) {
            let Some(frame) = usize::try_from(frame).ok().filter(|&frame| frame < self.frames()) else { continue };
            let stored = &self.rows[frame * EAR_ROW..(frame + 1) * EAR_ROW];
            row.iter_mut().zip(stored).for_each(|(level, &stored)| *level = f32::from(stored) / STEPS);
        }
        rows
    }

    /// Adds all stored values to a hash.
    pub fn identify(&self, hasher: &mut Sha256) {
        self.rows.iter().for_each(|level| hasher.update(level.to_le_bytes()));
    }
}
