//! Reading predictions and ground truths: the kind of a file is detected from its content, not from its name.

mod asap;
mod json;
mod match_file;
mod table;
mod text;
mod thickstun;

use std::path::Path;

use self::text::TextFile;
use super::time_map::{BeatClock, GroundTruth, TimeMap};
use crate::base::error::{Error, Result};

/// What a file says about where the score is in the recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Score seconds and performance seconds.
    pub times: TimeMap,
    /// The score's beats in seconds, if the file tells them; a truth that counts beats needs it.
    pub beats: Option<BeatClock>,
}

/// Reads an alignment that this program or another wrote: Agogic CSV (change points or notes), Agogic JSON or
/// Thickstun's text.
pub fn read_prediction(path: &Path) -> Result<Prediction> {
    read(path, None)
}

/// Reads a ground truth: Agogic CSV or JSON, Thickstun's text, an ASAP performance annotation (whose score annotation
/// lies beside it), or a match file. A match file counts beats, so it needs the score's `clock`: that of the score, or
/// that of the prediction it is compared with.
pub fn read_ground_truth(path: &Path, clock: Option<&BeatClock>) -> Result<GroundTruth> {
    read(path, clock).map(|read| read.times)
}

fn read(path: &Path, clock: Option<&BeatClock>) -> Result<Prediction> {
    let file = TextFile::read(path)?;
    let Some((_, first)) = file.lines().next() else {
        return Err(file.malformed("the file is empty", KNOWN_KINDS));
    };
    let only_times = |times| Prediction { times, beats: None };
    if first.trim_start().starts_with('{') {
        json::parse(&file)
    } else if match_file::recognises(first) {
        match_file::parse(&file, clock).map(only_times)
    } else if table::recognises(first) {
        table::parse(&file)
    } else if asap::recognises(first) {
        let score = asap::score_annotation_beside(path)?;
        asap::pair(&TextFile::read(&score)?, &file).map(only_times)
    } else if thickstun::recognises(first) {
        thickstun::parse(&file).map(only_times)
    } else {
        Err(file.malformed("this is not an alignment", KNOWN_KINDS))
    }
}

const KNOWN_KINDS: &str = "give an Agogic CSV or JSON, a Thickstun text, an ASAP annotation or a match file";

/// Checks what the parsers collected; every one of them ends here.
fn time_map(file: &TextFile, pairs: Vec<(f64, f64)>) -> Result<TimeMap> {
    TimeMap::from_pairs(pairs)
        .map_err(|cause| Error::malformed(&file.path, cause, "a comparison needs two or more rows of times"))
}

#[cfg(test)]
mod tests;
