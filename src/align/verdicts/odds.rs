//! The two judgements as logistic models of a few features: was a note of the score played, and is a stroke that no note explains a
//! note of its own.

use super::strokes::{CLEAR, Stroke};

/// So far from where the alignment puts it a note may be heard. Rolled chords and ornaments spread farther than the alignment's
/// own error; what is farther off is another note.
pub(super) const REACH_S: f64 = 0.15;

/// What is known of a note of the score when it is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    /// Seconds of the performance.
    pub onset_s: f64,
}

/// Odds that a note of the score was played, given the stroke that is left for it.
pub(super) fn played(expected: &Expected, stroke: Option<&Stroke>) -> f64 {
    stroke.map_or(UNHEARD, |stroke| heard(stroke, stroke.onset_s - expected.onset_s))
}

/// What it is worth to take a stroke for a note of the score; nothing if below zero. Both are explained then: neither is the note
/// missing nor, as far as it is clear, the stroke extra.
pub(super) fn worth(expected: &Expected, stroke: &Stroke) -> f64 {
    let explained = EXPLAINED * chance(f64::from(stroke.begins));
    heard(stroke, stroke.onset_s - expected.onset_s) - UNHEARD + explained
}

fn heard(stroke: &Stroke, away_s: f64) -> f64 {
    let away = away_s / AWAY_S;
    let sound = f64::from(stroke.sounds);
    2.2 + 0.75 * f64::from(stroke.begins) + 0.25 * sound - away * away
}

/// Odds that a stroke that is no note of the score was played all the same.
pub(super) fn extra(stroke: &Stroke, since_same_s: f64) -> f64 {
    let again = (1.0 - since_same_s / AGAIN_S).max(0.0);
    let sounds = f64::from(stroke.sounds.min(CLEAR));
    -1.0 + 0.8 * f64::from(stroke.begins) + 0.35 * sounds - 0.5 * f64::from(stroke.rival) - 2.0 * again
}

/// The chance that odds stand for.
pub(super) fn chance(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// Odds that a note of which nothing is heard was played.
const UNHEARD: f64 = -2.5;
/// So much less likely is a clear stroke that the score does not have than one that it has.
const EXPLAINED: f64 = 4.0;
/// At this distance from its place a stroke loses odds by one.
const AWAY_S: f64 = 0.06;
/// A stroke this soon after another of its pitch may be the same one, heard twice.
const AGAIN_S: f64 = 0.15;
