//! `agogic align`: the main road.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::args::{AlignArgs, PerArg, WritingArgs};
use super::summary::{Summary, to_json};
use crate::atomic_file::write_atomically;
use crate::error::{Error, Result};
use crate::evaluation::{self, GroundTruth, Metrics};
use crate::export::{self, ExportInput, ExportOptions, Format, Rows};
use crate::job::JobContext;
use crate::pipeline::{Outcome, align_files};

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &AlignArgs) -> Result<()> {
    let begun = Instant::now();
    let settings = args.settings.settings()?;
    let targets = targets(&args.output, &args.plot, &args.writing)?;
    let truth = args.truth.as_deref().map(evaluation::read_ground_truth).transpose()?;
    let outcome = align_files(ctx, &args.audio, &args.score, &settings)?;
    let metrics = truth.as_ref().map(|truth| measure(&outcome, truth)).transpose()?;
    let input = ExportInput {
        score: &outcome.score,
        alignment: &outcome.alignment,
        reference: truth.as_ref(),
        metrics: metrics.as_ref(),
    };
    let options = args.writing.options();
    write_targets(ctx, &targets, &input, &options)?;
    let to_stdout = targets.is_empty() && !args.json;
    if to_stdout {
        let format = args.writing.format.unwrap_or(Format::AgogicCsv);
        super::print(&export::render(format, &input, &options)?)?;
    }
    let written: Vec<PathBuf> = targets.into_iter().map(|(path, _)| path).collect();
    let summary = Summary::new(&outcome, metrics.as_ref(), &written, begun.elapsed().as_secs_f64());
    if args.json {
        super::print(format!("{}\n", to_json(&summary)).as_bytes())?;
    } else if !quiet {
        // Results belong to stdout, words about them to stderr, unless the words are all there is.
        if to_stdout { eprintln!("{}", summary.text()) } else { super::print(format!("{}\n", summary.text()).as_bytes())? }
    }
    Ok(())
}

/// The metrics of an outcome at the truth's own points.
pub(super) fn measure(outcome: &Outcome, truth: &GroundTruth) -> Result<Metrics> {
    evaluation::compare(&evaluation::change_points(&outcome.score, &outcome.alignment.warp)?, truth)
}

/// Every file to write with its format, checked before the work begins.
fn targets(outputs: &[PathBuf], plots: &[PathBuf], writing: &WritingArgs) -> Result<Vec<(PathBuf, Format)>> {
    let mut targets = Vec::new();
    for path in outputs {
        let format = match writing.format.or_else(|| Format::from_path(path)) {
            Some(format) => format,
            None => return Err(unknown_extension(path)),
        };
        targets.push((path.clone(), format));
    }
    for path in plots {
        match Format::from_path(path).filter(|format| format.is_picture()) {
            Some(format) => targets.push((path.clone(), format)),
            None => return Err(Error::invalid("--plot", path.display(), "a .png or .svg file")),
        }
    }
    for (path, _) in &targets {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let source = std::io::Error::new(std::io::ErrorKind::NotFound, "the folder does not exist");
            return Err(Error::io("write", path, source));
        }
    }
    Ok(targets)
}

fn unknown_extension(path: &Path) -> Error {
    let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    let allowed = format!("a file with a known extension, or any file with --format one of {}", names.join(", "));
    Error::invalid("--output", path.display(), allowed)
}

/// Renders everything first, so that a failure writes nothing, then writes each file whole.
fn write_targets(
    ctx: &JobContext,
    targets: &[(PathBuf, Format)],
    input: &ExportInput<'_>,
    options: &ExportOptions,
) -> Result<()> {
    let rendered: Vec<Vec<u8>> =
        targets.iter().map(|(_, format)| export::render(*format, input, options)).collect::<Result<_>>()?;
    ctx.check()?;
    for ((path, _), bytes) in targets.iter().zip(&rendered) {
        write_atomically(path, |out| out.write_all(bytes))?;
    }
    Ok(())
}

impl WritingArgs {
    /// What the exporters need to know.
    pub(super) fn options(&self) -> ExportOptions {
        ExportOptions {
            rows: match self.per {
                PerArg::Change => Rows::ChangePoints,
                PerArg::Note => Rows::Notes,
            },
            flat_tempo: self.flat_tempo,
        }
    }
}
