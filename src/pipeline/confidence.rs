//! Whether the recording and the score belong together, and how sure we are.

use crate::score::Score;
use crate::start::Start;

/// The verdict on an alignment.
pub(super) struct Judged {
    pub confidence: f64,
    pub warnings: Vec<String>,
}

/// A score that belongs to the recording is closer to it than the same score played backwards. The quotient of both
/// distances was 0.76 to 0.86 for 15 performances with their scores and 0.93 to 1.07 with scores of other pieces (30
/// pairs); here it is as likely that they belong together as not …
const EVEN_ODDS_QUOTIENT: f64 = 0.9;
/// … and the logarithm of the odds changes by this much per unit.
const LOG_ODDS_PER_UNIT: f64 = 55.0;
/// Below this confidence the user is told that the files may not belong together.
const DOUBTFUL: f64 = 0.5;
/// A part of the score at its start or end that is longer than this and not found is reported.
const MISSING_S: f64 = 3.0;

/// Judges the rough start.
pub(super) fn judge(start: &Start, score: &Score) -> Judged {
    let quotient = start.distance / start.chance_distance.max(f64::MIN_POSITIVE);
    let confidence = 1.0 / (1.0 + (LOG_ODDS_PER_UNIT * (quotient - EVEN_ODDS_QUOTIENT)).exp());
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::alignment::Warp;

    fn judged(distance: f64, chance_distance: f64) -> Judged {
        let score = Score::from_bytes(Path::new("score.mid"), crate::demo::score_bytes()).unwrap();
        let warp = Warp::new(vec![0.0, score.end_s()], vec![0.0, score.end_s()]).unwrap();
        judge(&Start { warp, covered_s: (0.0, score.end_s()), distance, chance_distance }, &score)
    }

    #[test]
    fn what_fits_no_better_than_chance_is_doubted_however_close_it_is() {
        assert!(judged(0.34, 0.43).confidence > 0.95);
        assert!(judged(0.34, 0.43).warnings.is_empty());
        let doubtful = judged(0.27, 0.28);
        assert!(doubtful.confidence < 0.1 && doubtful.warnings[0].starts_with("low confidence"));
        assert!(judged(0.0, 0.0).confidence.is_finite() && judged(0.3, 0.0).confidence < 0.01);
    }
}
