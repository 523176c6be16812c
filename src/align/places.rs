//! Places to check: passages of an alignment in which notes are likely wrong, most doubtful first.

use crate::align::onsets::{Chord, chords};
use crate::align::result::{AlignedNote, Place};
use crate::base::time::SAME_MOMENT_S;
use crate::score::Score;
use crate::warping::Warp;

/// Onsets with less confidence than this are doubtful.
const DOUBTFUL: f64 = 0.85;
/// Doubtful onsets are of one place if no more than this lies between them, in seconds of the recording …
const MOST_GAP_S: f64 = 3.0;
/// … up to a place of this length: more could not be checked at a glance.
const MOST_LENGTH_S: f64 = 15.0;
/// A place in which fewer wrong notes are expected is not worth a look.
const LEAST_WRONG_NOTES: f64 = 1.5;
/// Onsets so near to the doubtful ones are part of the place: one that is wrong takes its neighbours with it.
const AROUND_S: f64 = 1.5;

/// What is known of an onset.
struct Onset {
    score_s: f64,
    time_s: f64,
    wrong_notes: f64,
    is_fixed: bool,
    is_doubtful: bool,
}

/// The places to check of an alignment. Notes that the recording does not hold are in none, nor is what the user fixed.
pub(super) fn places(score: &Score, notes: &[AlignedNote], warp: &Warp) -> Vec<Place> {
    let onset = |chord: Chord| {
        let notes = notes.get(chord.notes)?;
        let least = notes.iter().map(|note| note.confidence).fold(1.0, f64::min);
        (least > 0.0).then(|| Onset {
            score_s: chord.onset_s,
            time_s: warp.at(chord.onset_s),
            wrong_notes: notes.iter().map(|note| 1.0 - note.confidence).sum(),
            is_fixed: notes.iter().any(|note| note.confidence >= 1.0),
            is_doubtful: least < DOUBTFUL,
        })
    };
    let onsets: Vec<Onset> = chords(score).into_iter().filter_map(onset).collect();
    let place = |(first, last): (usize, usize)| {
        let (from, to) = widened(&onsets, first, last);
        Place {
            performance_from_s: onsets[from].time_s,
            performance_to_s: onsets[to].time_s,
            score_from_s: onsets[from].score_s,
            score_to_s: onsets[to].score_s,
            expected_wrong_notes: onsets[first..=last].iter().map(|onset| onset.wrong_notes).sum(),
        }
    };
    let mut found: Vec<Place> = runs(&onsets).into_iter().map(place).collect();
    found.retain(|place| place.expected_wrong_notes >= LEAST_WRONG_NOTES);
    found.sort_by(|a, b| b.expected_wrong_notes.total_cmp(&a.expected_wrong_notes));
    found
}

/// First and last of the doubtful onsets that lie near together, with nothing fixed between them.
fn runs(onsets: &[Onset]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let doubtful = (0..onsets.len()).filter(|&index| onsets[index].is_doubtful && !onsets[index].is_fixed);
    for index in doubtful {
        let since = |other: usize| onsets[index].time_s - onsets[other].time_s;
        let goes_on = |run: &&mut (usize, usize)| {
            since(run.1) <= MOST_GAP_S + SAME_MOMENT_S
                && since(run.0) <= MOST_LENGTH_S
                && !onsets[run.1..index].iter().any(|onset| onset.is_fixed)
        };
        match runs.last_mut().filter(goes_on) {
            Some(run) => run.1 = index,
            None => runs.push((index, index)),
        }
    }
    runs
}

/// A run with the onsets near by, up to what is fixed and to the next run.
fn widened(onsets: &[Onset], first: usize, last: usize) -> (usize, usize) {
    let joins = |index: usize, end: usize| {
        let onset = &onsets[index];
        !onset.is_fixed && !onset.is_doubtful && (onset.time_s - onsets[end].time_s).abs() <= AROUND_S + SAME_MOMENT_S
    };
    let before = (0..first).rev().take_while(|&index| joins(index, first)).last();
    let after = (last + 1..onsets.len()).take_while(|&index| joins(index, last)).last();
    (before.unwrap_or(first), after.unwrap_or(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::plain_score;

    /// Two notes every half second, played at twice the time, with these confidences.
    fn of(confidences: &[f64]) -> Vec<Place> {
        let onset = |index: usize| 0.5 * index as f64;
        let pairs = (0..confidences.len()).flat_map(|index| [(onset(index), 0.4, 60), (onset(index), 0.4, 64)]);
        let score = plain_score(&pairs.collect::<Vec<_>>());
        let warp = Warp::new(vec![0.0, 100.0], vec![0.0, 200.0]).unwrap();
        let note = |onset_s: f64, confidence: f64| AlignedNote::new(onset_s, onset_s, confidence);
        let times = score.notes.iter().enumerate();
        let notes: Vec<AlignedNote> =
            times.map(|(index, at)| note(warp.at(at.onset_s), confidences[index / 2])).collect();
        places(&score, &notes, &warp)
    }

    #[test]
    fn a_sure_alignment_and_an_empty_one_have_no_places() {
        assert!(of(&[0.97; 40]).is_empty());
        assert!(of(&[]).is_empty());
        assert!(of(&[0.0; 10]).is_empty(), "what the recording does not hold cannot be checked");
    }

    #[test]
    fn doubtful_onsets_near_together_are_one_place_and_the_most_doubtful_place_comes_first() {
        let mut confidences = vec![0.95; 40];
        confidences[5..8].fill(0.4);
        for doubtful in [20, 22, 23] {
            confidences[doubtful] = 0.1;
        }
        // One onset alone is not worth a look.
        confidences[35] = 0.5;
        let found = of(&confidences);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].score_from_s, found[0].score_to_s), (9.5, 12.0));
        assert_eq!((found[0].performance_from_s, found[0].performance_to_s), (19.0, 24.0));
        assert!((found[0].expected_wrong_notes - 5.5).abs() < 1e-9, "{found:?}");
        assert_eq!((found[1].score_from_s, found[1].score_to_s), (2.0, 4.0));
    }

    #[test]
    fn what_was_fixed_ends_a_place_and_a_long_one_is_listed_in_parts() {
        let mut confidences = vec![0.2; 10];
        confidences[4] = 1.0;
        let mut found = of(&confidences);
        found.sort_by(|a, b| a.score_from_s.total_cmp(&b.score_from_s));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].score_to_s, found[1].score_from_s), (1.5, 2.5));
        let long = of(&[0.2; 40]);
        assert!(
            long.len() > 1
                && long.iter().all(|p| p.performance_to_s - p.performance_from_s <= MOST_LENGTH_S + 2.0 * AROUND_S)
        );
        let notes: f64 = long.iter().map(|place| place.expected_wrong_notes).sum();
        assert!((notes - 64.0).abs() < 1e-9, "every note is in one of them: {long:?}");
    }
}
