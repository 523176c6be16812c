//! What the confidence and the verdicts of a result rest on, for those who fit their weights: with another ear they change.

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::score::Score;

pub use super::onsets::ONSET_CLUES;
use super::onsets::OnsetParams;
use super::settings::{Method, Settings};
pub use super::verdicts::{NOTE_CLUES, NoteClues, STROKE_CLUES, StrokeClues};
use super::{Listening, confidence, notes, onset_method, played, verdicts};

/// What tells whether an onset is right.
#[derive(Debug, Clone, PartialEq)]
pub struct OnsetClues {
    /// Seconds of the score.
    pub score_s: f64,
    /// Where it was placed, in seconds of the performance.
    pub performance_s: f64,
    /// As [`ONSET_CLUES`] names them.
    pub clues: [f64; ONSET_CLUES.len()],
}

/// What a result is judged by.
#[derive(Debug, Clone, PartialEq)]
pub struct Clues {
    /// Of the onsets, in order.
    pub onsets: Vec<OnsetClues>,
    /// Of the notes of the score.
    pub notes: Vec<NoteClues>,
    /// Of the strokes that no note explains.
    pub strokes: Vec<StrokeClues>,
}

/// Places the onsets of a score, read as written, by what was heard, and says what there is to judge them by.
pub fn clues(ctx: &JobContext, listening: &Listening, score: &Score, settings: &Settings) -> Result<Clues> {
    let (Method::Onsets(method), Some(heard)) = (&settings.method, listening.evidence.heard()) else {
        return Err(Error::misplaced("clues", "the onset method with an ear", "another method"));
    };
    let params = onset_method::params(settings, method, &OnsetParams::suiting(&listening.evidence));
    let placed = onset_method::refine(ctx, listening, score, &listening.start, settings, &params)?;
    let gain = -placed.objective / placed.chords.len() as f64;
    let match_confidence = confidence::of_match(listening, score, &placed.warp, Some(gain));
    let aligned =
        notes::aligned_notes(score, &placed.warp, &placed.notes, &placed.chords, &placed.support, match_confidence);
    let chords = placed.chords.iter().zip(&placed.support).filter(|(chord, _)| !chord.notes.is_empty());
    let onsets = chords.filter_map(|(chord, support)| {
        let clues = support.hearing?.clues(support.tempo);
        Some(OnsetClues { score_s: chord.onset_s, performance_s: placed.warp.at(chord.onset_s), clues })
    });
    let standing = played::standing(score, &placed.chords);
    let (notes, strokes) = verdicts::clues(score, &aligned, &standing, heard);
    Ok(Clues { onsets: onsets.collect(), notes, strokes })
}
