//! Which staff a note of MIDI is written on.

use crate::score::Score;
use crate::score::written::{Part, WrittenScore};

/// A part is written on two staves if at least this share of its notes is below middle C, and as many above.
const LEAST_SHARE: f64 = 0.08;
/// Middle C.
const MIDDLE: f64 = 60.0;
/// Notes that begin together and are this close are played by one hand, in semitones.
const ONE_HAND: u8 = 9;

/// Part and staff of every note; `parts` become those that are written.
pub(super) fn place(score: &Score, plain: &WrittenScore, parts: &mut Vec<Part>) -> Vec<(u16, u8)> {
    let mean = |part: u16| {
        let of_part = plain.notes.iter().filter(|note| note.part == part).map(|note| f64::from(note.pitch));
        let (sum, count) = of_part.fold((0.0, 0.0), |(sum, count), pitch| (sum + pitch, count + 1.0));
        sum / f64::max(count, 1.0)
    };
    let is_keyboard = |part: &Part| part.program.is_none_or(|program| program < 8 || (16..20).contains(&program));
    // Two tracks of a piano are its hands.
    if let [first, second] = &parts[..]
        && is_keyboard(first)
        && is_keyboard(second)
    {
        let upper = if mean(0) >= mean(1) { 0 } else { 1 };
        let name =
            if first.name == second.name || first.name.is_empty() { second.name.clone() } else { "Piano".to_owned() };
        *parts = vec![Part { staves: 2, name, ..first.clone() }];
        return plain.notes.iter().map(|note| (0, if note.part == upper { 1 } else { 2 })).collect();
    }
    for (part, of) in (0u16..).zip(parts.iter_mut()) {
        let pitches: Vec<u8> = plain.notes.iter().filter(|note| note.part == part).map(|note| note.pitch).collect();
        let share = |count: usize| count as f64 / pitches.len().max(1) as f64;
        let low = share(pitches.iter().filter(|&&pitch| f64::from(pitch) < MIDDLE).count());
        of.staves = if is_keyboard(of) && low > LEAST_SHARE && 1.0 - low > LEAST_SHARE { 2 } else { 1 };
    }
    let mut staff_of = vec![(0, 1); plain.notes.len()];
    let together = |a: &usize, b: &usize| score.notes[*a].onset_tick == score.notes[*b].onset_tick;
    for (part, of) in (0u16..).zip(parts.iter()) {
        let notes: Vec<usize> = (0..plain.notes.len()).filter(|&note| plain.notes[note].part == part).collect();
        for chord in notes.chunk_by(together) {
            let pitches = || chord.iter().map(|&note| plain.notes[note].pitch);
            let (low, high) = (pitches().min().unwrap_or(0), pitches().max().unwrap_or(0));
            let middle = pitches().map(f64::from).sum::<f64>() / chord.len() as f64;
            for &note in chord {
                let pitch = if high - low <= ONE_HAND { middle } else { plain.notes[note].pitch.into() };
                staff_of[note] = (part, if of.staves == 2 && pitch < MIDDLE { 2 } else { 1 });
            }
        }
    }
    staff_of
}
