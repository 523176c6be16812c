//! `agogic evaluate`: an alignment against a ground truth.

use super::args::EvaluateArgs;
use crate::error::Result;
use crate::evaluation;

pub(super) fn run(args: &EvaluateArgs) -> Result<()> {
    let prediction = evaluation::read_prediction(&args.prediction)?;
    let truth = evaluation::read_ground_truth(&args.truth)?;
    let metrics = evaluation::compare(&prediction, &truth)?;
    let text = if args.json { super::summary::to_json(&metrics) } else { super::summary::metrics_text(&metrics) };
    super::print(format!("{text}\n").as_bytes())
}
