//! `agogic train`: from labelled pieces to a feature extractor.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::training_args::TrainArgs;
use crate::align::settings::{DEFAULT_HOP, FeatureKind};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::learning::{AdamParams, Control, TrainEvent, TrainParams, Trained, TrainingJob, Unimproved, run_training};
use crate::networks::{Extractor, ModelCard, open_model};

/// Values per frame of the learned features, as published.
pub(super) const OUTPUT_DIM: usize = 128;

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &TrainArgs) -> Result<()> {
    let start = start(args)?;
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.safetensors", start.card.name)));
    let job = TrainingJob {
        data: args.data.clone(),
        validation: args.validation.clone(),
        start,
        output,
        params: TrainParams {
            method: args.method.into(),
            batch_size: args.common.batch,
            epochs: args.epochs,
            patience: args.patience,
            optimiser: AdamParams { learning_rate: args.learning_rate, ..AdamParams::default() },
            learns_lambda: args.learn_lambda,
            augmentation: args.common.augmentation(),
            seed: args.common.seed,
            ..TrainParams::default()
        },
        cache: args.common.cache_folder(),
        unimproved: Unimproved::Write,
    };
    let trained = run_training(ctx, &job, &Control::default(), &|event| tell(quiet, event))?;
    super::print(summary(&job.output, &trained).as_bytes())
}

fn start(args: &TrainArgs) -> Result<Extractor> {
    let mut start = match &args.init {
        Some(model) => open_model(model)?,
        None => {
            let kind = args.features.map_or(FeatureKind::Cqt, Into::into);
            let card = ModelCard::new(format!("{kind:?}").to_lowercase(), kind, DEFAULT_HOP, OUTPUT_DIM);
            Extractor::untrained(card, args.common.seed)?
        }
    };
    if let Some(features) = args.features {
        start.card.check_suits(features.into(), start.card.hop)?;
    }
    if let Some(output) = &args.output {
        start.card.name = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    if let Some(lambda) = args.lambda {
        if !(lambda.is_finite() && lambda > 0.0) {
            return Err(Error::invalid("lambda", lambda, "a number above zero"));
        }
        start.card.lambda = lambda;
    }
    start.card.licence.clone_from(&args.licence);
    start.card.training.insert("command".to_owned(), json!(command(args)));
    Ok(start)
}

/// How the training can be repeated, without the folders of this machine.
fn command(args: &TrainArgs) -> String {
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let mut words = vec!["agogic train".to_owned(), name(&args.data)];
    if let Some(validation) = &args.validation {
        words.push(format!("--validation {}", name(validation)));
    }
    if let Some(features) = args.features {
        words.push(format!("--features {}", format!("{features:?}").to_lowercase()));
    }
    if let Some(init) = &args.init {
        words.push(format!("--init {}", name(Path::new(init))));
    }
    words.push(format!("--method {}", crate::learning::Method::from(args.method).name()));
    words.push(format!("--epochs {} --patience {}", args.epochs, args.patience));
    words.push(format!(
        "--learning-rate {} --batch {} --seed {}",
        args.learning_rate, args.common.batch, args.common.seed
    ));
    if let Some(lambda) = args.lambda {
        words.push(format!("--lambda {lambda}"));
    }
    for (is_set, flag) in [(args.learn_lambda, "--learn-lambda"), (args.common.no_augmentation, "--no-augmentation")] {
        if is_set {
            words.push(flag.to_owned());
        }
    }
    words.join(" ")
}

/// One line per epoch on stderr.
pub(super) fn tell(quiet: bool, event: TrainEvent) {
    if let TrainEvent::Epoch { epoch, record, is_best } = event
        && !quiet
    {
        let mark = if is_best { "  best so far" } else { "" };
        super::print_note(&format!(
            "epoch {epoch:>3}: loss {:.5}, validation TimeErr {:.2} ms, TimeDev {:.2} ms, lambda {:.3}{mark}",
            record.training_loss, record.time_err_ms, record.time_dev_ms, record.lambda
        ));
    }
}

/// What came of it.
pub(super) fn summary(output: &Path, trained: &Trained) -> String {
    let metric = |name: &str| trained.extractor.card.metrics.get(name).copied().unwrap_or(f64::NAN);
    format!(
        "{}: best of {} epochs is {}; validation TimeErr {:.2} ms, TimeDev {:.2} ms (base features: {:.2}, {:.2})\n",
        output.display(),
        trained.history.len() - 1,
        trained.best_epoch,
        metric("validation_time_err_ms"),
        metric("validation_time_dev_ms"),
        metric("validation_base_time_err_ms"),
        metric("validation_base_time_dev_ms"),
    )
}
