//! Recordings whose scores are truly aligned.

use sha2::{Digest, Sha256};

use super::super::data::{PieceFiles, load_all};
use super::levels::Levels;
use crate::align::onsets::{Chord, Evidence, chords};
use crate::audio::{self, AudioClip};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::evaluation::{BeatClock, GroundTruth, read_ground_truth};
use crate::features::estimate_tuning;
use crate::score::Score;
use crate::warping::Warp;

/// A recording, what can be heard in it, and where the chords of its score truly are.
#[derive(Debug)]
pub(in crate::learning) struct AlignedSound {
    /// What is heard without the network.
    pub evidence: Evidence,
    /// What the network hears.
    pub levels: Levels,
    /// The chords that the truth covers.
    pub chords: Vec<Chord>,
    pub truth: GroundTruth,
    /// The truth as a warp.
    pub warp: Warp,
    /// The same, smooth: the tempo expected.
    pub tempo: Warp,
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
            levels: Levels::of(ctx, clip, tuning)?,
            chords,
            truth,
            tempo: warp.smoothed(TEMPO_SPAN_S),
            warp,
        })
    }

    /// Adds to a hash what tells this sound from others.
    pub fn identify(&self, hasher: &mut Sha256) {
        self.levels.identify(hasher);
        for times in [&self.truth.score_s, &self.truth.performance_s] {
            times.iter().for_each(|time| hasher.update(time.to_le_bytes()));
        }
        self.chords.iter().for_each(|chord| hasher.update(chord.onset_s.to_le_bytes()));
    }
}

/// Reads labelled pieces.
pub(in crate::learning) fn load_aligned_sounds(ctx: &JobContext, files: &[PieceFiles]) -> Result<Vec<AlignedSound>> {
    load_all(ctx, files, |ctx, piece| {
        let clip = audio::decode(ctx, &piece.audio)?.clip;
        clip.check_usable(&piece.name)?;
        let score = Score::read(&piece.score)?;
        let truth = read_ground_truth(&piece.truth, Some(&BeatClock::of_score(&score)))?;
        AlignedSound::new(ctx, &clip, &score, truth)
    })
}
