//! Undo and redo: snapshots of what the user can change, which share everything large. They go back thousands of steps; what
//! they hold is bounded, so that a day's work takes no more memory than an hour's.

use std::collections::VecDeque;
use std::sync::Arc;

use super::view_model::Solution;
use crate::align::settings::{FixedNote, Settings};

/// How many steps can be taken back; the oldest go first.
pub const MOST_STEPS: usize = 10_000;
/// Alignments of the nearest steps are kept up to this many bytes. Those of farther steps are found again when they are needed,
/// from the settings and corrections, which are small.
pub const MOST_SOLUTION_BYTES: usize = 100_000_000;
/// Settings and corrections are kept up to this many bytes; the oldest steps go first.
pub const MOST_SETTING_BYTES: usize = 50_000_000;

/// What undo brings back.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Settings with anchors.
    pub settings: Settings,
    /// The solution that was shown.
    pub solution: Option<Arc<Solution>>,
    /// Whether there was one that is not kept any more: it must be found again.
    pub forgotten: bool,
    /// Stretches that were called right.
    pub accepted: Vec<(f64, f64)>,
}

impl Snapshot {
    fn setting_bytes(&self) -> usize {
        size_of::<(Self, String)>()
            + self.settings.corrections() * size_of::<FixedNote>()
            + size_of_val(self.accepted.as_slice())
    }

    fn forget_solution(&mut self) {
        self.forgotten |= self.solution.take().is_some();
    }
}

/// The past and the undone future, the nearest at the end of each.
#[derive(Debug, Default)]
pub struct History {
    past: VecDeque<(Snapshot, String)>,
    future: Vec<(Snapshot, String)>,
}

impl History {
    /// Remembers how things were before a change called `label`.
    pub fn record(&mut self, before: Snapshot, label: impl Into<String>) {
        self.future.clear();
        self.past.push_back((before, label.into()));
        self.keep_within(MOST_SOLUTION_BYTES, MOST_SETTING_BYTES);
    }

    /// Takes back the last change: gives what was before it.
    pub fn undo(&mut self, now: Snapshot) -> Option<Snapshot> {
        let (before, label) = self.past.pop_back()?;
        self.future.push((now, label));
        self.keep_within(MOST_SOLUTION_BYTES, MOST_SETTING_BYTES);
        Some(before)
    }

    /// Makes the change that was taken back last again.
    pub fn redo(&mut self, now: Snapshot) -> Option<Snapshot> {
        let (after, label) = self.future.pop()?;
        self.past.push_back((now, label));
        Some(after)
    }

    /// What undo would take back.
    pub fn undo_label(&self) -> Option<&str> {
        self.past.back().map(|(_, label)| label.as_str())
    }

    /// What redo would make again.
    pub fn redo_label(&self) -> Option<&str> {
        self.future.last().map(|(_, label)| label.as_str())
    }

    /// How many steps there are, back and forth, and about how many bytes they hold: alignments, and everything else.
    pub fn size(&self) -> (usize, usize, usize) {
        let mut solutions = Solutions::default();
        let nearest = self.past.iter().rev().chain(self.future.iter().rev());
        let settings = nearest.map(|(snapshot, _)| {
            solutions.add(snapshot);
            snapshot.setting_bytes()
        });
        let settings = settings.sum();
        (self.past.len() + self.future.len(), solutions.bytes, settings)
    }

    /// Forgets what is farthest in the past, until the rest takes no more than this.
    fn keep_within(&mut self, solution_bytes: usize, setting_bytes: usize) {
        let mut solutions = Solutions::default();
        let mut settings = 0;
        let mut kept = 0;
        for (snapshot, _) in self.future.iter_mut().rev().chain(self.past.iter_mut().rev()) {
            settings += snapshot.setting_bytes();
            if settings > setting_bytes || kept == MOST_STEPS {
                break;
            }
            kept += 1;
            if solutions.add(snapshot) > solution_bytes {
                snapshot.forget_solution();
            }
        }
        // The undone future is a past that was within the bounds.
        let past = kept.saturating_sub(self.future.len());
        self.past.drain(..self.past.len() - past.min(self.past.len()));
    }
}

/// Adds up solutions, each once: neighbours share theirs where a change did not touch it.
#[derive(Default)]
struct Solutions {
    last: Option<*const Solution>,
    bytes: usize,
}

impl Solutions {
    fn add(&mut self, snapshot: &Snapshot) -> usize {
        if let Some(solution) = &snapshot.solution
            && self.last.replace(Arc::as_ptr(solution)) != Some(Arc::as_ptr(solution))
        {
            self.bytes += solution.bytes();
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(band: u32) -> Snapshot {
        let settings = Settings { band_s: Some(band.into()), ..Settings::default() };
        Snapshot { settings, solution: None, forgotten: false, accepted: Vec::new() }
    }

    #[test]
    fn undo_and_redo_walk_the_same_road() {
        let mut history = History::default();
        for band in 100..600 {
            history.record(snapshot(band), "change");
        }
        let mut now = snapshot(600);
        for band in (100..600).rev() {
            now = history.undo(now).unwrap();
            assert_eq!(now.settings.band_s, Some(band.into()));
        }
        assert!(history.undo(now.clone()).is_none());
        for band in 101..=600 {
            now = history.redo(now).unwrap();
            assert_eq!(now.settings.band_s, Some(band.into()));
        }
        history.undo(now).unwrap();
        history.record(snapshot(1), "something else");
        assert!(history.redo_label().is_none(), "a new change ends the undone future");
        assert_eq!(history.undo_label(), Some("something else"));
    }
}
