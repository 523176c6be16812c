//! Trills and repeated notes, written out where the score has a long note: figures that are rare in scores and hard to hear.

use super::excerpt::{Excerpt, TICKS_PER_BEAT, WrittenNote};
use crate::base::random::Random;

/// How long a note has to be at least, in the score's own tempo.
const LONG_S: f64 = 0.6;
/// Notes a second of trills and of repetitions, at the least and at the most.
const TRILL_PER_S: (f64, f64) = (9.0, 14.0);
const REPEATED_PER_S: (f64, f64) = (4.0, 9.0);

/// Turns some long notes of some pieces into trills or repeated notes. The score is changed: what is played is written.
pub(super) fn embellish(random: &mut Random, excerpt: &mut Excerpt) {
    if !random.chance(0.25) {
        return;
    }
    let share = random.between(0.02, 0.15);
    let mut made = Vec::with_capacity(excerpt.notes.len());
    for &note in &excerpt.notes {
        let seconds = excerpt.second(note.end_tick) - excerpt.second(note.tick);
        if !(LONG_S..=8.0 * LONG_S).contains(&seconds) || !random.chance(share) {
            made.push(note);
            continue;
        }
        let is_trill = random.chance(0.6) && note.pitch < 107;
        let (slow, fast) = if is_trill { TRILL_PER_S } else { REPEATED_PER_S };
        let step = f64::from(note.end_tick - note.tick) / (seconds * random.between(slow, fast)).round().max(2.0);
        let above = if is_trill { 1 + random.below(2) as u8 } else { 0 };
        made.extend(alternating(note, step, above));
    }
    made.sort_unstable();
    // A trill may meet a note that is written beside it.
    made.dedup_by_key(|note| (note.tick, note.pitch, note.part));
    excerpt.notes = made;
}

/// A note divided into steps, every second of them `above` semitones higher.
fn alternating(note: WrittenNote, step: f64, above: u8) -> impl Iterator<Item = WrittenNote> {
    let count = (f64::from(note.end_tick - note.tick) / step.max(f64::from(TICKS_PER_BEAT) / 32.0)).round() as u32;
    let at = move |k: u32| note.tick + (f64::from(k) * f64::from(note.end_tick - note.tick) / f64::from(count)) as u32;
    (0..count).map(move |k| WrittenNote {
        tick: at(k),
        end_tick: at(k + 1).max(at(k) + 1),
        pitch: note.pitch + above * (k % 2) as u8,
        ..note
    })
}
