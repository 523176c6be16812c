use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::*;
use crate::base::random::Random;
use crate::evaluation::GroundTruth;
use crate::features::{FeatureKind, FeatureSeq};
use crate::learning::extractor::{ExtractorLesson, Piece};
use crate::learning::{AdamParams, ExtractorMethod, SliceParams, TrainingMethod, WarpLoss};
use crate::networks::{Extractor, ExtractorSpec, ModelCard};

const STEP: f64 = 1024.0 / 22_050.0;

/// A piece of random "notes": each lights up one of twelve classes; the performance is noisier, later and uneven.
fn piece(seed: u64) -> Piece {
    let mut random = Random::at(seed, &[]);
    let mut truth = vec![(0.0, 0.3)];
    let mut notes = vec![0];
    while truth[truth.len() - 1].0 < 14.0 {
        let last = truth[truth.len() - 1];
        let length = random.between(0.15, 0.5);
        truth.push((last.0 + length, last.1 + length * random.between(0.85, 1.15)));
        notes.push(random.between(0.0, 12.0) as usize);
    }
    let features = |onsets: Vec<f64>, noise: f64, random: &mut Random| {
        let frames = 300;
        let times: Vec<f64> = (0..frames).map(|i| i as f64 * STEP).collect();
        let mut values = Vec::new();
        for &time in &times {
            let note = onsets.partition_point(|&o| o <= time).saturating_sub(1);
            let age = time - onsets[note];
            for class in 0..12 {
                let level = if class == notes[note] { -20.0 * age } else { -50.0 };
                values.push((level + random.between(-noise, noise)) as f32);
            }
        }
        FeatureSeq { times, values, dim: 12 }
    };
    let score = features(truth.iter().map(|t| t.0).collect(), 0.0, &mut random);
    let performance = features(truth.iter().map(|t| t.1).collect(), 25.0, &mut random);
    let (score_s, performance_s) = truth.into_iter().unzip();
    let truth = GroundTruth { score_s, performance_s };
    Piece { name: seed.to_string(), score, performance, truth }
}

fn pieces(seeds: std::ops::Range<u64>) -> Vec<Piece> {
    seeds.map(piece).collect()
}

fn params() -> TrainParams {
    TrainParams {
        slices: SliceParams { score_frames: 48 },
        batch_size: 4,
        epochs: 3,
        learns_lambda: true,
        optimiser: AdamParams { learning_rate: 3e-3, ..AdamParams::default() },
        ..TrainParams::of(TrainingMethod::Extractor(ExtractorMethod::decdtw(WarpLoss::TimeErr)))
    }
}

fn lesson(params: &TrainParams) -> ExtractorLesson {
    let card = ModelCard::new("test", ExtractorSpec::new(FeatureKind::Chroma, 1024, 16));
    let TrainingMethod::Extractor(method) = params.method else { panic!("these tests train extractors") };
    ExtractorLesson {
        start: Extractor::untrained(card, 1, &Device::Cpu).unwrap(),
        method,
        training: Arc::new(pieces(0..4)),
        validation: Arc::new(pieces(100..102)),
        params: *params,
        device: Device::Cpu,
    }
}

fn run(ctx: &JobContext, params: &TrainParams, place: Option<&Path>, observe: &dyn Fn(TrainEvent)) -> Result<Trained> {
    let checkpoint = place.map(|path| CheckpointPlace { path, every: Duration::ZERO });
    train(ctx, &lesson(params), params, checkpoint, &Control::default(), observe)
}

/// What two trainings have in common if they are the same to the bit.
fn bits(trained: &Trained) -> (Vec<EpochRecord>, Vec<f32>, ModelCard) {
    (trained.history.clone(), trained.model.parameters().unwrap(), trained.model.card())
}

fn undisturbed(params: &TrainParams) -> Trained {
    run(&JobContext::new(), params, None, &|_| {}).unwrap()
}

#[test]
fn training_lowers_the_validation_error_and_learns_lambda() {
    let trained = undisturbed(&TrainParams { epochs: 25, patience: 25, ..params() });
    let best = trained.history[trained.best_epoch];
    assert!(best.time_err_ms < 0.95 * trained.history[0].time_err_ms, "{:?}", trained.history);
    assert!(best.training_loss < trained.history[1].training_loss, "{:?}", trained.history);
    let Model::Extractor(extractor) = &trained.model else { panic!("an extractor was trained") };
    assert_ne!(extractor.card.spec.lambda, FeatureKind::Chroma.default_lambda());
}

#[test]
fn a_training_killed_at_any_step_and_resumed_equals_an_uninterrupted_one() {
    let expected = undisturbed(&params());
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("model.checkpoint");
    let mut kills = 0;
    let resumed = loop {
        let ctx = JobContext::new();
        let events = Cell::new(0);
        // Every run gets a few events further, some of them ends of epochs.
        let observe = |_| {
            events.set(events.get() + 1);
            if events.get() == 4 {
                ctx.cancel();
            }
        };
        match run(&ctx, &params(), Some(&place), &observe) {
            Ok(trained) => break trained,
            Err(Error::Cancelled) => kills += 1,
            Err(other) => panic!("{other}"),
        }
        assert!(place.exists());
    };
    assert!(kills > 3, "{kills}");
    assert_eq!(bits(&resumed), bits(&expected));
    assert!(place.exists(), "it stays until the model is in safety");
}

#[test]
fn the_average_of_the_last_steps_is_kept_not_the_last_step() {
    let short = TrainParams { epochs: 1, ..params() };
    let last = undisturbed(&TrainParams { averaged_steps: 1.0, ..short });
    let average = undisturbed(&short);
    assert_eq!(last.history[1].training_loss, average.history[1].training_loss, "the steps are the same");
    assert_ne!(last.history[1].time_err_ms, average.history[1].time_err_ms);
}

#[test]
fn any_number_of_threads_trains_the_same_bits_and_another_seed_others() {
    let short = TrainParams { epochs: 1, ..params() };
    let on = |threads: usize, params: TrainParams| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| undisturbed(&params))
    };
    let one = bits(&on(1, short));
    assert_eq!(one, bits(&on(3, short)));
    assert_ne!(one.1, bits(&on(1, TrainParams { seed: 2, ..short })).1);
}

#[test]
fn patience_ends_a_training_that_does_not_improve() {
    let optimiser = AdamParams { learning_rate: 1e-12, ..AdamParams::default() };
    let trained = undisturbed(&TrainParams { epochs: 50, patience: 2, optimiser, ..params() });
    assert!(trained.history.len() < 12, "{}", trained.history.len());
}

#[test]
fn events_come_in_order_and_every_method_trains() {
    for method in ExtractorMethod::ALL {
        let seen = RefCell::new(Vec::new());
        let params = TrainParams { epochs: 1, method: TrainingMethod::Extractor(method), ..params() };
        run(&JobContext::new(), &params, None, &|event| seen.borrow_mut().push(event)).unwrap();
        let seen = seen.into_inner();
        assert!(matches!(seen[0], TrainEvent::Epoch { epoch: 0, is_best: true, .. }));
        assert!(matches!(seen[1], TrainEvent::Step { epoch: 1, step: 1, loss, .. } if loss.is_finite()));
        assert!(matches!(seen[seen.len() - 1], TrainEvent::Epoch { epoch: 1, .. }));
    }
}

#[test]
fn a_paused_training_waits_and_can_still_be_cancelled() {
    let control = Arc::new(Control::default());
    control.set_paused(true);
    let ctx = JobContext::new();
    let waiting = {
        let (control, ctx) = (Arc::clone(&control), ctx.clone());
        std::thread::spawn(move || control.wait(&ctx))
    };
    std::thread::sleep(Duration::from_millis(80));
    assert!(!waiting.is_finished());
    ctx.cancel();
    assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
    control.set_paused(false);
    assert!(control.wait(&JobContext::new()).is_ok());
}

#[test]
fn steps_are_halved_after_every_epoch_that_is_no_better() {
    let record = |time_err_ms: f64| EpochRecord { training_loss: 0.0, time_err_ms, time_dev_ms: 0.0 };
    let history: Vec<EpochRecord> = [20.0, 15.0, 16.0, 14.0, 14.0].map(record).into();
    let steps: Vec<f64> = (1..=5).map(|epochs| halved(0.4, &history[..epochs])).collect();
    assert_eq!(steps, [0.4, 0.4, 0.2, 0.2, 0.1]);
}

#[test]
fn an_epoch_that_is_no_better_is_undone() {
    // Steps so long that the first epochs can only be bad. Halved often enough they hardly lead away from where they begin, which
    // is not where the bad ones ended.
    let wild = AdamParams { learning_rate: 3.0, ..AdamParams::default() };
    let trained = undisturbed(&TrainParams { epochs: 24, patience: 24, optimiser: wild, ..params() });
    let errors: Vec<f64> = trained.history.iter().map(|record| record.time_err_ms).collect();
    let (before, first, last) = (errors[0], errors[1], errors[errors.len() - 1]);
    assert!(first > 1.2 * before && last < 1.1 * before, "{errors:?}");
}

/// Validation errors of five epochs on a context, for each way of training.
#[cfg(feature = "gpu")]
fn curve(ctx: &JobContext, method: ExtractorMethod) -> Vec<f64> {
    let params = TrainParams { epochs: 5, patience: 5, method: TrainingMethod::Extractor(method), ..params() };
    let trained = run(ctx, &params, None, &|_| {}).unwrap();
    trained.history.iter().map(|record| record.time_err_ms).collect()
}

#[cfg(feature = "gpu")]
fn assert_within_a_percent(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 0.01 * expected, "{found} {expected}");
    }
}

#[test]
#[cfg(feature = "gpu")]
fn every_method_learns_the_same_on_the_gpu() {
    let Some(gpu) = crate::devices::devices_for_tests::gpu_context() else { return };
    for method in ExtractorMethod::ALL {
        assert_within_a_percent(&curve(&gpu, method), &curve(&JobContext::new(), method));
    }
}

#[test]
#[cfg(feature = "gpu")]
fn a_device_that_is_lost_in_the_middle_of_a_training_is_told_once_and_the_training_goes_on() {
    let method = ExtractorMethod::decdtw(WarpLoss::TimeErr);
    let expected = curve(&JobContext::new(), method);
    // Lost in a forward pass, in a search, in a backward pass.
    for operations in [31, 33, 37] {
        let Some((ctx, notices)) = crate::devices::devices_for_tests::failing_context(operations) else { return };
        assert_within_a_percent(&curve(&ctx, method), &expected);
        assert_eq!(notices.lock().unwrap().len(), 1);
    }
}
