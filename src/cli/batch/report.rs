//! The table at the end: of one run, or of all that lies in a folder.

use std::fmt::Write;

use serde::Serialize;

use super::record::Record;
use crate::base::error::{Error, Result};
use crate::cli::summary::to_json;
use crate::evaluation::{self, PieceResult};

/// Below this confidence an alignment deserves a look.
const DOUBTFUL: f64 = 0.5;

/// What is told of many records.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// The pieces whose truth is known, and their averages.
    #[serde(flatten)]
    measured: evaluation::Report,
    summary: Totals,
    failed: Vec<Failure>,
}

#[derive(Debug, Default, Serialize)]
struct Totals {
    rows: usize,
    aligned: usize,
    failed: usize,
    /// Aligned with less confidence than one half.
    doubtful: usize,
    notes: usize,
    recording_hours: f64,
    mean_confidence: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Failure {
    piece: String,
    error: String,
}

impl Report {
    /// Of records in the order of the manifest.
    pub(super) fn new(records: &[Record]) -> Self {
        let (mut pieces, mut failed) = (Vec::new(), Vec::new());
        let mut totals = Totals { rows: records.len(), ..Totals::default() };
        let (mut recording_s, mut confidence) = (0.0, 0.0);
        for record in records {
            if let Some(error) = &record.error {
                failed.push(Failure { piece: record.piece.clone(), error: error.clone() });
            }
            let Some(figures) = &record.figures else { continue };
            totals.aligned += 1;
            totals.doubtful += usize::from(figures.confidence < DOUBTFUL);
            totals.notes += figures.notes;
            recording_s += figures.recording_s;
            confidence += figures.confidence;
            if let Some(metrics) = figures.metrics {
                pieces.push(PieceResult { name: record.piece.clone(), metrics });
            }
        }
        totals.failed = failed.len();
        totals.recording_hours = recording_s / 3600.0;
        totals.mean_confidence = (totals.aligned > 0).then(|| confidence / totals.aligned as f64);
        Self { measured: evaluation::Report::new(pieces), summary: totals, failed }
    }

    /// Prints it; fails if any row failed.
    pub(super) fn print(&self, json: bool) -> Result<()> {
        let text = if json { to_json(self) + "\n" } else { self.to_markdown() };
        crate::cli::print(text.as_bytes())?;
        if self.failed.is_empty() {
            return Ok(());
        }
        let cause = format!("{} of {} pairs failed", self.failed.len(), self.summary.rows);
        Err(Error::unsuitable("batch", cause, "see the messages above; a run with --resume does only those again"))
    }

    fn to_markdown(&self) -> String {
        let mut text = String::new();
        if !self.measured.pieces.is_empty() {
            text += &(self.measured.to_markdown() + "\n");
        }
        if !self.failed.is_empty() {
            text += "| failed | why |\n|---|---|\n";
            for Failure { piece, error } in &self.failed {
                let _ = writeln!(text, "| {} | {} |", cell(piece), cell(error));
            }
            text += "\n";
        }
        let Totals { rows, aligned, failed, doubtful, notes, recording_hours, mean_confidence } = &self.summary;
        text += "| pairs | aligned | failed | doubtful | notes | recordings h | mean confidence % |\n";
        text += "|---:|---:|---:|---:|---:|---:|---:|\n";
        let confidence = mean_confidence.map(|share| format!("{:.1}", 100.0 * share)).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {rows} | {aligned} | {failed} | {doubtful} | {notes} | {recording_hours:.2} | {confidence} |"
        );
        text
    }
}

/// Text that does not end the cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
