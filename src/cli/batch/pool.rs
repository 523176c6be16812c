//! Rows on threads: each takes the next one when it is free.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::manifest::Row;
use super::progress_file::ProgressFile;
use super::record::Record;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// Runs the rows on `jobs` threads and returns their records in order. An error of `run` is none of its row's, such as a full disk: it ends
/// the batch.
pub(super) fn run_all(
    ctx: &JobContext,
    quiet: bool,
    rows: &[Row],
    jobs: usize,
    progress: Option<&ProgressFile>,
    run: impl Fn(&Row) -> Result<Record> + Sync,
) -> Result<Vec<Record>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Result<Vec<Record>>> = Mutex::new(Ok(Vec::new()));
    let work = || {
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(progress) = progress {
                progress.begin(&row.name);
            }
            let begun = Instant::now();
            let outcome = ctx.check().and_then(|()| run(row));
            let Ok(mut done) = done.lock() else { break };
            match (&mut *done, outcome) {
                (Err(_), _) => break,
                (Ok(records), Ok(record)) => {
                    tell(quiet, records.len() + 1, rows.len(), begun, &record);
                    if let Some(progress) = progress {
                        progress.end(&record);
                    }
                    records.push(record);
                }
                (_, Err(error)) => {
                    *done = Err(error);
                    break;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for worker in 1..jobs.min(rows.len()) {
            // Where no further thread can be started, those that could do the work.
            let _ = std::thread::Builder::new().name(format!("batch {worker}")).spawn_scoped(scope, work);
        }
        work();
    });
    let mut records = done.into_inner().unwrap_or(Err(Error::Cancelled))?;
    records.sort_by_key(|record| record.row);
    Ok(records)
}

fn tell(quiet: bool, finished: usize, total: usize, begun: Instant, record: &Record) {
    let place = format!("[{finished}/{total}] {}", record.piece);
    match &record.error {
        Some(error) => crate::cli::print_note(&format!("agogic: {place}: {error}")),
        None if quiet => {}
        None => {
            let seconds = begun.elapsed().as_secs_f64();
            crate::cli::print_note(&format!("{place}: {}, {seconds:.1} s", record.describe()));
        }
    }
}
