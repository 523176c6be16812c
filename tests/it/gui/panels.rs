//! Correcting, comparing and fine-tuning in the real window.

use std::time::{Duration, Instant};

use agogic::training::ModelKind;
use agogic::training::PieceFiles;
use agogic::window::tuning::{LabelledPiece, Phase, Plan, Role, Start};
use agogic::window::{Afterwards, AppState, Command, Dialog, Severity, SideTab};
use agogic::{Aligner, Anchor, FeatureKind, FrameMethod, Method, Settings};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;

use super::{Bench, demo_files, extractor, folder, learn_and_judge_the_demo, open};

#[test]
fn an_onset_is_solved_again_while_it_is_dragged() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.wait("listening", |state| open(state).heard.is_some());
    let (score_s, before) = bench.onset(60);
    let far = bench.onset(5);
    bench.apply(Command::ToggleSnap);
    bench.apply(Command::Drag(Anchor { score_s, performance_s: before + 0.1 }));
    // Listening for onsets ends a little after the spectrum is there: the drag goes on until it has.
    let begun = Instant::now();
    while bench.read(|state| open(state).preview.is_none()) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the dragged onset is never solved");
        std::thread::sleep(Duration::from_millis(10));
        let nudge = 1e-6 * begun.elapsed().as_secs_f64();
        bench.apply(Command::Drag(Anchor { score_s, performance_s: before + 0.1 + nudge }));
    }
    let preview = bench.read(|state| open(state).shown().unwrap().alignment.warp.at(score_s));
    assert!((preview - before - 0.1).abs() < 1e-3, "{preview}");
    assert_eq!(bench.onset(60).1, before, "the alignment itself changes when the onset is let go");
    bench.apply(Command::Drop);
    bench.wait("solving", |state| state.work.is_none() && open(state).moved.is_none());
    assert!((bench.onset(60).1 - before - 0.1).abs() < 1e-3);
    assert_eq!(bench.onset(5), far, "what is far away stays");
    assert!(
        bench.read(|state| open(state).preview.is_none() && open(state).ghost.is_some() && !state.needs_aligning())
    );
}

#[test]
fn a_passage_that_is_called_right_is_saved_and_taken_back() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let (first, last) = (bench.onset(10), bench.onset(40));
    bench.apply(Command::Mark(Some((first.1 - 0.01, last.1 + 0.01))));
    bench.harness.key_press(Key::A);
    bench.harness.run_ok();
    assert_eq!(bench.read(|state| open(state).accepted.clone()), [(first.0, last.0)]);
    bench.apply(Command::AddCurrent);
    bench.wait("labelling", |state| !state.tuning.plan.pieces.is_empty());
    let labelled = bench.read(|state| state.tuning.plan.pieces.clone());
    assert_eq!(labelled.len(), 1);
    let rows = std::fs::read_to_string(&labelled[0].truth).unwrap().lines().count() - 1;
    assert_eq!(rows, 31, "the labels are those of the passage");
    let path = folder.path().join("right.agogic");
    bench.apply(Command::SaveSessionAs(path.clone()));
    bench.wait("saving", |state| !state.is_changed());
    bench.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    bench.harness.run_ok();
    assert!(bench.read(|state| open(state).accepted.is_empty()));
    bench.apply(Command::DiscardChanges(Afterwards::Open(vec![path])));
    bench.wait("opening", |state| open(state).accepted.len() == 1 && state.solution().is_some());
}

#[test]
fn kept_alignments_are_measured_compared_with_and_switched_to() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::ShowSide(SideTab::Compare));
    bench.harness.get_by_label("Keep for comparison").click();
    bench.harness.run_ok();
    let frames = Method::Frames(FrameMethod { aligner: Aligner::Dtw, ..FrameMethod::default() });
    bench.apply(Command::SetSettings(Settings { method: frames.clone(), ..Settings::default() }));
    bench.apply(Command::Align);
    bench.wait("aligning", |state| !state.needs_aligning() && state.work.is_none());
    bench.read(|state| {
        let [kept] = open(state).kept.as_slice() else { panic!("{:?}", open(state).kept.len()) };
        let (fine, frames) = (kept.metrics.unwrap(), state.solution().unwrap().metrics.unwrap());
        assert!(fine.time_err_ms < frames.time_err_ms, "{fine:?} {frames:?}");
        assert!(kept.apart_ms.unwrap() > 1.0 && kept.shown);
    });
    bench.harness.get_by_label("Reference").click();
    bench.wait("comparing", |state| state.reference().is_some_and(|reference| reference.name == "Onsets"));
    assert!(bench.read(|state| open(state).kept[0].metrics.unwrap().time_err_ms) < 1e-6);
    bench.harness.get_by_label("Switch to it").click();
    bench.wait("switching", |state| state.work.is_none() && state.settings().method == Method::default());
    assert!(bench.read(|state| !state.needs_aligning() && open(state).kept[0].apart_ms.unwrap() < 1e-6));
    bench.apply(Command::Undo);
    assert!(bench.read(|state| state.settings().method == frames && !state.needs_aligning()));
    bench.harness.get_by_label("Remove").click();
    bench.harness.run_ok();
    assert!(bench.read(|state| open(state).kept.is_empty()));
}

#[test]
fn another_recording_of_the_score_is_compared_beat_by_beat() {
    let folder = folder();
    let [audio, score, _] = demo_files(folder.path());
    let other = folder.path().join("other.ogg");
    std::fs::copy(&audio, &other).unwrap();
    let mut bench = Bench::new(folder.path(), vec![audio, score]);
    bench.wait_until_aligned();
    bench.apply(Command::Keep);
    bench.apply(Command::DiscardChanges(Afterwards::Open(vec![other])));
    bench.wait("the other recording", |state| {
        state.piece().is_some_and(|piece| piece.recording_name == "other.ogg") && state.solution().is_some()
    });
    bench.apply(Command::ShowSide(SideTab::Compare));
    bench.harness.get_by_label_contains("Another recording, performance.ogg");
    bench.read(|state| {
        assert_eq!(open(state).kept.len(), 1);
        assert!(open(state).kept[0].apart_ms.is_none() && open(state).kept[0].median_tempo() > 20.0);
    });
}

/// A plan that trains for two epochs on the demo in a second or two.
fn tiny_plan(bench: &mut Bench) {
    bench.apply(Command::AddCurrent);
    bench.wait("labelling", |state| !state.tuning.plan.pieces.is_empty());
    let [audio, score, truth] = demo_files(&bench.folder);
    let mut plan = bench.read(|state| state.tuning.plan.clone());
    plan.add(LabelledPiece::of_files(PieceFiles { name: "demo truth".to_owned(), audio, score, truth }));
    plan.pieces[1].role = Role::Judge;
    plan.start_from(Start::Untrained(FeatureKind::Chroma), ModelKind::Extractor);
    plan.epochs = 2;
    plan.slice_frames = 64;
    plan.learning_rate = 1e-3;
    bench.apply(Command::SetPlan(plan));
}

#[test]
fn two_epochs_of_training_give_a_model_that_can_be_used_and_rolled_back() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::ShowSide(SideTab::Tune));
    tiny_plan(&mut bench);
    // A command is carried out at the end of a frame and seen in the next.
    bench.harness.get_by_label("Train").click();
    bench.harness.run_steps(2);
    bench.harness.get_by_label("Pause").click();
    bench.harness.run_steps(2);
    assert_eq!(bench.read(|state| state.tuning.phase), Phase::Paused);
    bench.harness.get_by_label("Resume").click();
    bench.wait("training", |state| state.tuning.outcome.is_some());
    let model = bench.read(|state| {
        let outcome = state.tuning.outcome.as_ref().unwrap();
        assert_eq!((outcome.history.len(), state.tuning.records.len()), (3, 3));
        assert!(!state.tuning.losses.is_empty() && state.tuning.phase == Phase::Idle);
        assert_eq!(outcome.pieces.len(), 1);
        assert!(outcome.pieces[0].before_ms.is_some() && outcome.pieces[0].after_ms.is_some());
        outcome.model.clone()
    });
    assert!(model.is_file());
    bench.harness.get_by_label_contains("Validation TimeErr");
    bench.harness.get_by_label("Use the new model").click();
    bench.wait("the model", |state| state.tuning.before_use.is_some());
    bench.wait("aligning", |state| !state.needs_aligning() && state.work.is_none());
    let used = bench.read(extractor);
    assert_eq!(used, Some(model.display().to_string()));
    bench.harness.get_by_label("Roll back").click();
    bench.harness.step();
    bench.wait("aligning", |state| !state.needs_aligning() && state.work.is_none());
    assert_eq!(bench.read(|state| state.settings().clone()), Settings::default());
}

#[test]
fn the_ear_that_the_alignment_listens_with_is_taught_used_and_rolled_back() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::ShowSide(SideTab::Tune));
    let mut plan = bench.read(|state| state.tuning.plan.clone());
    assert_eq!(plan.start, Start::Model("ear".to_owned()), "the ear is taught unless something else is asked for");
    // The small one has more to learn, and learns what it is judged by: it cannot but get better.
    plan.start = Start::Model("small".to_owned());
    learn_and_judge_the_demo(&mut plan, folder.path());
    plan.epochs = 6;
    bench.apply(Command::SetPlan(plan));
    bench.harness.step();
    assert!(bench.harness.query_by_label("Slice length").is_none(), "that is for extractors");
    bench.apply(Command::StartTraining);
    bench.wait("training", |state| state.tuning.outcome.is_some());
    let model = bench.read(|state| {
        let outcome = state.tuning.outcome.as_ref().unwrap();
        let piece = &outcome.pieces[0];
        assert!(outcome.kind == ModelKind::Ear && piece.after_ms.unwrap() < piece.before_ms.unwrap(), "{outcome:?}");
        outcome.model.display().to_string()
    });
    let ear = |state: &AppState| match &state.settings().method {
        Method::Onsets(onsets) => onsets.ear.clone(),
        Method::Frames(_) => panic!("an ear belongs to the onset method"),
    };
    bench.harness.get_by_label("Use the new model").click();
    bench.wait("the model", |state| state.tuning.before_use.is_some());
    bench.wait("aligning", |state| !state.needs_aligning() && state.work.is_none());
    assert_eq!(bench.read(ear), Some(model));
    bench.harness.get_by_label("Roll back").click();
    bench.harness.step();
    bench.wait("aligning", |state| !state.needs_aligning() && state.work.is_none());
    assert_eq!(bench.read(|state| state.settings().clone()), Settings::default());
}

#[test]
fn a_stopped_training_is_kept_over_a_restart_and_ends_with_its_best_epoch() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    tiny_plan(&mut bench);
    let plan = Plan { epochs: 400, ..bench.read(|state| state.tuning.plan.clone()) };
    bench.apply(Command::SetPlan(plan));
    bench.apply(Command::StartTraining);
    bench.wait("an epoch", |state| state.tuning.epochs_done() >= 1);
    // Closed in the middle.
    bench.close();

    let mut again = Bench::new(folder.path(), Vec::new());
    assert!(again.read(|state| state.tuning.would_go_on() && state.tuning.plan.epochs == 400));
    again.apply(Command::ShowSide(SideTab::Tune));
    again.harness.get_by_label("Go on").click();
    again.harness.step();
    again.wait("another epoch", |state| state.tuning.epochs_done() >= 2);
    again.apply(Command::StopTraining);
    again.wait("stopping", |state| state.tuning.phase == Phase::Stopped);
    again.harness.get_by_label("Keep the best").click();
    again.harness.step();
    again.wait("the best", |state| state.tuning.outcome.is_some());
    assert!(again.read(|state| !state.tuning.would_go_on() && state.tuning.outcome.as_ref().unwrap().model.is_file()));
}

#[test]
fn a_model_can_be_chosen_and_what_is_none_is_named() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::ChooseModel(Some("chroma".to_owned())));
    bench.wait("the model", |state| extractor(state).as_deref() == Some("chroma"));
    let features = |state: &AppState| match &state.settings().method {
        Method::Frames(frames) => Some(frames.features),
        Method::Onsets(_) => None,
    };
    assert_eq!(bench.read(features), Some(FeatureKind::Chroma));
    bench.apply(Command::ChooseModel(None));
    assert!(bench.read(|state| extractor(state).is_none()));
    bench.apply(Command::ChooseModel(Some("nothing.safetensors".to_owned())));
    bench.wait("the error", |state| {
        state.notices.iter().any(|notice| notice.severity == Severity::Error && notice.text.contains("nothing"))
    });
    bench.apply(Command::Show(Dialog::About));
    bench.harness.get_by_label("Built-in models");
}
