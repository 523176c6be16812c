//! MusicXML with the tempo of the performance: it plays back in a notation program as it was played.

use std::collections::HashMap;

use super::mei_writing::{bracket_begins, sounding};
use super::text::{fixed, xml};
use super::xml_edit::{Edits, TagKind, declare_utf8, tags};
use super::{ExportInput, Exporter};
use crate::base::error::Result;
use crate::score::written::{Bar, WrittenNote, WrittenScore};
use crate::score::{Manuscript, Source, SourceKind};

/// Tempi in quarter notes a minute that make sense to a notation program.
const TEMPI: (f64, f64) = (2.0, 2000.0);
/// Divisions of a quarter note in files that are written anew.
const DIVISIONS: u16 = 10_080;

/// A `sound` element with a tempo at every beat, of the file that was read or, if that is no MusicXML, of a plain one that is written anew. What is
/// played several times has one for each time. All notes have the names that other formats call them by.
pub struct MusicXml;

impl Exporter for MusicXml {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let manuscript = Manuscript::of(input.score)?;
        let tempi = tempi(input, &manuscript);
        let plain;
        let (text, divisions) = match &manuscript.source {
            Some(Source { kind: SourceKind::MusicXml, text }) => (text, None),
            _ => {
                plain = written_anew(input, &manuscript.written);
                (&plain, Some(i64::from(DIVISIONS)))
            }
        };
        let mut edits = Edits::default();
        declare_utf8(text, &mut edits);
        Editor { tempi: &tempi, divisions: divisions.unwrap_or(1), edits: &mut edits }.go(text);
        Ok(edits.apply(text).into_bytes())
    }
}

/// The tempo from a place of a measure on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tempo {
    quarters: f64,
    quarters_per_minute: f64,
    /// Which time of how many.
    time: usize,
}

/// The tempi of each measure of the file.
type Tempi = HashMap<u32, (usize, Vec<Tempo>)>;

fn tempi(input: &ExportInput, manuscript: &Manuscript) -> Tempi {
    let (score, bars) = (input.score, &manuscript.written.bars);
    let mut tempi = Tempi::new();
    let mut times: HashMap<u32, usize> = HashMap::new();
    for pass in &manuscript.bars {
        let Some(bar) = bars.get(pass.bar as usize) else { continue };
        let time = times.entry(pass.bar).or_default();
        *time += 1;
        let offset = bar.start.as_f64() - measure_start(bars, pass.bar);
        let of_measure = tempi.entry(bar.measure).or_default();
        of_measure.0 = of_measure.0.max(*time);
        let beat = 4.0 / f64::from(bar.meter.beat_type);
        let beats = (bar.length.as_f64() / beat).ceil().clamp(1.0, 256.0) as usize;
        let start = score.tempo.tick_to_beat(pass.start_tick as f64);
        for number in 0..beats {
            let from = beat * number as f64;
            let to = (from + beat).min(bar.length.as_f64());
            let at = |quarters: f64| input.alignment.warp.at(score.tempo.beat_to_seconds(start + quarters));
            let lasted = at(to) - at(from);
            // What was not played has no tempo.
            let quarters_per_minute = 60.0 * (to - from) / lasted;
            if lasted > 1e-3 && (TEMPI.0..=TEMPI.1).contains(&quarters_per_minute) {
                of_measure.1.push(Tempo { quarters: offset + from, quarters_per_minute, time: *time });
            }
        }
    }
    tempi
}

/// Where the measure begins that a bar is a part of.
fn measure_start(bars: &[Bar], bar: u32) -> f64 {
    let measure = bars[bar as usize].measure;
    let first = bars.partition_point(|bar| bar.measure < measure);
    bars[first].start.as_f64()
}

/// Adds to a text of MusicXML.
struct Editor<'a> {
    tempi: &'a Tempi,
    divisions: i64,
    edits: &'a mut Edits,
}

impl Editor<'_> {
    fn go(mut self, text: &str) {
        let mut notes = 0;
        let mut part: Option<&str> = None;
        let mut in_first = false;
        let mut measure = 0;
        // Where the tempi of the measure go: behind its attributes, if it begins with them.
        let mut place = None;
        let by_bars = tags(text).next().is_some_and(|root| root.name == "score-timewise");
        let mut depth: Vec<&str> = Vec::new();
        let mut number_of = 0;
        for tag in tags(text) {
            let parent = depth.last().copied().unwrap_or_default();
            match (tag.kind, tag.name) {
                (TagKind::Close, _) => {}
                (_, "note") => {
                    notes += 1;
                    if tag.attribute("id").is_none_or(str::is_empty) {
                        self.edits.insert(tag.name_end, format!(" id=\"n{notes}\""));
                    }
                    // An empty one would stand beside the new one.
                    if let Some(range) = tag.attribute_range("id").filter(|_| tag.attribute("id") == Some("")) {
                        self.edits.replace(range, "");
                    }
                }
                (_, "sound") => {
                    if let Some(range) = tag.attribute_range("tempo") {
                        self.edits.replace(range, "");
                    }
                }
                (_, "part") if parent != "part-list" => {
                    let id = tag.attribute("id").unwrap_or_default();
                    in_first = *part.get_or_insert(id) == id;
                    if by_bars && in_first {
                        place = Some(tag.end);
                    }
                }
                (_, "measure") => {
                    measure = number_of;
                    number_of += 1;
                    if in_first && !by_bars && tag.kind == TagKind::Open {
                        place = Some(tag.end);
                    }
                }
                (TagKind::Open, "divisions") if in_first => {
                    let digits = text[tag.end..].split('<').next().unwrap_or_default();
                    self.divisions = digits.trim().parse().unwrap_or(self.divisions).max(1);
                }
                _ => {}
            }
            // The first element that is not about the page is where the music begins.
            let in_bar = parent == if by_bars { "part" } else { "measure" };
            if in_bar && tag.kind != TagKind::Close && !matches!(tag.name, "attributes" | "print" | "barline" | "part")
            {
                self.tempi_at(place.take(), measure);
            }
            if tag.kind == TagKind::Close && matches!(tag.name, "attributes" | "print") && in_bar_after(&depth) {
                place = place.map(|_| tag.end);
            }
            match tag.kind {
                TagKind::Open => depth.push(tag.name),
                TagKind::Close => {
                    depth.pop();
                    if tag.name == "part" && !by_bars {
                        (in_first, number_of) = (false, 0);
                    }
                    if matches!(tag.name, "part" | "measure") {
                        self.tempi_at(place.take(), measure);
                    }
                }
                TagKind::Empty => {}
            }
        }
    }

    /// Writes the tempi of a measure at a place, if one is waiting.
    fn tempi_at(&mut self, place: Option<usize>, measure: u32) {
        let (Some(place), Some((times, tempi))) = (place, self.tempi.get(&measure)) else { return };
        let mut text = String::new();
        for tempo in tempi {
            let offset = (tempo.quarters * self.divisions as f64).round() as i64;
            let only = if *times > 1 { format!(" time-only=\"{}\"", tempo.time) } else { String::new() };
            text += &format!(
                "<direction><direction-type><words/></direction-type><offset sound=\"yes\">{offset}</offset>\
                 <sound tempo=\"{}\"{only}/></direction>",
                fixed(tempo.quarters_per_minute, 3)
            );
        }
        self.edits.insert(place, text);
    }
}

/// Whether the element that closes now stands in a measure.
fn in_bar_after(depth: &[&str]) -> bool {
    depth.len().checked_sub(2).is_some_and(|parent| matches!(depth[parent], "measure" | "part"))
}

/// A plain MusicXML file of a score that is in another format.
fn written_anew(input: &ExportInput, written: &WrittenScore) -> String {
    let title = written.title.as_deref().unwrap_or(&input.alignment.provenance.score.name);
    let mut text = format!(
        "<score-partwise version=\"4.0\">\n<work><work-title>{}</work-title></work>\n<part-list>\n",
        xml(title)
    );
    for (index, part) in written.parts.iter().enumerate() {
        let name = xml(&part.name);
        text += &format!("<score-part id=\"P{}\"><part-name>{name}</part-name></score-part>\n", index + 1);
    }
    text += "</part-list>\n";
    for part in 0..written.parts.len() {
        text += &format!("<part id=\"P{}\">\n", part + 1);
        let own: Vec<&WrittenNote> = written.notes.iter().filter(|note| usize::from(note.part) == part).collect();
        for (index, bar) in written.bars.iter().enumerate() {
            let from = own.partition_point(|note| (note.place.bar as usize) < index);
            let until = own.partition_point(|note| note.place.bar as usize <= index);
            text += &measure(written, index, bar, &own[from..until]);
        }
        text += "</part>\n";
    }
    text + "</score-partwise>\n"
}

fn measure(written: &WrittenScore, index: usize, bar: &Bar, notes: &[&WrittenNote]) -> String {
    let label = if bar.label.is_empty() { (index + 1).to_string() } else { bar.label.clone() };
    let mut text = format!("<measure number=\"{}\">", xml(&label));
    let before = index.checked_sub(1).map(|before| written.bars[before].meter);
    if before != Some(bar.meter) {
        let divisions = if index == 0 { format!("<divisions>{DIVISIONS}</divisions>") } else { String::new() };
        let key = written.keys.first().filter(|_| index == 0).map_or(0, |key| key.accidentals);
        let key = if index == 0 { format!("<key><fifths>{key}</fifths></key>") } else { String::new() };
        text += &format!(
            "<attributes>{divisions}{key}<time><beats>{}</beats><beat-type>{}</beat-type></time></attributes>",
            bar.meter.beats, bar.meter.beat_type
        );
    }
    let begins = bracket_begins(&written.bars, index);
    let in_bracket = !bar.ending.is_empty();
    let goes_on = written.bars.get(index + 1).is_some_and(|next| !next.ending.is_empty());
    let ends = in_bracket && (!goes_on || bracket_begins(&written.bars, index + 1));
    let times: Vec<String> = bar.ending.iter().map(u8::to_string).collect();
    let ending = |kind: &str| format!("<ending number=\"{}\" type=\"{kind}\"/>", times.join(","));
    if bar.repeat_start || begins {
        let bracket = if begins { ending("start") } else { String::new() };
        let repeat = if bar.repeat_start { "<repeat direction=\"forward\"/>" } else { "" };
        text += &format!("<barline location=\"left\">{bracket}{repeat}</barline>");
    }
    let mut cursor: i64 = 0;
    let mut last: Option<&WrittenNote> = None;
    for note in notes {
        let onset = note.place.at.to_ticks(DIVISIONS) as i64;
        let is_chord = last.is_some_and(|last| {
            last.place == note.place
                && last.duration == note.duration
                && last.voice == note.voice
                && last.grace == note.grace
        });
        let length = note.duration.to_ticks(DIVISIONS) as i64;
        if !is_chord && note.grace.is_none() {
            text += &moved(onset - cursor);
            cursor = onset + length;
        }
        text += &format!("<note id=\"{}\">", xml(&note.id));
        text += if note.grace.is_some() { "<grace/>" } else { "" };
        text += if is_chord { "<chord/>" } else { "" };
        let pitch = sounding(note);
        let alter = if pitch.alter == 0 { String::new() } else { format!("<alter>{}</alter>", pitch.alter) };
        text += &format!("<pitch><step>{}</step>{alter}<octave>{}</octave></pitch>", pitch.step, pitch.octave);
        if note.grace.is_none() {
            text += &format!("<duration>{}</duration>", length.max(1));
        }
        text += if note.tied_from { "<tie type=\"stop\"/>" } else { "" };
        text += if note.tied_to { "<tie type=\"start\"/>" } else { "" };
        text += &format!("<voice>{}</voice></note>", note.voice);
        last = Some(note);
    }
    text += &moved(bar.length.to_ticks(DIVISIONS) as i64 - cursor);
    if bar.repeat_end.is_some() || ends {
        let bracket = if ends { ending("stop") } else { String::new() };
        let repeat = bar.repeat_end.map(|times| format!("<repeat direction=\"backward\" times=\"{times}\"/>"));
        text += &format!("<barline location=\"right\">{bracket}{}</barline>", repeat.unwrap_or_default());
    }
    text + "</measure>\n"
}

/// The cursor goes forwards or backwards.
fn moved(by: i64) -> String {
    match by {
        0 => String::new(),
        1.. => format!("<forward><duration>{by}</duration></forward>"),
        _ => format!("<backup><duration>{}</duration></backup>", -by),
    }
}
