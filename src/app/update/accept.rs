//! Calling passages right.

use crate::app::notice::Notice;
use crate::app::state::AppState;

/// The marked stretch, or what is visible, is right, or no longer said to be.
pub(super) fn accept(state: &mut AppState, right: bool) {
    let Some(document) = &mut state.document else { return };
    let Some(solution) = &document.solution else { return };
    let (from, to) = state.transport.marked.unwrap_or((document.view.start_s, document.view.end_s()));
    let onsets = solution.onsets_between(from, to);
    let (Some(first), Some(last)) = (onsets.first(), onsets.last()) else { return };
    let stretch = (first.score_s, last.score_s);
    let accepted = if right { joined(&document.accepted, stretch) } else { without(&document.accepted, stretch) };
    if accepted == document.accepted {
        return;
    }
    let count = onsets.len();
    document.record(if right { "acceptance of a passage" } else { "doubt about a passage" });
    document.accepted = accepted;
    let words = if right { "are called right: they can be learned from" } else { "are no longer called right" };
    state.tell(Notice::info(format!("{count} onsets {words}.")));
}

/// Stretches in order, none touching another.
fn joined(stretches: &[(f64, f64)], new: (f64, f64)) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = stretches.iter().copied().chain([new]).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (from, to) in all {
        match joined.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(to),
            None => joined.push((from, to)),
        }
    }
    joined
}

/// Stretches with one taken out.
fn without(stretches: &[(f64, f64)], (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let parts = stretches.iter().flat_map(|&(from, to)| [(from, to.min(low)), (from.max(high), to)]);
    parts.filter(|(from, to)| to > from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_join_where_they_overlap_and_are_cut_where_one_is_taken_out() {
        let stretches = joined(&joined(&[(8.0, 9.0)], (1.0, 3.0)), (2.0, 5.0));
        assert_eq!(stretches, [(1.0, 5.0), (8.0, 9.0)]);
        assert_eq!(without(&stretches, (2.0, 8.5)), [(1.0, 2.0), (8.5, 9.0)]);
        assert!(without(&stretches, (0.0, 10.0)).is_empty());
    }
}
