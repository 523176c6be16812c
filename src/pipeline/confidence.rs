//! Whether the recording and the score belong together, and how sure we are.

use crate::onsets::Placed;
use crate::score::Score;
use crate::start::Start;

/// The verdict on an alignment.
pub(super) struct Judged {
    pub confidence: f64,
    pub warnings: Vec<String>,
}

/// Cosine distance along the warp at which a match is as likely as not.
const EVEN_ODDS_DISTANCE: f64 = 0.45;
/// How sharply the odds change with the distance.
const ODDS_PER_DISTANCE: f64 = 40.0;
/// With onsets placed: the gain per onset (minus the objective per knot) less this much times the distance …
const GAIN_PER_DISTANCE: f64 = 5.0;
/// … at which a match is as likely as not. Nine pieces against each other's scores gave 0.94 and more for true pairs (the least
/// was a virtuoso study), 0.58 and less for the 72 false ones.
const EVEN_ODDS_GAIN: f64 = 0.75;
/// How sharply the odds change with the gain.
const ODDS_PER_GAIN: f64 = 12.0;
/// Below this confidence the user is told that the files may not belong together.
const DOUBTFUL: f64 = 0.5;
/// A part of the score at its start or end that is longer than this and not found is reported.
const MISSING_S: f64 = 3.0;

/// Judges by the onsets if they were placed, else by the rough start alone.
pub(super) fn judge(start: &Start, score: &Score, placed: Option<&Placed>) -> Judged {
    let odds = match placed {
        Some(placed) => {
            let gain = -placed.objective / placed.chords.len() as f64 - GAIN_PER_DISTANCE * start.distance;
            ODDS_PER_GAIN * (gain - EVEN_ODDS_GAIN)
        }
        None => ODDS_PER_DISTANCE * (EVEN_ODDS_DISTANCE - start.distance),
    };
    let confidence = 1.0 / (1.0 + (-odds).exp());
    let mut warnings = Vec::new();
    if confidence < DOUBTFUL {
        warnings.push(format!(
            "low confidence ({:.0} %): the recording and the score may not belong together",
            100.0 * confidence
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
    let time = |index: usize| placed.warp.performance_s()[index];
    let describe = |(first, last)| {
        format!(
            "from {:.1} s to {:.1} s of the recording the score is hardly heard: the alignment there is a guess",
            time(first),
            time(last)
        )
    };
    passages.into_iter().map(describe).collect()
}
