//! The table of pieces: a record is a row.

use std::path::Path;

use serde_json::{Value, json};

use super::record::Record;
use crate::base::atomic_file::write_atomically;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::tables::Kind::{Bool, Float, Int, Text};
use crate::tables::{Column, Schema, TableReader, TableWriter};

/// `docs/src/reference/tables.md` describes them.
pub(super) const SCHEMA: Schema = &[
    ("row", Int),
    ("rows", Int),
    ("piece", Text),
    ("audio", Text),
    ("score", Text),
    ("key", Text),
    ("error", Text),
    ("recording_s", Float),
    ("score_s", Float),
    ("notes", Int),
    ("missing_notes", Int),
    ("extra_notes", Int),
    ("tempo_ratio", Float),
    ("confidence", Float),
    ("match_confidence", Float),
    ("warnings", Text),
    ("time_err_ms", Float),
    ("time_dev_ms", Float),
    ("onset_mean_ms", Float),
    ("onset_median_ms", Float),
    ("onset_p95_ms", Float),
    ("onset_max_ms", Float),
    ("bias_ms", Float),
    ("within_10_pct", Float),
    ("within_25_pct", Float),
    ("within_50_pct", Float),
    ("within_100_pct", Float),
    ("onsets", Int),
    ("monotone", Bool),
    ("median_absolute_error_s", Float),
    ("mean_absolute_error_s", Float),
    ("correct_onsets", Float),
    ("correct_segments", Float),
];

/// Where the columns from each of these on lie in the JSON of a record.
const PLACES: [(&str, &[&str]); 4] = [
    ("row", &[]),
    ("recording_s", &["figures"]),
    ("time_err_ms", &["figures", "metrics"]),
    ("median_absolute_error_s", &["figures", "metrics", "mir_eval"]),
];

/// The columns of the schema, each with the objects that its value lies in.
fn columns() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let mut place: &'static [&'static str] = &[];
    SCHEMA.iter().map(move |&(name, _)| {
        place = PLACES.iter().find(|(first, _)| *first == name).map_or(place, |(_, place)| place);
        (name, place)
    })
}

/// Writes the table of some records.
pub(super) fn write(ctx: &JobContext, path: &Path, records: &[Record]) -> Result<()> {
    let values: Vec<Value> = records.iter().map(|record| json!(record)).collect();
    let columns: Vec<Column> = columns()
        .zip(SCHEMA)
        .map(|((name, place), &(_, kind))| {
            let cells =
                values.iter().map(|value| place.iter().fold(value, |value, &object| &value[object])[name].clone());
            match kind {
                Int => Column::Int(cells.map(|cell| cell.as_i64()).collect()),
                Float => Column::Float(cells.map(|cell| cell.as_f64()).collect()),
                Bool => Column::Bool(cells.map(|cell| cell.as_bool()).collect()),
                Text => Column::Text(cells.map(text).collect()),
            }
        })
        .collect();
    write_atomically(ctx, path, |sink| {
        let mut writer = TableWriter::new(path, SCHEMA, sink)?;
        // More shards than rows: a table with nothing in it.
        if !records.is_empty() {
            writer.write(&columns)?;
        }
        writer.finish()
    })
}

/// Several lines of text, such as warnings, stand below one another.
fn text(cell: Value) -> Option<String> {
    match cell {
        Value::String(text) => Some(text),
        Value::Array(lines) if !lines.is_empty() => {
            Some(lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

/// Reads such a table.
pub(super) fn read(path: &Path) -> Result<Vec<Record>> {
    let reader = TableReader::open(path, SCHEMA)?;
    let mut records = Vec::new();
    for group in 0..reader.groups() {
        let table = reader.read(group)?;
        for row in 0..table[0].len() {
            let mut value = json!({});
            for ((name, place), column) in columns().zip(&table) {
                let cell = match column {
                    Column::Int(cells) => json!(cells[row]),
                    Column::Float(cells) => json!(cells[row]),
                    Column::Bool(cells) => json!(cells[row]),
                    Column::Text(cells) if name == "warnings" => {
                        json!(cells[row].iter().flat_map(|text| text.split('\n')).collect::<Vec<_>>())
                    }
                    Column::Text(cells) => json!(cells[row]),
                };
                // An object that has nothing in it is not there.
                if !(cell.is_null() || name == "warnings" && cell == json!([])) {
                    place.iter().fold(&mut value, |value, &object| &mut value[object])[name] = cell;
                }
            }
            records.push(serde_json::from_value(value).map_err(|error| {
                Error::malformed(path, format!("row {} is no piece: {error}", row + 1), "run the batch again")
            })?);
        }
    }
    Ok(records)
}
