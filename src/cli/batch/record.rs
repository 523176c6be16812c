//! What is remembered of a finished row, so that a second run need not do it again.

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::manifest::Row;
use crate::align::AlignedFiles;
use crate::align::settings::Settings;
use crate::base::error::{Error, Result};
use crate::base::percent::percent;
use crate::evaluation::Metrics;
use crate::export::Format;

/// Everything the outputs of a row depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Inputs {
    program: String,
    settings: Settings,
    format: String,
    files: Vec<FileState>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FileState {
    path: String,
    bytes: u64,
    modified_s: u64,
}

impl Inputs {
    pub(super) fn of(row: &Row, settings: &Settings, format: Format) -> Result<Self> {
        let models = settings.files();
        let own = [Some(&row.audio), Some(&row.score), row.truth.as_ref()].into_iter().flatten();
        Ok(Self {
            program: concat!("agogic ", env!("CARGO_PKG_VERSION")).to_owned(),
            settings: settings.clone(),
            format: format.name().to_owned(),
            files: own.chain(&models).map(|path| FileState::of(path)).collect::<Result<_>>()?,
        })
    }
}

impl FileState {
    fn of(path: &Path) -> Result<Self> {
        let facts = std::fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
        let modified = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(Self {
            path: path.to_string_lossy().into_owned(),
            bytes: facts.len(),
            modified_s: modified.map_or(0, |time| time.as_secs()),
        })
    }
}

/// A finished row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub inputs: Inputs,
    pub confidence: f64,
    pub warnings: Vec<String>,
    pub metrics: Option<Metrics>,
    #[serde(skip)]
    pub resumed: bool,
}

impl Record {
    pub(super) fn new(inputs: Inputs, outcome: &AlignedFiles, metrics: Option<Metrics>) -> Self {
        let alignment = &outcome.alignment;
        Self { inputs, confidence: alignment.confidence, warnings: alignment.warnings.clone(), metrics, resumed: false }
    }

    /// The record of an earlier run; none if there is none or it cannot be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    pub(super) fn describe(&self) -> String {
        let mut text = if self.resumed { "already done, ".to_owned() } else { String::new() };
        text.push_str(&format!("confidence {}", percent(self.confidence)));
        if let Some(metrics) = &self.metrics {
            text.push_str(&format!(", TimeErr {:.2} ms", metrics.time_err_ms));
        }
        for warning in &self.warnings {
            text.push_str(&format!("; {warning}"));
        }
        text
    }
}
