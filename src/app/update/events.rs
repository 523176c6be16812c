//! What workers tell.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Services, compare, correct, files, hear, play, relink, tune, with_document};
use crate::align::settings::Method;
use crate::app::command::Command;
use crate::app::document::source::{Order, file_name};
use crate::app::document::view_model::{Change, Piece, Reference, Solution};
use crate::app::document::{Document, Heard, Opening};
use crate::app::folders::Purpose;
use crate::app::notice::Notice;
use crate::app::preferences::NoteColours;
use crate::app::state::{AppState, Dialog, Waiting, Writing};
use crate::app::system_dialog::Question;
use crate::app::work::tasks::Task;
use crate::app::work::worker::{Event, Slot};
use crate::base::error::Error;

/// Nobody closes a dialog faster than this: it was never shown.
const FASTEST_ANSWER: Duration = Duration::from_millis(150);

/// Takes in all events since the last frame.
pub fn take_in(state: &mut AppState, services: &mut Services) {
    for (slot, event) in services.worker.poll() {
        take_in_one(state, services, slot, event);
    }
}

/// Ends all work before the window closes, and takes in how the last save went.
pub fn finish(state: &mut AppState, services: &mut Services) {
    for (slot, event) in services.worker.finish() {
        take_in_one(state, services, slot, event);
    }
}

fn take_in_one(state: &mut AppState, services: &mut Services, slot: Slot, event: Event) {
    match event {
        Event::Progress { stage, fraction } => {
            if let (Slot::Align, Some(work)) = (slot, &mut state.work) {
                (work.stage, work.fraction) = (stage, fraction);
            } else if slot == Slot::Train {
                (state.tuning.stage, state.tuning.fraction) = (stage, fraction);
            }
        }
        Event::Reopened(reopened) => relink::reopened(state, services, reopened),
        Event::Devices(devices) => state.devices = devices,
        Event::Cards(cards) => state.cards = cards,
        Event::Notice(text) => state.tell(Notice::warning(text)),
        Event::Opened { piece, reference, bad_reference } => {
            opened(state, services, piece, reference);
            if let Some(error) = bad_reference {
                state.tell(Notice::error(&error));
            }
        }
        Event::Solved { solution, heard, again } => solved(state, services, solution, heard, again),
        Event::Compared { source, reference, solution } => {
            let Some(document) = &mut state.document else { return };
            document.reference_source = source;
            document.reference.clone_from(&reference);
            document.solution = Some(solution);
            document.note_addition();
            compare::measure(document);
            state.work = None;
            // The comparison took the place of finding the alignment that belongs here.
            if document.is_outdated {
                super::start_aligning(state, services);
            }
            if let Some(reference) = reference {
                state.preferences.note_colours = NoteColours::Reference;
                state.tell(Notice::info(format!("Comparing with {}.", reference.name)));
            }
        }
        Event::Previewed(solution) => correct::previewed(state, services, solution),
        Event::Listened(heard) => with_document(state, |document| document.heard = Some(heard)),
        Event::Classified { found, order, discard } => files::classified(state, services, found, order, discard),
        Event::WouldReplace(writing) => {
            if matches!(writing, Writing::Session(_)) {
                state.saving = None;
            }
            state.dialog = Some(Dialog::Replace(writing));
        }
        Event::Forgotten => {}
        Event::Labelled { pieces, from_files } => tune::labelled(state, pieces, from_files),
        Event::ModelOpened { model, card, purpose } => tune::model_opened(state, services, model, &card, purpose),
        Event::TrainingNamed(name) => tune::named(state, name),
        Event::TrainingKept(interrupted) => state.tuning.interrupted = interrupted,
        Event::Training(event) => state.tuning.take_in(event),
        Event::Trained(outcome) => tune::trained(state, *outcome),
        Event::Decoded { source, clip } => hear::decoded(state, services, &source, &clip),
        Event::Performed { before, performed } => play::performed(state, services, &before, performed),
        Event::Sound(clip) => play::score_sounds(state, services, clip),
        Event::Written(path) => {
            remember_written(state, Purpose::Exports, &path);
            state.tell(Notice::info(format!("Wrote {}.", path.display())));
        }
        Event::Saved { path, revision, holds } => {
            remember_written(state, Purpose::Sessions, &path);
            files::saved(state, services, path, revision, holds);
        }
        Event::Checked(changed) => changed.into_iter().for_each(|sentence| state.tell(Notice::warning(sentence))),
        Event::Autosaved(revision) => files::autosaved(state, services, revision),
        Event::Picked(paths) => picked(state, services, paths),
        Event::Failed(error) => failed(state, services, slot, &error),
    }
}

/// The next dialog for this starts where the file is.
fn remember_written(state: &mut AppState, purpose: Purpose, path: &Path) {
    let own = state.recording_folder().map(Path::to_owned);
    state.preferences.folders.remember_written(purpose, path, own.as_deref());
}

/// Another piece takes the place of what was open, and work on that ends.
fn opened(state: &mut AppState, services: &mut Services, piece: Arc<Piece>, reference: Option<Arc<Reference>>) {
    if state.transport.playing {
        play::toggle(state, services);
    }
    for slot in [Slot::Listen, Slot::Drag, Slot::Other, Slot::Perform, Slot::Save, Slot::Autosave, Slot::Check] {
        services.worker.cancel(slot);
    }
    if let Some(damage) = &piece.damage {
        state.tell(Notice::warning(format!("{}: {damage}", piece.recording_name)));
    }
    if let Some(recording) = piece.sources.recording.path() {
        state.preferences.folders.remember(Purpose::Pieces, recording);
    }
    let opening = services.opening.take().unwrap_or_else(|| Opening::plain(state.settings()));
    let recovered_from = opening.recovered_from.as_deref();
    let leftover = state.left_behind.iter().position(|left| Some(left.file()) == recovered_from);
    let mut document = Document::new(piece, reference, opening, state.document.take());
    document.recovered = leftover.map(|index| state.left_behind.remove(index));
    state.document = Some(document);
    files::forget_autosaved(services);
    state.transport = state.transport.of_new_piece();
    state.waiting = Waiting::default();
    state.tried = None;
    (state.after_saving, state.saving) = (None, None);
    play::new_solution(state, services);
    services.player.seek(0.0);
    play::mark(state, services, None);
    if let Some(work) = &mut state.work {
        work.title = "Aligning".to_owned();
    }
}

fn solved(state: &mut AppState, services: &mut Services, solution: Arc<Solution>, heard: Option<Heard>, again: bool) {
    state.work = None;
    for warning in &solution.alignment.warnings {
        let mut letters = warning.chars();
        let text: String = letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect();
        state.tell(Notice::warning(format!("{text}.")));
    }
    let Some(document) = &mut state.document else { return };
    let change = document.solution.as_ref().filter(|_| again).map(|before| Change::between(before, &solution));
    document.is_outdated = false;
    document.ghost = document.solution.replace(solution).filter(|_| change.is_none_or(|change| change.moved > 0));
    if change.is_some_and(|change| !change.is_none) {
        document.note_correction();
    }
    if !document.dragging {
        document.let_go();
    }
    compare::measure(document);
    if heard.is_some() {
        document.heard = heard;
    }
    // An alignment that was stored was not listened for.
    if document.heard.is_none() && !services.worker.is_busy(Slot::Listen) {
        let (piece, method) = (Arc::clone(&document.piece), document.settings.method.clone());
        services.worker.start(Task::Listen { piece, method });
    }
    if let Some(change) = change {
        state.tell(Notice::info(change.to_string()));
    }
    play::new_solution(state, services);
}

fn failed(state: &mut AppState, services: &mut Services, slot: Slot, error: &Error) {
    match slot {
        Slot::Align => {
            state.work = None;
            with_document(state, Document::let_go);
            services.opening = None;
            // What was typed need not be typed again.
            if let Some(tried) = state.tried.take().filter(|_| !matches!(error, Error::Cancelled)) {
                state.dialog = Some(tried);
            }
        }
        // What the drag would have brought is found out when it ends.
        Slot::Drag => return,
        Slot::Train => tune::ended(state),
        Slot::Sound | Slot::Perform => play::no_soundfont(state, services),
        Slot::Autosave => return files::not_autosaved(state, error),
        Slot::Save => (state.after_saving, state.saving) = (None, None),
        _ => {}
    }
    if !matches!(error, Error::Cancelled) {
        state.tell(Notice::error(error));
    }
}

/// The system has no file dialog: ours asks for the path instead.
fn without_system_dialog(state: &mut AppState, question: Question) {
    match question {
        Question::OpenFiles => {
            state.dialog = Some(Dialog::Open { recording: String::new(), score: String::new() });
        }
        Question::SaveSession(path) => state.dialog = Some(Dialog::SaveSession { path: path.display().to_string() }),
        // Asked by dialogs that have a field for the path themselves.
        Question::Export(_) | Question::Picture(_) | Question::Missing(_) => {
            state.tell(Notice::warning("No system file dialog is available: type the path."));
        }
        question => state.dialog = Some(Dialog::Path { question, path: String::new() }),
    }
}

fn picked(state: &mut AppState, services: &mut Services, paths: Vec<PathBuf>) {
    let Some((question, since)) = state.asked.take() else { return };
    if paths.is_empty() {
        state.after_saving = None;
        if since.elapsed() < FASTEST_ANSWER {
            without_system_dialog(state, question);
        }
        return;
    }
    answered(state, services, question, paths);
}

/// Does what files were asked for.
pub(super) fn answered(state: &mut AppState, services: &mut Services, question: Question, paths: Vec<PathBuf>) {
    let Some(first) = paths.first().cloned() else { return };
    if let Some(Dialog::Path { .. }) = state.dialog {
        state.dialog = None;
    }
    // Where something is written is remembered once it is.
    let purpose = Purpose::of(&question);
    if !matches!(purpose, Purpose::Sessions | Purpose::Exports) {
        state.preferences.folders.remember(purpose, &first);
    }
    match question {
        Question::OpenFiles => super::apply(state, services, Command::Open(paths)),
        Question::OpenRecording => super::apply(state, services, Command::OpenIn(Order::Performance, paths)),
        Question::OpenTranscription => {
            let mut settings = state.settings().clone();
            if let Method::Onsets(onsets) = &mut settings.method {
                onsets.transcription = Some(first);
                correct::set_settings(state, settings);
            }
        }
        Question::OpenReference => super::apply(state, services, Command::OpenReference(first)),
        Question::SaveSession(_) => {
            state.may_replace = Some(first.clone());
            super::apply(state, services, Command::SaveSessionAs(first));
        }
        Question::OpenSoundFont => {
            let mut settings = state.settings().clone();
            if let Method::Frames(frames) = &mut settings.method {
                frames.soundfont = Some(first);
                correct::set_settings(state, settings);
            }
        }
        Question::OpenPlaybackSoundFont => {
            super::apply(state, services, Command::SetPlaybackSoundFont(Some(first)));
        }
        Question::Picture(_) => {
            if let Some(Dialog::Picture(mut options)) = state.dialog.clone() {
                options.path.clone_from(&first);
                state.dialog = Some(Dialog::Picture(options));
                state.may_replace = Some(first);
            }
        }
        Question::Missing(_) => super::apply(state, services, Command::Relink { file: first, confirmed: false }),
        Question::StartModel => super::apply(state, services, Command::StartFrom(first.display().to_string())),
        Question::OpenModel => {
            super::apply(state, services, Command::ChooseModel(Some(first.display().to_string())));
        }
        Question::AddLabelled | Question::AddLabelledFolder => {
            super::apply(state, services, Command::AddLabelled(paths));
        }
        Question::Export(_) => {
            if let Some(Dialog::Export { format, .. }) = state.dialog {
                state.dialog = Some(Dialog::Export { format, path: first.display().to_string() });
                state.may_replace = Some(first);
            } else {
                state.tell(Notice::warning(format!("{} was not written: the dialog is closed.", file_name(&first))));
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Instant;

    use super::*;
    use crate::app::playback::{Player, SimulatedClock, SimulatedOutput};
    use crate::app::preferences::Preferences;
    use crate::app::work::worker::Worker;

    pub fn services() -> Services {
        Services {
            worker: Worker::new(|| {}),
            player: Player::new(Box::new(SimulatedOutput::new(SimulatedClock::default()))),
            user_folder: None,
            recovery: None,
            score_sound: None,
            training: Arc::default(),
            opening: None,
        }
    }

    #[test]
    fn where_the_system_shows_no_file_dialog_the_path_is_asked_for() {
        let session = Path::new("/pieces/take.agogic");
        let asked = |question: Question| {
            let (mut state, mut services) = (AppState::new(Preferences::default()), services());
            state.asked = Some((question, Instant::now()));
            picked(&mut state, &mut services, Vec::new());
            state.dialog
        };
        assert!(matches!(asked(Question::OpenFiles), Some(Dialog::Open { .. })));
        assert!(matches!(asked(Question::OpenSoundFont), Some(Dialog::Path { .. })));
        let saved = asked(Question::SaveSession(session.to_owned()));
        assert_eq!(saved, Some(Dialog::SaveSession { path: session.display().to_string() }));
    }

    #[test]
    fn a_dialog_that_the_user_has_closed_stays_closed() {
        let (mut state, mut services) = (AppState::new(Preferences::default()), services());
        let long_ago = Instant::now().checked_sub(Duration::from_secs(2)).unwrap();
        state.asked = Some((Question::OpenFiles, long_ago));
        picked(&mut state, &mut services, Vec::new());
        assert_eq!(state.dialog, None);
    }
}
