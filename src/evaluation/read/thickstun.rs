//! Thickstun's text: two columns of numbers, score time and performance time.

use super::text::TextFile;
use super::time_map;
use crate::base::error::Result;
use crate::evaluation::time_map::TimeMap;

/// Whether a first line holds just two numbers.
pub fn recognises(first: &str) -> bool {
    let mut fields = first.split_whitespace().map(str::parse::<f64>);
    matches!((fields.next(), fields.next(), fields.next()), (Some(Ok(_)), Some(Ok(_)), None))
}

/// Reads the columns.
pub fn parse(file: &TextFile) -> Result<TimeMap> {
    let mut pairs = Vec::new();
    for (number, line) in file.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [score, performance] = fields[..] else {
            let cause = format!("{} columns instead of two", fields.len());
            return Err(file.malformed_line(number, cause, "give score time and performance time"));
        };
        pairs.push((file.number(number, "score time", score)?, file.number(number, "performance time", performance)?));
    }
    time_map(file, pairs)
}
