//! The notes of a chord, one by one: together unless the recording says otherwise.

use crate::score::Score;

use super::chord::{Chord, band_of};
use super::evidence::Evidence;
use super::params::OnsetParams;
use super::pattern;

/// Onset of each note of the score that belongs to one of the chords.
pub(super) fn place_notes(
    evidence: &Evidence,
    score: &Score,
    chords: &[Chord],
    times: &[f64],
    params: &OnsetParams,
) -> Vec<(usize, f64)> {
    let step = Evidence::step_s();
    let mut placed = Vec::new();
    for (index, chord) in chords.iter().enumerate() {
        let at = times[index];
        let room = |other: Option<&f64>| other.map_or(f64::INFINITY, |t| 0.5 * (t - at).abs());
        let earlier = params.spread_s.min(room(index.checked_sub(1).and_then(|i| times.get(i))));
        let later = params.spread_s.min(room(times.get(index + 1)));
        for note in chord.notes.clone() {
            let Some(band) = band_of(score.notes[note].pitch).filter(|_| chord.bands.len() > 1) else {
                placed.push((note, at));
                continue;
            };
            let pattern = pattern::of_note(chord, band, params);
            let first = ((at - earlier) / step).ceil().max(0.0) as usize;
            let last = (((at + later) / step).floor().max(0.0) as usize).min(evidence.frames() - 1);
            let value = |frame: usize| {
                let away = (frame as f64 * step - at) / 0.03;
                f64::from(evidence.at(frame, &pattern)) - params.spread_price * away * away
            };
            let best = (first..=last).max_by(|&a, &b| value(a).total_cmp(&value(b)));
            placed.push((note, best.map_or(at, |frame| vertex(&value, frame, first, last) * step)));
        }
    }
    placed
}

/// The top of the parabola through a value and its two neighbours.
pub(super) fn vertex(value: &dyn Fn(usize) -> f64, at: usize, first: usize, last: usize) -> f64 {
    if at <= first || at >= last {
        return at as f64;
    }
    let (left, middle, right) = (value(at - 1), value(at), value(at + 1));
    let curvature = left - 2.0 * middle + right;
    let shift = if curvature < 0.0 { 0.5 * (left - right) / curvature } else { 0.0 };
    at as f64 + shift.clamp(-0.5, 0.5)
}
