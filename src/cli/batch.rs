//! `agogic batch`: many pairs, one table. A bad row is reported and the rest go on; a second run resumes; several workers each do a part.

mod attempt;
mod files;
mod key;
pub(crate) mod manifest;
#[cfg(feature = "parquet")]
mod note_columns;
#[cfg(feature = "parquet")]
mod piece_columns;
mod pool;
mod progress_file;
pub(crate) mod record;
mod report;
mod shard;
pub(crate) mod summary;
#[cfg(feature = "parquet")]
mod tables;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

pub use shard::Shard;

use super::align;
use super::args::{BatchArgs, BatchFormat};
use super::like::device_like;
use super::settings_args::absolute;
use crate::align::settings::{Method, OnsetMethod, Settings};
use crate::align::{align_files, is_take};
use crate::base::atomic_file::check_writable;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::export::ExportInput;
use crate::networks::Device;
use attempt::Attempt;
use files::Files;
use key::Keys;
use manifest::{Row, Rows};
use progress_file::ProgressFile;
use record::{Figures, Record};
use report::Report;

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &BatchArgs) -> Result<()> {
    let settings = args.settings.settings()?;
    let format = args.format()?;
    if args.jobs == Some(0) {
        return Err(Error::invalid("--jobs", 0, "at least 1"));
    }
    let (ctx, device) = &super::devices::open(ctx, device_like(args.settings.like.as_deref(), args.device)?)?;
    let rows = manifest::read(&args.manifest, args.shard)?;
    if !rows.own.is_empty() && rows.own.iter().all(|row| is_take(&row.audio)) {
        args.settings.refuse_listening()?;
    }
    let keys = Keys::new(&settings, format.name())?;
    let mut plan = Plan { settings, device: device.clone(), keys, results: open_results(args, format), rows };
    check_files(args, &plan)?;
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let progress = args.progress.clone().map(|path| ProgressFile::new(path, args.shard, plan.rows.own.len()));
    if args.resume {
        plan.results.look_for_earlier();
    }
    let records = do_all(ctx, quiet, jobs, &mut plan, progress.as_ref());
    if let Some(progress) = progress {
        progress.close(if records.is_ok() { "finished" } else { "stopped" });
    }
    Report::new(&records?).print(args.json)
}

/// Goes through the rows until all results are there: once, unless another worker does the same shard at the same time.
fn do_all(
    ctx: &JobContext,
    quiet: bool,
    jobs: usize,
    plan: &mut Plan,
    progress: Option<&ProgressFile>,
) -> Result<Vec<Record>> {
    loop {
        let records = pool::run_all(ctx, quiet, &plan.rows.own, jobs, progress, |row| plan.record(ctx, row))?;
        if plan.results.finish(ctx, &records)? {
            return Ok(records);
        }
        plan.results.look_for_earlier();
        if let Some(progress) = progress {
            progress.restart();
        }
    }
}

fn open_results(args: &BatchArgs, format: BatchFormat) -> Box<dyn Results> {
    match format {
        BatchFormat::Files(format) => Box::new(Files::new(&args.out_dir, format)),
        #[cfg(feature = "parquet")]
        BatchFormat::Parquet => Box::new(tables::Tables::new(&args.out_dir, args.shard)),
    }
}

/// Refuses to write over what is read, and reports what cannot be written, before the work begins.
fn check_files(args: &BatchArgs, plan: &Plan) -> Result<()> {
    let rows = &plan.rows.own;
    let outputs: Vec<PathBuf> = plan.results.outputs(rows).into_iter().chain(args.progress.clone()).collect();
    let models = plan.settings.files();
    let inputs = rows.iter().flat_map(Row::files).chain(&models).chain(&args.settings.like).chain([&args.manifest]);
    super::check_outputs(outputs.iter().map(PathBuf::as_path), inputs.map(PathBuf::as_path))?;
    std::fs::create_dir_all(&args.out_dir).map_err(|source| Error::io("create", &args.out_dir, source))?;
    outputs.iter().try_for_each(|output| check_writable(output))
}

/// What all rows share.
struct Plan {
    settings: Settings,
    device: Device,
    keys: Keys,
    results: Box<dyn Results>,
    rows: Rows,
}

impl Plan {
    /// Aligns a row, unless that has been done. A failure is a record too; only a cancelled row has none.
    fn record(&self, ctx: &JobContext, row: &Row) -> Result<Record> {
        let blank = Record::new(row, self.rows.total);
        let attempt = AssertUnwindSafe(|| self.try_record(&ctx.quiet(), row, &blank));
        let outcome = catch_unwind(attempt).unwrap_or_else(|_| {
            Err(Error::unsuitable(&row.name, "the program failed on it", "please report it with the message above"))
        });
        match outcome {
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => {
                let record = Record { error: Some(error.to_string()), ..blank };
                self.results.keep_record(ctx, row, &record)?;
                Ok(record)
            }
            done => done,
        }
    }

    fn try_record(&self, ctx: &JobContext, row: &Row, blank: &Record) -> Result<Record> {
        let settings = self.settings_of(row)?;
        let key = self.keys.of(row)?;
        if let Some(figures) = self.results.earlier(row, &key) {
            let record = Record { key: Some(key), figures: Some(figures), resumed: true, ..blank.clone() };
            self.results.keep_record(ctx, row, &record)?;
            return Ok(record);
        }
        let _attempt = self.results.begin(row, &key)?;
        let truth = row.truth.as_deref().map(|truth| align::read_truth(truth, &row.score)).transpose()?;
        let outcome = align_files(ctx, &row.audio, &row.score, &settings, &self.device)?;
        let metrics = truth.as_ref().map(|truth| align::measure(&outcome, truth));
        let figures = Some(Figures::new(&outcome, metrics));
        let record = Record { key: Some(key), figures, ..blank.clone() };
        self.results.keep(ctx, row, &record, &align::export_input(&outcome, truth.as_ref(), metrics.as_ref()))?;
        Ok(record)
    }

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
}

/// Where results are kept.
trait Results: Sync {
    /// Every file that is written.
    fn outputs(&self, rows: &[Row]) -> Vec<PathBuf>;

    /// From now on [`earlier`](Self::earlier) finds what is there at this moment.
    fn look_for_earlier(&mut self);

    /// The figures of a result that was made from the same.
    fn earlier(&self, row: &Row, key: &str) -> Option<Figures>;

    /// Says that a row is begun; what is returned is dropped when it is ended, unless the process is killed before.
    fn begin(&self, row: &Row, key: &str) -> Result<Attempt>;

    /// Keeps the result of a row safe at once.
    fn keep(&self, ctx: &JobContext, row: &Row, record: &Record, result: &ExportInput<'_>) -> Result<()>;

    /// Keeps the record of a row without a new result: it failed, or was done before, maybe at another place of the list.
    fn keep_record(&self, ctx: &JobContext, row: &Row, record: &Record) -> Result<()>;

    /// Completes the results. False: another worker took some of them away meanwhile, and the rows are to be gone through once more.
    fn finish(&self, ctx: &JobContext, records: &[Record]) -> Result<bool>;
}
