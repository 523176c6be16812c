//! Opening, saving, exporting.

use std::path::{Path, PathBuf};

use super::{Services, relink, tune, with_document};
use crate::align::result::Alignment;
use crate::app::document::Opening;
use crate::app::document::source::{FileRole, Source, Sources, file_name};
use crate::app::preferences::Recent;
use crate::app::state::{Afterwards, AppState, Dialog, Notice, Waiting, Work};
use crate::app::work::tasks::{CompareWith, Task};
use crate::app::work::worker::Slot;
use crate::export::Format;

/// Shows a dialog, and looks whether it would replace a file.
pub(super) fn show(state: &mut AppState, services: &mut Services, dialog: Dialog) {
    let target = match &dialog {
        Dialog::Export { path, .. } => Some(PathBuf::from(path.trim())),
        Dialog::Picture(options) => Some(options.path.clone()),
        _ => None,
    };
    if let Some(target) = target {
        services.worker.start(Task::LookFor(target));
    }
    state.dialog = Some(dialog);
}

/// Does something that would lose changes, or asks first.
pub(super) fn unless_changed(state: &mut AppState, services: &mut Services, afterwards: Afterwards) {
    if state.is_changed() {
        state.dialog = Some(Dialog::Unsaved(afterwards));
    } else {
        go_on(state, services, afterwards);
    }
}

pub(super) fn go_on(state: &mut AppState, services: &mut Services, afterwards: Afterwards) {
    match afterwards {
        Afterwards::Quit => state.quit = true,
        Afterwards::Open(paths) => open(state, services, paths),
        Afterwards::OpenDemo => open_demo(state, services),
    }
}

pub(super) fn open_demo(state: &mut AppState, services: &mut Services) {
    if state.is_changed() {
        state.dialog = Some(Dialog::Unsaved(Afterwards::OpenDemo));
        return;
    }
    let opening = Opening::plain(state.settings());
    start(state, services, Sources::demo(), opening, None);
}

pub(super) fn open_recent(state: &mut AppState, services: &mut Services, recent: Recent) {
    let paths = match recent {
        Recent::Session(path) => vec![path],
        Recent::Pair(sources) => {
            let files = [Some(sources.recording), Some(sources.score), sources.reference].into_iter().flatten();
            files.filter_map(|source| source.path().map(Path::to_owned)).collect()
        }
    };
    open(state, services, paths);
}

pub(super) fn open(state: &mut AppState, services: &mut Services, paths: Vec<PathBuf>) {
    // A file that is dropped while one is asked for is the answer.
    if let (Some(Dialog::Relink(_)), [file]) = (&state.dialog, paths.as_slice()) {
        relink::offer(state, services, file.clone(), false);
        return;
    }
    if let Some(dialog @ Dialog::Open { .. }) = state.dialog.take() {
        state.tried = Some(dialog);
    }
    services.worker.start(Task::Classify(paths));
}

/// Opens files of which it is known what they are.
pub(super) fn classified(state: &mut AppState, services: &mut Services, files: Vec<(FileRole, PathBuf)>) {
    let of_role = |wanted| files.iter().rfind(|(role, _)| *role == wanted).map(|(_, path)| path.clone());
    let (session, reference) = (of_role(FileRole::Session), of_role(FileRole::Reference));
    let (recording, score) = (of_role(FileRole::Recording), of_role(FileRole::Score));
    if let Some(model) = of_role(FileRole::Model) {
        tune::take_model(state, services, model.display().to_string());
    }
    let replaces = session.is_some() || recording.is_some() || score.is_some();
    if replaces && state.is_changed() {
        let paths = files.into_iter().map(|(_, path)| path).collect();
        state.dialog = Some(Dialog::Unsaved(Afterwards::Open(paths)));
        return;
    }
    if let Some(session) = session {
        relink::open(state, services, &session, Some(session.clone()));
        return;
    }
    if recording.is_none() && score.is_none() {
        state.tried = None;
        if reference.is_some() {
            let with = reference.map_or(CompareWith::Nothing, |path| CompareWith::Source(Source::File(path)));
            super::compare::with(state, services, with);
        }
        return;
    }
    // The other half: what waits for it, or what is open already.
    let open_now = state.piece().map(|piece| piece.sources.clone());
    let open_file = |source: Option<Source>| source.and_then(|source| source.path().map(Path::to_owned));
    let recording = recording
        .or(state.waiting.recording.take())
        .or_else(|| open_file(open_now.as_ref().map(|sources| sources.recording.clone())));
    let score = score
        .or(state.waiting.score.take())
        .or_else(|| open_file(open_now.as_ref().map(|sources| sources.score.clone())));
    match (recording, score) {
        (Some(recording), Some(score)) => {
            let sources = Sources {
                recording: Source::File(recording),
                score: Source::File(score),
                reference: reference.map(Source::File),
            };
            let opening = Opening::plain(state.settings());
            start(state, services, sources, opening, None);
        }
        (recording, score) => {
            let text = match (&recording, &score) {
                (Some(recording), _) => {
                    format!("{} waits for its score: drop or open a MIDI file.", file_name(recording))
                }
                (_, Some(score)) => {
                    format!("{} waits for its recording: drop or open an audio file.", file_name(score))
                }
                _ => return,
            };
            state.tried = None;
            state.waiting = Waiting { recording, score };
            state.tell(Notice::info(text));
        }
    }
}

pub(super) fn start(
    state: &mut AppState,
    services: &mut Services,
    sources: Sources,
    opening: Opening,
    alignment: Option<Alignment>,
) {
    let title = format!("Opening {}", sources.recording.name("the demo"));
    state.work = Some(Work::new(title));
    state.forget_errors();
    if opening.session_path.is_none() {
        state.preferences.remember(Recent::Pair(sources.clone()));
    }
    let settings = opening.settings.clone();
    let known = alignment.filter(|alignment| alignment.settings == settings).map(Box::new);
    services.opening = Some(opening);
    services.worker.start(Task::Open { sources, settings, known });
}

pub(super) fn save(state: &mut AppState, services: &mut Services) {
    match state.document.as_ref().and_then(|document| document.session_path.clone()) {
        Some(path) => save_as(state, services, path),
        None => {
            let path = state.proposed_session().display().to_string();
            state.dialog = Some(Dialog::SaveSession { path });
        }
    }
}

pub(super) fn save_as(state: &mut AppState, services: &mut Services, path: PathBuf) {
    let Some(document) = &state.document else { return };
    let path = if path.extension().is_none() { path.with_extension("agogic") } else { path };
    services.worker.start(Task::Save { session: Box::new(document.session()), path, revision: document.revision });
    state.dialog = None;
}

pub(super) fn saved(state: &mut AppState, services: &mut Services, path: PathBuf, revision: u64) {
    state.tell(Notice::info(format!("Saved {}.", path.display())));
    state.preferences.remember(Recent::Session(path.clone()));
    with_document(state, |document| {
        document.saved_revision = revision;
        document.session_path = Some(path);
    });
    if let Some(recovery) = services.recovery.as_ref().filter(|_| !state.is_changed()) {
        services.worker.start(Task::Forget(recovery.file().to_owned()));
    }
    if let Some(afterwards) = state.after_saving.take() {
        unless_changed(state, services, afterwards);
    }
}

pub(super) fn export(state: &mut AppState, services: &mut Services, format: Format, path: PathBuf) {
    let (Some(piece), Some(solution)) = (state.piece().cloned(), state.solution().cloned()) else { return };
    state.dialog = None;
    services.worker.start(Task::Export { piece, solution, reference: state.reference().cloned(), format, path });
}

pub(super) fn recover(state: &mut AppState, services: &mut Services) {
    let Some(path) = state.left_behind.take() else { return };
    relink::open(state, services, &path, None);
}

pub(super) fn discard_left_behind(state: &mut AppState, services: &mut Services) {
    if let Some(path) = state.left_behind.take() {
        services.worker.start(Task::Forget(path));
    }
}

/// Keeps changes safe from a crash. To be called now and then.
pub fn autosave(state: &AppState, services: &mut Services) {
    let Some(document) = &state.document else { return };
    let busy = document.dragging || services.worker.is_busy(Slot::Keep);
    if busy || !document.is_changed() || document.kept_revision == document.revision {
        return;
    }
    let Some(path) = services.recovery.as_ref().map(|recovery| recovery.file().to_owned()) else { return };
    services.worker.start(Task::Keep { session: Box::new(document.session()), path, revision: document.revision });
}
