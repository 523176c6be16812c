//! `agogic fine-tune`: adapts a model to a few labelled pieces.

use std::path::{Path, PathBuf};

use super::train::{check_output, summary, tell};
use super::training_args::{FineTuneArgs, method_for};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::learning::{Control, TrainParams, TrainingJob, TrainingMethod, Unimproved, run_training};
use crate::networks::{Model, open_model};

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &FineTuneArgs) -> Result<()> {
    let (ctx, device) = &super::devices::open(ctx, args.common.basic.device)?;
    let start = open_model(&args.model, device)?;
    let output = output(args)?;
    let method = method_for(start.kind(), args.method, TrainingMethod::for_tuning(start.kind()))?;
    args.common.basic.check(method)?;
    check_output(&output, None, &args.data, args.common.validation.as_deref())?;
    let params = args.common.params(TrainParams::fine_tuning(method));
    let params = TrainParams { patience: params.epochs, ..params };
    let name = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let card = start.card().taught_further(name, &args.licence);
    let job = TrainingJob {
        data: args.data.clone(),
        validation: args.common.validation.clone(),
        start: Model::new(card, start.parameters()?, start.device())?,
        output,
        params,
        cache: args.common.basic.cache_folder(),
        unimproved: Unimproved::Refuse,
    };
    let trained = run_training(ctx, &job, &Control::default(), &|event| tell(quiet, event))?;
    super::print(summary(&job.output, &trained).as_bytes())
}

/// The model that is written: the one that was read, unless another is named.
fn output(args: &FineTuneArgs) -> Result<PathBuf> {
    match &args.output {
        Some(output) => Ok(output.clone()),
        None if Path::new(&args.model).is_file() => Ok(PathBuf::from(&args.model)),
        None => {
            let allowed = "a file, because a model that comes with the program is not changed";
            Err(Error::invalid("--output", "not given", allowed))
        }
    }
}
