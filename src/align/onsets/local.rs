//! From the path to the exact time of each chord.

use crate::align::settings::FixedNote;

use super::chord::Chord;
use super::evidence::{Evidence, Pattern};
use super::stage::Rough;
use super::voices::vertex;

/// Moves each onset from its frame to the top of the evidence between frames.
pub(super) fn between_frames(evidence: &Evidence, patterns: &[Pattern], fixed: &[(usize, f64)], times: &mut [f64]) {
    let step = Evidence::step_s();
    let last = evidence.frames() - 1;
    for (time, pattern) in times.iter_mut().zip(patterns).filter(|(_, pattern)| !pattern.bands.is_empty()) {
        let here = ((*time / step).round() as usize).min(last);
        *time = vertex(&|frame| f64::from(evidence.at(frame, pattern)), here, 0, last) * step;
    }
    put_in_order(times, fixed);
}

/// Takes from each note by how much it is heard too late.
pub(super) fn set_clock(notes: &mut [(usize, f64)], late_s: f64) {
    for (_, time) in notes {
        *time = (*time - late_s).max(0.0);
    }
}

/// Moves the notes of fixed onsets with them, keeping their spread, and puts fixed notes where they were fixed.
pub(super) fn carry_notes(chords: &[Chord], fixed: &[(usize, f64)], rough: Rough<'_>, notes: &mut [(usize, f64)]) {
    for &(knot, onset_s) in fixed {
        let of_chord = &chords[knot].notes;
        let first = notes.partition_point(|(note, _)| *note < of_chord.start);
        let own = &mut notes[first..first + of_chord.len()];
        let shift = median(own.iter().map(|note| note.1).collect()).map_or(0.0, |middle| onset_s - middle);
        for (note, time) in own {
            *time = rough.known_spread.get(note).map_or(*time + shift, |spread| onset_s + spread).max(0.0);
        }
    }
    for fixed in rough.fixed_notes {
        if let Ok(place) = notes.binary_search_by_key(&fixed.note, |(note, _)| *note) {
            notes[place].1 = fixed.performance_s;
        }
    }
}

/// The middle value, or the mean of the two in the middle; none of nothing.
pub(in crate::align) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    Some(0.5 * (values.get((values.len().max(1) - 1) / 2)? + values.get(values.len() / 2)?))
}

/// The value that half of the weight lies below; between two values where it divides evenly. None without any weight.
fn weighted_median(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * values.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut below = 0.0;
    for (index, &(value, weight)) in values.iter().enumerate() {
        below += weight;
        if below > half * (1.0 + 1e-9) {
            return Some(value);
        }
        if below >= half * (1.0 - 1e-9) && half > 0.0 {
            return Some(values.get(index + 1).map_or(value, |next| 0.5 * (value + next.0)));
        }
    }
    None
}

/// The time of a chord is the median of its notes' onsets by their weights, but for those that the user placed apart from it; never
/// backwards, and through what is fixed.
pub(super) fn medians(
    chords: &[Chord],
    notes: &[(usize, f64)],
    weights: &[f64],
    fixed: &[(usize, f64)],
    fixed_notes: &[FixedNote],
    mut times: Vec<f64>,
) -> Vec<f64> {
    let is_free = |note: usize| fixed_notes.binary_search_by_key(&note, |fixed| fixed.note).is_err();
    let mut rest = notes.iter().zip(weights);
    for (chord, time) in chords.iter().zip(&mut times) {
        let own = rest.by_ref().take(chord.notes.len()).filter(|((note, _), _)| is_free(*note));
        *time = weighted_median(own.map(|(note, &weight)| (note.1, weight)).collect()).unwrap_or(*time);
    }
    put_in_order(&mut times, fixed);
    times
}

/// Makes times go forward and pass through what is fixed.
fn put_in_order(times: &mut [f64], fixed: &[(usize, f64)]) {
    for index in 1..times.len() {
        times[index] = times[index].max(times[index - 1]);
    }
    for &(knot, time) in fixed {
        times[..knot].iter_mut().for_each(|t| *t = t.min(time));
        times[knot] = time;
        times[knot..].iter_mut().for_each(|t| *t = t.max(time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighted_median_is_the_plain_one_for_equal_weights_and_follows_the_weight() {
        let equal = |values: &[f64]| weighted_median(values.iter().map(|&value| (value, 2.0)).collect());
        for values in [&[3.0][..], &[3.0, 1.0], &[5.0, 1.0, 3.0], &[5.0, 1.0, 3.0, 4.0]] {
            assert_eq!(equal(values), median(values.to_vec()), "{values:?}");
        }
        assert_eq!(weighted_median(vec![(1.0, 1.0), (2.0, 1.0), (9.0, 5.0)]), Some(9.0));
        assert_eq!(weighted_median(vec![(1.0, 0.0), (2.0, 0.0)]), None, "notes that do not count have no say");
    }
}
