//! Whether the recording and the score belong together, and how sure we are.

use crate::align::onsets::Placed;
use crate::align::start::Start;
use crate::base::percent::percent;
use crate::score::Score;

/// The verdict on an alignment.
pub(super) struct Judged {
    pub confidence: f64,
    pub warnings: Vec<String>,
}

/// Cosine distance along the rough warp at which a match is as likely as not. Fifteen performances were at 0.34 to 0.43
/// from their own scores and, with one exception that the onsets betray, at 0.51 and more from 29 other scores.
const EVEN_ODDS_DISTANCE: f64 = 0.475;
/// How sharply the odds change with the distance.
const ODDS_PER_DISTANCE: f64 = 60.0;
/// Below this confidence the user is told that the files may not belong together.
const DOUBTFUL: f64 = 0.5;
/// A part of the score at its start or end that is longer than this and not found is reported.
const MISSING_S: f64 = 3.0;

/// Judges by the rough start, and by the onsets if they were placed.
pub(super) fn judge(start: &Start, score: &Score, placed: Option<&Placed>) -> Judged {
    // Onsets of the right piece are found at a gain, 2 to 4 each; at a loss they speak against it.
    let gain = placed.map_or(0.0, |placed| -placed.objective / placed.chords.len() as f64);
    let odds = ODDS_PER_DISTANCE * (EVEN_ODDS_DISTANCE - start.distance) + gain.min(0.0);
    let confidence = 1.0 / (1.0 + (-odds).exp());
    let mut warnings = Vec::new();
    if confidence < DOUBTFUL {
        warnings.push(format!(
            "low confidence ({}): the recording and the score may not belong together",
            percent(confidence)
        ));
    }
    if start.covered_s.0 - score.first_onset_s() > MISSING_S {
        warnings.push(format!("the recording seems to begin at {:.1} s of the score", start.covered_s.0));
    }
    if score.end_s() - start.covered_s.1 > MISSING_S {
        warnings.push(format!("the recording seems to end at {:.1} s of the score", start.covered_s.1));
    }
    if confidence >= DOUBTFUL {
        warnings.extend(placed.iter().flat_map(|placed| unsupported(placed)));
    }
    Judged { confidence, warnings }
}

/// Passages whose onsets the recording hardly supports.
fn unsupported(placed: &Placed) -> Vec<String> {
    /// Onsets are judged in runs of this many.
    const RUN: usize = 16;
    /// Mean confidence of a run below which it is reported.
    const LEAST: f64 = 0.6;
    let confidence: Vec<f64> = placed.support.iter().map(|support| support.confidence()).collect();
    let mut passages: Vec<(usize, usize)> = Vec::new();
    for (first, run) in confidence.windows(RUN).enumerate() {
        if run.iter().sum::<f64>() < LEAST * RUN as f64 {
            match passages.last_mut().filter(|passage| passage.1 >= first) {
                Some(passage) => passage.1 = first + RUN - 1,
                None => passages.push((first, first + RUN - 1)),
            }
        }
    }
    let time = |index: usize| placed.warp.at(placed.chords[index].onset_s);
    let describe = |(first, last)| {
        format!(
            "from {:.1} s to {:.1} s of the recording the score is hardly heard: the alignment there is a guess",
            time(first),
            time(last)
        )
    };
    passages.into_iter().map(describe).collect()
}
