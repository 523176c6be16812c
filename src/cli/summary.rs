//! What a command tells about its result, for people and for scripts.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::align::result::{MediaInfo, PlayedSection};
use crate::align::{AlignedFiles, StageTime};
use crate::base::percent::percent;
use crate::evaluation::Metrics;

/// The summary that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    recording: &'a MediaInfo,
    score: &'a MediaInfo,
    notes: usize,
    /// Notes of the score that were not played; none if nobody listened for that.
    missing_notes: Option<usize>,
    /// Notes that were played and that the score does not have.
    extra_notes: Option<usize>,
    /// Performance seconds per score second.
    tempo_ratio: f64,
    confidence: f64,
    /// What was played of a score with repeats, in order.
    #[serde(skip_serializing_if = "<[PlayedSection]>::is_empty")]
    sections: &'a [PlayedSection],
    warnings: &'a [String],
    metrics: Option<&'a Metrics>,
    stages: &'a [StageTime],
    wall_s: f64,
    peak_memory_mb: Option<f64>,
    outputs: &'a [PathBuf],
}

impl<'a> Summary<'a> {
    /// Gathers the summary of a finished alignment.
    pub fn new(outcome: &'a AlignedFiles, metrics: Option<&'a Metrics>, outputs: &'a [PathBuf], wall_s: f64) -> Self {
        let alignment = &outcome.alignment;
        Self {
            recording: &alignment.provenance.recording,
            score: &alignment.provenance.score,
            notes: alignment.notes.len(),
            missing_notes: alignment.is_judged().then(|| alignment.missing_count()),
            extra_notes: alignment.is_judged().then_some(alignment.extra_notes.len()),
            tempo_ratio: alignment.warp.mean_slope(),
            confidence: alignment.confidence,
            sections: &alignment.sections,
            warnings: &alignment.warnings,
            metrics,
            stages: &outcome.times,
            wall_s,
            peak_memory_mb: peak_memory_mb(),
            outputs,
        }
    }

    /// A few lines for a person.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} notes of {} ({:.1} s) aligned with {} ({:.1} s): confidence {}, {:.2} s",
            self.notes,
            self.score.name,
            self.score.duration_s,
            self.recording.name,
            self.recording.duration_s,
            percent(self.confidence),
            self.wall_s
        );
        if let (Some(missing), Some(extra)) = (self.missing_notes, self.extra_notes) {
            let _ =
                write!(text, "\n{missing} notes of the score are not heard, {extra} are heard that it does not have");
        }
        if !self.sections.is_empty() {
            let _ = write!(text, "\nplayed: {}", sections_text(self.sections));
        }
        for warning in self.warnings {
            let _ = write!(text, "\nwarning: {warning}");
        }
        if let Some(metrics) = self.metrics {
            let _ = write!(text, "\n{}", metrics_text(metrics));
        }
        text
    }
}

/// The sections as played, each letter with its bars where it comes first: "A (bars 1-8) A B (bars 9-16)".
fn sections_text(sections: &[PlayedSection]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut words = Vec::new();
    for section in sections {
        if seen.contains(&section.label.as_str()) {
            words.push(section.label.clone());
        } else {
            seen.push(&section.label);
            words.push(format!("{} (bars {}-{})", section.label, section.bar_from, section.bar_to));
        }
    }
    words.join(" ")
}

/// The metrics in two lines.
pub fn metrics_text(m: &Metrics) -> String {
    format!(
        "TimeErr {:.2} ms, TimeDev {:.2} ms, bias {:+.2} ms over {} onsets\n\
         onset error: median {:.2} ms, mean {:.2} ms, 95 % within {:.2} ms, at most {:.2} ms; \
         within 10/25/50/100 ms: {:.1}/{:.1}/{:.1}/{:.1} %",
        m.time_err_ms,
        m.time_dev_ms,
        m.bias_ms,
        m.onsets,
        m.onset_median_ms,
        m.onset_mean_ms,
        m.onset_p95_ms,
        m.onset_max_ms,
        m.within_10_pct,
        m.within_25_pct,
        m.within_50_pct,
        m.within_100_pct
    )
}

/// Indented JSON of plain data.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"))
}

/// The most memory this process has held, where the system tells.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
