//! The two judgements, each a logistic regression on a few clues: was a note of the score played, and is a stroke that no note
//! explains a note of its own. The example `fit_judgement` finds the weights.

use super::strokes::{CLEAR, Stroke};

/// So far from where the alignment puts it a note may be heard. Rolled chords and ornaments spread farther than the alignment's
/// own error; what is farther off is another note.
pub(super) const REACH_S: f64 = 0.3;

/// What tells whether a note of the score was played.
pub const NOTE_CLUES: [&str; 6] = ["always", "is heard", "begins", "sounds", "away", "bass"];
/// Of 17,700 notes of pianos, real and rendered, with cadenzas, trills and wrong notes among them.
const NOTE_WEIGHTS: [f64; 6] = [-1.58, 5.34, 0.82, 0.15, -1.44, 1.21];

/// What tells whether a stroke that is no note of the score was played all the same.
pub const STROKE_CLUES: [&str; 5] = ["always", "begins", "octave above", "lower", "sure"];
/// Of 16,300 strokes of the same recordings.
const STROKE_WEIGHTS: [f64; 5] = [-2.08, 1.82, -0.28, -0.59, -0.73];

/// A note of the score as it is expected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    /// MIDI number.
    pub pitch: u8,
    /// Seconds of the performance.
    pub onset_s: f64,
}

/// The clues of a note, given the stroke that is left for it. Low notes are hardest to hear.
pub(super) fn note_clues(expected: &Expected, stroke: Option<&Stroke>) -> [f64; 6] {
    let bass = (f64::from(BASS) - f64::from(expected.pitch)).max(0.0) / 12.0;
    match stroke {
        Some(stroke) => {
            let away = ((stroke.onset_s - expected.onset_s).abs() / AWAY_S).min(MOST_AWAY);
            [1.0, 1.0, f64::from(stroke.begins), f64::from(stroke.sounds), away, bass]
        }
        None => [1.0, 0.0, 0.0, 0.0, 0.0, bass],
    }
}

/// The clues of a stroke, given how sure the alignment is round it: where something else is played than written it is not, and a
/// partial of other notes is heard everywhere.
pub(super) fn stroke_clues(stroke: &Stroke, sure: f64) -> [f64; 5] {
    [1.0, f64::from(stroke.begins), f64::from(stroke.octave), f64::from(stroke.lower), sure]
}

/// The chance that a note of the score was played.
pub(super) fn played(clues: &[f64; 6]) -> f64 {
    chance(clues.iter().zip(NOTE_WEIGHTS).map(|(clue, weight)| clue * weight).sum())
}

/// The chance that a stroke was played although the score has no note there.
pub(super) fn extra(clues: &[f64; 5]) -> f64 {
    chance(clues.iter().zip(STROKE_WEIGHTS).map(|(clue, weight)| clue * weight).sum())
}

/// What it is worth to take a stroke for a note of the score; nothing if below zero. Both are explained then: neither is the note
/// missing nor, as far as it is clear, the stroke extra.
pub(super) fn worth(expected: &Expected, stroke: &Stroke) -> f64 {
    let away = (stroke.onset_s - expected.onset_s).abs() / AWAY_S;
    let penalty = if away < TOGETHER { away * away } else { TOGETHER * (2.0 * away - TOGETHER) };
    let begins = f64::from(stroke.begins);
    UNHEARD + 0.75 * begins + 0.25 * f64::from(stroke.sounds) + EXPLAINED * chance(begins) - penalty
}

/// The chance that odds stand for.
fn chance(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// How sure a confidence is, as odds; what is beyond these tells no more.
pub(super) fn sureness(confidence: f64) -> f64 {
    let confidence = confidence.clamp(0.01, 0.995);
    (confidence / (1.0 - confidence)).ln()
}

/// What it costs to leave a note without a stroke.
const UNHEARD: f64 = 4.7;
/// So much less likely is a clear stroke that the score does not have than one that it has.
const EXPLAINED: f64 = CLEAR as f64;
/// Distances from where a note is expected are counted in these: the penalty is quadratic up to …
const AWAY_S: f64 = 0.06;
/// … so many, then linear.
const TOGETHER: f64 = 1.0;
const MOST_AWAY: f64 = 5.0;
/// Below this pitch a note is of the bass.
const BASS: u8 = 48;
