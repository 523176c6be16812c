use std::sync::mpsc;

use super::*;
use crate::features::FeatureKind;
use crate::learning::{AdamParams, SliceParams};
use crate::networks::ModelCard;

/// The demo piece as training and validation data; it is short, so slices are shorter still.
fn job(folder: &Path, learning_rate: f64, unimproved: Unimproved) -> TrainingJob {
    let data = folder.join("demo piece");
    std::fs::create_dir_all(&data).unwrap();
    for ((_, bytes), name) in crate::demo::files().into_iter().zip(["audio.ogg", "score.mid", "alignment.csv"]) {
        std::fs::write(data.join(name), bytes).unwrap();
    }
    TrainingJob {
        validation: Some(data.clone()),
        data,
        start: Extractor::untrained(ModelCard::new("start", FeatureKind::Chroma, 1024, 16), 1).unwrap(),
        output: folder.join("model.safetensors"),
        params: TrainParams {
            slices: SliceParams { score_frames: 64 },
            epochs: 3,
            optimiser: AdamParams { learning_rate, ..AdamParams::default() },
            ..TrainParams::default()
        },
        cache: Some(folder.join("cache")),
        unimproved,
    }
}

#[test]
fn a_training_from_files_writes_a_model_whose_card_tells_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path(), 5e-3, Unimproved::Refuse);
    let trained = run_training(&JobContext::new(), &job, &Control::default(), &|_| {}).unwrap();
    let model = weights::load(&job.output).unwrap();
    assert_eq!(model.score, trained.extractor.score);
    assert_eq!(model.card.training["data"], "demo piece");
    assert_eq!(model.card.training["best_epoch"], trained.best_epoch);
    let best = trained.history[trained.best_epoch].time_err_ms;
    assert!((model.card.metrics["validation_time_err_ms"] - best).abs() < 0.01);
    assert!(!job.checkpoint_path().exists());
}

#[test]
fn a_model_that_training_did_not_improve_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path(), 1e-12, Unimproved::Refuse);
    std::fs::write(&job.output, "the model as it was").unwrap();
    let message = run_training(&JobContext::new(), &job, &Control::default(), &|_| {}).unwrap_err().to_string();
    assert!(message.contains("worse") && message.contains("not changed"), "{message}");
    assert_eq!(std::fs::read_to_string(&job.output).unwrap(), "the model as it was");
}

#[test]
fn one_score_alone_cannot_be_split() {
    let folder = tempfile::tempdir().unwrap();
    let job = TrainingJob { validation: None, ..job(folder.path(), 1e-3, Unimproved::Write) };
    let message = run_training(&JobContext::new(), &job, &Control::default(), &|_| {}).unwrap_err().to_string();
    assert!(message.contains("two scores"), "{message}");
}

#[test]
fn a_run_can_be_observed_paused_stopped_and_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path(), 1e-3, Unimproved::Write);
    let expected = run_training(&JobContext::new(), &job, &Control::default(), &|_| {}).unwrap();
    std::fs::remove_file(&job.output).unwrap();

    let (send, events) = mpsc::sync_channel(0);
    let run = TrainingRun::start(JobContext::new(), job.clone(), move |event| {
        let _ = send.send(event);
    })
    .unwrap();
    while !matches!(events.recv().unwrap(), TrainEvent::Epoch { epoch: 1, .. }) {}
    run.set_paused(true);
    assert!(!run.is_finished());
    run.stop();
    drop(events);
    assert!(matches!(run.join(), Err(Error::Cancelled)));
    assert!(!job.output.exists());

    let again = TrainingRun::start(JobContext::new(), job.clone(), |_| {}).unwrap();
    assert_eq!(again.join().unwrap(), expected);
    assert!(job.output.exists());
}
