//! Whether the recording and the score belong together, and how sure we are.

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
/// Below this confidence the user is told that the files may not belong together.
const DOUBTFUL: f64 = 0.5;
/// A part of the score at its start or end that is longer than this and not found is reported.
const MISSING_S: f64 = 3.0;

/// Judges the rough start.
pub(super) fn judge(start: &Start, score: &Score) -> Judged {
    let confidence = 1.0 / (1.0 + (ODDS_PER_DISTANCE * (start.distance - EVEN_ODDS_DISTANCE)).exp());
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
    Judged { confidence, warnings }
}
