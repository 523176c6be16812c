//! Agogic CSV: columns are found by their header names, others are ignored.

use super::text::TextFile;
use super::{Prediction, time_map};
use crate::base::error::Result;
use crate::evaluation::time_map::BeatClock;

const SCORE: &str = "score_time_s";
const PERFORMANCE: &str = "performance_time_s";
const PERFORMANCE_OF_NOTE: &str = "performance_onset_s";
const BEAT: &str = "score_beat";

/// Whether a first line is the header of such a table.
pub fn recognises(first: &str) -> bool {
    first.split(',').any(|name| matches!(clean(name), SCORE | PERFORMANCE | PERFORMANCE_OF_NOTE))
}

/// Reads change points or notes.
pub fn parse(file: &TextFile) -> Result<Prediction> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(file.content.as_bytes());
    let header = reader.headers().map_err(|e| file.malformed(e.to_string(), "give a CSV file"))?.clone();
    let find = |name: &str| header.iter().position(|column| column == name);
    let needed = |column: Option<usize>, name: &str| {
        column.ok_or_else(|| file.malformed(format!("the column {name} is missing"), "add it to the header line"))
    };
    let score = needed(find(SCORE), SCORE)?;
    let performance = needed(find(PERFORMANCE).or_else(|| find(PERFORMANCE_OF_NOTE)), PERFORMANCE)?;
    let beat = find(BEAT);
    let (mut pairs, mut beats) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(|e| file.malformed(e.to_string(), "give a CSV file"))?;
        let line = record.position().map_or(0, |position| position.line()) as usize;
        let number = |column: usize| {
            let field = record.get(column).unwrap_or("");
            file.number(line, &header[column], field)
        };
        pairs.push((number(score)?, number(performance)?));
        if let Some(beat) = beat {
            beats.push((number(beat)?, number(score)?));
        }
    }
    Ok(Prediction { times: time_map(file, pairs)?, beats: BeatClock::from_rows(beats) })
}

fn clean(name: &str) -> &str {
    name.trim().trim_matches('"')
}
