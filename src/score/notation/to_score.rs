//! From the written score to the one that is aligned: ticks and seconds, bars, tempo, loudness.

use super::form::Form;
use super::liberties::liberties;
use super::playing::{Played, PlayedBar};
use super::quarters::Quarters;
use super::written::{Bar, Dynamic, Place, WrittenNote, WrittenScore};
use std::sync::Arc;

use crate::base::error::Result;
use crate::score::meter::{BarStart, MeterMap, TimeSignature};
use crate::score::midi::SHORTEST_NOTE_S;
use crate::score::tempo::{Division, TempoChange, TempoMap};
use crate::score::types::{KeySignature, Notation, Note, NoteName, NoteOrigin, PedalChange, ProgramChange, Score};

/// Ticks per quarter note: whole numbers for tuplets of 3, 5, 6, 7 and 9 and notes down to 1/128.
const TICKS: u16 = 10_080;
/// Loudness of a note without a dynamic mark.
const USUAL_VELOCITY: u8 = 80;
/// The channel of percussion instruments, from 0, which no part may have.
const PERCUSSION_CHANNEL: u8 = 9;

/// A place in the score as it is played, in its ticks.
pub(super) fn to_ticks(at: Quarters) -> u64 {
    at.to_ticks(TICKS)
}

/// Makes the score of a written one that was played out.
pub(super) fn to_score(written: &WrittenScore, played: &Played) -> Result<Score> {
    let tempo = TempoMap::new(Division::PerBeat(TICKS), &tempi(written, played))?;
    let loudness = Loudness::new(&written.dynamics);
    let repeated = repeated(written, played);
    let mut notes: Vec<(Note, NoteName)> = Vec::with_capacity(played.notes.len());
    for one in &played.notes {
        let note = &written.notes[one.note as usize];
        let onset_tick = one.onset.to_ticks(TICKS);
        let onset_s = tempo.tick_to_seconds(onset_tick as f64);
        let shortest = tempo.seconds_to_tick(onset_s + SHORTEST_NOTE_S).ceil() as u64;
        let written_end = (one.onset + one.duration).to_ticks(TICKS);
        let offset_tick = if written_end > onset_tick { written_end } else { shortest.max(onset_tick + 1) };
        let mut id = note.id.clone();
        if repeated[one.note as usize] {
            id += &format!("-{}", one.time);
        }
        if one.stroke > 1 {
            id += &format!(".{}", one.stroke);
        }
        let sounds_as_written = note.written.sounding(0) == Some(note.pitch);
        notes.push((
            Note {
                pitch: note.pitch,
                velocity: loudness.of(note),
                channel: channel_of(note.part),
                track: note.part,
                onset_tick,
                offset_tick,
                onset_s,
                offset_s: tempo.tick_to_seconds(offset_tick as f64),
            },
            NoteName {
                id,
                spelling: sounds_as_written.then_some(note.written),
                origin: NoteOrigin { note: one.note, time: one.time, stroke: one.stroke },
            },
        ));
    }
    notes.sort_by_key(|(n, _)| (n.onset_tick, n.pitch, n.channel, n.track, n.offset_tick));
    let (notes, names) = notes.into_iter().unzip();
    Ok(Score {
        title: written.title.clone(),
        notes,
        tempo,
        meter: MeterMap::of_bars(TICKS.into(), &bars(written, played)),
        keys: keys(written, played),
        pedal: pedal(written, played),
        programs: programs(written),
        notation: Notation {
            notes: names,
            parts: written.parts.iter().map(|part| part.name.clone()).collect(),
            notices: written.notices.iter().chain(&played.notices).cloned().collect(),
            form: Form::of(written, played, to_ticks).map(Arc::new),
            manuscript: None,
            liberties: liberties(written, played, to_ticks),
        },
    })
}

/// Which written notes are played more than once.
fn repeated(written: &WrittenScore, played: &Played) -> Vec<bool> {
    let mut repeated = vec![false; written.notes.len()];
    for one in &played.notes {
        repeated[one.note as usize] |= one.time > 1;
    }
    repeated
}

/// Parts beyond the fifteenth share a channel with an earlier one.
fn channel_of(part: u16) -> u8 {
    let channel = (part % 15) as u8;
    if channel < PERCUSSION_CHANNEL { channel } else { channel + 1 }
}

fn programs(written: &WrittenScore) -> Vec<ProgramChange> {
    let parts = (0u16..).zip(&written.parts).take(15);
    let program = |(index, part): (u16, &super::written::Part)| {
        Some(ProgramChange { tick: 0, channel: channel_of(index), program: part.program? })
    };
    parts.filter_map(program).collect()
}

/// The moments at which marks of the written score hold, in playing order. Where the player jumps, the last mark before the goal holds again.
fn holding<'a, T>(
    marks: &'a [T],
    place: impl Fn(&T) -> Place + Copy + 'a,
    written: &'a WrittenScore,
    played: &'a Played,
) -> impl Iterator<Item = (Quarters, &'a T)> {
    played.bars.iter().enumerate().flat_map(move |(index, &PlayedBar { bar, start })| {
        let from = marks.partition_point(|mark| place(mark).bar < bar);
        let until = marks.partition_point(|mark| place(mark).bar <= bar);
        let jumped = index == 0 || played.bars[index - 1].bar + 1 != bar;
        let before = marks[..from].last().filter(|_| jumped).map(|mark| (start, mark));
        let length = written.bars[bar as usize].length;
        let here = marks[from..until].iter().map(move |mark| (start + place(mark).at.min(length), mark));
        before.into_iter().chain(here)
    })
}

fn tempi(written: &WrittenScore, played: &Played) -> Vec<TempoChange> {
    let marks = holding(&written.tempi, |mark| mark.place, written, played);
    let change = |(at, mark): (Quarters, &super::written::TempoMark)| TempoChange {
        tick: at.to_ticks(TICKS),
        micros_per_beat: (60e6 / mark.quarters_per_minute).round() as u32,
    };
    let mut changes: Vec<TempoChange> = marks.map(change).collect();
    // The first mark is often printed a little after the first note.
    if let Some(first) = changes.first_mut().filter(|first| first.tick < u64::from(TICKS) * 8) {
        first.tick = 0;
    }
    changes
}

/// Key signatures as they sound, of the first part that has any.
fn keys(written: &WrittenScore, played: &Played) -> Vec<KeySignature> {
    let Some(first) = written.keys.iter().map(|key| key.part).min() else { return Vec::new() };
    let of_part: Vec<_> = written.keys.iter().copied().filter(|key| key.part == first).collect();
    let marks = holding(&of_part, |key| key.place, written, played);
    let keys = marks.map(|(at, key)| {
        // A semitone up is seven fifths up, and twelve fifths are none.
        let fifths = i32::from(key.accidentals) + 7 * i32::from(key.transposition);
        let fifths = if key.transposition == 0 { fifths } else { (fifths + 6).rem_euclid(12) - 6 };
        KeySignature { tick: at.to_ticks(TICKS), accidentals: fifths as i8, minor: key.minor }
    });
    keys.collect()
}

fn pedal(written: &WrittenScore, played: &Played) -> Vec<PedalChange> {
    let mut changes: Vec<PedalChange> = Vec::new();
    for bar in &played.bars {
        let from = written.pedal.partition_point(|mark| mark.place.bar < bar.bar);
        let here = written.pedal[from..].iter().take_while(|mark| mark.place.bar == bar.bar);
        changes.extend(here.map(|mark| PedalChange {
            tick: (bar.start + mark.place.at).to_ticks(TICKS),
            channel: channel_of(mark.part),
            value: if mark.down { 127 } else { 0 },
        }));
    }
    changes
}

/// Bars with the numbers that are printed; a bar that has none counts as a part of the one before.
fn bars(written: &WrittenScore, played: &Played) -> Vec<BarStart> {
    let mut number = 0;
    let starts = played.bars.iter().map(|&PlayedBar { bar, start }| {
        let bar = &written.bars[bar as usize];
        let digits = bar.label.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        number = match digits.parse() {
            Ok(printed) => printed,
            Err(_) if bar.label.is_empty() => number + 1,
            Err(_) => number,
        };
        let (numerator, denominator) = signature_of(bar);
        BarStart { number, signature: TimeSignature { tick: start.to_ticks(TICKS), numerator, denominator } }
    });
    starts.collect()
}

/// The time signature of a bar. One that is longer than its meter says has a signature of its own, so that it stays one bar.
fn signature_of(bar: &Bar) -> (u8, u16) {
    let printed = (bar.meter.beats, bar.meter.beat_type);
    if bar.length <= bar.meter.bar() {
        return printed;
    }
    let units = [bar.meter.beat_type, 4, 8, 16, 32, 64, 128];
    let fitting = units.into_iter().find_map(|unit| {
        let beats = bar.length.as_f64() * f64::from(unit) / 4.0;
        let whole = beats.round();
        ((beats - whole).abs() < 1e-3 && whole <= 255.0).then_some((whole as u8, unit))
    });
    fitting.unwrap_or(printed)
}

/// How loud the notes of each part are, by the last dynamic mark before them.
struct Loudness<'a> {
    /// By part: marks that hold on, and marks for one moment.
    parts: std::collections::HashMap<u16, Vec<(&'a Dynamic, u8, bool)>>,
}

impl<'a> Loudness<'a> {
    fn new(dynamics: &'a [Dynamic]) -> Self {
        let mut parts: std::collections::HashMap<u16, Vec<_>> = std::collections::HashMap::new();
        for dynamic in dynamics {
            if let Some((velocity, holds)) = velocity_of(&dynamic.mark) {
                parts.entry(dynamic.part).or_default().push((dynamic, velocity, holds));
            }
        }
        Self { parts }
    }

    fn of(&self, note: &WrittenNote) -> u8 {
        let Some(marks) = self.parts.get(&note.part) else { return USUAL_VELOCITY };
        let until = marks.partition_point(|(dynamic, ..)| dynamic.place <= note.place);
        let mine = |(dynamic, _, holds): &&(&Dynamic, u8, bool)| {
            let staff = dynamic.staff.is_none_or(|staff| staff == note.staff);
            // A mark below the upper staff of a piano is for both.
            (staff || note.staff > 1) && (*holds || dynamic.place == note.place)
        };
        marks[..until].iter().rev().find(mine).map_or(USUAL_VELOCITY, |(_, velocity, _)| *velocity)
    }
}

/// The velocity of a dynamic mark, and whether it holds on.
fn velocity_of(mark: &str) -> Option<(u8, bool)> {
    let velocity = match mark {
        "pppp" | "ppppp" | "pppppp" => 10,
        "ppp" => 16,
        "pp" => 33,
        "p" => 49,
        "mp" => 64,
        "mf" => 80,
        "f" => 96,
        "ff" => 112,
        "fff" | "ffff" | "fffff" | "ffffff" => 126,
        "sf" | "sfz" | "fz" | "rf" | "rfz" | "sffz" | "sfp" | "fp" => return Some((112, false)),
        _ => return None,
    };
    Some((velocity, true))
}
