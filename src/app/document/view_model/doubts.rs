//! Places of an alignment that deserve a look.

use super::piece::Piece;
use super::solution::Reference;
use crate::align::result::{Alignment, Place};
use crate::base::time::SAME_MOMENT_S;

/// Off the reference by more than this is doubtful.
const WRONG_S: f64 = 0.05;

/// A place to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Where it begins, in seconds of the recording.
    pub start_s: f64,
    /// Where it ends.
    pub end_s: f64,
    /// Why, in a few words.
    pub reason: String,
    /// How much, for colour: 0 to 1.
    pub severity: f64,
}

/// All places: with a reference the wrong ones in order of time, one for each bar that has any; else those that the alignment
/// lists itself, most doubtful first.
pub fn doubts(piece: &Piece, alignment: &Alignment, reference: Option<&Reference>) -> Vec<Doubt> {
    let Some(reference) = reference else { return alignment.places.iter().map(likely_wrong).collect() };
    let mut found = wrong_onsets(piece, alignment, reference);
    found.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let bars_s: Vec<f64> =
        piece.beats.iter().filter(|beat| beat.beat == 1).map(|beat| alignment.warp.at(beat.second)).collect();
    merged(found, &fixed_s(alignment), &bars_s)
}

/// Where the user has fixed something, in seconds of the recording.
fn fixed_s(alignment: &Alignment) -> Vec<f64> {
    let anchors = alignment.settings.anchors.iter().map(|anchor| anchor.performance_s);
    anchors.chain(alignment.settings.fixed_notes.iter().map(|fixed| fixed.performance_s)).collect()
}

fn wrong_onsets(piece: &Piece, alignment: &Alignment, reference: &Reference) -> Vec<Doubt> {
    let known = reference.times.score_s[0]..=reference.times.score_s[reference.times.len() - 1];
    let onsets = piece.onsets_s.iter().filter(|onset| known.contains(onset));
    onsets
        .filter_map(|&onset| {
            let (ours, truth) = (alignment.warp.at(onset), reference.times.at(onset));
            let error = ours - truth;
            let side = if error > 0.0 { "late" } else { "early" };
            (error.abs() > WRONG_S).then(|| Doubt {
                start_s: ours.min(truth),
                end_s: ours.max(truth),
                reason: format!("{:.0} ms {side}", 1e3 * error.abs()),
                severity: (error.abs() / 0.3).min(1.0),
            })
        })
        .collect()
}

/// A place of the alignment's own list.
fn likely_wrong(place: &Place) -> Doubt {
    /// Of a place with so many wrong notes the dot is half full.
    const MANY: f64 = 4.0;
    let wrong = place.expected_wrong_notes;
    let notes = wrong.round().max(1.0);
    let reason = if notes == 1.0 { "a note may be wrong".to_owned() } else { format!("{notes} notes may be wrong") };
    let (start_s, end_s) = (place.performance_from_s, place.performance_to_s);
    Doubt { start_s, end_s, reason, severity: wrong / (wrong + MANY) }
}

/// Joins what lies in one bar, unless something fixed lies between; the worst of it gives the reason.
fn merged(sorted: Vec<Doubt>, fixed_s: &[f64], bars_s: &[f64]) -> Vec<Doubt> {
    let bar_of = |time_s: f64| bars_s.partition_point(|&bar_s| bar_s <= time_s + SAME_MOMENT_S);
    let mut places: Vec<Doubt> = Vec::new();
    for doubt in sorted {
        let near = |last: &&mut Doubt| {
            let between = last.end_s..=doubt.start_s;
            bar_of(doubt.start_s) == bar_of(last.start_s) && !fixed_s.iter().any(|time_s| between.contains(time_s))
        };
        match places.last_mut().filter(near) {
            Some(last) => {
                last.end_s = last.end_s.max(doubt.end_s);
                if doubt.severity > last.severity {
                    last.severity = doubt.severity;
                    last.reason = doubt.reason;
                }
            }
            None => places.push(doubt),
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dot_of_a_place_fills_with_the_wrong_notes_that_are_expected() {
        let place = |expected_wrong_notes| Place {
            performance_from_s: 3.0,
            performance_to_s: 5.5,
            score_from_s: 2.0,
            score_to_s: 4.0,
            expected_wrong_notes,
        };
        let (few, many) = (likely_wrong(&place(1.2)), likely_wrong(&place(7.8)));
        assert_eq!((few.start_s, few.end_s, few.reason.as_str()), (3.0, 5.5, "a note may be wrong"));
        assert_eq!(many.reason, "8 notes may be wrong");
        assert!(few.severity < many.severity && many.severity < 1.0);
    }

    #[test]
    fn what_lies_in_one_bar_is_one_place_and_the_worst_gives_the_reason() {
        let doubt = |start_s: f64, severity: f64| Doubt {
            start_s,
            end_s: start_s + 0.1,
            reason: format!("{severity}"),
            severity,
        };
        let bars_s = [0.0, 3.0, 6.0, 9.0];
        let doubts = vec![doubt(1.0, 0.2), doubt(1.9, 0.7), doubt(2.5, 0.1), doubt(9.0, 0.3)];
        assert_eq!(merged(doubts.clone(), &[2.3], &bars_s).len(), 3, "what is fixed is in none of them");
        let places = merged(doubts.clone(), &[], &bars_s);
        assert_eq!(places.len(), 2);
        assert_eq!((places[0].start_s, places[0].end_s, places[0].reason.as_str()), (1.0, 2.6, "0.7"));
        // More that is doubtful never makes the list shorter.
        let more = (0..40).map(|k| doubt(0.3 * f64::from(k), 0.5)).collect();
        assert_eq!(merged(more, &[], &bars_s).len(), 4);
    }
}
