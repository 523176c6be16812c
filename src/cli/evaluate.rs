//! `agogic evaluate`: an alignment against a ground truth.

use super::args::EvaluateArgs;
use super::summary::{metrics_text, to_json};
use crate::base::error::Result;
use crate::evaluation::{evaluate, read_ground_truth, read_prediction};

pub(super) fn run(args: &EvaluateArgs) -> Result<()> {
    let prediction = read_prediction(&args.prediction)?;
    let truth = read_ground_truth(&args.truth, prediction.beats.as_ref())?;
    let metrics = evaluate(&prediction.times, &truth);
    let text = if args.json { to_json(&metrics) } else { metrics_text(&metrics) };
    super::print(format!("{text}\n").as_bytes())
}
