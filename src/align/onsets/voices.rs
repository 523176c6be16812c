//! The notes of a chord, one by one: together unless the recording says otherwise.

use crate::align::heard::Heard;
use crate::score::Score;

use super::chord::{Chord, band_of};
use super::evidence::Evidence;
use super::params::OnsetParams;
use super::pattern;

/// Onset of each note of the score that belongs to one of the chords, and whether it is heard there.
pub(super) fn place_notes(
    evidence: &Evidence,
    score: &Score,
    chords: &[Chord],
    times: &[f64],
    params: &OnsetParams,
) -> (Vec<(usize, f64)>, Vec<bool>) {
    let step = Evidence::step_s();
    let (mut placed, mut is_heard) = (Vec::new(), Vec::new());
    for (index, chord) in chords.iter().enumerate() {
        let at = times[index];
        let room = |other: Option<&f64>| other.map_or(f64::INFINITY, |t| 0.5 * (t - at).abs());
        let earlier = params.spread_s.min(room(index.checked_sub(1).and_then(|i| times.get(i))));
        let later = params.spread_s.min(room(times.get(index + 1)));
        let first = ((at - earlier) / step).ceil().max(0.0) as usize;
        let last = (((at + later) / step).floor().max(0.0) as usize).min(evidence.frames() - 1);
        for note in chord.notes.clone() {
            // Rises of its own pitches say no more of a lone note than those of its chord said, of which the attack was part.
            if evidence.heard().is_none() && chord.bands.len() <= 1 {
                placed.push((note, at));
                is_heard.push(true);
                continue;
            }
            let Some(band) = band_of(score.notes[note].pitch) else {
                placed.push((note, at));
                is_heard.push(false);
                continue;
            };
            let pattern = pattern::of_note(chord, band, params);
            let value = |frame: usize| {
                let away = (frame as f64 * step - at) / 0.03;
                f64::from(evidence.at(frame, &pattern)) - params.spread_price * away * away
            };
            let best = (first..=last).max_by(|&a, &b| value(a).total_cmp(&value(b)));
            let by_rise = best.map_or(at, |frame| vertex(&value, frame, first, last) * step);
            let heard = evidence.heard().and_then(|heard| moment(heard, score.notes[note].pitch, by_rise));
            let onset_s = heard.map_or(by_rise, |time| {
                by_rise + params.ear_time_share * (time.clamp(at - earlier, at + later) - by_rise)
            });
            placed.push((note, onset_s));
            is_heard.push(heard.is_some() || evidence.heard().is_none());
        }
    }
    (placed, is_heard)
}

/// When the ear says that a pitch begins near a time; none if it hears nothing of it there.
fn moment(heard: &Heard, pitch: u8, near_s: f64) -> Option<f64> {
    /// Odds below exp of this are none.
    const LEAST_ODDS: f32 = -1.5;
    let middle = (near_s / Heard::step_s()).round().max(0.0) as usize;
    let frames = middle.saturating_sub(1)..=middle + 1;
    let odds = |frame: usize| heard.at(pitch, frame).begins;
    let best = frames.max_by(|&a, &b| odds(a).total_cmp(&odds(b))).filter(|&frame| odds(frame) > LEAST_ODDS)?;
    Some(heard.onset_s(pitch, best).0)
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
