use super::*;
use crate::features::FeatureKind;
use crate::learning::{AdamParams, ExtractorMethod, SliceParams, WarpLoss};
use crate::networks::{Device, ExtractorSpec, ModelCard, open_model};

/// The demo piece as training and validation data; it is short, so slices are shorter still.
fn job(folder: &Path, learning_rate: f64, unimproved: Unimproved) -> TrainingJob {
    let data = folder.join("demo piece");
    std::fs::create_dir_all(&data).unwrap();
    for ((_, bytes), name) in crate::demo::files().into_iter().zip(["audio.ogg", "score.mid", "alignment.csv"]) {
        std::fs::write(data.join(name), bytes).unwrap();
    }
    let card = ModelCard::new("start", ExtractorSpec::new(FeatureKind::Chroma, 1024, 16));
    let output = folder.join("models").join("model.safetensors");
    std::fs::create_dir_all(output.parent().unwrap()).unwrap();
    TrainingJob {
        validation: Some(data.clone()),
        data,
        start: Model::Extractor(Extractor::untrained(card, 1, &Device::Cpu).unwrap()),
        output,
        params: TrainParams {
            slices: SliceParams { score_frames: 64 },
            epochs: 3,
            optimiser: AdamParams { learning_rate, ..AdamParams::default() },
            ..TrainParams::of(TrainingMethod::Extractor(ExtractorMethod::decdtw(WarpLoss::TimeErr)))
        },
        cache: Some(folder.join("cache")),
        unimproved,
    }
}

/// An ear that learns through the alignment of the demo.
fn ear_job(folder: &Path, learning_rate: f64) -> TrainingJob {
    let method = TrainingMethod::Ear(EarMethod::Alignment);
    TrainingJob {
        start: open_model("small", &Device::Cpu).unwrap(),
        params: TrainParams {
            epochs: 2,
            optimiser: AdamParams { learning_rate, ..AdamParams::default() },
            ..TrainParams::of(method)
        },
        ..job(folder, learning_rate, Unimproved::Refuse)
    }
}

fn run(job: &TrainingJob) -> Result<Trained> {
    run_training(&JobContext::new(), job, &Control::default(), &|_| {})
}

#[test]
fn a_training_from_files_writes_a_model_whose_card_tells_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path(), 5e-3, Unimproved::Refuse);
    let trained = run(&job).unwrap();
    let model = open_model(job.output.to_str().unwrap(), &Device::Cpu).unwrap();
    assert_eq!(model.parameters().unwrap(), trained.model.parameters().unwrap());
    let card = model.card();
    assert_eq!(card.training["data"], "demo piece");
    assert_eq!(card.training["best_epoch"], trained.best_epoch);
    let best = trained.history[trained.best_epoch].time_err_ms;
    assert!((card.metrics["validation_time_err_ms"] - best).abs() < 0.01);
    assert!(card.metrics.contains_key("validation_base_time_err_ms"));
    assert!(!job.checkpoint_path().exists());
    let pieces = compare_pieces(&JobContext::new(), &job, &trained.model).unwrap();
    let (before, after) = (pieces[0].before_ms.unwrap(), pieces[0].after_ms.unwrap());
    assert!(pieces.len() == 1 && after < before, "{before} {after}");
}

#[test]
fn a_model_of_either_kind_that_training_did_not_improve_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    for job in [job(folder.path(), 1e-12, Unimproved::Refuse), ear_job(folder.path(), 5.0)] {
        std::fs::write(&job.output, "the model as it was").unwrap();
        let message = run(&job).unwrap_err().to_string();
        assert!(message.contains("worse") && message.contains("not changed"), "{message}");
        assert_eq!(std::fs::read_to_string(&job.output).unwrap(), "the model as it was");
        assert!(!job.checkpoint_path().exists());
    }
}

#[test]
fn one_score_alone_cannot_be_split() {
    let folder = tempfile::tempdir().unwrap();
    let job = TrainingJob { validation: None, ..job(folder.path(), 1e-3, Unimproved::Write) };
    let message = run(&job).unwrap_err().to_string();
    assert!(message.contains("two scores"), "{message}");
}

#[test]
fn a_method_of_the_other_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path(), 1e-3, Unimproved::Write);
    let job = TrainingJob { params: TrainParams::of(TrainingMethod::Ear(EarMethod::Alignment)), ..job };
    assert!(run(&job).unwrap_err().to_string().contains("for an ear"));
}

#[test]
fn an_output_that_cannot_be_written_is_told_before_training_begins() {
    let folder = tempfile::tempdir().unwrap();
    let sound = job(folder.path(), 1e-3, Unimproved::Write);
    for output in [folder.path().join("no such folder").join("model.safetensors"), folder.path().to_owned()] {
        let job = TrainingJob { output, ..sound.clone() };
        let steps = std::cell::Cell::new(0);
        let found = run_training(&JobContext::new(), &job, &Control::default(), &|_| steps.set(steps.get() + 1));
        assert!(matches!(found, Err(Error::Io { .. })), "{found:?}");
        assert_eq!(steps.get(), 0);
    }
}

#[test]
fn a_finished_training_whose_model_cannot_be_saved_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path(), 1e-3, Unimproved::Write);
    let expected = run(&job).unwrap();
    std::fs::remove_file(&job.output).unwrap();
    // What is wanted as a file becomes a folder while training runs.
    let in_the_way = |event: TrainEvent| {
        if matches!(event, TrainEvent::Epoch { epoch: 3, .. }) {
            std::fs::create_dir(&job.output).unwrap();
        }
    };
    let found = run_training(&JobContext::new(), &job, &Control::default(), &in_the_way);
    assert!(matches!(found, Err(Error::Io { .. })), "{found:?}");
    assert!(job.checkpoint_path().exists(), "all epochs are in safety");
    std::fs::remove_dir(&job.output).unwrap();
    let events = std::cell::Cell::new(0);
    let again = run_training(&JobContext::new(), &job, &Control::default(), &|_| events.set(events.get() + 1)).unwrap();
    assert_eq!(events.get(), 0, "nothing is trained again");
    assert_eq!(again.model.parameters().unwrap(), expected.model.parameters().unwrap());
    assert!(job.output.exists() && !job.checkpoint_path().exists());
}
