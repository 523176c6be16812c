//! Tuplets that show their number.

use crate::score::written::{NoteValue, Quarters, TupletEdge};

/// A note or chord of one voice, in order of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct TupletNote {
    /// Which one.
    pub chord: u32,
    /// From the bar line.
    pub at: Quarters,
    /// As it is drawn.
    pub value: NoteValue,
    /// What the file says.
    pub edge: Option<TupletEdge>,
}

/// First and last chord and the number, of each tuplet that the file shows.
pub(super) fn as_written(notes: &[TupletNote]) -> Vec<(u32, u32, u8)> {
    let mut tuplets = Vec::new();
    let mut open: Option<(u32, u8)> = None;
    for note in notes {
        if note.edge == Some(TupletEdge::Begin) {
            open = Some((note.chord, note.value.tuplet.0));
        }
        if let (Some((first, number)), Some(TupletEdge::End)) = (open, note.edge) {
            tuplets.push((first, note.chord, number));
            open = None;
        }
    }
    tuplets
}

/// The same where the file says nothing: groups that fill a whole number of the smallest value's normal time, the first of a row only.
pub(super) fn by_values(notes: &[TupletNote]) -> Vec<(u32, u32, u8)> {
    let mut tuplets = Vec::new();
    let mut index = 0;
    let mut shown_until = None;
    while index < notes.len() {
        let tuplet = notes[index].value.tuplet;
        if tuplet.0 == 1 {
            index += 1;
            continue;
        }
        let (mut sum, mut power) = (Quarters::ZERO, i8::MIN);
        let mut last = index;
        while last < notes.len() && notes[last].value.tuplet == tuplet {
            sum += notes[last].value.length();
            power = power.max(notes[last].value.power);
            let unit = NoteValue { power, dots: 0, tuplet: (1, 1) }.length().scaled(tuplet.1.into(), 1);
            if sum >= unit {
                break;
            }
            last += 1;
        }
        let last = last.min(notes.len() - 1);
        // A row of like groups shows its number once.
        let goes_on = shown_until == Some((notes[index].at, tuplet));
        if last > index && !goes_on {
            tuplets.push((notes[index].chord, notes[last].chord, tuplet.0));
        }
        shown_until = Some((notes[last].at + notes[last].value.length(), tuplet));
        index = last + 1;
    }
    tuplets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_show_their_number_once_in_a_row() {
        let value = NoteValue { power: 3, dots: 0, tuplet: (3, 2) };
        let mut at = Quarters::ZERO;
        let notes: Vec<TupletNote> = (0..6)
            .map(|chord| {
                let note = TupletNote { chord, at, value, edge: None };
                at += value.length();
                note
            })
            .collect();
        assert_eq!(by_values(&notes), [(0, 2, 3)]);
        let mut written = notes.clone();
        written[3].edge = Some(TupletEdge::Begin);
        written[5].edge = Some(TupletEdge::End);
        assert_eq!(as_written(&written), [(3, 5, 3)]);
    }
}
