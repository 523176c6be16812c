//! MEI with the times of a recording: `recording` with a `when` for every note that was played.

use std::collections::{BTreeMap, HashMap};

use super::mei_writing::written_anew;
use super::text::{fixed, xml};
use super::xml_edit::{Edits, TagKind, declare_utf8, tags};
use super::{ExportInput, Exporter};
use crate::base::error::Result;
use crate::score::{Manuscript, Source, SourceKind};

/// The MEI that was read, or a plain one that is written anew, with a `performance` that holds the recording. Its `when` elements point to the notes by
/// `@data`, the notes to the first of theirs by `@when`, and have its time in `@tstamp.real`.
pub struct Mei;

impl Exporter for Mei {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let manuscript = Manuscript::of(input.score)?;
        let source = match &manuscript.source {
            Some(Source { kind: SourceKind::Mei, text }) if tags(text).any(|tag| tag.opens("music")) => Some(text),
            _ => None,
        };
        let plain;
        let text = match source {
            Some(text) => text,
            None => {
                plain = written_anew(input, &manuscript.written);
                &plain
            }
        };
        let moments = moments(input, &manuscript);
        let mut edits = Edits::default();
        declare_utf8(text, &mut edits);
        edit(text, source.is_some(), input, &moments, &mut edits);
        Ok(edits.apply(text).into_bytes())
    }
}

/// When the notes of each name were played, in order.
type Moments<'a> = BTreeMap<&'a str, Vec<f64>>;

fn moments<'a>(input: &ExportInput, manuscript: &'a Manuscript) -> Moments<'a> {
    let mut moments = Moments::new();
    for (index, aligned) in input.alignment.notes.iter().enumerate().filter(|(_, note)| !note.is_missing()) {
        let written = input.score.notation.notes.get(index).map_or(index, |name| name.origin.note as usize);
        if let Some(note) = manuscript.written.notes.get(written) {
            // What a sign repeats is written once.
            let id = note.id.rsplit_once(".m").map_or(note.id.as_str(), |(id, _)| id);
            moments.entry(id).or_default().push(aligned.onset_s.max(0.0));
        }
    }
    moments.values_mut().for_each(|times| times.sort_by(f64::total_cmp));
    moments
}

/// Adds the times. In a file that was read, notes without a name are called by their number; in one that is written anew they go on from another note.
fn edit(text: &str, by_number: bool, input: &ExportInput, moments: &Moments<'_>, edits: &mut Edits) {
    let mut whens = String::new();
    let mut number = 0;
    let mut first: HashMap<&str, (usize, f64)> = HashMap::new();
    let mut in_order: Vec<(f64, &str)> =
        moments.iter().flat_map(|(&id, times)| times.iter().map(move |&time| (time, id))).collect();
    in_order.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (time, id) in in_order {
        number += 1;
        first.entry(id).or_insert((number, time));
        whens += &format!(
            "<when xml:id=\"when-{number}\" absolute=\"{}\" abstype=\"time\" data=\"#{}\"/>\n",
            clock(time),
            xml(id)
        );
    }
    let made = &input.alignment.provenance;
    let performance = format!(
        "\n<performance><recording xml:id=\"recording-1\">\n<avFile target=\"{}\"/>\n{whens}</recording></performance>\n",
        xml(&uri(&made.recording.name))
    );
    let mut notes = 0;
    let mut placed = false;
    for tag in tags(text).filter(|tag| tag.kind != TagKind::Close) {
        if tag.name == "music" && tag.kind == TagKind::Open && !placed {
            edits.insert(tag.end, performance.as_str());
            placed = true;
        }
        if tag.name != "note" {
            continue;
        }
        notes += 1;
        let numbered = format!("n{notes}");
        let id = tag.attribute("id").filter(|id| !id.is_empty());
        if id.is_none() && !by_number {
            continue;
        }
        let Some(&(number, time)) = first.get(id.unwrap_or(&numbered)) else { continue };
        for old in ["when", "tstamp.real"] {
            if let Some(range) = tag.attribute_range(old) {
                edits.replace(range, "");
            }
        }
        let named = if id.is_none() { format!(" xml:id=\"{numbered}\"") } else { String::new() };
        edits.insert(tag.name_end, format!("{named} when=\"#when-{number}\" tstamp.real=\"{}\"", clock(time)));
    }
}

/// A time of day, as ISO 8601 writes it: 00:01:12.430.
fn clock(seconds: f64) -> String {
    let milliseconds = (seconds * 1000.0).round() as u64;
    let (hours, minutes) = (milliseconds / 3_600_000 % 24, milliseconds / 60_000 % 60);
    let seconds = fixed((milliseconds % 60_000) as f64 / 1000.0, 3);
    format!("{hours:02}:{minutes:02}:{seconds:0>6}")
}

/// A file name as a reference: what is no letter, digit or plain sign is written in hexadecimal.
fn uri(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
