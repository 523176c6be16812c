//! Moving about.

use super::{Services, play, with_document};
use crate::app::state::AppState;
use crate::app::time_view::TimeView;

/// A doubtful place is shown with this much around it, in seconds.
const AROUND_DOUBT_S: f64 = 8.0;

/// Changes what is visible.
pub(super) fn show(state: &mut AppState, change: impl FnOnce(TimeView) -> TimeView) {
    with_document(state, |document| document.view = change(document.view));
}

pub(super) fn zoom(state: &mut AppState, factor: f64) {
    let position_s = state.transport.position_s;
    show(state, |view| {
        let visible = (0.0..=1.0).contains(&view.share_of(position_s));
        view.zoomed(if visible { position_s } else { view.time_at(0.5) }, factor)
    });
}

pub(super) fn go_to(state: &mut AppState, services: &mut Services, time_s: f64) {
    play::seek(state, services, time_s);
    show(state, |view| {
        if view.span_s <= AROUND_DOUBT_S {
            return view.showing(time_s);
        }
        let close = TimeView { span_s: AROUND_DOUBT_S.min(view.duration_s), start_s: time_s, ..view };
        close.panned(-0.4 * close.span_s)
    });
}

pub(super) fn next_doubt(state: &mut AppState, services: &mut Services) {
    let Some(document) = &mut state.document else { return };
    let here = state.transport.position_s + 0.01;
    let doubts = document.doubts();
    let earliest = |from_s: f64| {
        let after = doubts.iter().filter(|doubt| doubt.start_s > from_s);
        after.min_by(|a, b| a.start_s.total_cmp(&b.start_s))
    };
    let next = earliest(here).or_else(|| earliest(f64::NEG_INFINITY));
    if let Some(start_s) = next.map(|doubt| doubt.start_s) {
        let solution = document.solution.as_ref();
        let nearest = solution.and_then(|s| s.onset_near(start_s)).map(|onset| onset.score_s);
        document.select(nearest);
        go_to(state, services, start_s);
    }
}

pub(super) fn step_onset(state: &mut AppState, services: &mut Services, step: i8) {
    let Some(document) = &mut state.document else { return };
    let Some(solution) = &document.solution else { return };
    let onsets = &solution.onsets;
    let here = match document.selected {
        Some(score_s) => onsets.partition_point(|onset| onset.score_s < score_s),
        None => onsets.partition_point(|onset| onset.performance_s < state.transport.position_s),
    };
    let next = match (document.selected, step) {
        (None, 1..) => here,
        (_, 1..) => here + 1,
        _ => here.saturating_sub(1),
    };
    let Some(onset) = onsets.get(next.min(onsets.len().saturating_sub(1))).copied() else { return };
    document.select(Some(onset.score_s));
    document.view = document.view.showing(onset.performance_s);
    play::seek(state, services, onset.performance_s);
}

/// To the neighbour of the selected note in its voice; without a selected note to the highest of the selected onset.
pub(super) fn step_in_voice(state: &mut AppState, services: &mut Services, step: i8) {
    let Some(document) = &mut state.document else { return };
    let note = match (document.selected_note, document.selected) {
        (Some(note), _) => document.piece.engraving.neighbour(note, step),
        (None, Some(score_s)) => document.chord_at(score_s).last().copied(),
        (None, None) => return step_onset(state, services, step),
    };
    let Some(note) = note else { return };
    document.select_note(note);
    if let Some(performance_s) = document.place_of_note(note) {
        document.view = document.view.showing(performance_s);
        play::seek(state, services, performance_s);
    }
}
