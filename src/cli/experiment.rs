//! `agogic experiment`: the published comparison on one's own data.

use super::training_args::ExperimentArgs;
use crate::align::settings::DEFAULT_HOP;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::learning::{Experiment, TrainParams, default_models, markdown, run_experiment};

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &ExperimentArgs) -> Result<()> {
    let experiment = Experiment {
        data: args.data.clone(),
        more_tests: args.test.clone(),
        features: args.features.iter().map(|&features| features.into()).collect(),
        methods: args.methods.iter().map(|&method| method.into()).collect(),
        params: TrainParams {
            batch_size: args.common.batch,
            epochs: args.epochs,
            augmentation: args.common.augmentation(),
            seed: args.common.seed,
            ..TrainParams::default()
        },
        models: args.models.clone().unwrap_or_else(|| default_models(&args.data)),
        cache: args.common.cache_folder(),
        hop: DEFAULT_HOP,
        output_dim: super::train::OUTPUT_DIM,
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
