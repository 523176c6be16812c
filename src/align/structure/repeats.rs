//! Sections of the score that come twice in a row: repeats, which a performance may leave out.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::align::onsets::chords;
use crate::score::Score;

/// A way on that leaves a repeat out: from the end of what both passes share, in the first, to the same place in the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::align) struct Shortcut {
    pub from_s: f64,
    pub to_s: f64,
}

/// Shorter repeats are figures of the music, not of its form.
const SHORTEST_S: f64 = 8.0;
/// Share of a pass that both passes have in common: the rest may be a first and a second ending.
const LEAST_SHARED: f64 = 0.7;
/// The longest repeats count; more than this many would be a pattern.
const MOST: usize = 12;
/// Scores with more onsets are not searched: the search takes the square of their number.
const MOST_ONSETS: usize = 20_000;

/// The shortcuts of a score, in order.
pub(in crate::align) fn shortcuts(score: &Score) -> Vec<Shortcut> {
    let chords = chords(score);
    let count = chords.len();
    if count > MOST_ONSETS {
        return Vec::new();
    }
    let tick = |index: usize| score.notes[chords[index].notes.start].onset_tick;
    let signature = |index: usize| {
        let mut hasher = DefaultHasher::new();
        chords[index].bands.hash(&mut hasher);
        (index + 1 < count).then(|| tick(index + 1) - tick(index)).hash(&mut hasher);
        hasher.finish()
    };
    let signatures: Vec<u64> = (0..count).map(signature).collect();
    let mut found: Vec<(f64, Shortcut)> = Vec::new();
    for lag in 1..=count / 2 {
        let mut run = 0;
        for index in 0..=count - lag {
            if index < count - lag && signatures[index] == signatures[index + lag] {
                run += 1;
                continue;
            }
            if run == 0 {
                continue;
            }
            let first = index - run;
            let length_s = chords[first + lag].onset_s - chords[first].onset_s;
            if run as f64 >= LEAST_SHARED * lag as f64 && length_s >= SHORTEST_S {
                let shared = run.min(lag);
                if let Some(to) = chords.get(first + lag + shared) {
                    let from_s = chords[first + shared].onset_s;
                    found.push((length_s, Shortcut { from_s, to_s: to.onset_s }));
                }
            }
            run = 0;
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut kept: Vec<Shortcut> = Vec::new();
    for (_, shortcut) in found {
        let overlaps = |other: &Shortcut| shortcut.from_s < other.to_s && other.from_s < shortcut.to_s;
        if kept.len() < MOST && !kept.iter().any(overlaps) {
            kept.push(shortcut);
        }
    }
    kept.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    kept
}
