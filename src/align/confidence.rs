//! How sure the result is: whether recording and score belong together, and how well the recording supports each onset where
//! the result has put it.

use crate::align::onsets::{Chord, Support};
use crate::align::result::AlignedNote;
use crate::align::start::{self, Start};
use crate::base::percent::percent;
use crate::score::Score;
use crate::warping::Warp;

use super::Listening;

/// Cosine distance along the warp at which a match is as likely as not. Fifteen performances were at 0.34 to 0.43 from their own
/// scores and, with one exception that the onsets betray, at 0.51 and more from 29 other scores.
const EVEN_ODDS_DISTANCE: f64 = 0.475;
/// How sharply the odds change with the distance.
const ODDS_PER_DISTANCE: f64 = 60.0;
/// The same for the notes that an ear heard: fifteen performances on the piano and other instruments were at 0.04 to 0.19 from their
/// own scores, nine at 0.46 and more from others.
const EVEN_ODDS_DISTANCE_OF_NOTES: f64 = 0.34;
const ODDS_PER_DISTANCE_OF_NOTES: f64 = 30.0;
/// Below this confidence the user is told that the files may not belong together.
const DOUBTFUL: f64 = 0.5;
/// A part of the score at its start or end that is longer than this and not found is reported.
const MISSING_S: f64 = 3.0;

/// How likely recording and score belong together, judged by the result: `gain` is what an onset brought on average, where
/// onsets were looked for. Those of the right piece bring 2 to 4 each; below zero they speak against it.
pub(super) fn of_match(listening: &Listening, score: &Score, warp: &Warp, gain: Option<f64>) -> f64 {
    let fits = match &listening.notes {
        Some(notes) => {
            ODDS_PER_DISTANCE_OF_NOTES * (EVEN_ODDS_DISTANCE_OF_NOTES - start::distance_along(notes, score, warp))
        }
        None => ODDS_PER_DISTANCE * (EVEN_ODDS_DISTANCE - start::distance_along(&listening.spectrum, score, warp)),
    };
    let odds = fits + gain.unwrap_or(0.0).min(0.0);
    1.0 / (1.0 + (-odds).exp())
}

/// The confidence of an alignment: the mean of its notes', without those that the recording does not hold.
pub(super) fn of_notes(notes: &[AlignedNote]) -> f64 {
    let held: Vec<f64> = notes.iter().map(|note| note.confidence).filter(|&confidence| confidence > 0.0).collect();
    held.iter().sum::<f64>() / held.len().max(1) as f64
}

/// What the user should know about the match and about passages that are hardly heard.
pub(super) fn warnings(
    match_confidence: f64,
    (start, score): (&Start, &Score),
    warp: &Warp,
    chords: &[Chord],
    support: &[Support],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if match_confidence < DOUBTFUL {
        warnings.push(format!(
            "low confidence: the recording and the score hardly match ({}) and may not belong together",
            percent(match_confidence)
        ));
    }
    if start.covered_s.0 - score.first_onset_s() > MISSING_S {
        warnings.push(format!("the recording seems to begin at {:.1} s of the score", start.covered_s.0));
    }
    if score.end_s() - start.covered_s.1 > MISSING_S {
        warnings.push(format!("the recording seems to end at {:.1} s of the score", start.covered_s.1));
    }
    if match_confidence >= DOUBTFUL {
        warnings.extend(unsupported(warp, chords, support));
    }
    warnings
}

/// Passages whose onsets the recording hardly supports.
fn unsupported(warp: &Warp, chords: &[Chord], support: &[Support]) -> Vec<String> {
    /// Onsets are judged in runs of this many.
    const RUN: usize = 16;
    /// Mean confidence of a run below which it is reported.
    const LEAST: f64 = 0.6;
    let confidence: Vec<f64> = support.iter().map(|support| support.confidence()).collect();
    let mut passages: Vec<(usize, usize)> = Vec::new();
    for (first, run) in confidence.windows(RUN).enumerate() {
        if run.iter().sum::<f64>() < LEAST * RUN as f64 {
            match passages.last_mut().filter(|passage| passage.1 >= first) {
                Some(passage) => passage.1 = first + RUN - 1,
                None => passages.push((first, first + RUN - 1)),
            }
        }
    }
    let time = |index: usize| warp.at(chords[index].onset_s);
    let describe = |(first, last)| {
        format!(
            "from {:.1} s to {:.1} s of the recording the score is hardly heard: the alignment there is a guess",
            time(first),
            time(last)
        )
    };
    passages.into_iter().map(describe).collect()
}
