//! Correcting: anchors, settings, undo.

use std::sync::Arc;

use super::{Services, play, start_aligning};
use crate::align::can_realign;
use crate::align::settings::{Anchor, Settings};
use crate::app::document::Document;
use crate::app::document::history::{History, Snapshot};
use crate::app::document::view_model::Solution;
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
    match &mut state.document {
        Some(document) if settings != document.settings => {
            document.record("change of settings");
            document.settings = settings;
        }
        Some(_) => {}
        None => state.first_settings = settings,
    }
}

pub(super) fn drag(state: &mut AppState, services: &mut Services, anchor: Anchor) {
    let Some(document) = &mut state.document else { return };
    document.dragging = true;
    document.selected = Some(anchor.score_s);
    let reach_s = SNAP_S.min(SNAP_SHARE * document.view.span_s);
    let attack = document.piece.attack_near(anchor.performance_s, reach_s).filter(|_| state.preferences.snap);
    let performance_s = attack.unwrap_or(anchor.performance_s);
    document.moved = Some(between_neighbours(document, Anchor { performance_s, ..anchor }));
    want_preview(document, services);
}

/// Solves the stretch around the dragged onset, unless that is under way.
fn want_preview(document: &Document, services: &mut Services) {
    let Some(moved) = document.moved.filter(|_| document.dragging && !services.worker.is_busy(Slot::Drag)) else {
        return;
    };
    let shown = document.preview.iter().flat_map(|preview| &preview.alignment.settings.anchors);
    if shown.into_iter().any(|anchor| *anchor == moved) {
        return;
    }
    let settings = Settings { anchors: with_anchor(&document.settings.anchors, moved), ..document.settings.clone() };
    if let Some(task) = section_task(document, settings, moved.score_s, true) {
        services.worker.start(task);
    }
}

pub(super) fn previewed(state: &mut AppState, services: &mut Services, solution: Arc<Solution>) {
    if let Some(document) = state.document.as_mut().filter(|document| document.dragging) {
        document.preview = Some(solution);
        want_preview(document, services);
    }
}

/// The onset goes back to where it was.
pub(super) fn let_go(document: &mut Document, services: &mut Services) {
    services.worker.cancel(Slot::Drag);
    document.dragging = false;
    (document.moved, document.preview) = (None, None);
}

/// Solving a stretch again, if that is possible with what is known.
fn section_task(document: &Document, settings: Settings, at_s: f64, preview: bool) -> Option<Task> {
    let (piece, solution) = (Arc::clone(&document.piece), document.solution.clone()?);
    let listening = Arc::clone(&document.heard.as_ref()?.listening);
    if !can_realign(&solution.alignment, &settings, &listening) {
        return None;
    }
    let reference = document.reference.clone();
    Some(Task::Section { piece, listening, solution, settings, reference, at_s, preview })
}

/// Solves what a change of the anchor at `at_s` concerns: a stretch if that is enough, else everything.
fn solve_around(state: &mut AppState, services: &mut Services, at_s: f64) {
    let Some(document) = &state.document else { return };
    services.worker.cancel(Slot::Drag);
    match section_task(document, document.settings.clone(), at_s, false) {
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
    let Some(document) = state.document.as_mut().filter(|document| document.dragging) else { return };
    let Some(moved) = document.moved else { return };
    document.dragging = false;
    place_anchor(state, services, moved);
}

pub(super) fn place_anchor(state: &mut AppState, services: &mut Services, anchor: Anchor) {
    let Some(document) = &mut state.document else { return };
    let anchor = between_neighbours(document, anchor);
    document.record("move of an onset");
    document.settings.anchors = with_anchor(&document.settings.anchors, anchor);
    document.moved = Some(anchor);
    document.selected = Some(anchor.score_s);
    solve_around(state, services, anchor.score_s);
}

/// An anchor cannot pass its neighbours, nor leave the recording.
fn between_neighbours(document: &Document, anchor: Anchor) -> Anchor {
    let others =
        || document.settings.anchors.iter().filter(|other| (other.score_s - anchor.score_s).abs() > SAME_MOMENT_S);
    let before = others().filter(|other| other.score_s < anchor.score_s).map(|other| other.performance_s + CLOSEST_S);
    let after = others().filter(|other| other.score_s > anchor.score_s).map(|other| other.performance_s - CLOSEST_S);
    let low = before.fold(0.0, f64::max);
    let high = after.fold(document.view.duration_s, f64::min).max(low);
    Anchor { performance_s: anchor.performance_s.clamp(low, high), ..anchor }
}

pub(super) fn nudge(state: &mut AppState, services: &mut Services, ms: f64) {
    let Some(document) = &state.document else { return };
    let Some(score_s) = document.selected else { return };
    let Some(now) = document.place_of(score_s) else { return };
    place_anchor(state, services, Anchor { score_s, performance_s: now + 1e-3 * ms });
}

pub(super) fn delete_anchor(state: &mut AppState, services: &mut Services) {
    let Some(document) = &mut state.document else { return };
    let Some(score_s) = document.selected else { return };
    let is_selected = |anchor: &Anchor| (anchor.score_s - score_s).abs() <= SAME_MOMENT_S;
    if !document.settings.anchors.iter().any(is_selected) {
        return;
    }
    document.record("removal of an anchor");
    document.settings.anchors.retain(|anchor| !is_selected(anchor));
    document.moved = None;
    solve_around(state, services, score_s);
}

pub(super) fn clear_anchors(state: &mut AppState, services: &mut Services) {
    let with_anchors = |document: &&mut Document| !document.settings.anchors.is_empty();
    let Some(document) = state.document.as_mut().filter(with_anchors) else { return };
    document.record("removal of all anchors");
    document.settings.anchors.clear();
    document.moved = None;
    start_aligning(state, services);
}

pub(super) fn undo(state: &mut AppState, services: &mut Services) {
    step_through_history(state, services, History::undo);
}

pub(super) fn redo(state: &mut AppState, services: &mut Services) {
    step_through_history(state, services, History::redo);
}

fn step_through_history(
    state: &mut AppState,
    services: &mut Services,
    step: fn(&mut History, Snapshot) -> Option<Snapshot>,
) {
    let Some(document) = &mut state.document else { return };
    let now = document.snapshot();
    let Some(snapshot) = step(&mut document.history, now) else { return };
    services.worker.cancel(Slot::Align);
    state.work = None;
    let_go(document, services);
    document.ghost = None;
    document.accepted = snapshot.accepted;
    document.settings = snapshot.settings;
    document.solution = snapshot.solution;
    document.revision += 1;
    // A change that was taken back before it was solved has no solution of its own yet. Settings that were only typed had
    // none either, and wait for the user to align.
    let solved_for = document.solution.as_ref().map(|solution| &solution.alignment.settings.anchors);
    if solved_for != Some(&document.settings.anchors) {
        start_aligning(state, services);
    }
    play::new_solution(state, services);
}
