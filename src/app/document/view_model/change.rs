//! What aligning again has changed.

use std::fmt;

use super::solution::Solution;

/// Onsets that moved by less than this, in milliseconds, are where they were.
const LEAST_MS: f64 = 0.5;

/// How an alignment differs from the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Whether nothing differs, not even a confidence.
    pub is_none: bool,
    /// How many onsets moved.
    pub moved: usize,
    /// How many there are.
    pub onsets: usize,
    /// By how much those moved, at the median.
    pub median_ms: f64,
    /// By how much at most.
    pub most_ms: f64,
}

impl Change {
    /// Compares two alignments of a piece.
    pub fn between(before: &Solution, after: &Solution) -> Self {
        let onsets = before.onsets.iter().zip(&after.onsets);
        let distances = onsets.map(|(before, after)| 1e3 * (after.performance_s - before.performance_s).abs());
        let mut moved: Vec<f64> = distances.filter(|&distance| distance >= LEAST_MS).collect();
        moved.sort_by(f64::total_cmp);
        let (before, now) = (&before.alignment, &after.alignment);
        Self {
            is_none: before.warp == now.warp && before.notes == now.notes,
            moved: moved.len(),
            onsets: after.onsets.len(),
            median_ms: moved.get(moved.len() / 2).copied().unwrap_or(0.0),
            most_ms: moved.last().copied().unwrap_or(0.0),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_none, moved, onsets, median_ms, most_ms } = self;
        match moved {
            0 if *is_none => write!(f, "Nothing changed."),
            0 => write!(f, "No onset moved by as much as a millisecond."),
            1 => write!(f, "1 of {onsets} onsets moved, by {most_ms:.0} ms."),
            _ => write!(
                f,
                "{moved} of {onsets} onsets moved, by {median_ms:.0} ms at the median and {most_ms:.0} ms at most."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_how_many_and_how_far() {
        let change = Change { is_none: false, moved: 312, onsets: 840, median_ms: 13.6, most_ms: 310.2 };
        assert_eq!(change.to_string(), "312 of 840 onsets moved, by 14 ms at the median and 310 ms at most.");
        assert_eq!(Change { moved: 0, ..change }.to_string(), "No onset moved by as much as a millisecond.");
        assert_eq!(Change { moved: 0, is_none: true, ..change }.to_string(), "Nothing changed.");
    }
}
