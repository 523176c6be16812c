//! Fine-tuning.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Services, correct, start_aligning};
use crate::align::settings::{AlignerKind, Refinement, Settings};
use crate::app::document::source::{FileRole, Source, file_name, role_of};
use crate::app::preferences::SideTab;
use crate::app::state::{AppState, Notice};
use crate::app::tuning::{LabelledPiece, Outcome, Phase, Plan, Start, Tuning};
use crate::app::work::tasks::Task;
use crate::app::work::worker::Slot;
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};
use crate::demo;
use crate::learning::{PieceFiles, find_pieces};
use crate::networks::open_model;

/// Where models are kept.
fn models_folder(services: &Services) -> PathBuf {
    let user_folder = services.user_folder.clone();
    user_folder.unwrap_or_else(|| std::env::temp_dir().join("agogic")).join("models")
}

/// Fine-tuning as it was left.
pub fn recall_plan(services: &Services) -> Tuning {
    let folder = models_folder(services);
    let mut tuning = Tuning::new(Plan::read(&folder));
    tuning.begun = Some(tuning.plan.clone());
    tuning.unfinished = tuning.would_go_on(&folder);
    tuning
}

/// Keeps the plan for the next start.
pub(super) fn remember_plan(state: &AppState, services: &Services) {
    let (tuning, folder) = (&state.tuning, models_folder(services));
    if tuning.plan == Plan::default() {
        return;
    }
    let mut plan = tuning.plan.clone();
    if plan.is_unfinished(&folder) && !tuning.would_go_on(&folder) {
        plan.take_free_name(&folder);
    }
    plan.write(&folder);
}

pub(super) fn set_plan(state: &mut AppState, services: &Services, plan: Plan) {
    if !state.tuning.phase.is_busy() {
        state.tuning.plan = plan;
        state.tuning.unfinished = state.tuning.would_go_on(&models_folder(services));
    }
}

/// Folders and manifests hold any number of pieces; single files are taken for one piece.
pub(super) fn add_labelled(state: &mut AppState, services: &Services, paths: &[PathBuf]) {
    let found = match paths {
        [] => return,
        [one] => find_pieces(one).map(|found| found.into_iter().map(LabelledPiece::of_files).collect::<Vec<_>>()),
        files => one_piece(files).map(|piece| vec![piece]),
    };
    match found {
        Ok(pieces) => {
            let mut plan = state.tuning.plan.clone();
            pieces.into_iter().for_each(|piece| plan.add(piece));
            set_plan(state, services, plan);
            state.tuning.typed.clear();
        }
        Err(error) => state.tell(Notice::error(&error)),
    }
}

fn one_piece(files: &[PathBuf]) -> Result<LabelledPiece> {
    let of_role = |role: FileRole, what: &str| {
        let found = files.iter().find(|path| role_of(path) == role).cloned();
        found.ok_or_else(|| {
            let remedy = "choose a recording, its MIDI score and its true alignment together";
            Error::unsuitable("the labelled piece", format!("there is no {what} among the files"), remedy)
        })
    };
    let audio = of_role(FileRole::Recording, "recording")?;
    Ok(LabelledPiece::of_files(PieceFiles {
        name: file_name(&audio),
        score: of_role(FileRole::Score, "MIDI score")?,
        truth: of_role(FileRole::Reference, "true alignment")?,
        audio,
    }))
}

/// The open piece as it is aligned now: the passages that were called right, or else all of it.
pub(super) fn add_current(state: &mut AppState, services: &Services) {
    match label_current(state, &models_folder(services).join("labels")) {
        Ok(pieces) => {
            let mut plan = state.tuning.plan.clone();
            pieces.into_iter().for_each(|piece| plan.add(piece));
            set_plan(state, services, plan);
        }
        Err(error) => state.tell(Notice::error(&error)),
    }
}

fn label_current(state: &AppState, folder: &Path) -> Result<Vec<LabelledPiece>> {
    let (Some(piece), Some(solution)) = (state.piece(), state.solution()) else { return Ok(Vec::new()) };
    std::fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
    let on_disk = |source: &Source, name: &str, bytes: &[u8]| match source {
        Source::File(path) => Ok(path.clone()),
        Source::Demo => {
            let path = folder.join(name);
            write_bytes_atomically(&path, bytes)?;
            Ok::<_, Error>(path)
        }
    };
    let audio = on_disk(&piece.sources.recording, "demo.ogg", demo::performance_bytes())?;
    let score = on_disk(&piece.sources.score, "demo.mid", demo::score_bytes())?;
    let accepted = state.document.as_ref().map_or(&[][..], |document| &document.accepted);
    let whole = [(f64::NEG_INFINITY, f64::INFINITY)];
    let passages = if accepted.is_empty() { &whole[..] } else { accepted };
    let stem = audio.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut pieces = Vec::new();
    for (number, (from, to)) in passages.iter().enumerate() {
        let mut text = String::from("score_time_s,performance_time_s\n");
        for onset in solution.onsets.iter().filter(|onset| (*from..=*to).contains(&onset.score_s)) {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{:.6},{:.6}", onset.score_s, onset.performance_s);
        }
        let truth = free_path(folder, &format!("{stem}-{}", number + 1), &text)?;
        let part = if accepted.is_empty() { String::new() } else { format!(", passage {}", number + 1) };
        let name = format!("{}{part}", piece.title());
        let files = PieceFiles { name, audio: audio.clone(), score: score.clone(), truth };
        pieces.push(LabelledPiece::of_files(files));
    }
    Ok(pieces)
}

/// Writes labels under a name that does not hold other ones.
fn free_path(folder: &Path, stem: &str, text: &str) -> Result<PathBuf> {
    let mut number = 0;
    loop {
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{suffix}.csv"));
        match std::fs::read_to_string(&path) {
            Ok(there) if there == text => return Ok(path),
            Ok(_) => number += 1,
            Err(_) => {
                write_bytes_atomically(&path, text.as_bytes())?;
                return Ok(path);
            }
        }
    }
}

pub(super) fn start(state: &mut AppState, services: &mut Services) {
    let tuning = &mut state.tuning;
    if tuning.phase.is_busy() || tuning.plan.missing().is_some() {
        return;
    }
    let folder = models_folder(services);
    if !tuning.would_go_on(&folder) {
        tuning.plan.take_free_name(&folder);
    }
    if tuning.phase != Phase::Stopped {
        (tuning.losses, tuning.records, tuning.best_epoch) = (Vec::new(), Vec::new(), 0);
        tuning.outcome = None;
    }
    tuning.plan.write(&folder);
    tuning.begun = Some(tuning.plan.clone());
    let plan = Box::new(tuning.plan.clone());
    run(state, services, plan);
}

fn run(state: &mut AppState, services: &mut Services, plan: Box<Plan>) {
    let folder = models_folder(services);
    services.training = Arc::default();
    let tuning = &mut state.tuning;
    (tuning.phase, tuning.fraction) = (Phase::Running, 0.0);
    tuning.stage = "starting".to_owned();
    let control = Arc::clone(&services.training);
    services.worker.start(Task::Train { plan, folder, control });
}

pub(super) fn pause(state: &mut AppState, services: &Services, paused: bool) {
    if matches!(state.tuning.phase, Phase::Running | Phase::Paused) {
        services.training.set_paused(paused);
        state.tuning.phase = if paused { Phase::Paused } else { Phase::Running };
    }
}

pub(super) fn stop(state: &mut AppState, services: &Services) {
    if matches!(state.tuning.phase, Phase::Running | Phase::Paused) {
        services.worker.ask_to_stop(Slot::Train);
        state.tuning.phase = Phase::Stopping;
    }
}

/// A stopped training goes on for no further epoch: it ends with the best that it has.
pub(super) fn keep_best(state: &mut AppState, services: &mut Services) {
    let goes_on = state.tuning.would_go_on(&models_folder(services));
    if state.tuning.phase == Phase::Stopped && goes_on && state.tuning.epochs_done() > 0 {
        let plan = Plan { epochs: state.tuning.epochs_done(), ..state.tuning.plan.clone() };
        run(state, services, Box::new(plan));
    }
}

/// The training has ended without a model: it was stopped, or it failed, which is told elsewhere.
pub(super) fn ended(state: &mut AppState, services: &Services) {
    let unfinished = state.tuning.would_go_on(&models_folder(services));
    state.tuning.unfinished = unfinished;
    state.tuning.phase = if unfinished { Phase::Stopped } else { Phase::Idle };
}

pub(super) fn trained(state: &mut AppState, outcome: Outcome) {
    let tuning = &mut state.tuning;
    (tuning.phase, tuning.unfinished) = (Phase::Idle, false);
    tuning.records = outcome.history.iter().copied().enumerate().collect();
    tuning.best_epoch = outcome.best_epoch;
    let text = format!("Trained {}.", file_name(&outcome.model));
    tuning.outcome = Some(outcome);
    state.tell(Notice::info(text));
}

/// Takes an extractor with the features that it was trained on. It works on frames, so single onsets are not placed after it.
pub(super) fn choose_extractor(state: &mut AppState, model: Option<String>) {
    let settings = match model {
        None => Ok(Settings { extractor: None, refine: None, ..state.settings().clone() }),
        Some(model) => open_model(&model).map(|extractor| Settings {
            features: extractor.card.features,
            hop: extractor.card.hop,
            extractor: Some(model),
            aligner: AlignerKind::Gdtw,
            refine: Some(Refinement::None),
            lambda: None,
            ..state.settings().clone()
        }),
    };
    match settings {
        Ok(settings) => correct::set_settings(state, settings),
        Err(error) => state.tell(Notice::error(&error)),
    }
}

/// Makes a model the start of the next training, if it can be read.
pub(super) fn start_from(state: &mut AppState, services: &Services, model: String) {
    match open_model(&model) {
        Ok(_) => {
            let plan = Plan { start: Start::Model(model), ..state.tuning.plan.clone() };
            set_plan(state, services, plan);
        }
        Err(error) => state.tell(Notice::error(&error)),
    }
}

/// A model that was dropped on the window: training starts from it, or else the alignment is made with it.
pub(super) fn take_model(state: &mut AppState, services: &Services, model: String) {
    if state.preferences.side_tab == SideTab::Tune {
        start_from(state, services, model);
    } else {
        choose_extractor(state, Some(model));
    }
}

pub(super) fn use_trained(state: &mut AppState, services: &mut Services) {
    let Some(model) = state.tuning.outcome.as_ref().map(|outcome| outcome.model.display().to_string()) else { return };
    let before = state.settings().clone();
    choose_extractor(state, Some(model));
    if *state.settings() != before {
        state.tuning.before_use = Some(before);
        start_aligning(state, services);
    }
}

pub(super) fn roll_back(state: &mut AppState, services: &mut Services) {
    let Some(before) = state.tuning.before_use.take() else { return };
    let settings = Settings { anchors: state.settings().anchors.clone(), ..before };
    correct::set_settings(state, settings);
    start_aligning(state, services);
}
