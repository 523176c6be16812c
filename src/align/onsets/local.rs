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

/// The time of a chord is the median of its notes' onsets, of those that are heard if any is, but for those that the user placed apart
/// from it; never backwards, and through what is fixed. No note counts more than another: hands are played apart, and a chord would
/// be where its clearest note, the melody, is.
pub(super) fn medians(
    chords: &[Chord],
    notes: &[(usize, f64)],
    is_heard: &[bool],
    fixed: &[(usize, f64)],
    fixed_notes: &[FixedNote],
    mut times: Vec<f64>,
) -> Vec<f64> {
    let is_free = |note: usize| fixed_notes.binary_search_by_key(&note, |fixed| fixed.note).is_err();
    let mut rest = notes.iter().zip(is_heard);
    for (chord, time) in chords.iter().zip(&mut times) {
        let own: Vec<_> = rest.by_ref().take(chord.notes.len()).filter(|((note, _), _)| is_free(*note)).collect();
        let heard = own.iter().filter(|(_, is_heard)| **is_heard).map(|(note, _)| note.1).collect();
        let all = || median(own.iter().map(|(note, _)| note.1).collect());
        *time = median(heard).or_else(all).unwrap_or(*time);
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
    fn a_chord_is_at_the_median_of_the_notes_that_are_heard_or_else_of_all() {
        let chord = |notes: std::ops::Range<usize>| Chord { onset_s: notes.start as f64, notes, bands: Vec::new() };
        let chords = [chord(0..2), chord(2..5), chord(5..7), chord(7..7)];
        let notes: Vec<_> = [1.0, 1.1, 2.0, 2.3, 2.1, 3.0, 3.2].into_iter().enumerate().collect();
        let is_heard = [true, true, true, false, true, false, false];
        let times = medians(&chords, &notes, &is_heard, &[], &[], vec![9.0; 4]);
        let expected = [1.05, 2.05, 3.1, 9.0];
        assert!(times.iter().zip(expected).all(|(time, expected)| (time - expected).abs() < 1e-12), "{times:?}");
    }
}
