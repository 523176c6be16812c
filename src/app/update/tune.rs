//! Fine-tuning.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Services, correct, start_aligning};
use crate::align::settings::{Aligner, FrameMethod, Method, OnsetMethod, Settings};
use crate::app::document::source::file_name;
use crate::app::notice::Notice;
use crate::app::preferences::SideTab;
use crate::app::state::AppState;
use crate::app::tuning::{LabelledPiece, Outcome, Phase, Plan, Start};
use crate::app::work::tasks::{ModelPurpose, Task};
use crate::app::work::worker::Slot;
use crate::networks::{ModelCard, Spec};

pub(super) fn set_plan(state: &mut AppState, plan: Plan) {
    if !state.tuning.phase.is_busy() {
        state.tuning.plan = plan;
    }
}

pub(super) fn add_labelled(services: &mut Services, paths: Vec<PathBuf>) {
    if !paths.is_empty() {
        services.worker.start(Task::FindLabelled(paths));
    }
}

/// The open piece as it is aligned now.
pub(super) fn add_current(state: &AppState, services: &mut Services) {
    let Some(document) = &state.document else { return };
    let Some(solution) = document.solution.clone() else { return };
    let (piece, accepted) = (Arc::clone(&document.piece), document.accepted.clone());
    let folder = services.models_folder().join("labels");
    services.worker.start(Task::Label { piece, solution, accepted, folder });
}

pub(super) fn labelled(state: &mut AppState, pieces: Vec<LabelledPiece>, from_files: bool) {
    let mut plan = state.tuning.plan.clone();
    pieces.into_iter().for_each(|piece| plan.add(piece));
    set_plan(state, plan);
    if from_files {
        state.tuning.typed.clear();
    }
}

pub(super) fn start(state: &mut AppState, services: &mut Services) {
    let tuning = &mut state.tuning;
    if tuning.phase.is_busy() || tuning.plan.missing().is_some() {
        return;
    }
    if tuning.phase != Phase::Stopped {
        (tuning.losses, tuning.records, tuning.best_epoch) = (Vec::new(), Vec::new(), 0);
        tuning.outcome = None;
    }
    let (plan, goes_on) = (tuning.plan.clone(), tuning.would_go_on());
    (tuning.begun, tuning.interrupted) = (Some(plan.clone()), goes_on);
    run(state, services, plan, goes_on);
}

fn run(state: &mut AppState, services: &mut Services, plan: Plan, goes_on: bool) {
    services.training = Arc::default();
    let tuning = &mut state.tuning;
    (tuning.phase, tuning.fraction) = (Phase::Running, 0.0);
    tuning.stage = "starting".to_owned();
    let (folder, control) = (services.models_folder(), Arc::clone(&services.training));
    services.worker.start(Task::Train { plan: Box::new(plan), folder, goes_on, control });
}

/// The training has got a name that is free.
pub(super) fn named(state: &mut AppState, name: String) {
    state.tuning.plan.name = name;
    state.tuning.begun = Some(state.tuning.plan.clone());
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
    let tuning = &state.tuning;
    if tuning.phase == Phase::Stopped && tuning.would_go_on() && tuning.epochs_done() > 0 {
        let plan = Plan { epochs: tuning.epochs_done(), ..tuning.plan.clone() };
        run(state, services, plan, true);
    }
}

/// The training has ended without a model: it was stopped, or it failed, which is reported elsewhere.
pub(super) fn ended(state: &mut AppState) {
    state.tuning.phase = if state.tuning.would_go_on() { Phase::Stopped } else { Phase::Idle };
}

pub(super) fn trained(state: &mut AppState, outcome: Outcome) {
    let tuning = &mut state.tuning;
    tuning.phase = Phase::Idle;
    tuning.records = outcome.history.iter().copied().enumerate().collect();
    tuning.best_epoch = outcome.best_epoch;
    let text = format!("Trained {}.", file_name(&outcome.model));
    tuning.outcome = Some(outcome);
    state.tell(Notice::info(text));
}

/// Takes a model, with the method that it belongs to, or none for the method at hand.
pub(super) fn choose_model(state: &mut AppState, services: &mut Services, model: Option<String>) {
    match model {
        Some(model) => services.worker.start(Task::OpenModel { model, purpose: ModelPurpose::Settings }),
        None => {
            let mut settings = state.settings().clone();
            match &mut settings.method {
                Method::Onsets(onsets) => onsets.ear = None,
                Method::Frames(frames) => frames.extractor = None,
            }
            correct::set_settings(state, settings);
        }
    }
}

/// A model that was dropped on the window: training starts from it, or else the alignment is made with it.
pub(super) fn take_model(state: &AppState, services: &mut Services, model: String) {
    let training = state.preferences.side_tab == SideTab::Tune;
    let purpose = if training { ModelPurpose::Training } else { ModelPurpose::Settings };
    services.worker.start(Task::OpenModel { model, purpose });
}

/// A model could be read: it is taken for what it was opened for.
pub(super) fn model_opened(
    state: &mut AppState,
    services: &mut Services,
    model: String,
    card: &ModelCard,
    purpose: ModelPurpose,
) {
    if purpose == ModelPurpose::Training {
        let mut plan = state.tuning.plan.clone();
        plan.start_from(Start::Model(model), card.spec.kind());
        set_plan(state, plan);
        return;
    }
    let before = state.settings().clone();
    let settings = Settings { method: with_model(&before.method, model, &card.spec), ..before.clone() };
    if purpose == ModelPurpose::Alignment && settings != before {
        state.tuning.before_use = Some(before);
        correct::set_settings(state, settings);
        start_aligning(state, services);
    } else {
        correct::set_settings(state, settings);
    }
}

/// The method that a model belongs to, using it: what it was before, as far as that is the same method.
fn with_model(method: &Method, model: String, spec: &Spec) -> Method {
    match (spec, method.clone()) {
        (Spec::Ear(_), Method::Onsets(onsets)) => Method::Onsets(OnsetMethod { ear: Some(model), ..onsets }),
        (Spec::Ear(_), Method::Frames(_)) => Method::Onsets(OnsetMethod { ear: Some(model), ..OnsetMethod::default() }),
        (Spec::Extractor(spec), method) => {
            let frames = if let Method::Frames(frames) = method { frames } else { FrameMethod::default() };
            // With the features that it was trained on.
            let (features, hop) = (spec.features, spec.hop);
            let aligner = Aligner::default();
            Method::Frames(FrameMethod { features, hop, extractor: Some(model), aligner, ..frames })
        }
    }
}

pub(super) fn use_trained(state: &AppState, services: &mut Services) {
    if let Some(outcome) = &state.tuning.outcome {
        let model = outcome.model.display().to_string();
        services.worker.start(Task::OpenModel { model, purpose: ModelPurpose::Alignment });
    }
}

pub(super) fn roll_back(state: &mut AppState, services: &mut Services) {
    let Some(before) = state.tuning.before_use.take() else { return };
    let settings = before.with_corrections_of(state.settings());
    correct::set_settings(state, settings);
    start_aligning(state, services);
}
