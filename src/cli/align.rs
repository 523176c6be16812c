//! `agogic align`: the main road.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::args::{AlignArgs, WritingArgs};
use super::like::device_like;
use super::summary::{Summary, metrics_text, to_json};
use crate::align::{AlignedFiles, align_files, is_take};
use crate::base::atomic_file::{check_writable, write_output};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::evaluation::{BeatClock, GroundTruth, Metrics, TimeMap, evaluate, read_ground_truth};
use crate::export::{ExportInput, Format};
use crate::score::Score;

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &AlignArgs) -> Result<()> {
    let begun = Instant::now();
    let settings = args.settings.settings()?;
    if is_take(&args.audio) {
        args.settings.refuse_listening()?;
    }
    let targets = targets(&args.output, &args.plot, &args.writing)?;
    let read = settings.files();
    let inputs = [&args.audio, &args.score].into_iter().chain(&args.truth).chain(&args.settings.like).chain(&read);
    super::check_outputs(targets.iter().map(|(path, _)| path.as_path()), inputs.map(PathBuf::as_path))?;
    targets.iter().try_for_each(|(path, _)| check_writable(path))?;
    let stdout_format = args.writing.format_for(None)?;
    let truth = args.truth.as_deref().map(|truth| read_truth(truth, &args.score)).transpose()?;
    let (ctx, device) = &super::devices::open(ctx, device_like(args.settings.like.as_deref(), args.device)?)?;
    let outcome = align_files(ctx, &args.audio, &args.score, &settings, device)?;
    let metrics = truth.as_ref().map(|truth| measure(&outcome, truth));
    let input = export_input(&outcome, truth.as_ref(), metrics.as_ref());
    // The bar leaves the screen: from here on there is something to read.
    ctx.report("done", 1.0)?;
    write_targets(ctx, &targets, &input)?;
    let to_stdout = targets.is_empty() && !args.json;
    if to_stdout {
        super::print(&stdout_format.exporter().render(&input)?)?;
    }
    let written: Vec<PathBuf> = targets.into_iter().map(|(path, _)| path).collect();
    let summary = Summary::new(&outcome, metrics.as_ref(), &written, begun.elapsed().as_secs_f64());
    if args.json {
        return super::print(format!("{}\n", to_json(&summary)).as_bytes());
    }
    // Metrics were asked for: they are a result, and said even when the rest is not.
    let text = if quiet { metrics.as_ref().map(metrics_text) } else { Some(summary.text()) };
    match text {
        // The alignment has stdout to itself: words go to stderr.
        Some(text) if to_stdout => super::print_note(&text),
        Some(text) => super::print(format!("{text}\n").as_bytes())?,
        None => {}
    }
    Ok(())
}

/// A ground truth of a score; one that counts beats is read by the score's own clock.
pub(super) fn read_truth(truth: &Path, score: &Path) -> Result<GroundTruth> {
    read_ground_truth(truth, Some(&BeatClock::of_score(&Score::read(score)?)))
}

/// The metrics of an outcome.
pub(super) fn measure(outcome: &AlignedFiles, truth: &GroundTruth) -> Metrics {
    evaluate(&TimeMap::of_alignment(&outcome.score, &outcome.alignment), truth)
}

/// What the exporters are given of an outcome.
pub(super) fn export_input<'a>(
    outcome: &'a AlignedFiles,
    reference: Option<&'a GroundTruth>,
    metrics: Option<&'a Metrics>,
) -> ExportInput<'a> {
    ExportInput {
        reference,
        metrics,
        recording_rate: outcome.recording_rate,
        ..ExportInput::new(&outcome.score, &outcome.alignment)
    }
}

/// Every file to write with its format, checked before the work begins.
fn targets(outputs: &[PathBuf], plots: &[PathBuf], writing: &WritingArgs) -> Result<Vec<(PathBuf, Format)>> {
    let mut targets = Vec::new();
    for path in outputs {
        targets.push((path.clone(), writing.format_for(Some(path))?));
    }
    for path in plots {
        match Format::from_extension(path) {
            Ok(format @ (Format::Png | Format::Svg)) => targets.push((path.clone(), format)),
            _ => return Err(Error::invalid("--plot", path.display(), "a .png or .svg file")),
        }
    }
    Ok(targets)
}

/// Renders everything first, so that a failure writes nothing, then writes each file whole.
fn write_targets(ctx: &JobContext, targets: &[(PathBuf, Format)], input: &ExportInput<'_>) -> Result<()> {
    let rendered: Vec<Vec<u8>> =
        targets.iter().map(|(_, format)| format.exporter().render(input)).collect::<Result<_>>()?;
    for ((path, _), bytes) in targets.iter().zip(&rendered) {
        write_output(ctx, path, bytes)?;
    }
    Ok(())
}
