//! Correcting: anchors, settings, undo.

use std::sync::Arc;

use super::{Services, play, start_aligning};
use crate::align::settings::{Anchor, Settings};
use crate::app::document::history::Snapshot;
use crate::app::document::view_model::Solution;
use crate::app::section;
use crate::app::state::{AppState, Work};
use crate::app::work::tasks::Task;
use crate::app::work::worker::Slot;

/// Anchors of the same moment of the score.
const SAME_MOMENT_S: f64 = 1e-6;
/// Two anchors are at least this far apart in the recording.
const CLOSEST_S: f64 = 0.002;
/// How far a dragged onset snaps, in seconds …
const SNAP_S: f64 = 0.03;
/// … and as a share of the view, so that it can be placed freely in a close look.
const SNAP_SHARE: f64 = 0.008;

pub(super) fn set_settings(state: &mut AppState, settings: Settings) {
    if settings == state.settings {
        return;
    }
    state.history.record(state.snapshot(), "change of settings");
    state.settings = settings;
    state.revision += 1;
}

pub(super) fn drag(state: &mut AppState, services: &mut Services, anchor: Anchor) {
    state.dragging = true;
    state.selected = Some(anchor.score_s);
    let reach_s = SNAP_S.min(SNAP_SHARE * state.view.span_s);
    let attack = state.piece.as_ref().and_then(|piece| piece.attack_near(anchor.performance_s, reach_s));
    let performance_s = attack.filter(|_| state.preferences.snap).unwrap_or(anchor.performance_s);
    state.moved = Some(between_neighbours(state, Anchor { performance_s, ..anchor }));
    want_preview(state, services);
}

/// Solves the stretch around the dragged onset, unless that is under way.
fn want_preview(state: &AppState, services: &mut Services) {
    let Some(moved) = state.moved.filter(|_| state.dragging && !services.worker.is_busy(Slot::Drag)) else { return };
    let shown = state.preview.iter().flat_map(|preview| &preview.alignment.settings.anchors);
    if shown.into_iter().any(|anchor| *anchor == moved) {
        return;
    }
    let settings = Settings { anchors: with_anchor(&state.settings.anchors, moved), ..state.settings.clone() };
    if let Some(task) = section_task(state, services, settings, moved.score_s, true) {
        services.worker.start(task);
    }
}

pub(super) fn previewed(state: &mut AppState, services: &mut Services, solution: Arc<Solution>) {
    if state.dragging {
        state.preview = Some(solution);
        want_preview(state, services);
    }
}

/// The onset goes back to where it was.
pub(super) fn let_go(state: &mut AppState, services: &mut Services) {
    services.worker.cancel(Slot::Drag);
    state.dragging = false;
    (state.moved, state.preview) = (None, None);
}

/// Solving a stretch again, if that is possible with what is known.
fn section_task(state: &AppState, services: &Services, settings: Settings, at_s: f64, preview: bool) -> Option<Task> {
    let (piece, solution) = (state.piece.clone()?, state.solution.clone()?);
    let listening = services.listening.clone().filter(|_| section::suits(&solution.alignment, &settings))?;
    let reference = state.reference.clone();
    Some(Task::Section { piece, listening, solution, settings, reference, at_s, preview })
}

/// Solves what a change of the anchor at `at_s` concerns: a stretch if that is enough, else everything.
fn solve_around(state: &mut AppState, services: &mut Services, at_s: f64) {
    services.worker.cancel(Slot::Drag);
    match section_task(state, services, state.settings.clone(), at_s, false) {
        Some(task) => {
            state.work = Some(Work { brief: true, ..Work::new("Solving the passage again") });
            services.opening = None;
            services.worker.start(task);
        }
        None => start_aligning(state, services),
    }
}

fn with_anchor(anchors: &[Anchor], anchor: Anchor) -> Vec<Anchor> {
    let others = anchors.iter().copied().filter(|other| (other.score_s - anchor.score_s).abs() > SAME_MOMENT_S);
    let mut anchors: Vec<Anchor> = others.chain([anchor]).collect();
    anchors.sort_by(|a, b| a.score_s.total_cmp(&b.score_s));
    anchors
}

pub(super) fn drop(state: &mut AppState, services: &mut Services) {
    let Some(moved) = state.moved.filter(|_| state.dragging) else { return };
    state.dragging = false;
    place_anchor(state, services, moved);
}

pub(super) fn place_anchor(state: &mut AppState, services: &mut Services, anchor: Anchor) {
    let anchor = between_neighbours(state, anchor);
    state.history.record(state.snapshot(), "move of an onset");
    state.settings.anchors = with_anchor(&state.settings.anchors, anchor);
    state.moved = Some(anchor);
    state.selected = Some(anchor.score_s);
    state.revision += 1;
    solve_around(state, services, anchor.score_s);
}

/// An anchor cannot pass its neighbours, nor leave the recording.
fn between_neighbours(state: &AppState, anchor: Anchor) -> Anchor {
    let others =
        || state.settings.anchors.iter().filter(|other| (other.score_s - anchor.score_s).abs() > SAME_MOMENT_S);
    let before = others().filter(|other| other.score_s < anchor.score_s).map(|other| other.performance_s + CLOSEST_S);
    let after = others().filter(|other| other.score_s > anchor.score_s).map(|other| other.performance_s - CLOSEST_S);
    let low = before.fold(0.0, f64::max);
    let high = after.fold(state.view.duration_s, f64::min).max(low);
    Anchor { performance_s: anchor.performance_s.clamp(low, high), ..anchor }
}

pub(super) fn nudge(state: &mut AppState, services: &mut Services, ms: f64) {
    let Some(score_s) = state.selected else { return };
    let Some(now) = state.place_of(score_s) else { return };
    place_anchor(state, services, Anchor { score_s, performance_s: now + 1e-3 * ms });
}

pub(super) fn delete_anchor(state: &mut AppState, services: &mut Services) {
    let Some(score_s) = state.selected else { return };
    if !state.settings.anchors.iter().any(|anchor| (anchor.score_s - score_s).abs() <= SAME_MOMENT_S) {
        return;
    }
    state.history.record(state.snapshot(), "removal of an anchor");
    state.settings.anchors.retain(|anchor| (anchor.score_s - score_s).abs() > SAME_MOMENT_S);
    state.moved = None;
    state.revision += 1;
    solve_around(state, services, score_s);
}

pub(super) fn clear_anchors(state: &mut AppState, services: &mut Services) {
    if state.settings.anchors.is_empty() {
        return;
    }
    state.history.record(state.snapshot(), "removal of all anchors");
    state.settings.anchors.clear();
    state.moved = None;
    state.revision += 1;
    start_aligning(state, services);
}

pub(super) fn undo(state: &mut AppState, services: &mut Services) {
    let now = state.snapshot();
    if let Some(before) = state.history.undo(now) {
        restore(state, services, before);
    }
}

pub(super) fn redo(state: &mut AppState, services: &mut Services) {
    let now = state.snapshot();
    if let Some(after) = state.history.redo(now) {
        restore(state, services, after);
    }
}

fn restore(state: &mut AppState, services: &mut Services, snapshot: Snapshot) {
    services.worker.cancel(Slot::Align);
    state.work = None;
    state.moved = None;
    state.dragging = false;
    state.preview = None;
    services.worker.cancel(Slot::Drag);
    state.ghost = None;
    state.accepted = snapshot.accepted;
    state.settings = snapshot.settings;
    state.solution = snapshot.solution;
    state.revision += 1;
    // A change that was taken back before it was solved has no solution of its own yet. Settings that were only typed had
    // none either, and wait for the user to align.
    let anchors_of = |settings: &Settings| settings.anchors.clone();
    let solved = state.solution.as_ref().is_some_and(|s| anchors_of(&s.alignment.settings) == state.settings.anchors);
    if !solved {
        start_aligning(state, services);
    }
    play::new_solution(state, services);
}
