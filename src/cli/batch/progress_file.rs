//! How far a batch is, in a file for dashboards.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::record::Record;
use super::shard::Shard;
use crate::base::atomic_file::write_bytes_atomically;
use crate::cli::summary::{peak_memory_mb, to_json};

/// Often enough for a person, seldom enough for a shared file system.
const EVERY: Duration = Duration::from_secs(1);

/// A JSON file that is replaced as rows are done.
pub(super) struct ProgressFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    progress: Progress,
    written: Option<Instant>,
}

/// What stands in the file.
#[derive(Debug, Clone, Serialize)]
struct Progress {
    shard: usize,
    shards: usize,
    state: &'static str,
    /// Rows of this shard.
    rows: usize,
    /// Of them: finished, failed ones among them.
    done: usize,
    /// Of those: taken from an earlier run.
    resumed: usize,
    failed: usize,
    /// Seconds of recordings that are done.
    recording_s: f64,
    /// The pieces that are being worked on.
    at_work: Vec<String>,
    process: u32,
    peak_memory_mb: Option<f64>,
    begun_unix_s: u64,
    updated_unix_s: u64,
}

impl ProgressFile {
    /// Begins to tell of so many rows.
    pub(super) fn new(path: PathBuf, shard: Shard, rows: usize) -> Self {
        let progress = Progress {
            shard: shard.index,
            shards: shard.count,
            state: "running",
            rows,
            done: 0,
            resumed: 0,
            failed: 0,
            recording_s: 0.0,
            at_work: Vec::new(),
            process: std::process::id(),
            peak_memory_mb: None,
            begun_unix_s: now_s(),
            updated_unix_s: now_s(),
        };
        Self { path, state: Mutex::new(State { progress, written: None }) }
    }

    pub(super) fn begin(&self, piece: &str) {
        self.change(false, |progress| progress.at_work.push(piece.to_owned()));
    }

    pub(super) fn end(&self, record: &Record) {
        self.change(false, |progress| {
            progress.at_work.retain(|piece| *piece != record.piece);
            progress.done += 1;
            progress.resumed += usize::from(record.resumed);
            progress.failed += usize::from(record.error.is_some());
            progress.recording_s += record.figures.as_ref().map_or(0.0, |figures| figures.recording_s);
        });
    }

    /// The rows are gone through once more.
    pub(super) fn restart(&self) {
        self.change(false, |progress| {
            (progress.done, progress.resumed, progress.failed, progress.recording_s) = (0, 0, 0, 0.0);
        });
    }

    /// Says that the work has ended, and how.
    pub(super) fn close(&self, state: &'static str) {
        self.change(true, |progress| {
            progress.at_work.clear();
            progress.state = state;
        });
    }

    fn change(&self, is_last: bool, change: impl FnOnce(&mut Progress)) {
        let Ok(mut state) = self.state.lock() else { return };
        change(&mut state.progress);
        if !is_last && state.written.is_some_and(|written| written.elapsed() < EVERY) {
            return;
        }
        state.progress.updated_unix_s = now_s();
        state.progress.peak_memory_mb = peak_memory_mb();
        state.written = Some(Instant::now());
        // The work is worth more than the news of it.
        if let Err(error) = write_bytes_atomically(&self.path, to_json(&state.progress).as_bytes()) {
            crate::cli::print_note(&format!("agogic: {error}"));
        }
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
