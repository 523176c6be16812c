//! Where the score leaves the number of notes to the player: ornaments and tremolos.

use super::playing::Played;
use super::quarters::Quarters;
use super::written::{Mark, WrittenNote, WrittenScore};
use crate::score::types::Liberty;

/// Neighbours that an ornament may touch, in semitones.
const NEIGHBOURS: i32 = 2;

/// The liberties of a score that was played out, by where they begin.
pub(super) fn liberties(written: &WrittenScore, played: &Played, to_ticks: impl Fn(Quarters) -> u64) -> Vec<Liberty> {
    let mut found: Vec<Liberty> = Vec::new();
    for one in &played.notes {
        let note = &written.notes[one.note as usize];
        let pitches = pitches(note);
        if !pitches.is_empty() {
            found.push(Liberty { tick: to_ticks(one.onset), track: note.part, pitch: note.pitch, pitches });
        }
    }
    found.sort_by_key(|liberty| (liberty.tick, liberty.pitch, liberty.track));
    found
}

/// The pitches that may be struck any number of times.
fn pitches(note: &WrittenNote) -> Vec<u8> {
    let has = |is: &dyn Fn(&Mark) -> bool| note.marks.iter().any(is);
    let reach = if has(&|mark| matches!(mark, Mark::Ornament(_))) {
        NEIGHBOURS
    } else if has(&|mark| matches!(mark, Mark::Tremolo { .. })) {
        0
    } else {
        return Vec::new();
    };
    (-reach..=reach)
        .filter_map(|by| u8::try_from(i32::from(note.pitch) + by).ok())
        .filter(|&pitch| pitch < 128)
        .collect()
}
