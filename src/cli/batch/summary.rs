//! `agogic batch-summary`: the table of everything that batches have written to a folder, whoever has done it.

use std::path::{Path, PathBuf};

use super::files::RECORD;
use super::record::Record;
use super::report::Report;
use crate::base::error::{Error, Result};
use crate::base::whole_file::read_whole;
use crate::cli::args::BatchSummaryArgs;

/// A record has a kilobyte.
const MOST_RECORD_BYTES: u64 = 16 << 20;
const REMEDY: &str = "run the batch again, or move the file elsewhere";

pub(in crate::cli) fn run(args: &BatchSummaryArgs) -> Result<()> {
    let mut records = Vec::new();
    for path in files_in(&args.dir)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(&format!(".{RECORD}")) {
            records.push(read_record(&path)?);
        } else if name.starts_with("pieces-") && name.ends_with(".parquet") {
            records.extend(read_table(&path)?);
        }
    }
    if records.is_empty() {
        let cause = "there are no results of a batch in it";
        return Err(Error::unsuitable(args.dir.display().to_string(), cause, "give the folder of --out-dir"));
    }
    records.sort_by_key(|record| record.row);
    if let Some(pair) = records.windows(2).find(|pair| pair[0].row == pair[1].row) {
        let cause = format!("row {} is there twice, as {} and as {}", pair[0].row, pair[0].piece, pair[1].piece);
        let remedy = "give every list, number of shards and format a folder of its own";
        return Err(Error::unsuitable(args.dir.display().to_string(), cause, remedy));
    }
    let rows = records.iter().map(|record| record.rows).max().unwrap_or(0);
    let printed = Report::new(&records).print(args.json);
    if records.len() < rows {
        let cause = format!("{} of {rows} pairs are not done yet", rows - records.len());
        return Err(Error::unsuitable(args.dir.display().to_string(), cause, "run the missing shards with --resume"));
    }
    printed
}

/// The files of a folder in the order of their names.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::io("read", folder, source);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<_>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

pub(crate) fn read_record(path: &Path) -> Result<Record> {
    let bytes = read_whole(path, MOST_RECORD_BYTES, REMEDY)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let cause = format!("it is not a batch record: {error}");
        Error::malformed(path, cause, REMEDY)
    })
}

#[cfg(feature = "parquet")]
pub(crate) fn read_table(path: &Path) -> Result<Vec<Record>> {
    super::piece_columns::read(path)
}

#[cfg(not(feature = "parquet"))]
pub(crate) fn read_table(path: &Path) -> Result<Vec<Record>> {
    Err(Error::unsupported(path, "a Parquet table", crate::cli::args::NO_PARQUET))
}
