//! Correcting: anchors, settings, undo.

use std::sync::Arc;

use super::{Services, play, start_aligning};
use crate::align::can_realign;
use crate::align::settings::{Anchor, FixedNote, Method, OnsetMethod, Path, Settings};
use crate::app::document::Document;
use crate::app::document::history::{History, Snapshot};
use crate::app::document::view_model::Solution;
use crate::app::state::{AppState, Work};
use crate::app::work::tasks::Task;
use crate::app::work::worker::Slot;
use crate::base::time::SAME_MOMENT_S;

/// Two anchors are at least this far apart in the recording.
const CLOSEST_S: f64 = 0.002;
/// How far a dragged onset snaps, in seconds …
const SNAP_S: f64 = 0.03;
/// … and as a share of the view, so that it can be placed freely in a close look.
const SNAP_SHARE: f64 = 0.008;

pub(super) fn set_settings(state: &mut AppState, settings: Settings) {
    match &mut state.document {
        Some(document) if settings != document.settings => {
            // Only an alignment with other onsets is worth a question before it is lost.
            document.history.record(document.snapshot(), "change of settings");
            document.note_addition();
            document.settings = settings;
        }
        Some(_) => {}
        None => state.first_settings = settings,
    }
}

/// Reads the score's repeats another way. Only the onset method follows them.
pub(super) fn choose_path(state: &mut AppState, services: &mut Services, path: Path) {
    let mut settings = state.settings().clone();
    settings.method = match settings.method {
        Method::Onsets(onsets) => Method::Onsets(OnsetMethod { path, ..onsets }),
        Method::Frames(_) => Method::Onsets(OnsetMethod { path, ..OnsetMethod::default() }),
    };
    set_settings(state, settings);
    start_aligning(state, services);
}

pub(super) fn drag(state: &mut AppState, services: &mut Services, anchor: Anchor) {
    let Some(document) = &mut state.document else { return };
    document.dragging = true;
    document.select(Some(anchor.score_s));
    let performance_s = snapped(document, anchor.performance_s, state.preferences.snap);
    document.moved = Some(between_neighbours(document, Anchor { performance_s, ..anchor }));
    document.moved_note = None;
    want_preview(document, services);
}

pub(super) fn drag_note(state: &mut AppState, services: &mut Services, fixed: FixedNote) {
    let Some(document) = &mut state.document else { return };
    document.dragging = true;
    document.select_note(fixed.note);
    let performance_s = snapped(document, fixed.performance_s, state.preferences.snap);
    document.moved_note = Some(within_recording(document, FixedNote { performance_s, ..fixed }));
    document.moved = None;
    want_preview(document, services);
}

/// The attack that a dragged onset snaps to, if one is near.
fn snapped(document: &Document, time_s: f64, snap: bool) -> f64 {
    let reach_s = SNAP_S.min(SNAP_SHARE * document.view.span_s);
    document.piece.attack_near(time_s, reach_s).filter(|_| snap).unwrap_or(time_s)
}

/// Solves the stretch around what is dragged, unless that is under way.
fn want_preview(document: &Document, services: &mut Services) {
    if !document.dragging || services.worker.is_busy(Slot::Drag) {
        return;
    }
    let Some((settings, at_s)) = if_let_go(document) else { return };
    if document.preview.as_ref().is_some_and(|preview| preview.alignment.settings == settings) {
        return;
    }
    if let Some(task) = section_task(document, settings, at_s, true) {
        services.worker.start(task);
    }
}

/// The settings if what is dragged were let go, and which moment of the score that concerns.
fn if_let_go(document: &Document) -> Option<(Settings, f64)> {
    let mut settings = document.settings.clone();
    if let Some(moved) = document.moved_note {
        settings.fixed_notes = with_note(&settings.fixed_notes, moved);
        return Some((settings, document.piece.score.notes.get(moved.note)?.onset_s));
    }
    let moved = document.moved?;
    settings.anchors = with_anchor(&settings.anchors, moved);
    Some((settings, moved.score_s))
}

pub(super) fn previewed(state: &mut AppState, services: &mut Services, solution: Arc<Solution>) {
    if let Some(document) = state.document.as_mut().filter(|document| document.dragging) {
        document.preview = Some(solution);
        want_preview(document, services);
    }
}

/// What is dragged goes back to where it was.
pub(super) fn let_go(document: &mut Document, services: &mut Services) {
    services.worker.cancel(Slot::Drag);
    document.let_go();
}

/// Solving a stretch again, if that is possible with what is known.
fn section_task(document: &Document, settings: Settings, at_s: f64, preview: bool) -> Option<Task> {
    // What is around the stretch belongs to another step of the history.
    if document.is_outdated {
        return None;
    }
    let (piece, solution) = (Arc::clone(&document.piece), document.solution.clone()?);
    let listening = Arc::clone(&document.heard.as_ref()?.listening);
    if !can_realign(&solution.alignment, &settings, &listening) {
        return None;
    }
    let reference = document.reference.clone();
    Some(Task::Section { piece, listening, solution, settings, reference, at_s, preview })
}

/// Solves what a change at `at_s` of the score concerns: a stretch if that is enough, else everything.
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
    document.dragging = false;
    if let Some(moved) = document.moved_note {
        place_note(state, services, moved);
    } else if let Some(moved) = document.moved {
        place_anchor(state, services, moved);
    }
}

pub(super) fn place_anchor(state: &mut AppState, services: &mut Services, anchor: Anchor) {
    let Some(document) = &mut state.document else { return };
    let anchor = between_neighbours(document, anchor);
    document.record("move of an onset");
    document.settings.anchors = with_anchor(&document.settings.anchors, anchor);
    document.moved = Some(anchor);
    document.select(Some(anchor.score_s));
    solve_around(state, services, anchor.score_s);
}

pub(super) fn place_note(state: &mut AppState, services: &mut Services, fixed: FixedNote) {
    let Some(document) = &mut state.document else { return };
    let Some(score_s) = document.piece.score.notes.get(fixed.note).map(|note| note.onset_s) else { return };
    let fixed = within_recording(document, fixed);
    document.record("move of a note");
    document.settings.fixed_notes = with_note(&document.settings.fixed_notes, fixed);
    document.moved_note = Some(fixed);
    document.select_note(fixed.note);
    solve_around(state, services, score_s);
}

fn with_note(fixed_notes: &[FixedNote], fixed: FixedNote) -> Vec<FixedNote> {
    let others = fixed_notes.iter().copied().filter(|other| other.note != fixed.note);
    let mut fixed_notes: Vec<FixedNote> = others.chain([fixed]).collect();
    fixed_notes.sort_by_key(|fixed| fixed.note);
    fixed_notes
}

fn within_recording(document: &Document, fixed: FixedNote) -> FixedNote {
    FixedNote { performance_s: fixed.performance_s.clamp(0.0, document.view.duration_s), ..fixed }
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
    if let Some(note) = document.selected_note {
        if let Some(now) = document.place_of_note(note) {
            place_note(state, services, FixedNote { note, performance_s: now + 1e-3 * ms });
        }
        return;
    }
    let Some(score_s) = document.selected else { return };
    let Some(now) = document.place_of(score_s) else { return };
    place_anchor(state, services, Anchor { score_s, performance_s: now + 1e-3 * ms });
}

pub(super) fn delete_anchor(state: &mut AppState, services: &mut Services) {
    let Some(document) = &mut state.document else { return };
    let Some(score_s) = document.selected else { return };
    if let Some(note) = document.selected_note {
        if document.settings.fixed_notes.iter().any(|fixed| fixed.note == note) {
            document.record("release of a note");
            document.settings.fixed_notes.retain(|fixed| fixed.note != note);
            document.moved_note = None;
            solve_around(state, services, score_s);
        }
        return;
    }
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
    let corrected = |document: &&mut Document| document.settings.corrections() > 0;
    let Some(document) = state.document.as_mut().filter(corrected) else { return };
    document.record("removal of all anchors");
    document.settings = document.settings.with_corrections_of(&Settings::default());
    document.let_go();
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
    let same_result = match (&document.solution, &snapshot.solution) {
        (Some(now), Some(then)) => Arc::ptr_eq(now, then),
        (now, then) => now.is_none() && then.is_none(),
    };
    let only_settings = same_result && document.settings.same_corrections(&snapshot.settings);
    if only_settings && document.accepted == snapshot.accepted {
        document.note_addition();
    } else {
        document.note_correction();
    }
    document.accepted = snapshot.accepted;
    document.settings = snapshot.settings;
    // Where it is to be found again the present one stays in sight until then.
    document.is_outdated = snapshot.forgotten;
    document.solution = if snapshot.forgotten { document.solution.take() } else { snapshot.solution };
    // A change that was taken back before it was solved has no solution of its own yet. Settings that were only typed had
    // none either, and wait for the user to align.
    let solved_for = document.solution.as_ref().map(|solution| &solution.alignment.settings);
    if snapshot.forgotten || !solved_for.is_some_and(|solved_for| solved_for.same_corrections(&document.settings)) {
        start_aligning(state, services);
    }
    play::new_solution(state, services);
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::app::command::Command;
    use crate::app::preferences::Preferences;
    use crate::app::update::{apply, events, take_in};

    fn wait(state: &mut AppState, services: &mut Services, until: fn(&AppState) -> bool) {
        let begun = Instant::now();
        while !until(state) {
            assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", state.work);
            std::thread::sleep(Duration::from_millis(5));
            take_in(state, services);
        }
    }

    fn is_done(state: &AppState) -> bool {
        let heard = |document: &Document| document.heard.is_some() && document.solution.is_some();
        state.work.is_none() && state.document.as_ref().is_some_and(heard)
    }

    #[test]
    fn a_correction_made_before_a_forgotten_alignment_is_found_again_keeps_all_others() {
        let (mut state, mut services) = (AppState::new(Preferences::default()), events::tests::services());
        apply(&mut state, &mut services, Command::OpenDemo);
        wait(&mut state, &mut services, is_done);
        let anchor = |state: &AppState, index: usize| {
            let onset = state.solution().unwrap().onsets[index];
            Anchor { score_s: onset.score_s, performance_s: onset.performance_s + 0.05 }
        };
        // Far apart: solving the stretch around one again does not touch the others.
        let first = anchor(&state, 5);
        apply(&mut state, &mut services, Command::PlaceAnchor(first));
        wait(&mut state, &mut services, is_done);
        apply(&mut state, &mut services, Command::ClearAnchors);
        wait(&mut state, &mut services, is_done);
        // As if a day's work lay in between.
        let document = state.document.as_mut().unwrap();
        let (mut past, _) = document.history.undo(document.snapshot()).zip(Some(())).unwrap();
        (past.solution, past.forgotten) = (None, true);
        document.history.record(past, "the whole day");
        apply(&mut state, &mut services, Command::Undo);
        assert!(state.work.is_some() && state.document.as_ref().unwrap().is_outdated);
        let last = anchor(&state, state.solution().unwrap().onsets.len() - 5);
        apply(&mut state, &mut services, Command::PlaceAnchor(last));
        wait(&mut state, &mut services, is_done);
        let document = state.document.as_ref().unwrap();
        assert!(!document.is_outdated);
        for wanted in [first, last] {
            let placed = document.solution.as_ref().unwrap().alignment.warp.at(wanted.score_s);
            assert!((placed - wanted.performance_s).abs() < 0.002, "{wanted:?} is at {placed}");
        }
        // A comparison or a cancelled search leave it to be found.
        apply(&mut state, &mut services, Command::Undo);
        state.document.as_mut().unwrap().is_outdated = true;
        state.work = Some(Work::new("Aligning"));
        apply(&mut state, &mut services, Command::Cancel);
        assert!(state.notices.iter().any(|notice| notice.text.contains("belongs to a later step")));
        apply(&mut state, &mut services, Command::ForgetReference);
        wait(&mut state, &mut services, |state| is_done(state) && !state.document.as_ref().unwrap().is_outdated);
    }
}
