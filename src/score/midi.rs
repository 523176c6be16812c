//! Reading Standard MIDI Files into a [`Score`].
//!
//! Decisions a reader of files in the wild has to take:
//! - A note-off closes the earliest open note of its channel and pitch, within its own track.
//! - A note that is never closed ends with its track; a note of no length gets [`SHORTEST_NOTE_S`].
//! - The tracks of a format 2 file are played one after another, each with its own tempo and meter.
//! - With SMPTE division a tick is a fixed time; the tempo at tick 0 then says what a beat is, later ones are ignored.
//! - Channel 10 is percussion and is left out, with a notice. The sustain pedal is kept apart and does not lengthen notes.

use std::io::Read;
use std::path::Path;

use midly::Timing;

use super::chunks::{Format, MidiChunks};
use super::meter::{MeterMap, TimeSignature};
use super::tempo::{DEFAULT_MICROS_PER_BEAT, Division, TempoChange, TempoMap};
use super::track::{RawNote, TrackContent, read_track};
use super::types::{Notation, Note, Score};
use crate::base::error::{Error, Result};

/// Length that a note without any gets, in seconds.
pub const SHORTEST_NOTE_S: f64 = 0.02;

/// Longest score that is accepted, in seconds.
pub const LONGEST_SCORE_S: f64 = 3.0 * 3600.0;

/// Largest MIDI file that is read, in bytes.
pub const LARGEST_MIDI_BYTES: u64 = 32 << 20;

/// Most notes, pedal moves and other changes that are accepted: fifty a second for hours.
const MOST_EVENTS: usize = 1_000_000;

/// Fastest tempo that is taken seriously, in microseconds per quarter note (3,000 beats per minute).
const FASTEST_MICROS_PER_BEAT: u32 = 20_000;
/// Most bars of a score: an opera has about five thousand.
pub(super) const MOST_BARS: u32 = 200_000;

const EXPORT_AGAIN: &str = "export it again from the notation program";

/// What a file is read for, as messages call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// The notes as they are written.
    Score,
    /// The notes as they were played.
    Take,
}

impl Content {
    fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Take => "performance",
        }
    }
}

/// Reads a Standard MIDI File that has at least one note.
pub(super) fn read(name: &Path, bytes: &[u8], content: Content) -> Result<Score> {
    if bytes.len() as u64 > LARGEST_MIDI_BYTES {
        let cause = format!("a MIDI file of more than {} MB is too large", LARGEST_MIDI_BYTES >> 20);
        return Err(Error::limit(name, cause, format!("check that this is the {}", content.name())));
    }
    let chunks = MidiChunks::parse(name, bytes)?;
    let division = division_of(name, chunks.timing)?;
    let tracks = gather(name, &chunks, content)?;
    build(name, division, tracks, content)
}

/// All bytes there are, and one more than is allowed if there are too many, even from a pipe: whoever reads them then says so.
pub(super) fn bytes_from(name: &Path, stream: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most + 1).read_to_end(&mut bytes).map_err(|e| Error::io("read", name, e))?;
    Ok(bytes)
}

fn division_of(name: &Path, timing: Timing) -> Result<Division> {
    let division = match timing {
        Timing::Metrical(ticks) => Division::PerBeat(ticks.as_int()),
        Timing::Timecode(fps, subframes) => Division::PerSecond(f64::from(fps.as_f32()) * f64::from(subframes)),
    };
    match division {
        Division::PerBeat(0) | Division::PerSecond(0.0) => {
            Err(Error::malformed(name, "its header says zero ticks per beat", EXPORT_AGAIN))
        }
        legal => Ok(legal),
    }
}

/// Reads every track and lays them side by side, or in sequence for format 2.
fn gather(name: &Path, chunks: &MidiChunks<'_>, content: Content) -> Result<TrackContent> {
    let mut all = TrackContent::default();
    for (index, bytes) in chunks.tracks.iter().enumerate() {
        let start = if chunks.format == Format::Sequential { all.end_tick } else { 0 };
        if start > 0 {
            all.tempo.push(TempoChange { tick: start, micros_per_beat: DEFAULT_MICROS_PER_BEAT });
            all.meter.push(TimeSignature { tick: start, numerator: 4, denominator: 4 });
        }
        let mut track = read_track(name, index, bytes, start)?;
        all.parts.push(track.title.clone().unwrap_or_else(|| format!("Track {}", index + 1)));
        if chunks.format == Format::Sequential {
            track.lift_pedals();
        }
        all.append(track);
        check_event_count(name, &all, content)?;
    }
    all.sort();
    Ok(all)
}

fn check_event_count(name: &Path, tracks: &TrackContent, content: Content) -> Result<()> {
    if tracks.event_count() <= MOST_EVENTS {
        return Ok(());
    }
    let content = content.name();
    let cause = format!("the {content} has more than the {MOST_EVENTS} notes and changes accepted");
    Err(Error::limit(name, cause, format!("check that this is the {content}, or split it")))
}

fn build(name: &Path, division: Division, mut tracks: TrackContent, content: Content) -> Result<Score> {
    if let Division::PerSecond(_) = division {
        tracks.tempo.retain(|change| change.tick == 0);
    }
    let tempo = TempoMap::new(division, &tracks.tempo)?;
    let meter = MeterMap::new(1.0 / tempo_beats_per_tick(&tempo), &tracks.meter);
    let notes: Vec<Note> = tracks.notes.iter().map(|raw| timed(raw, &tempo)).collect();
    let score = Score {
        title: tracks.title,
        notes,
        tempo,
        meter,
        keys: tracks.keys,
        pedal: tracks.pedal,
        programs: tracks.programs,
        notation: Notation {
            parts: tracks.parts,
            notices: percussion_notice(tracks.percussion_notes).into_iter().collect(),
            ..Notation::default()
        },
    };
    check(name, &score, content)?;
    Ok(score)
}

fn percussion_notice(notes: usize) -> Option<String> {
    let count = if notes == 1 { "1 note".to_owned() } else { format!("{notes} notes") };
    (notes > 0).then(|| format!("{count} of percussion (MIDI channel 10) left out of the score"))
}

/// Refuses what cannot be used: no notes, an absurd tempo, a score of a day.
pub(super) fn check(name: &Path, score: &Score, content: Content) -> Result<()> {
    if score.notes.is_empty() {
        let cause = format!("the {} has no notes (percussion does not count)", content.name());
        let remedy = "choose a file with the notes of the piece";
        return Err(Error::unsuitable(name.display().to_string(), cause, remedy));
    }
    check_tempo(name, score)?;
    check_length(name, score, content)?;
    match content {
        Content::Score => check_bars(name, score),
        _ => Ok(()),
    }
}

/// Bars shorter than any note would be listed without end.
fn check_bars(name: &Path, score: &Score) -> Result<()> {
    let end = score.notes.iter().map(|note| note.offset_tick).max().unwrap_or(0);
    let bars = score.meter.bars_until(end);
    if bars <= MOST_BARS {
        return Ok(());
    }
    let cause = format!("its time signatures make {bars} bars, more than the {MOST_BARS} accepted");
    Err(Error::limit(name, cause, "correct the time signature"))
}

fn tempo_beats_per_tick(tempo: &TempoMap) -> f64 {
    tempo.tick_to_beat(1.0)
}

fn timed(raw: &RawNote, tempo: &TempoMap) -> Note {
    let onset_s = tempo.tick_to_seconds(raw.onset_tick as f64);
    let offset_tick = if raw.offset_tick > raw.onset_tick {
        raw.offset_tick
    } else {
        let shortest = tempo.seconds_to_tick(onset_s + SHORTEST_NOTE_S).ceil() as u64;
        shortest.max(raw.onset_tick + 1)
    };
    Note {
        pitch: raw.pitch,
        velocity: raw.velocity,
        channel: raw.channel,
        track: raw.track,
        onset_tick: raw.onset_tick,
        offset_tick,
        onset_s,
        offset_s: tempo.tick_to_seconds(offset_tick as f64),
    }
}

fn check_tempo(name: &Path, score: &Score) -> Result<()> {
    let end = score.notes.iter().map(|note| note.offset_tick).max().unwrap_or(0);
    let mut changes = score.tempo.changes().take_while(|change| change.tick < end);
    let Some(absurd) = changes.find(|change| change.micros_per_beat < FASTEST_MICROS_PER_BEAT) else {
        return Ok(());
    };
    let bar = score.meter.position(absurd.tick as f64).bar;
    let tempo = match absurd.micros_per_beat {
        0 => "a tempo without duration".to_owned(),
        micros => format!("a tempo of {} beats per minute", 60_000_000 / micros),
    };
    let fastest = 60_000_000 / FASTEST_MICROS_PER_BEAT;
    let cause = format!("{tempo} stands in bar {bar}, where at most {fastest} are possible");
    Err(Error::unsuitable(name.display().to_string(), cause, "correct the tempo mark"))
}

fn check_length(name: &Path, score: &Score, content: Content) -> Result<()> {
    let end = score.end_s();
    if end <= LONGEST_SCORE_S {
        return Ok(());
    }
    let (from, to) = longest_standstill(score);
    let held = score.notes.iter().any(|note| note.onset_s <= from && note.offset_s >= to);
    let bar = score.meter.position(score.tempo.seconds_to_tick(from)).bar;
    let cause = format!(
        "the {} lasts {}, longer than the {} accepted; {} of {} begins in bar {bar} at {}",
        content.name(),
        clock(end),
        clock(LONGEST_SCORE_S),
        if held { "a held note" } else { "a rest" },
        clock(to - from),
        clock(from),
    );
    Err(Error::limit(name, cause, format!("shorten it there or split the {}", content.name())))
}

/// The longest time in which no note begins or ends, the start of the score included.
fn longest_standstill(score: &Score) -> (f64, f64) {
    let mut previous = 0.0;
    let mut longest = (0.0, 0.0);
    for at in score.change_points_s() {
        if at - previous > longest.1 - longest.0 {
            longest = (previous, at);
        }
        previous = at;
    }
    longest
}

fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

#[cfg(test)]
#[path = "midi_tests.rs"]
mod tests;
