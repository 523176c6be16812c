//! `agogic fine-tune`: adapts an extractor to a few labelled pieces.

use std::path::{Path, PathBuf};

use super::train::{summary, tell};
use super::training_args::FineTuneArgs;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::learning::{AdamParams, Control, TrainParams, TrainingJob, Unimproved, run_training};
use crate::networks::{open_model, weights};

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &FineTuneArgs) -> Result<()> {
    let mut start = open_model(&args.model)?;
    let output = output(args)?;
    start.card.training.insert("fine_tuned_from".to_owned(), start.card.name.clone().into());
    start.card.name = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let job = TrainingJob {
        data: args.data.clone(),
        validation: args.validation.clone(),
        start,
        output,
        params: TrainParams {
            batch_size: args.common.batch,
            epochs: args.epochs,
            patience: args.epochs,
            optimiser: AdamParams { learning_rate: args.learning_rate, ..AdamParams::default() },
            augmentation: args.common.augmentation(),
            seed: args.common.seed,
            ..TrainParams::default()
        },
        cache: args.common.cache_folder(),
        unimproved: Unimproved::Refuse,
    };
    let trained = run_training(ctx, &job, &Control::default(), &|event| tell(quiet, event))?;
    super::print(summary(&job.output, &trained).as_bytes())
}

/// The model that is written: the one that was read, unless another is named.
fn output(args: &FineTuneArgs) -> Result<PathBuf> {
    if let Some(output) = &args.output {
        return Ok(output.clone());
    }
    let path = Path::new(&args.model).with_extension("safetensors");
    if path.exists() && weights::card_path(&path).exists() {
        return Ok(path);
    }
    Err(Error::invalid("--output", "not given", "a file, because a model that comes with the program is not changed"))
}
