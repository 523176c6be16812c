//! From the path to the exact time of each chord.

use super::chord::Chord;
use super::evidence::{Evidence, Pattern};
use super::voices::vertex;

/// How much later than its hammer a note is heard, as far as the evidence does not know: real pianos are late by 3 ms without it,
/// rendered ones early by 0.5.
const CLOCK_S: f64 = 0.0005;

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

/// Takes from each note what it is heard too late; those of fixed chords are where they were fixed.
pub(super) fn set_clock(chords: &[Chord], fixed: &[(usize, f64)], notes: &mut [(usize, f64)]) {
    for (note, time) in notes {
        if !fixed.iter().any(|&(knot, _)| chords[knot].notes.contains(note)) {
            *time = (*time - CLOCK_S).max(0.0);
        }
    }
}

/// The time of a chord is the median of its notes' onsets; never backwards, and through what is fixed.
pub(super) fn medians(
    chords: &[Chord],
    notes: &[(usize, f64)],
    fixed: &[(usize, f64)],
    mut times: Vec<f64>,
) -> Vec<f64> {
    let mut rest = notes;
    for (chord, time) in chords.iter().zip(&mut times) {
        let (own, others) = rest.split_at(chord.notes.len());
        rest = others;
        let mut onsets: Vec<f64> = own.iter().map(|note| note.1).collect();
        onsets.sort_by(f64::total_cmp);
        if let (Some(low), Some(high)) = (onsets.get((onsets.len().max(1) - 1) / 2), onsets.get(onsets.len() / 2)) {
            *time = 0.5 * (low + high);
        }
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
