//! Undo and redo: snapshots of what the user can change, which share everything large. They go back thousands of steps; what
//! they hold is bounded, so that a day's work takes no more memory than an hour's.

use std::collections::{HashSet, VecDeque};
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
        self.keep_within(MOST_SOLUTION_BYTES, MOST_SETTING_BYTES);
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
        let mut settings = 0;
        for (snapshot, _) in self.past.iter().chain(&self.future) {
            solutions.fit(snapshot, usize::MAX);
            settings += snapshot.setting_bytes();
        }
        (self.past.len() + self.future.len(), solutions.bytes, settings)
    }

    /// Forgets what is farthest from the present, until the rest takes no more than this.
    fn keep_within(&mut self, solution_bytes: usize, setting_bytes: usize) {
        let mut solutions = Solutions::default();
        let (mut past, mut future) = (self.past.iter_mut().rev(), self.future.iter_mut().rev());
        loop {
            let nearest = [past.next(), future.next()];
            if nearest.iter().all(Option::is_none) {
                break;
            }
            for (snapshot, _) in nearest.into_iter().flatten() {
                if !solutions.fit(snapshot, solution_bytes) {
                    snapshot.forget_solution();
                }
            }
        }
        // The undone future was the past once, and within the bounds.
        let mut settings: usize = self.future.iter().map(|(snapshot, _)| snapshot.setting_bytes()).sum();
        let fits = |(snapshot, _): &&(Snapshot, String)| {
            settings += snapshot.setting_bytes();
            settings <= setting_bytes
        };
        let most_steps = MOST_STEPS.saturating_sub(self.future.len());
        let kept = self.past.iter().rev().take(most_steps).take_while(fits).count();
        self.past.drain(..self.past.len() - kept);
    }
}

/// Adds up solutions, each once: steps share theirs where a change did not touch it.
#[derive(Default)]
struct Solutions {
    counted: HashSet<*const Solution>,
    bytes: usize,
}

impl Solutions {
    /// Counts the solution of a snapshot, if it fits in.
    fn fit(&mut self, snapshot: &Snapshot, most_bytes: usize) -> bool {
        let Some(solution) = &snapshot.solution else { return true };
        if self.counted.contains(&Arc::as_ptr(solution)) {
            return true;
        }
        let fits = self.bytes + solution.bytes() <= most_bytes;
        if fits {
            self.counted.insert(Arc::as_ptr(solution));
            self.bytes += solution.bytes();
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::ui::frame_time_tests::small_solution;

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

    #[test]
    fn the_oldest_steps_go_when_there_are_too_many() {
        let mut history = History::default();
        for band in 0..MOST_STEPS as u32 + 5 {
            history.record(snapshot(band), "change");
        }
        assert_eq!(history.size().0, MOST_STEPS);
        let mut now = snapshot(u32::MAX);
        while let Some(before) = history.undo(now.clone()) {
            now = before;
        }
        assert_eq!(now.settings.band_s, Some(5.0), "the first five are gone");
        assert_eq!(history.size().0, MOST_STEPS, "what was undone can be done again");
    }

    #[test]
    fn settings_are_bounded_in_bytes() {
        let mut history = History::default();
        let accepted = vec![(0.0, 1.0); 1000];
        for band in 0..100 {
            history.record(Snapshot { accepted: accepted.clone(), ..snapshot(band) }, "change");
        }
        history.keep_within(0, 160_000);
        let (steps, _, bytes) = history.size();
        assert!(bytes <= 160_000 && steps == 9, "{steps} steps of {bytes} bytes");
    }

    #[test]
    fn alignments_far_from_the_present_are_forgotten_on_both_sides_and_shared_ones_count_once() {
        let solution = || Some(Arc::new(small_solution()));
        let one = solution().map_or(0, |solution| solution.bytes());
        let with = |band, solution| Snapshot { solution, ..snapshot(band) };
        let mut history = History::default();
        for band in 0..4 {
            history.record(with(band, solution()), "change");
        }
        let shared = solution();
        history.record(with(4, shared.clone()), "change");
        history.record(with(5, shared), "change");
        assert_eq!(history.size().1, 5 * one);
        // Now 5 is the present; 4 shares its alignment with it, 6 lies ahead.
        let now = history.undo(with(6, solution())).unwrap();
        assert_eq!(now.settings.band_s, Some(5.0));
        history.keep_within(3 * one, usize::MAX);
        assert_eq!(history.size(), (6, 3 * one, history.size().2));
        let forgotten = |steps: &mut dyn Iterator<Item = &(Snapshot, String)>| {
            steps.map(|(snapshot, _)| snapshot.forgotten).collect::<Vec<bool>>()
        };
        assert_eq!(forgotten(&mut history.past.iter()), [true, true, true, false, false], "the farthest of the past");
        assert_eq!(forgotten(&mut history.future.iter()), [false], "the nearest of the future");
    }
}
