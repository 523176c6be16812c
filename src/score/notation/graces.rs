//! Grace notes that wait for the note that they lead to.

use super::written::WrittenNote;

/// Grace notes of one voice whose main note has not come yet.
#[derive(Debug, Default)]
pub(super) struct Graces {
    /// Indices into the notes, and which step of the group each stands on, from 1.
    waiting: Vec<(usize, u8)>,
}

impl Graces {
    /// A grace note more, on the step of the last one if they are a chord.
    pub fn push(&mut self, note: usize, is_chord: bool) {
        let last = self.waiting.last().map_or(0, |&(_, step)| step);
        self.waiting.push((note, if is_chord { last.max(1) } else { last.saturating_add(1) }));
    }

    /// The main note has come, or the bar ends: counts the steps back from there.
    pub fn settle(&mut self, notes: &mut [WrittenNote]) {
        let steps = self.waiting.last().map_or(0, |&(_, step)| step);
        for (index, step) in self.waiting.drain(..) {
            if let Some(grace) = notes.get_mut(index).and_then(|note| note.grace.as_mut()) {
                grace.steps_before = (steps - step).saturating_add(1);
            }
        }
    }
}
