//! Comparing: with a reference, and with alignments that were kept.

use std::sync::Arc;

use super::{Services, play};
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::document::kept::{Kept, describe};
use crate::app::notice::Notice;
use crate::app::state::{AppState, Work};
use crate::app::system_dialog::Question;
use crate::app::work::tasks::{CompareWith, Task};

/// Compares the alignment with something else.
pub(super) fn with(state: &mut AppState, services: &mut Services, with: CompareWith) {
    let (Some(piece), Some(solution)) = (state.piece().cloned(), state.solution().cloned()) else {
        state.tell(Notice::warning(
            "A reference needs an alignment to compare with: open a recording and its score first.",
        ));
        return;
    };
    state.work = Some(Work::new("Comparing"));
    services.worker.start(Task::Compare { piece, solution, with });
}

/// The alignment that was kept, if it is of the open recording.
fn kept_of_recording(document: &Document, index: usize) -> Option<&Kept> {
    document.kept.get(index).filter(|kept| kept.is_of(&document.piece.recording_name))
}

pub(super) fn with_kept(state: &mut AppState, services: &mut Services, index: usize) {
    let Some(document) = &state.document else { return };
    let Some(kept) = kept_of_recording(document, index) else { return };
    let reference = kept.as_reference(&document.piece.score);
    with(state, services, CompareWith::Other(reference));
}

pub(super) fn keep(document: &mut Document) {
    let Some(solution) = &document.solution else { return };
    let several = document.kept.iter().any(|kept| !kept.is_of(&solution.alignment.provenance.recording.name));
    let mut name = describe(&solution.alignment.settings);
    if several {
        name = format!("{}, {name}", solution.alignment.provenance.recording.name);
    }
    let same =
        document.kept.iter().filter(|kept| kept.name == name || kept.name.starts_with(&format!("{name} ("))).count();
    let name = if same == 0 { name } else { format!("{name} ({})", same + 1) };
    let recording = document.piece.sources.recording.clone();
    document.kept.push(Kept::new(name, Arc::new(solution.alignment.clone()), Some(recording)));
    document.note_addition();
    measure(document);
}

/// Keeps the alignment, unless it is kept, and asks for another recording of the score.
pub(super) fn open_other_recording(state: &mut AppState, services: &mut Services) {
    let Some(document) = &mut state.document else { return };
    let Some(solution) = &document.solution else { return };
    if !document.kept.iter().any(|kept| *kept.alignment == solution.alignment) {
        keep(document);
    }
    super::apply(state, services, Command::Ask(Question::OpenRecording));
}

pub(super) fn toggle(document: &mut Document, index: usize) {
    if let Some(kept) = document.kept.get_mut(index) {
        kept.shown = !kept.shown;
    }
}

pub(super) fn rename(document: &mut Document, index: usize, name: String) {
    if let Some(kept) = document.kept.get_mut(index).filter(|_| !name.trim().is_empty()) {
        kept.name = name;
        document.note_addition();
    }
}

pub(super) fn forget(document: &mut Document, index: usize) {
    if index < document.kept.len() {
        document.kept.remove(index);
        document.note_addition();
    }
}

/// The kept alignment becomes the one that is shown. Undo brings back what was shown.
pub(super) fn adopt(state: &mut AppState, services: &mut Services, index: usize) {
    let Some(document) = &mut state.document else { return };
    let Some(kept) = kept_of_recording(document, index) else { return };
    let alignment = Box::new((*kept.alignment).clone());
    document.record("change to a kept alignment");
    document.settings = alignment.settings.clone();
    let (piece, reference) = (Arc::clone(&document.piece), document.reference.clone());
    state.work = Some(Work { brief: true, ..Work::new("Placing the notes") });
    services.worker.start(Task::Adopt { piece, alignment, reference });
    play::new_solution(state, services);
}

/// Measures what was kept anew, after the alignment or the reference has changed.
pub(super) fn measure(document: &mut Document) {
    let shown = document.solution.as_ref().map(|solution| &solution.alignment);
    for kept in &mut document.kept {
        kept.measure(&document.piece, document.reference.as_deref(), shown);
    }
}
