//! Results as files: one in the chosen format for every piece, and its record beside it.

use std::path::{Path, PathBuf};

use super::Results;
use super::attempt::Attempt;
use super::manifest::Row;
use super::record::{Figures, Record};
use crate::base::atomic_file::write_output;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::cli::summary::to_json;
use crate::export::{ExportInput, Format};

/// How the name of a record ends.
pub(super) const RECORD: &str = "record.json";

/// A folder with two files for every piece.
pub(super) struct Files {
    folder: PathBuf,
    format: Format,
    /// Whether what is there counts.
    resumes: bool,
}

impl Files {
    pub(super) fn new(folder: &Path, format: Format) -> Self {
        Self { folder: folder.to_owned(), format, resumes: false }
    }

    /// Where the alignment and the record of a row go, and what is there while it is worked on.
    fn outputs_of(&self, row: &Row) -> [PathBuf; 3] {
        [self.format.extension(), RECORD, "begun"].map(|ending| self.folder.join(format!("{}.{ending}", row.name)))
    }
}

impl Results for Files {
    fn outputs(&self, rows: &[Row]) -> Vec<PathBuf> {
        rows.iter().flat_map(|row| self.outputs_of(row)).collect()
    }

    fn look_for_earlier(&mut self) {
        self.resumes = true;
    }

    fn earlier(&self, row: &Row, key: &str) -> Option<Figures> {
        let [output, record, _] = self.outputs_of(row);
        if !(self.resumes && output.is_file()) {
            return None;
        }
        let record: Record = serde_json::from_slice(&std::fs::read(record).ok()?).ok()?;
        record.figures.filter(|_| record.key.as_deref() == Some(key))
    }

    fn begin(&self, row: &Row, _: &str) -> Result<Attempt> {
        let [_, _, begun] = self.outputs_of(row);
        Attempt::begin(&row.name, begun)
    }

    /// The record last, after that of an earlier result is gone: a result without one is made again.
    fn keep(&self, ctx: &JobContext, row: &Row, record: &Record, result: &ExportInput<'_>) -> Result<()> {
        let [output, earlier, _] = self.outputs_of(row);
        let _ = std::fs::remove_file(earlier);
        write_output(ctx, &output, &self.format.exporter().render(result)?)?;
        self.keep_record(ctx, row, record)
    }

    fn keep_record(&self, ctx: &JobContext, row: &Row, record: &Record) -> Result<()> {
        let [_, path, _] = self.outputs_of(row);
        let text = to_json(record);
        if std::fs::read(&path).is_ok_and(|earlier| earlier == text.as_bytes()) {
            return Ok(());
        }
        write_output(ctx, &path, text.as_bytes())
    }

    fn finish(&self, _: &JobContext, _: &[Record]) -> Result<bool> {
        Ok(true)
    }
}
