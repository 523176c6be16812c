//! The performance-aligned score against a reference: when does a note sound in both, when in one only.

use super::time_map::GroundTruth;
use crate::align::result::Alignment;
use crate::score::Score;

/// Who says that a note sounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sounding {
    /// Prediction and reference agree.
    Both,
    /// Only the prediction.
    PredictionOnly,
    /// Only the reference.
    ReferenceOnly,
}

/// A stretch of one note in the recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discrepancy {
    /// Which note of the score.
    pub note: usize,
    /// MIDI pitch.
    pub pitch: u8,
    /// Seconds of the recording.
    pub start_s: f64,
    /// Seconds of the recording, after `start_s`.
    pub end_s: f64,
    /// Who says that it sounds.
    pub sounding: Sounding,
}

/// Splits every note into stretches, note by note, in time order within a note. Beyond the ends of the reference, where
/// nothing is known, the reference is taken to be as far from the prediction as at its end.
///
/// A reference says when moments of the score are reached, not how long keys were held: where the prediction heard a note end,
/// the reference ends it as much later as it is later itself at the score's offset.
pub fn discrepancies(score: &Score, alignment: &Alignment, reference: &GroundTruth) -> Vec<Discrepancy> {
    let mut found = Vec::with_capacity(2 * score.notes.len());
    for (index, (note, aligned)) in score.notes.iter().zip(&alignment.notes).enumerate() {
        let predicted = (aligned.onset_s, aligned.offset_s);
        let onset = reference_time(alignment, reference, note.onset_s);
        let later = reference_time(alignment, reference, note.offset_s) - alignment.warp.at(note.offset_s);
        let true_span = (onset, (aligned.offset_s + later).max(onset));
        for (start_s, end_s, sounding) in split(predicted, true_span) {
            if end_s > start_s {
                found.push(Discrepancy { note: index, pitch: note.pitch, start_s, end_s, sounding });
            }
        }
    }
    found
}

fn reference_time(alignment: &Alignment, reference: &GroundTruth, score_s: f64) -> f64 {
    let known = score_s.clamp(reference.score_s[0], reference.score_s[reference.len() - 1]);
    reference.at(known) + alignment.warp.at(score_s) - alignment.warp.at(known)
}

/// Three stretches: before both sound, while both do, after. Spans that do not meet leave the middle empty.
fn split(predicted: (f64, f64), reference: (f64, f64)) -> [(f64, f64, Sounding); 3] {
    use Sounding::{Both, PredictionOnly, ReferenceOnly};
    if predicted.1 <= reference.0 || reference.1 <= predicted.0 {
        let (p, r) = ((predicted.0, predicted.1, PredictionOnly), (reference.0, reference.1, ReferenceOnly));
        let none = (0.0, 0.0, Both);
        return if predicted.0 < reference.0 { [p, r, none] } else { [r, p, none] };
    }
    let first = if predicted.0 < reference.0 { PredictionOnly } else { ReferenceOnly };
    let last = if predicted.1 > reference.1 { PredictionOnly } else { ReferenceOnly };
    let (start, end) = (predicted.0.max(reference.0), predicted.1.min(reference.1));
    let (earliest, latest) = (predicted.0.min(reference.0), predicted.1.max(reference.1));
    [(earliest, start, first), (start, end, Both), (end, latest, last)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_the_union_and_say_who_sounds() {
        use Sounding::{Both, PredictionOnly, ReferenceOnly};
        assert_eq!(
            split((1.0, 3.0), (2.0, 4.0)),
            [(1.0, 2.0, PredictionOnly), (2.0, 3.0, Both), (3.0, 4.0, ReferenceOnly)]
        );
        assert_eq!(
            split((2.0, 5.0), (1.0, 4.0)),
            [(1.0, 2.0, ReferenceOnly), (2.0, 4.0, Both), (4.0, 5.0, PredictionOnly)]
        );
        assert_eq!(split((0.0, 1.0), (1.0, 2.0))[..2], [(0.0, 1.0, PredictionOnly), (1.0, 2.0, ReferenceOnly)]);
        assert_eq!(split((3.0, 4.0), (1.0, 2.0))[..2], [(1.0, 2.0, ReferenceOnly), (3.0, 4.0, PredictionOnly)]);
    }

    proptest::proptest! {
        /// At any moment exactly the right stretch covers it.
        #[test]
        fn every_moment_is_in_the_stretch_that_the_two_spans_say(
            p in 0.0f64..2.0, pd in 0.0f64..2.0, r in 0.0f64..2.0, rd in 0.0f64..2.0, t in 0.0f64..4.0,
        ) {
            let covering: Vec<Sounding> = split((p, p + pd), (r, r + rd))
                .into_iter()
                .filter(|(start, end, _)| *start <= t && t < *end)
                .map(|(_, _, sounding)| sounding)
                .collect();
            let expected = match (p <= t && t < p + pd, r <= t && t < r + rd) {
                (true, true) => vec![Sounding::Both],
                (true, false) => vec![Sounding::PredictionOnly],
                (false, true) => vec![Sounding::ReferenceOnly],
                (false, false) => vec![],
            };
            proptest::prop_assert_eq!(covering, expected);
        }
    }
}
