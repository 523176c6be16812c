//! Opening, saving, exporting.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Services, play, relink, tune, with_document};
use crate::align::result::Alignment;
use crate::app::document::fingerprint::Fingerprint;
use crate::app::document::source::{FileRole, Order, Source, Sources, file_name};
use crate::app::document::{Document, Opening};
use crate::app::notice::Notice;
use crate::app::picture::{Drawing, PictureOptions};
use crate::app::preferences::Recent;
use crate::app::state::{Afterwards, AppState, Dialog, Saving, Waiting, Work, Writing};
use crate::app::work::classify::Classified;
use crate::app::work::tasks::{CompareWith, Task};
use crate::app::work::worker::Slot;
use crate::app::work::writing::{MayReplace, absolute};
use crate::base::error::Error;

/// A save that takes longer waits for its drive.
const LONGEST_SAVE: Duration = Duration::from_secs(2);

/// How the notice begins that changes could not be made safe.
const AUTOSAVE_FAILED: &str = "Unsaved changes would be lost in a crash";

/// Does something that would lose changes, or asks first.
pub(super) fn unless_changed(state: &mut AppState, services: &mut Services, afterwards: Afterwards) {
    if state.is_changed() {
        state.dialog = Some(Dialog::Unsaved(afterwards));
    } else if state.saving.is_some() && state.after_saving.as_ref() != Some(&afterwards) {
        // If the save fails the window must still be there. Asking again does not wait for a drive that does not answer.
        state.after_saving = Some(afterwards);
    } else {
        go_on(state, services, afterwards);
    }
}

/// Does it, whatever is lost. What is open stays, with its changes, until something else has been read.
pub(super) fn go_on(state: &mut AppState, services: &mut Services, afterwards: Afterwards) {
    state.dialog = None;
    match afterwards {
        Afterwards::Quit => state.quit = true,
        Afterwards::Open(paths) => services.worker.start(Task::Classify { paths, order: Order::Any, discard: true }),
        Afterwards::OpenIn(order, paths) => services.worker.start(Task::Classify { paths, order, discard: true }),
        Afterwards::OpenDemo => {
            let opening = Opening::plain(state.settings());
            start(state, services, Sources::demo(), opening, None);
        }
        Afterwards::Recover => {
            if let Some(file) = state.left_behind.first().map(|left| left.file().to_owned()) {
                relink::open(state, services, &file, None);
            }
        }
    }
}

pub(super) fn open_recent(state: &mut AppState, services: &mut Services, recent: Recent) {
    let paths = match recent {
        Recent::Session(path) => vec![path],
        Recent::Pair(sources) => {
            let files = [Some(sources.recording), Some(sources.score), sources.reference].into_iter().flatten();
            files.filter_map(|source| source.path().map(Path::to_owned)).collect()
        }
    };
    open(state, services, paths, Order::PerformanceFirst);
}

pub(super) fn open(state: &mut AppState, services: &mut Services, paths: Vec<PathBuf>, order: Order) {
    // A file that is dropped while one is asked for is the answer.
    if let (Some(Dialog::Relink(_)), [file]) = (&state.dialog, paths.as_slice()) {
        relink::offer(state, services, file.clone(), false);
        return;
    }
    if let Some(dialog @ Dialog::Open { .. }) = state.dialog.take() {
        state.tried = Some(dialog);
    }
    services.worker.start(Task::Classify { paths, order, discard: false });
}

/// Opens files of which it is known what they are.
pub(super) fn classified(
    state: &mut AppState,
    services: &mut Services,
    found: Classified,
    order: Order,
    discard: bool,
) {
    let Classified { files, guessed, ignored } = found;
    for path in ignored {
        state.tell(Notice::warning(format!("{} was ignored: its kind is not known.", file_name(&path))));
    }
    let of_role = |wanted| files.iter().rfind(|(role, _)| *role == wanted).map(|(_, path)| path.clone());
    let (session, reference) = (of_role(FileRole::Session), of_role(FileRole::Reference));
    let (recording, score) = (of_role(FileRole::Recording), of_role(FileRole::Score));
    if let Some(model) = of_role(FileRole::Model) {
        tune::take_model(state, services, model.display().to_string());
    }
    if let Some(soundfont) = of_role(FileRole::SoundFont) {
        play::set_soundfont(state, services, Some(soundfont));
    }
    let replaces = session.is_some() || recording.is_some() || score.is_some();
    if replaces && !discard && state.is_changed() {
        let paths = files.into_iter().map(|(_, path)| path).collect();
        let afterwards = if order == Order::Any { Afterwards::Open(paths) } else { Afterwards::OpenIn(order, paths) };
        state.dialog = Some(Dialog::Unsaved(afterwards));
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
    // Of two scores that come one after the other, one is meant to be the performance.
    if let (None, Some(later), Some(earlier)) = (&recording, &score, &state.waiting.score)
        && state.waiting.recording.is_none()
        && later != earlier
    {
        let paths = [earlier.clone(), later.clone()].into_iter().chain(reference).collect();
        state.waiting = Waiting::default();
        services.worker.start(Task::Classify { paths, order: Order::Any, discard });
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
            let taken = guessed.then(|| sources.recording.path().zip(sources.score.path()));
            let notice = taken.flatten().map(|(performance, score)| Notice::taken(performance, score));
            start(state, services, sources, opening, None);
            notice.into_iter().for_each(|notice| state.tell(notice));
        }
        (recording, score) => {
            let text = match (&recording, &score) {
                (Some(recording), _) => {
                    format!(
                        "{} needs its score: drop or open a MusicXML, MEI, **kern or MIDI file.",
                        file_name(recording)
                    )
                }
                (_, Some(score)) => {
                    format!(
                        "{} needs its recording: drop or open an audio file or a MIDI performance.",
                        file_name(score)
                    )
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
    let soundfont = state.preferences.soundfont.clone();
    services.worker.start(Task::Open { sources, settings, soundfont, known });
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

/// Saves the session under a name, which is completed if it has no extension.
pub(super) fn save_as(state: &mut AppState, services: &mut Services, path: PathBuf) {
    let path = if path.extension().is_none() { path.with_extension("agogic") } else { path };
    write(state, services, Writing::Session(path), false);
}

/// Writes a file. Unless `replace` says so, or the user has in the system's dialog, no other file is replaced, nor the session's own if
/// somebody else has written to it.
pub(super) fn write(state: &mut AppState, services: &mut Services, writing: Writing, replace: bool) {
    let Some(document) = &state.document else { return };
    let replace = replace || state.may_replace.take().as_deref() == Some(writing.path());
    let sources = document.piece.sources.clone();
    match writing {
        Writing::Session(path) => {
            let path = absolute(&path);
            // Two at once would each take what the other wrote for somebody else's, and the older could come last.
            if let Some(saving) = state.saving.as_mut().filter(|saving| saving.path == path) {
                saving.again = Some(replace);
                let slow = saving.since.elapsed() > LONGEST_SAVE;
                let text =
                    format!("{} is still being saved. Save as (Ctrl+Shift+S) saves elsewhere.", file_name(&path));
                state.dialog = None;
                slow.then(|| state.tell(Notice::warning(text)));
                return;
            }
            let (session, revision) = (Box::new(document.session()), document.revision);
            let own = document.session_holds.filter(|_| document.session_path.as_ref() == Some(&path));
            let replace = own.filter(|_| !replace).map_or(MayReplace::anything_if(replace), MayReplace::Holding);
            state.saving = Some(Saving { path: path.clone(), since: Instant::now(), again: None });
            services.worker.start(Task::Save { sources, session, path, revision, replace });
        }
        Writing::Export { format, path } => {
            let Some(solution) = document.solution.clone() else { return };
            let (piece, reference) = (document.piece.clone(), document.reference.clone());
            services.worker.start(Task::Export { piece, solution, reference, format, path, replace });
        }
        // It is drawn with the next frame.
        Writing::Picture(options) => state.picture = Some((options, replace)),
    }
    state.dialog = None;
}

/// Writes the picture that was asked for, now that it is drawn.
pub fn write_picture(
    state: &AppState,
    services: &mut Services,
    drawing: Box<Drawing>,
    options: PictureOptions,
    replace: bool,
) {
    let Some(piece) = state.piece() else { return };
    services.worker.start(Task::Picture { sources: piece.sources.clone(), drawing, options, replace });
}

pub(super) fn saved(state: &mut AppState, services: &mut Services, path: PathBuf, revision: u64, holds: Fingerprint) {
    state.tell(Notice::info(format!("Saved {}.", path.display())));
    state.preferences.remember(Recent::Session(path.clone()));
    with_document(state, |document| {
        document.saved_revision = revision;
        (document.session_path, document.session_holds) = (Some(path), Some(holds));
    });
    forget_recovered(state, services);
    if state.document.as_ref().is_some_and(Document::is_safe) {
        forget_autosaved(services);
    }
    if let Some(Saving { path, again: Some(replace), .. }) = state.saving.take() {
        write(state, services, Writing::Session(path), replace);
    } else if let Some(afterwards) = state.after_saving.take() {
        unless_changed(state, services, afterwards);
    } else if let Some(piece) = state.piece().filter(|_| !services.worker.is_busy(Slot::Check)) {
        // A drive that does not answer keeps one thread, not one for every save.
        services.worker.start(Task::Check(Arc::clone(piece)));
    }
}

pub(super) fn discard_left_behind(state: &mut AppState, services: &mut Services) {
    if !state.left_behind.is_empty() {
        services.worker.start(Task::ForgetLeftover(state.left_behind.remove(0)));
    }
}

/// The session is safe from a crash up to a change.
pub(super) fn autosaved(state: &mut AppState, services: &mut Services, revision: u64) {
    with_document(state, |document| (document.autosaved_revision, document.autosave_failed) = (revision, false));
    state.notices.retain(|notice| !notice.text.starts_with(AUTOSAVE_FAILED));
    forget_recovered(state, services);
}

/// Changes could not be made safe; that is tried again after a while, and said once.
pub(super) fn not_autosaved(state: &mut AppState, error: &Error) {
    let Some(document) = &mut state.document else { return };
    if !std::mem::replace(&mut document.autosave_failed, true) {
        state.tell(Notice::warning(format!("{AUTOSAVE_FAILED}: {error}.")));
    }
}

/// What was recovered is safe elsewhere by now.
fn forget_recovered(state: &mut AppState, services: &mut Services) {
    if let Some(leftover) = state.document.as_mut().and_then(|document| document.recovered.take()) {
        services.worker.start(Task::ForgetLeftover(leftover));
    }
}

/// There is nothing to recover of this window.
pub(super) fn forget_autosaved(services: &mut Services) {
    if let Some(recovery) = &services.recovery {
        services.worker.start(Task::Forget(recovery.file().clone()));
    }
}

/// Keeps changes safe from a crash. To be called now and then.
pub fn autosave(state: &AppState, services: &mut Services) {
    let Some(document) = &state.document else { return };
    let busy = document.dragging || services.worker.is_busy(Slot::Autosave);
    if busy || document.is_safe() {
        return;
    }
    let Some(file) = services.recovery.as_ref().map(|recovery| recovery.file().clone()) else { return };
    services.worker.start(Task::Autosave { session: Box::new(document.session()), file, revision: document.revision });
}
