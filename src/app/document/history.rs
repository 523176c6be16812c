//! Undo and redo without limit: snapshots of what the user can change, which share everything large.

use std::sync::Arc;

use super::view_model::Solution;
use crate::align::settings::Settings;

/// What undo brings back.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Settings with anchors.
    pub settings: Settings,
    /// The solution that was shown.
    pub solution: Option<Arc<Solution>>,
    /// Stretches that were called right.
    pub accepted: Vec<(f64, f64)>,
}

/// The past and the undone future.
#[derive(Debug, Default)]
pub struct History {
    past: Vec<(Snapshot, String)>,
    future: Vec<(Snapshot, String)>,
}

impl History {
    /// Remembers how things were before a change called `label`.
    pub fn record(&mut self, before: Snapshot, label: impl Into<String>) {
        self.future.clear();
        self.past.push((before, label.into()));
    }

    /// Takes back the last change: gives what was before it.
    pub fn undo(&mut self, now: Snapshot) -> Option<Snapshot> {
        let (before, label) = self.past.pop()?;
        self.future.push((now, label));
        Some(before)
    }

    /// Makes the change that was taken back last again.
    pub fn redo(&mut self, now: Snapshot) -> Option<Snapshot> {
        let (after, label) = self.future.pop()?;
        self.past.push((now, label));
        Some(after)
    }

    /// What undo would take back.
    pub fn undo_label(&self) -> Option<&str> {
        self.past.last().map(|(_, label)| label.as_str())
    }

    /// What redo would make again.
    pub fn redo_label(&self) -> Option<&str> {
        self.future.last().map(|(_, label)| label.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(band: u32) -> Snapshot {
        let settings = Settings { band_s: Some(band.into()), ..Settings::default() };
        Snapshot { settings, solution: None, accepted: Vec::new() }
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
