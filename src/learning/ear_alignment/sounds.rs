//! Recordings whose scores are truly aligned.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::align::onsets::{Chord, Evidence, chords};
use crate::audio::{self, AudioClip};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::evaluation::{BeatClock, GroundTruth, read_ground_truth};
use crate::features::estimate_tuning;
use crate::learning::PieceFiles;
use crate::networks::ear::{Levels, levels_of};
use crate::score::Score;
use crate::warping::Warp;

/// A recording, what can be heard in it, and where the chords of its score truly are.
#[derive(Debug)]
pub struct AlignedSound {
    /// What is heard without the network.
    pub(super) evidence: Evidence,
    /// What the network hears.
    pub(super) levels: Levels,
    /// The chords that the truth covers.
    pub(super) chords: Vec<Chord>,
    pub(super) truth: GroundTruth,
    /// The truth as a warp.
    pub(super) warp: Warp,
    /// The same, smooth: the tempo expected.
    pub(super) tempo: Warp,
}

/// The true warp is smoothed over this time to get the tempo that a rough start would know.
const TEMPO_SPAN_S: f64 = 1.0;

impl AlignedSound {
    /// Listens to a recording of a score.
    pub fn new(ctx: &JobContext, clip: &AudioClip, score: &Score, truth: GroundTruth) -> Result<Self> {
        let tuning = estimate_tuning(ctx, clip)?;
        let warp = Warp::new(truth.score_s.clone(), truth.performance_s.clone())?;
        let (first, last) = (truth.score_s[0], truth.score_s[truth.score_s.len() - 1]);
        let mut chords = chords(score);
        chords.retain(|chord| (first..=last).contains(&chord.onset_s));
        Ok(Self {
            evidence: Evidence::of(ctx, clip, tuning, None)?,
            levels: levels_of(ctx, clip, tuning)?,
            chords,
            truth,
            tempo: warp.smoothed(TEMPO_SPAN_S),
            warp,
        })
    }
}

/// Reads labelled pieces.
pub fn load_aligned_sounds(ctx: &JobContext, files: &[PieceFiles]) -> Result<Vec<AlignedSound>> {
    let done = AtomicUsize::new(0);
    files
        .par_iter()
        .map(|piece| {
            let quiet = ctx.quiet();
            let clip = audio::decode(&quiet, &piece.audio)?.clip;
            clip.check_usable(&piece.name)?;
            let score = Score::read(&piece.score)?;
            let truth = read_ground_truth(&piece.truth, Some(&BeatClock::of_score(&score)))?;
            let sound = AlignedSound::new(&quiet, &clip, &score, truth)?;
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            ctx.report("reading the data", count as f32 / files.len() as f32)?;
            Ok(sound)
        })
        .collect()
}
