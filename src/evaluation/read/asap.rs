//! Beat annotations of the ASAP data set: `time TAB time TAB label`, one file for the score, one for the performance.

use std::path::{Path, PathBuf};

use super::text::TextFile;
use super::time_map;
use crate::base::error::{Error, Result};
use crate::evaluation::time_map::TimeMap;

/// The name that the data set gives to the annotation of the score.
const SCORE_ANNOTATION: &str = "midi_score_annotations.txt";

/// Whether a first line annotates a beat.
pub fn recognises(first: &str) -> bool {
    let fields: Vec<&str> = first.split('\t').collect();
    let label = |text: &str| matches!(text.split(',').next(), Some("b" | "db" | "bR"));
    fields.len() == 3 && fields[0].trim().parse::<f64>().is_ok() && label(fields[2].trim())
}

/// The score annotation in the folder of a performance annotation.
pub fn score_annotation_beside(performance: &Path) -> Result<PathBuf> {
    let score = performance.with_file_name(SCORE_ANNOTATION);
    if score.is_file() && performance.file_name() != score.file_name() {
        return Ok(score);
    }
    let cause = format!("an ASAP annotation says when beats sound, but not which; {SCORE_ANNOTATION} is not beside it");
    Err(Error::malformed(performance, cause, "put the annotation of the score into the same folder"))
}

/// The beats of both files, one by one.
pub fn pair(score: &TextFile, performance: &TextFile) -> Result<TimeMap> {
    let (score_times, performance_times) = (times(score)?, times(performance)?);
    if score_times.len() != performance_times.len() {
        let name = score.path.display();
        let cause = format!("{} beats, but {name} has {}", performance_times.len(), score_times.len());
        return Err(performance.malformed(cause, "both must annotate the same beats"));
    }
    time_map(performance, score_times.into_iter().zip(performance_times).collect())
}

fn times(file: &TextFile) -> Result<Vec<f64>> {
    let first_field = |line: &str| line.split('\t').next().unwrap_or("").to_owned();
    file.lines().map(|(number, line)| file.number(number, "the time of the beat", &first_field(line))).collect()
}
