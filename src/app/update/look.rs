//! Moving about.

use super::{Services, play};
use crate::app::state::AppState;
use crate::app::time_view::TimeView;

/// A doubtful place is shown with this much around it, in seconds.
const AROUND_DOUBT_S: f64 = 8.0;

pub(super) fn zoom(state: &mut AppState, factor: f64) {
    let visible = (0.0..=1.0).contains(&state.view.share_of(state.transport.position_s));
    let centre = if visible { state.transport.position_s } else { state.view.time_at(0.5) };
    state.view = state.view.zoomed(centre, factor);
}

pub(super) fn go_to(state: &mut AppState, services: &mut Services, time_s: f64) {
    play::seek(state, services, time_s);
    if state.view.span_s > AROUND_DOUBT_S {
        let close = TimeView { span_s: AROUND_DOUBT_S.min(state.view.duration_s), start_s: time_s, ..state.view };
        state.view = close.panned(-0.4 * close.span_s);
    } else {
        state.view = state.view.showing(time_s);
    }
}

pub(super) fn next_doubt(state: &mut AppState, services: &mut Services) {
    let here = state.transport.position_s + 0.01;
    let doubts = state.doubts();
    let next = doubts.iter().find(|doubt| doubt.start_s > here).or_else(|| doubts.first());
    if let Some(start_s) = next.map(|doubt| doubt.start_s) {
        go_to(state, services, start_s);
        state.selected = state.solution.as_ref().and_then(|s| s.onset_near(start_s)).map(|onset| onset.score_s);
    }
}

pub(super) fn step_onset(state: &mut AppState, services: &mut Services, step: i8) {
    let Some(solution) = &state.solution else { return };
    let onsets = &solution.onsets;
    let here = match state.selected {
        Some(score_s) => onsets.partition_point(|onset| onset.score_s < score_s),
        None => onsets.partition_point(|onset| onset.performance_s < state.transport.position_s),
    };
    let next = match (state.selected, step) {
        (None, 1..) => here,
        (_, 1..) => here + 1,
        _ => here.saturating_sub(1),
    };
    let Some(onset) = onsets.get(next.min(onsets.len().saturating_sub(1))).copied() else { return };
    state.selected = Some(onset.score_s);
    play::seek(state, services, onset.performance_s);
    state.view = state.view.showing(onset.performance_s);
}
