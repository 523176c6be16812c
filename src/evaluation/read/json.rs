//! The change points of an Agogic JSON file.

use serde::Deserialize;

use super::text::TextFile;
use super::{Prediction, time_map};
use crate::base::error::Result;
use crate::evaluation::time_map::BeatClock;

#[derive(Deserialize)]
struct Document {
    format: String,
    change_points: Vec<ChangePoint>,
}

#[derive(Deserialize)]
struct ChangePoint {
    score_beat: f64,
    score_s: f64,
    performance_s: f64,
}

/// Reads the parts of the file that a comparison needs.
pub fn parse(file: &TextFile) -> Result<Prediction> {
    let document: Document = serde_json::from_str(&file.content)
        .map_err(|e| file.malformed(format!("this is not an Agogic alignment: {e}"), "export it again as JSON"))?;
    if !document.format.starts_with("agogic-alignment/") {
        let cause = format!("the format is \"{}\"", document.format);
        return Err(file.malformed(cause, "give a file whose format begins with agogic-alignment/"));
    }
    let points = &document.change_points;
    let beats = BeatClock::from_rows(points.iter().map(|point| (point.score_beat, point.score_s)).collect());
    let times = time_map(file, points.iter().map(|point| (point.score_s, point.performance_s)).collect())?;
    Ok(Prediction { times, beats })
}
