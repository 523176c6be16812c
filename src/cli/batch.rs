//! `agogic batch`: many pairs, one table. A bad row is reported and the rest go on; a second run resumes.

mod manifest;
mod record;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::align;
use super::args::BatchArgs;
use super::like::device_like;
use super::settings_args::absolute;
use crate::align::settings::{Method, OnsetMethod, Settings};
use crate::align::{align_files, is_take};
use crate::base::atomic_file::{check_writable, write_output};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::evaluation::{PieceResult, Report};
use crate::export::Format;
use crate::networks::Device;
use manifest::Row;
use record::Record;

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &BatchArgs) -> Result<()> {
    let settings = args.settings.settings()?;
    let (ctx, device) = &super::devices::open(ctx, device_like(args.settings.like.as_deref(), args.device)?)?;
    let plan =
        Plan { settings, device: device.clone(), format: args.writing.format_for(None)?, out_dir: &args.out_dir };
    if args.jobs == Some(0) {
        return Err(Error::invalid("--jobs", 0, "at least 1"));
    }
    let rows = manifest::read(&args.manifest)?;
    let outputs: Vec<PathBuf> = rows.iter().flat_map(|row| plan.outputs_of(row)).collect();
    let of_row = |row: &Row| {
        let own = [Some(&row.audio), Some(&row.score), row.truth.as_ref(), row.transcription.as_ref()];
        own.map(|path| path.cloned())
    };
    let inputs: Vec<PathBuf> = rows.iter().flat_map(of_row).flatten().chain(plan.settings.files()).collect();
    if rows.iter().all(|row| is_take(&row.audio)) {
        args.settings.refuse_listening()?;
    }
    let read = inputs.iter().chain(&args.settings.like).chain([&args.manifest]);
    super::check_outputs(outputs.iter().map(PathBuf::as_path), read.map(PathBuf::as_path))?;
    std::fs::create_dir_all(&args.out_dir).map_err(|source| Error::io("create", &args.out_dir, source))?;
    outputs.iter().try_for_each(|output| check_writable(output))?;
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let outcomes = run_all(ctx, quiet, &plan, &rows, jobs);
    ctx.check()?;
    report(&rows, outcomes, args.json)
}

struct Plan<'a> {
    settings: Settings,
    device: Device,
    format: Format,
    out_dir: &'a Path,
}

impl Plan<'_> {
    /// How a row is aligned: with its own transcription, if it has one.
    fn settings_of(&self, row: &Row) -> Result<Settings> {
        let Some(transcription) = &row.transcription else { return Ok(self.settings.clone()) };
        let Method::Onsets(onsets) = &self.settings.method else {
            return Err(Error::misplaced("a transcription", "--method onsets", "--method frames"));
        };
        if let Some(other) = &onsets.transcription {
            let allowed = "that option or a column of the manifest, not both";
            return Err(Error::invalid("--transcription", other.display(), allowed));
        }
        let transcription = Some(absolute(transcription));
        let method = Method::Onsets(OnsetMethod { transcription, ..onsets.clone() });
        Ok(Settings { method, ..self.settings.clone() })
    }

    /// Where the alignment and the record of a row go.
    fn outputs_of(&self, row: &Row) -> [PathBuf; 2] {
        let in_folder = |extension: &str| self.out_dir.join(format!("{}.{extension}", row.name));
        [in_folder(self.format.extension()), in_folder("record.json")]
    }
}

/// Runs the rows on `jobs` threads; each takes the next row when it is free.
fn run_all(ctx: &JobContext, quiet: bool, plan: &Plan<'_>, rows: &[Row], jobs: usize) -> Vec<Option<Result<Record>>> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Result<Record>>>> = rows.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        let work = || {
            while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                if ctx.is_cancelled() {
                    break;
                }
                let outcome = run_row(&ctx.quiet(), plan, row);
                let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
                tell(quiet, finished, rows.len(), row, &outcome);
                if let Ok(mut slot) = outcomes[row.index].lock() {
                    *slot = Some(outcome);
                }
            }
        };
        for worker in 1..jobs.min(rows.len()) {
            // Where no further thread can be started, those that could do the work.
            let _ = std::thread::Builder::new().name(format!("batch {worker}")).spawn_scoped(scope, work);
        }
        work();
    });
    outcomes.into_iter().map(|slot| slot.into_inner().unwrap_or(None)).collect()
}

fn tell(quiet: bool, finished: usize, total: usize, row: &Row, outcome: &Result<Record>) {
    match outcome {
        // Said once, for all rows, at the end.
        Err(Error::Cancelled) => {}
        Err(error) => super::print_note(&format!("agogic: [{finished}/{total}] {}: {error}", row.name)),
        Ok(record) if !quiet => super::print_note(&format!("[{finished}/{total}] {}: {}", row.name, record.describe())),
        Ok(_) => {}
    }
}

fn run_row(ctx: &JobContext, plan: &Plan<'_>, row: &Row) -> Result<Record> {
    let [output, record_path] = plan.outputs_of(row);
    let settings = plan.settings_of(row)?;
    let inputs = record::Inputs::of(row, &settings, plan.format)?;
    if let Some(record) = Record::read(&record_path).filter(|record| record.inputs == inputs && output.is_file()) {
        return Ok(Record { resumed: true, ..record });
    }
    let truth = row.truth.as_deref().map(|truth| align::read_truth(truth, &row.score)).transpose()?;
    let outcome = align_files(ctx, &row.audio, &row.score, &settings, &plan.device)?;
    let metrics = truth.as_ref().map(|truth| align::measure(&outcome, truth));
    let input = align::export_input(&outcome, truth.as_ref(), metrics.as_ref());
    write_output(ctx, &output, &plan.format.exporter().render(&input)?)?;
    let record = Record::new(inputs, &outcome, metrics);
    write_output(ctx, &record_path, super::summary::to_json(&record).as_bytes())?;
    Ok(record)
}

/// Prints the table; fails if any row failed.
fn report(rows: &[Row], outcomes: Vec<Option<Result<Record>>>, json: bool) -> Result<()> {
    let mut pieces = Vec::new();
    let mut failed = 0;
    for (row, outcome) in rows.iter().zip(outcomes) {
        match outcome {
            Some(Ok(Record { metrics: Some(metrics), .. })) => {
                pieces.push(PieceResult { name: row.name.clone(), metrics })
            }
            Some(Ok(_)) => {}
            _ => failed += 1,
        }
    }
    let report = Report::new(pieces);
    if json {
        super::print(format!("{}\n", super::summary::to_json(&report)).as_bytes())?;
    } else if !report.pieces.is_empty() {
        super::print(report.to_markdown().as_bytes())?;
    }
    if failed > 0 {
        let cause = format!("{failed} of {} pairs failed", rows.len());
        return Err(Error::unsuitable("batch", cause, "see the messages above; a second run does only those again"));
    }
    Ok(())
}
