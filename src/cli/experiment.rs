//! `agogic experiment`: the published comparison on one's own data.

use super::training_args::{ExperimentArgs, MethodArg, method_for};
use crate::align::settings::DEFAULT_HOP;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::learning::{Experiment, SliceParams, TrainParams, default_models, markdown, run_experiment};
use crate::networks::ModelKind;

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &ExperimentArgs) -> Result<()> {
    let (ctx, device) = &super::devices::open(ctx, args.basic.device)?;
    let experiment = Experiment {
        data: args.data.clone(),
        more_tests: args.test.clone(),
        features: args.features.iter().map(|&features| features.into()).collect(),
        params: args.methods.iter().map(|&method| params(args, method)).collect::<Result<_>>()?,
        models: args.models.clone().unwrap_or_else(|| default_models(&args.data)),
        cache: args.basic.cache_folder(),
        hop: DEFAULT_HOP,
        output_dim: super::train::OUTPUT_DIM,
        slices: SliceParams::default(),
        seed: args.basic.seed,
        device: device.clone(),
    };
    let tell = |message: &str| {
        if !quiet {
            super::print_note(message);
        }
    };
    let rows = run_experiment(ctx, &experiment, &tell)?;
    let text = if args.json { super::summary::to_json(&rows) + "\n" } else { markdown(&rows) };
    super::print(text.as_bytes())
}

fn params(args: &ExperimentArgs, method: MethodArg) -> Result<TrainParams> {
    let method = method_for(ModelKind::Extractor, Some(method), method.into())?;
    Ok(TrainParams { epochs: args.epochs, ..args.basic.params(TrainParams::of(method)) })
}
