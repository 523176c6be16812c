//! The only place that changes the state: carries out commands and takes in what workers tell.

mod accept;
mod compare;
mod correct;
mod events;
mod files;
mod hear;
mod look;
mod play;
mod relink;
mod tune;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::command::Command;
use super::document::recovery::Recovery;
use super::document::source::{Order, Source};
use super::document::{Document, Opening};
use super::notice::Notice;
use super::playback::Player;
use super::preferences::LEAST_DIFFERENCE;
use super::state::{Afterwards, AppState, Work, Writing};
use super::system_dialog::{self, Question};
use super::time_view::TimeView;
use super::ui::panes::default_layout;
use super::work::tasks::{CompareWith, ModelPurpose, Task};
use super::work::worker::{Slot, Worker};
use crate::audio::AudioClip;
use crate::learning::Control;

pub use events::{finish, take_in};
pub use files::{autosave, write_picture};
pub use play::follow_playhead;

/// What the window works with.
pub struct Services {
    /// Long work.
    pub worker: Worker,
    /// Sound.
    pub player: Player,
    /// Where preferences live.
    pub user_folder: Option<PathBuf>,
    /// Where the session is kept safe.
    pub recovery: Option<Recovery>,
    /// The score played in the time of the open recording, once it is.
    pub score_sound: Option<Arc<AudioClip>>,
    /// Pauses the training.
    pub training: Arc<Control>,
    /// What is to be applied when files that are being opened have been read.
    pub opening: Option<Opening>,
}

impl Services {
    /// Where models, labels and the plan of the training are kept.
    pub fn models_folder(&self) -> PathBuf {
        let user_folder = self.user_folder.clone();
        user_folder.unwrap_or_else(|| std::env::temp_dir().join("agogic")).join("models")
    }
}

/// Carries out one command.
pub fn apply(state: &mut AppState, services: &mut Services, command: Command) {
    match command {
        Command::Open(paths) => files::open(state, services, paths, Order::Any),
        Command::OpenIn(order, paths) => files::open(state, services, paths, order),
        Command::OpenDemo => files::unless_changed(state, services, Afterwards::OpenDemo),
        Command::OpenRecent(recent) => files::open_recent(state, services, recent),
        Command::OpenReference(path) => compare::with(state, services, CompareWith::Source(Source::File(path))),
        Command::CompareWithKept(index) => compare::with_kept(state, services, index),
        Command::ForgetReference => compare::with(state, services, CompareWith::Nothing),
        Command::Ask(question) => {
            if matches!(question, Question::SaveSession(_)) {
                state.dialog = None;
            }
            state.asked = Some((question.clone(), Instant::now()));
            let folders = state.start_folders(&question);
            services.worker.start(Task::Dialog(system_dialog::ask(question, folders)));
        }
        Command::Answer(question, path) => events::answered(state, services, question, vec![path]),
        Command::Show(dialog) => state.dialog = Some(dialog),
        Command::CloseDialog => close_dialog(state),
        Command::Welcome(welcome) => state.welcome = welcome,
        Command::SaveSession => files::save(state, services),
        Command::SaveSessionAs(path) => files::save_as(state, services, path),
        Command::Export { format, path } => files::write(state, services, Writing::Export { format, path }, false),
        Command::SavePicture(options) => files::write(state, services, Writing::Picture(options), false),
        Command::Replace(writing) => files::write(state, services, writing, true),
        Command::Relink { file, confirmed } => relink::offer(state, services, file, confirmed),
        Command::OpenWithout => relink::go_without(state, services),
        Command::Recover => files::unless_changed(state, services, Afterwards::Recover),
        Command::DiscardLeftBehind => files::discard_left_behind(state, services),
        Command::Quit => files::unless_changed(state, services, Afterwards::Quit),
        Command::DiscardChanges(afterwards) => files::go_on(state, services, afterwards),
        Command::SaveAnd(afterwards) => {
            state.dialog = None;
            state.after_saving = Some(afterwards);
            files::save(state, services);
        }
        Command::Dismiss(index) => {
            if index < state.notices.len() {
                state.notices.remove(index);
            }
        }
        Command::Cancel => cancel(state, services),
        Command::Escape => escape(state, services),
        Command::Align => start_aligning(state, services),
        Command::SetSettings(settings) => correct::set_settings(state, settings),
        Command::ChoosePath(path) => correct::choose_path(state, services, path),
        Command::SetView(view) => with_document(state, |document| document.view = view),
        Command::Zoom(factor) => look::zoom(state, factor),
        Command::Scroll(share) => look::show(state, |view| view.panned(share * view.span_s)),
        Command::Fit => look::show(state, |view| TimeView::whole(view.duration_s)),
        Command::ScaleWaveform(factor) => state.scale = state.scale.louder(factor),
        Command::ScaleNotes(factor) => state.scale = state.scale.taller(factor, 0.5),
        Command::SetScale(scale) => state.scale = scale,
        Command::SetStaffLook(look) => state.staff = look,
        Command::ToggleReading => state.preferences.reading = !state.preferences.reading,
        Command::ToggleWarpDifference => {
            state.preferences.warp_difference = !state.preferences.warp_difference;
        }
        Command::GoTo(time_s) => look::go_to(state, services, time_s),
        Command::PlayFrom(time_s) => {
            look::go_to(state, services, time_s);
            play::from_before(state, services, time_s);
        }
        Command::ColourNotes(colours) => state.preferences.note_colours = colours,
        Command::ShowDifferencesFrom(least) => {
            state.preferences.least_difference = least.clamp(LEAST_DIFFERENCE, 1.0);
        }
        Command::GoToEdge { end } => {
            let time_s = if end { state.view().duration_s } else { 0.0 };
            play::seek(state, services, time_s);
            look::show(state, |view| view.showing(time_s));
        }
        Command::NextDoubt => look::next_doubt(state, services),
        Command::StepOnset(step) => look::step_onset(state, services, step),
        Command::Select(selected) => with_document(state, |document| document.select(selected)),
        Command::SelectNote(note) => with_document(state, |document| document.select_note(note)),
        Command::StepNote(step) => with_document(state, |document| document.step_note(step)),
        Command::StepInVoice(step) => look::step_in_voice(state, services, step),
        Command::Drag(anchor) => correct::drag(state, services, anchor),
        Command::DragNote(fixed) => correct::drag_note(state, services, fixed),
        Command::Drop => correct::drop(state, services),
        Command::PlaceAnchor(anchor) => correct::place_anchor(state, services, anchor),
        Command::PlaceNote(fixed) => correct::place_note(state, services, fixed),
        Command::Nudge(ms) => correct::nudge(state, services, ms),
        Command::DeleteAnchor => correct::delete_anchor(state, services),
        Command::ClearAnchors => correct::clear_anchors(state, services),
        Command::Accept { right } => accept::accept(state, right),
        Command::Keep => with_document(state, compare::keep),
        Command::ToggleKept(index) => with_document(state, |document| compare::toggle(document, index)),
        Command::AdoptKept(index) => compare::adopt(state, services, index),
        Command::ForgetKept(index) => {
            hear::hear(state, services, None);
            state.transport.heard_last = None;
            with_document(state, |document| compare::forget(document, index));
        }
        Command::OpenOtherRecording => compare::open_other_recording(state, services),
        Command::RenameKept(index, name) => with_document(state, |document| compare::rename(document, index, name)),
        Command::ChooseModel(model) => tune::choose_model(state, services, model),
        Command::SetPlan(plan) => tune::set_plan(state, plan),
        Command::StartFrom(model) => {
            services.worker.start(Task::OpenModel { model, purpose: ModelPurpose::Training });
        }
        Command::TypeLabelled(text) => state.tuning.typed = text,
        Command::AddLabelled(paths) => tune::add_labelled(services, paths),
        Command::AddCurrent => tune::add_current(state, services),
        Command::StartTraining => tune::start(state, services),
        Command::PauseTraining(paused) => tune::pause(state, services, paused),
        Command::StopTraining => tune::stop(state, services),
        Command::KeepBest => tune::keep_best(state, services),
        Command::UseTrained => tune::use_trained(state, services),
        Command::RollBack => tune::roll_back(state, services),
        Command::Undo => correct::undo(state, services),
        Command::Redo => correct::redo(state, services),
        Command::TogglePlay => play::toggle(state, services),
        Command::Seek(time_s) => play::seek(state, services, time_s),
        Command::Mark(marked) => play::mark(state, services, marked),
        Command::ToggleLoop => play::toggle_loop(state, services),
        Command::LoopBars => play::loop_bars(state, services),
        Command::ToggleCountIn => state.transport.count_in = !state.transport.count_in,
        Command::MuteTrack(track) => play::hear_parts(state, services, |transport| flip(&mut transport.muted, track)),
        Command::SoloTrack(track) => play::hear_parts(state, services, |transport| flip(&mut transport.soloed, track)),
        Command::SetSpeed(speed) => play::set_speed(state, services, speed),
        Command::SetMix(mix) => play::set_mix(state, services, mix),
        Command::SetPlaybackSoundFont(soundfont) => play::set_soundfont(state, services, soundfont),
        Command::Hear(index) => hear::hear(state, services, index),
        Command::HearOther => hear::hear_other(state, services),
        Command::ListCards => services.worker.start(Task::Cards),
        Command::ComputeOn(choice) => {
            state.preferences.computing = choice;
            services.worker.compute_on(choice);
        }
        Command::ListDevices => play::list_devices(services),
        Command::ChooseDevice(device) => play::choose_device(state, services, device),
        Command::SetTheme(theme) => state.preferences.theme = theme,
        Command::SetZoom(zoom) => state.preferences.zoom = zoom.clamp(0.6, 2.5),
        Command::ToggleSidePanel => state.preferences.side_panel = !state.preferences.side_panel,
        Command::ShowSide(tab) => {
            state.preferences.side_tab = tab;
            state.preferences.side_panel = true;
        }
        Command::ToggleFollow => state.preferences.follow = !state.preferences.follow,
        Command::ToggleSnap => state.preferences.snap = !state.preferences.snap,
        Command::ToggleSpectrumBehindNotes => {
            state.preferences.spectrum_behind_notes = !state.preferences.spectrum_behind_notes;
        }
        Command::TogglePane(kind) => super::ui::panes::toggle(&mut state.preferences.layout, kind),
        Command::ResetLayout => state.preferences.layout = default_layout(),
    }
}

/// Puts something into a set, or takes it out.
fn flip(set: &mut std::collections::BTreeSet<u16>, one: u16) {
    if !set.remove(&one) {
        set.insert(one);
    }
}

/// Changes what is open, if anything is.
fn with_document(state: &mut AppState, change: impl FnOnce(&mut Document)) {
    if let Some(document) = &mut state.document {
        change(document);
    }
}

/// Removes notices that have been shown long enough.
pub fn forget_old_news(state: &mut AppState) {
    state.notices.retain(|notice| !notice.is_over());
}

/// Starts finding the alignment that the settings ask for.
fn start_aligning(state: &mut AppState, services: &mut Services) {
    let Some(document) = &state.document else { return };
    let (piece, settings) = (Arc::clone(&document.piece), document.settings.clone());
    if let Err(error) = settings.validate() {
        state.tell(Notice::error(&error));
        return;
    }
    let (heard, reference) = (document.heard.clone(), document.reference.clone());
    state.work = Some(Work::new("Aligning"));
    services.opening = None;
    services.worker.start(Task::Align { piece, heard, settings, reference });
}

fn cancel(state: &mut AppState, services: &mut Services) {
    if state.work.take().is_none() {
        return;
    }
    services.worker.cancel(Slot::Align);
    (services.opening, state.tried) = (None, None);
    with_document(state, Document::let_go);
    let is_outdated = state.document.as_ref().is_some_and(|document| document.is_outdated);
    state.tell(if is_outdated {
        Notice::warning("Cancelled. The alignment shown belongs to a later step: Ctrl+R aligns again.")
    } else {
        Notice::info("Cancelled. The previous alignment is unchanged.")
    });
}

/// Closes the dialog. What was to be done after saving is not done.
fn close_dialog(state: &mut AppState) {
    (state.dialog, state.tried) = (None, None);
    (state.after_saving, state.may_replace) = (None, None);
}

fn escape(state: &mut AppState, services: &mut Services) {
    if state.dialog.is_some() {
        close_dialog(state);
    } else if state.welcome.is_some() {
        state.welcome = None;
    } else if let Some(document) = state.document.as_mut().filter(|document| document.dragging) {
        correct::let_go(document, services);
    } else if state.work.is_some() {
        cancel(state, services);
    } else if state.document.as_ref().is_some_and(|document| document.selected.is_some()) {
        with_document(state, |document| document.select(None));
    } else if state.transport.marked.is_some() {
        play::mark(state, services, None);
    } else {
        state.notices.clear();
    }
}
