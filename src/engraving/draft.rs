//! Heads in playing order, each with the note of the score that it belongs to.

use std::collections::HashMap;

use crate::score::NoteOrigin;
use crate::score::written::{Quarters, WrittenNote, WrittenScore};

/// A written note that is played.
#[derive(Debug, Clone, Copy)]
pub(super) struct DraftHead {
    /// Index of the written note.
    pub written: u32,
    /// Index of the bar as played.
    pub bar: u32,
    /// Index of the staff.
    pub staff: u16,
    /// The note of the score.
    pub note: u32,
    /// That note begins here.
    pub begins: bool,
    /// The draft head from which a tie leads here.
    pub tied_from: Option<u32>,
}

/// Goes through the bars as they are played. What the score does not have, in parts that were not chosen, is left out.
pub(super) fn heads(
    written: &WrittenScore,
    order: &[u32],
    origins: &[NoteOrigin],
    staff_of: &dyn Fn(&WrittenNote) -> u16,
) -> Vec<DraftHead> {
    let of_score: HashMap<(u32, u16), u32> = origins
        .iter()
        .zip(0..)
        .filter(|(origin, _)| origin.stroke == 1)
        .map(|(origin, index)| ((origin.note, origin.time), index))
        .collect();
    let mut times = vec![0u16; written.notes.len()];
    let mut heads: Vec<DraftHead> = Vec::with_capacity(written.notes.len());
    let mut ties = OpenTies::default();
    let mut start = Quarters::ZERO;
    for (bar, &written_bar) in order.iter().enumerate() {
        let from = written.notes.partition_point(|note| note.place.bar < written_bar);
        let until = written.notes.partition_point(|note| note.place.bar <= written_bar);
        for (index, note) in written.notes.iter().enumerate().take(until).skip(from) {
            times[index] = times[index].saturating_add(1);
            let onset = start + note.place.at;
            let own = of_score.get(&(index as u32, times[index])).copied();
            let tied_from = ties.close(note, onset).filter(|_| note.tied_from);
            let joined = tied_from.map(|from| heads[from as usize].note);
            let Some(of_head) = own.or(joined) else { continue };
            heads.push(DraftHead {
                written: index as u32,
                bar: bar as u32,
                staff: staff_of(note),
                note: of_head,
                begins: own.is_some(),
                tied_from,
            });
            ties.open(note, onset, heads.len() as u32 - 1);
        }
        start += written.bars[written_bar as usize].length;
    }
    heads
}

/// A head from which a tie leads on, with its end and voice.
type OpenTie = (u32, Quarters, u16);

/// All of them by part and pitch.
#[derive(Default)]
struct OpenTies(HashMap<(u16, u8), Vec<OpenTie>>);

impl OpenTies {
    /// The head that is tied to a note.
    fn close(&mut self, note: &WrittenNote, onset: Quarters) -> Option<u32> {
        let open = self.0.get_mut(&(note.part, note.pitch))?;
        open.retain(|&(_, end, _)| end >= onset || meet(end, onset));
        if !note.tied_from {
            return None;
        }
        let fits = |&(_, end, _): &OpenTie| meet(end, onset);
        let same_voice = open.iter().position(|held| held.2 == note.voice && fits(held));
        let position = same_voice.or_else(|| open.iter().position(fits))?;
        Some(open.swap_remove(position).0)
    }

    fn open(&mut self, note: &WrittenNote, onset: Quarters, head: u32) {
        if note.tied_to {
            self.0.entry((note.part, note.pitch)).or_default().push((head, onset + note.duration, note.voice));
        }
    }
}

/// Two ends that are meant to meet may miss by the rounding of a file's divisions.
fn meet(end: Quarters, onset: Quarters) -> bool {
    end.max(onset) - end.min(onset) < Quarters::ratio(1, 100)
}
