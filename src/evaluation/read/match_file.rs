//! Match files (version 1.0.0): notes of the score paired with played notes. Score times are beats, so a clock of the
//! score turns them into seconds.

use super::text::TextFile;
use super::time_map;
use crate::base::error::{Error, Result};
use crate::evaluation::time_map::{BeatClock, TimeMap};

/// Whether a first line opens a match file.
pub fn recognises(first: &str) -> bool {
    first.starts_with("info(matchFileVersion")
}

/// Reads the pairs of score note and played note.
pub fn parse(file: &TextFile, clock: Option<&BeatClock>) -> Result<TimeMap> {
    let Some(clock) = clock else {
        let cause = "a match file counts beats, and nothing says how long the score's beats are";
        return Err(file.malformed(cause, "compare it with an Agogic CSV or JSON, which tell beats and seconds"));
    };
    let content = collect(file)?;
    let first = content.notes.iter().map(|note| note.quarters).fold(f64::INFINITY, f64::min);
    // The first note is where both files agree to begin: a pickup counts from a negative beat here, from 0 in MIDI.
    let pairs = content.notes.iter().filter_map(|note| {
        let score_s = clock.seconds(note.quarters - first + clock.first_beat());
        note.played_tick.map(|tick| (score_s, tick * content.micros_per_beat / (1e6 * content.ticks_per_beat)))
    });
    time_map(file, pairs.collect())
}

struct Content {
    ticks_per_beat: f64,
    micros_per_beat: f64,
    notes: Vec<MatchedNote>,
}

struct MatchedNote {
    quarters: f64,
    /// `None`: the note is in the score, but was not played.
    played_tick: Option<f64>,
}

fn collect(file: &TextFile) -> Result<Content> {
    let mut content = Content { ticks_per_beat: 480.0, micros_per_beat: 500_000.0, notes: Vec::new() };
    let mut meter = vec![MeterChange { beats: 0.0, quarters: 0.0, quarters_per_beat: 1.0 }];
    for (number, line) in file.lines() {
        if let Some(info) = arguments(line, "info(") {
            match info.split_once(',') {
                Some(("matchFileVersion", version)) if version.trim() != "1.0.0" => {
                    let cause = format!("match file version {}", version.trim());
                    return Err(Error::unsupported(&file.path, cause, "convert it to version 1.0.0 with partitura"));
                }
                Some(("midiClockUnits", value)) => content.ticks_per_beat = positive(file, number, value)?,
                Some(("midiClockRate", value)) => content.micros_per_beat = positive(file, number, value)?,
                _ => {}
            }
        } else if let Some(property) = arguments(line, "scoreprop(timeSignature,") {
            let fields: Vec<&str> = property.split(',').collect();
            let denominator = fields[0].split_once('/').map_or("", |(_, denominator)| denominator);
            let denominator = positive(file, number, denominator)?;
            let beats = file.number(number, "the time signature's beat", fields.last().unwrap_or(&""))?;
            meter.push(meter[meter.len() - 1].followed_by(beats, 4.0 / denominator));
        } else if let Some(rest) = line.strip_prefix("snote(") {
            content.notes.push(matched_note(file, number, rest, &meter)?);
        }
    }
    Ok(content)
}

/// Beats are in the unit of the time signature; this tells the quarter notes before them.
struct MeterChange {
    beats: f64,
    quarters: f64,
    quarters_per_beat: f64,
}

impl MeterChange {
    fn quarters(&self, beats: f64) -> f64 {
        self.quarters + (beats - self.beats) * self.quarters_per_beat
    }

    fn followed_by(&self, beats: f64, quarters_per_beat: f64) -> Self {
        Self { beats, quarters: self.quarters(beats), quarters_per_beat }
    }
}

fn matched_note(file: &TextFile, number: usize, rest: &str, meter: &[MeterChange]) -> Result<MatchedNote> {
    let wrong =
        |cause: &str| file.malformed_line(number, cause, "expected snote(...)-note(...). or snote(...)-deletion.");
    let (snote, played) = rest.split_once(")-").ok_or_else(|| wrong("a score note without what became of it"))?;
    // Id,[Step,Acc],Oct,Measure:Beat,Offset,Dur,OnsetBeats,OffsetBeats,[attributes]: the bracket splits in two.
    let beats = snote.split(',').nth(7).ok_or_else(|| wrong("a score note with too few fields"))?;
    let beats = file.number(number, "the note's onset in beats", beats)?;
    let after = meter.partition_point(|change| change.beats <= beats).max(1);
    let played_tick = match arguments(played, "note(") {
        Some(note) => {
            let tick = note.split(',').nth(2).ok_or_else(|| wrong("a played note with too few fields"))?;
            Some(file.number(number, "the played note's onset", tick)?)
        }
        None => None,
    };
    Ok(MatchedNote { quarters: meter[after - 1].quarters(beats), played_tick })
}

fn arguments<'a>(line: &'a str, opening: &str) -> Option<&'a str> {
    line.strip_prefix(opening)?.trim_end().strip_suffix(").")
}

fn positive(file: &TextFile, number: usize, field: &str) -> Result<f64> {
    let value = file.number(number, "a value", field)?;
    let wrong = || file.malformed_line(number, format!("{value} is not above zero"), "correct the line");
    (value > 0.0).then_some(value).ok_or_else(wrong)
}
