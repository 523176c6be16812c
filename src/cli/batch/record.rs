//! What is remembered of a row: figures if it was aligned, else why not.

use serde::{Deserialize, Serialize};

use super::manifest::Row;
use crate::align::AlignedFiles;
use crate::base::percent::percent;
use crate::evaluation::Metrics;

/// A row that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Its place in the manifest, from 1.
    pub row: usize,
    /// How many rows the manifest has.
    pub rows: usize,
    /// What it is called.
    pub piece: String,
    /// The recording, as the manifest has it.
    pub audio: String,
    /// The score, as the manifest has it.
    pub score: String,
    /// What the result was made from; none if that could not be read.
    pub key: Option<String>,
    /// Why there is no result.
    pub error: Option<String>,
    pub figures: Option<Figures>,
    #[serde(skip)]
    pub resumed: bool,
}

/// What is told of an alignment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub recording_s: f64,
    pub score_s: f64,
    pub notes: usize,
    /// Notes of the score that were not played; none if nobody listened for that.
    pub missing_notes: Option<usize>,
    /// Notes that were played and that the score does not have.
    pub extra_notes: Option<usize>,
    /// Performance seconds per score second.
    pub tempo_ratio: f64,
    pub confidence: f64,
    /// How likely recording and score belong together at all.
    pub match_confidence: f64,
    #[serde(default)]
    pub warnings: Vec<String>,
    pub metrics: Option<Metrics>,
}

impl Record {
    /// A record of a row of which nothing is known yet.
    pub(super) fn new(row: &Row, rows: usize) -> Self {
        Self {
            row: row.number,
            rows,
            piece: row.name.clone(),
            audio: row.written_audio.clone(),
            score: row.written_score.clone(),
            key: None,
            error: None,
            figures: None,
            resumed: false,
        }
    }

    /// What is said when it is done.
    pub(super) fn describe(&self) -> String {
        let mut text = if self.resumed { "already done, ".to_owned() } else { String::new() };
        if let Some(figures) = &self.figures {
            text.push_str(&format!("confidence {}", percent(figures.confidence)));
            if let Some(metrics) = &figures.metrics {
                text.push_str(&format!(", TimeErr {:.2} ms", metrics.time_err_ms));
            }
            for warning in &figures.warnings {
                text.push_str(&format!("; {warning}"));
            }
        }
        text
    }
}

impl Figures {
    pub(super) fn new(outcome: &AlignedFiles, metrics: Option<Metrics>) -> Self {
        let alignment = &outcome.alignment;
        Self {
            recording_s: alignment.provenance.recording.duration_s,
            score_s: alignment.provenance.score.duration_s,
            notes: alignment.notes.len(),
            missing_notes: alignment.is_judged().then(|| alignment.missing_count()),
            extra_notes: alignment.is_judged().then_some(alignment.extra_notes.len()),
            tempo_ratio: alignment.warp.mean_slope(),
            confidence: alignment.confidence,
            match_confidence: alignment.match_confidence,
            warnings: alignment.warnings.clone(),
            metrics,
        }
    }
}
