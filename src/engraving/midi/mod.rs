//! MIDI in staff notation: staves for the hands, voices, note values, ties and rests that its notes suggest.

mod hands;
mod lengths;
mod voices;

use crate::score::written::{Clef, NoteValue, Place, Quarters, WrittenNote, WrittenRest, WrittenScore};
use crate::score::{NoteOrigin, Score, written_from_midi};

/// A stretch of a note within one bar of one staff.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    /// The note of the score.
    note: u32,
    pitch: u8,
    /// From the bar line.
    at: Quarters,
    end: Quarters,
    /// The note goes on from the bar before.
    from: bool,
    /// It goes on in the next bar.
    to: bool,
}

/// Writes a score down that has no notation of its own.
pub(super) fn notate(score: &Score) -> (WrittenScore, Vec<NoteOrigin>) {
    let plain = written_from_midi(score);
    let mut written = WrittenScore { notes: Vec::new(), pedal: Vec::new(), ..plain.clone() };
    let staff_of = hands::place(score, &plain, &mut written.parts);
    let staves: Vec<(u16, u8)> =
        (0u16..).zip(&written.parts).flat_map(|(part, of)| (1..=of.staves).map(move |staff| (part, staff))).collect();
    for &(part, staff) in &staves {
        let stretches = stretches(&plain, |note| staff_of[note] == (part, staff));
        if written.parts[usize::from(part)].staves > 1 {
            let (sign, line) = if staff == 1 { ("G", 2) } else { ("F", 4) };
            let place = Place::default();
            written.clefs.push(Clef { part, staff, place, sign: sign.to_owned(), line, octaves: 0 });
        }
        for (bar, of_bar) in stretches.iter().enumerate() {
            let length = plain.bars[bar].length;
            write_bar(&plain, (part, staff), (bar as u32, length), of_bar, &mut written);
        }
    }
    // Identifiers are the numbers of the notes, and where one begins again a tie leads to it.
    written.notes.sort_by_key(|note| note.place);
    written.rests.sort_by_key(|rest| rest.place);
    let mut origins = vec![NoteOrigin { note: u32::MAX, time: 1, stroke: 1 }; score.notes.len()];
    for (index, note) in written.notes.iter().enumerate().rev() {
        if let Some(origin) = note.id.parse::<usize>().ok().and_then(|note| origins.get_mut(note)) {
            origin.note = index as u32;
        }
    }
    (written, origins)
}

/// The notes of a staff cut at the bar lines, by bar.
fn stretches(plain: &WrittenScore, is_here: impl Fn(usize) -> bool) -> Vec<Vec<Stretch>> {
    let mut bars: Vec<Vec<Stretch>> = vec![Vec::new(); plain.bars.len()];
    for (index, note) in plain.notes.iter().enumerate().filter(|(index, _)| is_here(*index)) {
        let (mut bar, mut at) = (note.place.bar as usize, lengths::on_grid(note.place.at));
        if at >= plain.bars[bar].length && bar + 1 < plain.bars.len() {
            at = lengths::on_grid(at - plain.bars[bar].length);
            bar += 1;
        }
        let mut left = lengths::on_grid(note.duration.max(Quarters::ratio(1, 24)));
        let mut from = false;
        while left.is_positive() && bar < plain.bars.len() {
            let room = (plain.bars[bar].length - at).max(Quarters::ratio(1, 24));
            // What reaches over a bar line by next to nothing is not meant to.
            let over = left > room + Quarters::ratio(1, 8) && bar + 1 < plain.bars.len();
            let end = at + left.min(room);
            bars[bar].push(Stretch { note: index as u32, pitch: note.pitch, at, end, from, to: over });
            if !over {
                break;
            }
            (left, at, from) = (left - room, Quarters::ZERO, true);
            bar += 1;
        }
    }
    bars
}

/// Writes the notes and rests of one bar of a staff.
fn write_bar(
    plain: &WrittenScore,
    (part, staff): (u16, u8),
    (bar, length): (u32, Quarters),
    stretches: &[Stretch],
    written: &mut WrittenScore,
) {
    let chords = voices::chords(stretches, length);
    let first_voice = u16::from(staff - 1) * 4 + 1;
    let rest = |at: Quarters, duration: Quarters, whole_bar: bool| WrittenRest {
        part,
        staff,
        voice: first_voice,
        place: Place { bar, at },
        duration,
        whole_bar,
        value: whole_bar.then_some(NoteValue { power: 0, dots: 0, tuplet: (1, 1) }),
    };
    if chords.is_empty() {
        written.rests.push(rest(Quarters::ZERO, length, true));
        return;
    }
    for (at, end) in voices::gaps(&chords, length) {
        written.rests.extend(lengths::pieces(at, end - at).into_iter().map(|(at, length)| rest(at, length, false)));
    }
    for chord in &chords {
        let pieces = lengths::pieces(chord.at, chord.end - chord.at);
        for stretch in &chord.stretches {
            for (index, &(at, duration)) in pieces.iter().enumerate() {
                let of = &plain.notes[stretch.note as usize];
                written.notes.push(WrittenNote {
                    id: stretch.note.to_string(),
                    part,
                    staff,
                    voice: first_voice + chord.voice,
                    place: Place { bar, at },
                    duration,
                    tied_from: index > 0 || stretch.from,
                    tied_to: index + 1 < pieces.len() || (stretch.to && chord.end >= length),
                    ..of.clone()
                });
            }
        }
    }
}
