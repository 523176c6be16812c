//! What workers tell.

use std::time::Duration;

use super::files::{self, Opening};
use super::{Services, compare, correct, play, relink, tune};
use crate::app::command::Command;
use crate::app::document::source::file_name;
use crate::app::state::{AppState, Dialog, Notice};
use crate::app::system_dialog::Question;
use crate::app::time_view::TimeView;
use crate::app::work::tasks::Task;
use crate::app::work::worker::{Event, Slot};
use crate::base::error::Error;

/// Nobody closes a dialog faster than this: it was never shown.
const FASTEST_ANSWER: Duration = Duration::from_millis(150);

/// Takes in everything that was told since the last frame.
pub fn take_in(state: &mut AppState, services: &mut Services) {
    for (slot, event) in services.worker.poll() {
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
        Event::Opened { piece, reference } => {
            if state.transport.playing {
                super::apply(state, services, Command::TogglePlay);
            }
            let opening = services.opening.take().unwrap_or_else(|| Opening::plain(&state.settings));
            state.view = opening.view.unwrap_or_else(|| TimeView::whole(piece.duration_s()));
            if let Some(damage) = &piece.damage {
                state.tell(Notice::warning(format!("{}: {damage}", piece.recording_name)));
            }
            state.transport = crate::app::state::Transport {
                speed: state.transport.speed,
                mix: state.transport.mix,
                ..Default::default()
            };
            state.settings = opening.settings;
            state.session_path = opening.session_path;
            state.history = crate::app::document::history::History::default();
            state.waiting = crate::app::state::Waiting::default();
            state.revision += 1;
            state.saved_revision = if opening.changed { state.revision - 1 } else { state.revision };
            state.kept_revision = state.saved_revision;
            services.worker.cancel(Slot::Spectrum);
            state.spectrum = None;
            services.listening = None;
            services.worker.cancel(Slot::Drag);
            (state.solution, state.ghost, state.moved, state.selected) = (None, None, None, None);
            (state.preview, state.dragging) = (None, false);
            // Another recording of the same score: what was kept of the first can still be compared, beat by beat.
            let same_score = state.piece.as_ref().is_some_and(|before| before.score.notes == piece.score.notes);
            if !same_score || !opening.kept.is_empty() {
                state.kept = opening.kept;
            }
            state.accepted = opening.accepted;
            state.reference = reference;
            state.reference_source = piece.sources.reference.clone();
            state.piece = Some(piece);
            play::new_solution(state, services);
            services.player.seek(0.0);
            play::mark(state, services, None);
            if let Some(work) = &mut state.work {
                work.title = "Aligning".to_owned();
            }
        }
        Event::Solved(solution) => {
            state.work = None;
            for warning in &solution.alignment.warnings {
                let mut letters = warning.chars();
                let text: String =
                    letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect();
                state.tell(Notice::warning(format!("{text}.")));
            }
            state.ghost = state.solution.replace(solution);
            if !state.dragging {
                (state.moved, state.preview) = (None, None);
            }
            compare::measure(state);
            play::new_solution(state, services);
            // After the alignment, which is wanted first.
            if let (None, Some(piece)) = (&state.spectrum, &state.piece)
                && !services.worker.is_busy(Slot::Spectrum)
            {
                services.worker.start(Task::Spectrum(std::sync::Arc::clone(piece)));
            }
        }
        Event::Compared { source, reference, solution } => {
            state.work = None;
            if let Some(reference) = &reference {
                state.tell(Notice::info(format!("Comparing with {}.", reference.name)));
            }
            state.reference = reference;
            state.solution = Some(solution);
            state.reference_source = source;
            state.revision += 1;
            compare::measure(state);
        }
        Event::Previewed(solution) => correct::previewed(state, services, solution),
        Event::Listened(listening) => services.listening = Some(listening),
        Event::Training(event) => state.tuning.take_in(event),
        Event::Trained(outcome) => tune::trained(state, *outcome),
        Event::Spectrum(spectrum) => state.spectrum = Some(spectrum),
        Event::Sound(clip) => play::score_sounds(state, services, clip),
        Event::Written(path) => state.tell(Notice::info(format!("Wrote {}.", path.display()))),
        Event::Saved { path, revision } => files::saved(state, services, path, revision),
        Event::Kept(revision) => state.kept_revision = revision,
        Event::Picked(paths) => picked(state, services, paths),
        Event::Failed(error) => failed(state, services, slot, &error),
    }
}

fn failed(state: &mut AppState, services: &mut Services, slot: Slot, error: &Error) {
    match slot {
        Slot::Align => {
            state.work = None;
            (state.moved, state.preview) = (None, None);
            services.opening = None;
        }
        // What the drag would have brought is found out when it ends.
        Slot::Drag => return,
        Slot::Train => tune::ended(state, services),
        Slot::Save => state.after_saving = None,
        _ => {}
    }
    if !matches!(error, Error::Cancelled) {
        state.tell(Notice::error(error));
    }
}

fn picked(state: &mut AppState, services: &mut Services, paths: Vec<std::path::PathBuf>) {
    let Some((question, since)) = state.asked.take() else { return };
    let Some(first) = paths.first().cloned() else {
        state.after_saving = None;
        if since.elapsed() < FASTEST_ANSWER {
            state.tell(Notice::warning(
                "This system shows no file dialog. Drop files on the window, or open them by path (Ctrl+Shift+O).",
            ));
        }
        return;
    };
    match question {
        Question::OpenFiles => super::apply(state, services, Command::Open(paths)),
        Question::OpenReference => super::apply(state, services, Command::OpenReference(first)),
        Question::SaveSession(_) => super::apply(state, services, Command::SaveSessionAs(first)),
        Question::OpenSoundFont => {
            let settings = crate::align::settings::Settings { soundfont: Some(first), ..state.settings.clone() };
            super::apply(state, services, Command::SetSettings(settings));
        }
        Question::Picture(_) => {
            if let Some(Dialog::Picture(options)) = &mut state.dialog {
                options.path = first;
            }
        }
        Question::Missing(_) => super::apply(state, services, Command::Relink { file: first, confirmed: false }),
        Question::StartModel => super::apply(state, services, Command::StartFrom(first.display().to_string())),
        Question::OpenModel => {
            super::apply(state, services, Command::ChooseExtractor(Some(first.display().to_string())));
        }
        Question::AddLabelled | Question::AddLabelledFolder => {
            super::apply(state, services, Command::AddLabelled(paths));
        }
        Question::Export(_) => {
            if let Some(Dialog::Export { path, .. }) = &mut state.dialog {
                *path = first.display().to_string();
            } else {
                state.tell(Notice::warning(format!("{} was not written: the dialog is closed.", file_name(&first))));
            }
        }
    }
}
