//! Comparing: with a reference, and with alignments that were kept.

use std::sync::Arc;

use super::{Services, play};
use crate::app::document::kept::{Kept, describe};
use crate::app::state::{AppState, Notice, Work};
use crate::app::work::tasks::{CompareWith, Task};

/// Compares the alignment with something else.
pub(super) fn with(state: &mut AppState, services: &mut Services, with: CompareWith) {
    let (Some(piece), Some(solution)) = (state.piece.clone(), state.solution.clone()) else {
        state.tell(Notice::warning(
            "A reference needs an alignment to compare with: open a recording and its score first.",
        ));
        return;
    };
    state.work = Some(Work::new("Comparing"));
    services.worker.start(Task::Compare { piece, solution, with });
}

pub(super) fn with_kept(state: &mut AppState, services: &mut Services, index: usize) {
    let Some(piece) = &state.piece else { return };
    let Some(kept) = state.kept.get(index).filter(|kept| kept.is_of(&piece.recording_name)) else { return };
    let reference = kept.as_reference(&piece.score);
    with(state, services, CompareWith::Other(reference));
}

pub(super) fn keep(state: &mut AppState) {
    let Some(solution) = &state.solution else { return };
    let several = state.kept.iter().any(|kept| !kept.is_of(&solution.alignment.provenance.recording.name));
    let mut name = describe(&solution.alignment.settings);
    if several {
        name = format!("{}, {name}", solution.alignment.provenance.recording.name);
    }
    let same =
        state.kept.iter().filter(|kept| kept.name == name || kept.name.starts_with(&format!("{name} ("))).count();
    let name = if same == 0 { name } else { format!("{name} ({})", same + 1) };
    state.kept.push(Kept::new(name, Arc::new(solution.alignment.clone())));
    state.revision += 1;
    measure(state);
}

pub(super) fn toggle(state: &mut AppState, index: usize) {
    if let Some(kept) = state.kept.get_mut(index) {
        kept.shown = !kept.shown;
    }
}

pub(super) fn rename(state: &mut AppState, index: usize, name: String) {
    if let Some(kept) = state.kept.get_mut(index).filter(|_| !name.trim().is_empty()) {
        kept.name = name;
        state.revision += 1;
    }
}

pub(super) fn forget(state: &mut AppState, index: usize) {
    if index < state.kept.len() {
        state.kept.remove(index);
        state.revision += 1;
    }
}

/// The kept alignment becomes the one that is shown. Undo brings back what was shown.
pub(super) fn adopt(state: &mut AppState, services: &mut Services, index: usize) {
    let Some(piece) = state.piece.clone() else { return };
    let Some(kept) = state.kept.get(index).filter(|kept| kept.is_of(&piece.recording_name)) else { return };
    let alignment = Box::new((*kept.alignment).clone());
    state.history.record(state.snapshot(), "change to a kept alignment");
    state.settings = alignment.settings.clone();
    state.revision += 1;
    state.work = Some(Work { brief: true, ..Work::new("Placing the notes") });
    services.worker.start(Task::Adopt { piece, alignment, reference: state.reference.clone() });
    play::new_solution(state, services);
}

/// Measures what was kept anew, after the alignment or the reference has changed.
pub(super) fn measure(state: &mut AppState) {
    let Some(piece) = &state.piece else { return };
    let (reference, shown) = (state.reference.as_deref(), state.solution.as_ref().map(|solution| &solution.alignment));
    for kept in &mut state.kept {
        kept.measure(piece, reference, shown);
    }
}
