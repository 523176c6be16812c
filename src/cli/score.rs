//! `agogic score`: what is read of a score.

use serde::Serialize;

use super::args::ScoreArgs;
use crate::base::error::{Error, Result};
use crate::score::written::{
    Bar, Clef, Dynamic, Grace, Key, Mark, Part, PedalMark, TempoMark, WrittenPitch, WrittenScore,
};
use crate::score::{Form, FormSection, Manuscript, Played, Reading, Score, play_out};

pub(super) fn run(args: &ScoreArgs) -> Result<()> {
    let count = args.bars.count();
    let written = match count.is_usual() {
        true => WrittenScore::read(&args.score)?,
        false => Manuscript::of(&Score::read(&args.score)?.counting_bars(count)?)?.written.clone(),
    };
    let reading = if args.as_written { Reading::AsWritten } else { Reading::WithRepeats };
    let played = play_out(&args.score, &written, reading)?;
    let form = Form::of(&written, &played, |at| at.to_ticks(1));
    let text = if args.json { json(&written, &played, form.as_ref())? } else { text(&written, &played, form.as_ref()) };
    super::print(text.as_bytes())
}

/// Everything that is read, with the notes in playing order.
#[derive(Serialize)]
struct Document<'a> {
    title: Option<&'a str>,
    composer: Option<&'a str>,
    parts: &'a [Part],
    bars: &'a [Bar],
    /// Indices of the bars in playing order.
    order: Vec<u32>,
    /// What stands between repeat signs and jumps, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    sections: Option<&'a [FormSection]>,
    /// The letters of the sections in playing order.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<String>>,
    keys: &'a [Key],
    clefs: &'a [Clef],
    tempi: &'a [TempoMark],
    dynamics: &'a [Dynamic],
    pedal: &'a [PedalMark],
    notices: Vec<&'a str>,
    notes: Vec<DocumentNote<'a>>,
}

#[derive(Serialize)]
struct DocumentNote<'a> {
    id: &'a str,
    /// Which time it is played, counted from 1, if it is not the first.
    #[serde(skip_serializing_if = "is_first")]
    time: u16,
    /// Which of the notes that its tremolo stands for, if it is not the first.
    #[serde(skip_serializing_if = "is_first")]
    stroke: u16,
    part: &'a str,
    staff: u8,
    voice: u16,
    /// Index of the bar.
    bar: u32,
    pitch: u8,
    spelling: WrittenPitch,
    onset_quarters: f64,
    duration_quarters: f64,
    grace: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_note: Option<Grace>,
    #[serde(skip_serializing_if = "<[Mark]>::is_empty")]
    marks: &'a [Mark],
}

fn is_first(number: &u16) -> bool {
    *number <= 1
}

fn json(written: &WrittenScore, played: &Played, form: Option<&Form>) -> Result<String> {
    let notes = played.notes.iter().map(|one| {
        let note = &written.notes[one.note as usize];
        DocumentNote {
            id: &note.id,
            time: one.time,
            stroke: one.stroke,
            part: &written.parts[usize::from(note.part)].id,
            staff: note.staff,
            voice: note.voice,
            bar: note.place.bar,
            pitch: note.pitch,
            spelling: note.written,
            onset_quarters: one.onset.as_f64(),
            duration_quarters: one.duration.as_f64(),
            grace: note.grace.is_some(),
            grace_note: note.grace,
            marks: &note.marks,
        }
    });
    let document = Document {
        title: written.title.as_deref(),
        composer: written.composer.as_deref(),
        parts: &written.parts,
        bars: &written.bars,
        order: played.bars.iter().map(|bar| bar.bar).collect(),
        sections: form.map(|form| form.sections.as_slice()),
        path: form.map(|form| form.labels(&form.as_written())),
        keys: &written.keys,
        clefs: &written.clefs,
        tempi: &written.tempi,
        dynamics: &written.dynamics,
        pedal: &written.pedal,
        notices: written.notices.iter().chain(&played.notices).map(String::as_str).collect(),
        notes: notes.collect(),
    };
    let text = serde_json::to_string_pretty(&document);
    Ok(text.map_err(|e| Error::unsuitable("the score", e.to_string(), "look at it without --json"))? + "\n")
}

fn text(written: &WrittenScore, played: &Played, form: Option<&Form>) -> String {
    let mut lines = Vec::new();
    lines.extend(written.title.as_ref().map(|title| format!("title: {title}")));
    lines.extend(written.composer.as_ref().map(|composer| format!("composer: {composer}")));
    for (index, part) in written.parts.iter().enumerate() {
        let notes = written.notes.iter().filter(|note| usize::from(note.part) == index).count();
        let staves = if part.staves == 1 { "1 staff".to_owned() } else { format!("{} staves", part.staves) };
        lines.push(format!("part {}: {}, {staves}, {notes} notes", part.id, part.name));
    }
    let length = played.bars.last().map_or(0.0, |last| (last.start + written.bars[last.bar as usize].length).as_f64());
    let grace = written.notes.iter().filter(|note| note.grace.is_some()).count();
    lines.push(format!(
        "bars: {} written, {} played, {length} quarters; notes: {} written ({grace} grace notes), {} played",
        written.bars.len(),
        played.bars.len(),
        written.notes.len(),
        played.notes.len(),
    ));
    let at = |bar: u32| written.bars.get(bar as usize).map_or("?", |bar| bar.label.as_str());
    let mut meters: Vec<String> = Vec::new();
    let mut last = None;
    for bar in &written.bars {
        if last != Some(bar.meter) {
            meters.push(format!("{}/{} (bar {})", bar.meter.beats, bar.meter.beat_type, bar.label));
            last = Some(bar.meter);
        }
    }
    lines.push(format!("meter: {}", meters.join(", ")));
    let first = written.keys.iter().map(|key| key.part).min();
    let keys = written.keys.iter().filter(|key| Some(key.part) == first);
    list(&mut lines, "keys", keys.map(|key| format!("{} (bar {})", key_name(key), at(key.place.bar))));
    let tempi = written.tempi.iter().map(|tempo| {
        let words = if tempo.text.is_empty() { String::new() } else { format!("{} ", tempo.text) };
        format!(
            "{words}{:.4} quarters a minute (bar {})",
            (tempo.quarters_per_minute * 100.0).round() / 100.0,
            at(tempo.place.bar)
        )
    });
    list(&mut lines, "tempi", tempi);
    if let Some(form) = form {
        let section = |section: &FormSection| format!("{} ({}-{})", section.label, section.first_bar, section.last_bar);
        list(&mut lines, "sections", form.sections.iter().map(section));
        lines.push(format!("path: {}", form.labels(&form.as_written()).join(" ")));
    }
    list(&mut lines, "played", runs(played).into_iter().map(|(from, to)| format!("{}-{}", at(from), at(to))));
    lines.extend(written.notices.iter().chain(&played.notices).map(|notice| format!("notice: {notice}")));
    lines.join("\n") + "\n"
}

fn list(lines: &mut Vec<String>, name: &str, entries: impl Iterator<Item = String>) {
    let entries: Vec<String> = entries.collect();
    if !entries.is_empty() {
        lines.push(format!("{name}: {}", entries.join(", ")));
    }
}

fn key_name(key: &Key) -> String {
    let mode = if key.minor { " minor" } else { "" };
    match key.accidentals {
        0 => format!("no accidentals{mode}"),
        1 => format!("1 sharp{mode}"),
        -1 => format!("1 flat{mode}"),
        sharps @ 2.. => format!("{sharps} sharps{mode}"),
        flats => format!("{} flats{mode}", -flats),
    }
}

/// The runs of bars that follow one another in playing order.
fn runs(played: &Played) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for bar in &played.bars {
        match runs.last_mut() {
            Some(run) if run.1 + 1 == bar.bar => run.1 = bar.bar,
            _ => runs.push((bar.bar, bar.bar)),
        }
    }
    runs
}
