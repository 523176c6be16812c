//! Correcting: anchors, settings, undo.

use super::{Services, play, start_aligning};
use crate::app::history::Snapshot;
use crate::app::state::AppState;
use crate::app::worker::Slot;
use crate::config::{Anchor, Settings};

/// Anchors of the same moment of the score.
const SAME_MOMENT_S: f64 = 1e-6;
/// Two anchors are at least this far apart in the recording.
const CLOSEST_S: f64 = 0.002;
/// How far a dragged onset snaps, in seconds.
const SNAP_S: f64 = 0.03;

pub(super) fn set_settings(state: &mut AppState, settings: Settings) {
    if settings == state.settings {
        return;
    }
    state.history.record(state.snapshot(), "change of settings");
    state.settings = settings;
    state.revision += 1;
}

pub(super) fn drag(state: &mut AppState, anchor: Anchor) {
    state.dragging = true;
    state.selected = Some(anchor.score_s);
    state.moved = Some(between_neighbours(state, anchor));
}

pub(super) fn drop(state: &mut AppState, services: &mut Services) {
    let Some(moved) = state.moved.filter(|_| state.dragging) else { return };
    state.dragging = false;
    let snapped = match &state.piece {
        Some(piece) if state.preferences.snap => piece.attack_near(moved.performance_s, SNAP_S),
        _ => None,
    };
    let performance_s = snapped.unwrap_or(moved.performance_s);
    place_anchor(state, services, Anchor { performance_s, ..moved });
}

pub(super) fn place_anchor(state: &mut AppState, services: &mut Services, anchor: Anchor) {
    let anchor = between_neighbours(state, anchor);
    state.history.record(state.snapshot(), "move of an onset");
    state.settings.anchors.retain(|other| (other.score_s - anchor.score_s).abs() > SAME_MOMENT_S);
    state.settings.anchors.push(anchor);
    state.settings.anchors.sort_by(|a, b| a.score_s.total_cmp(&b.score_s));
    state.moved = Some(anchor);
    state.selected = Some(anchor.score_s);
    state.revision += 1;
    start_aligning(state, services);
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
    changed_anchors(state, services);
}

pub(super) fn clear_anchors(state: &mut AppState, services: &mut Services) {
    if state.settings.anchors.is_empty() {
        return;
    }
    state.history.record(state.snapshot(), "removal of all anchors");
    state.settings.anchors.clear();
    changed_anchors(state, services);
}

fn changed_anchors(state: &mut AppState, services: &mut Services) {
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
    state.ghost = None;
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
