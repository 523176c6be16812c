//! The MIDI files of an item: the passage as it is written, and as it was played.

use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind};

use super::excerpt::{TICKS_PER_BEAT, WrittenNote};
use super::instruments::Family;
use super::plan::Plan;
use crate::base::error::{Error, Result};
use crate::base::time::{ANALYSIS_RATE, seconds_to_samples};

/// One tempo for performances, with as many ticks a second as the recording has samples.
const PERFORMANCE_MICROS_PER_BEAT: u32 = 500_000;
const PERFORMANCE_TICKS_PER_BEAT: u16 = (ANALYSIS_RATE / 2) as u16;
const SUSTAIN_PEDAL: u8 = 64;
/// Percussion has this channel to itself.
const PERCUSSION: usize = 9;
const WRITTEN_VELOCITY: u8 = 80;

/// An event with its tick and its rank among those of the same tick: what ends comes before what begins.
type Timed = (u64, u8, TrackEventKind<'static>);

/// The passage as it is written: a track for each part, in the score's own tempo.
pub(super) fn score_bytes(plan: &Plan) -> Result<Vec<u8>> {
    let excerpt = &plan.excerpt;
    let (numerator, denominator) = excerpt.signature;
    let power = denominator.max(1).trailing_zeros() as u8;
    let meta = |tick: u64, message| (tick, 0, TrackEventKind::Meta(message));
    let mut conductor = vec![meta(0, MetaMessage::TimeSignature(numerator, power, 24, 8))];
    let end = excerpt.notes.iter().map(|note| u64::from(note.end_tick)).max().unwrap_or(0);
    let changes = excerpt.tempo.changes().take_while(|change| change.tick <= end);
    conductor.extend(changes.map(|change| meta(change.tick, MetaMessage::Tempo(u24::new(change.micros_per_beat)))));
    let mut parts: Vec<usize> = excerpt.notes.iter().map(|note| note.part).collect();
    parts.sort_unstable();
    parts.dedup();
    let mut tracks = vec![conductor];
    for (place, &part) in parts.iter().enumerate() {
        let notes = || excerpt.notes.iter().zip(&plan.notes).filter(move |(note, _)| note.part == part);
        let family = notes().next().map_or(Family::Piano, |(_, played)| plan.players[played.player].family);
        let channel = channel(place);
        let mut track = vec![program(channel, family)];
        for (note, _) in notes() {
            track.extend(sounding(channel, note.pitch, WRITTEN_VELOCITY, note.tick.into(), note.end_tick.into()));
        }
        tracks.push(track);
    }
    written(TICKS_PER_BEAT, tracks)
}

/// A study: a track for each hand, in one tempo.
pub(super) fn study_bytes(notes: &[WrittenNote], micros_per_beat: u32) -> Result<Vec<u8>> {
    let tempo = MetaMessage::Tempo(u24::new(micros_per_beat));
    let mut tracks = vec![vec![(0, 0, TrackEventKind::Meta(tempo))]];
    for part in 0..=notes.iter().map(|note| note.part).max().unwrap_or(0) {
        let own = notes.iter().filter(|note| note.part == part);
        let sound = |note: &WrittenNote| {
            sounding(channel(part), note.pitch, WRITTEN_VELOCITY, note.tick.into(), note.end_tick.into())
        };
        tracks.push(own.flat_map(sound).collect());
    }
    written(TICKS_PER_BEAT, tracks)
}

/// The performance: a track for each player, in seconds of the recording, with the pedal.
pub(super) fn performance_bytes(plan: &Plan) -> Result<Vec<u8>> {
    let tempo = MetaMessage::Tempo(u24::new(PERFORMANCE_MICROS_PER_BEAT));
    let mut tracks = vec![vec![(0, 0, TrackEventKind::Meta(tempo))]];
    let tick = |second: f64| seconds_to_samples(second, ANALYSIS_RATE) as u64;
    for (number, player) in plan.players.iter().enumerate() {
        let channel = channel(number);
        let mut track = vec![program(channel, player.family)];
        for note in plan.notes.iter().filter(|note| note.player == number) {
            let (on, off) = (tick(note.onset_s), tick(note.release_s));
            track.extend(sounding(channel, note.pitch, note.velocity, on, off.max(on + 1)));
        }
        for change in &plan.pedals[number] {
            let value = u7::new(if change.down { 127 } else { 0 });
            let message = MidiMessage::Controller { controller: u7::new(SUSTAIN_PEDAL), value };
            track.push((tick(change.second.max(0.0)), 2, TrackEventKind::Midi { channel, message }));
        }
        tracks.push(track);
    }
    written(PERFORMANCE_TICKS_PER_BEAT, tracks)
}

/// The channel of a track.
fn channel(track: usize) -> u4 {
    let free = track % 15;
    u4::new(if free < PERCUSSION { free } else { free + 1 } as u8)
}

/// The program by which other software plays a track about right.
fn program(channel: u4, family: Family) -> Timed {
    let program = match family {
        Family::Piano => 0,
        Family::Harpsichord => 6,
        Family::Mallets => 12,
        Family::Organ => 19,
        Family::Reeds => 21,
        Family::Guitar => 24,
        Family::Pizzicato => 45,
        Family::Harp => 46,
        Family::Strings => 48,
        Family::Choir => 52,
        Family::Brass => 61,
        Family::Winds => 73,
    };
    let message = MidiMessage::ProgramChange { program: u7::new(program) };
    (0, 0, TrackEventKind::Midi { channel, message })
}

fn sounding(channel: u4, pitch: u8, velocity: u8, on: u64, off: u64) -> [Timed; 2] {
    let (key, vel) = (u7::new(pitch & 127), u7::new(velocity & 127));
    let midi = |message| TrackEventKind::Midi { channel, message };
    [(on, 3, midi(MidiMessage::NoteOn { key, vel })), (off, 1, midi(MidiMessage::NoteOff { key, vel: u7::new(64) }))]
}

fn written(ticks_per_beat: u16, tracks: Vec<Vec<Timed>>) -> Result<Vec<u8>> {
    let failed = |cause: String| Error::unsuitable("a made performance", cause, "choose a smaller --seconds");
    let mut smf = Smf::new(Header::new(Format::Parallel, Timing::Metrical(u15::new(ticks_per_beat))));
    for mut track in tracks {
        track.sort_by_key(|&(tick, rank, _)| (tick, rank));
        let mut now = 0;
        let mut events = Vec::with_capacity(track.len() + 1);
        for (tick, _, kind) in track {
            let delta = u32::try_from(tick - now).ok().and_then(u28::try_from);
            let delta =
                delta.ok_or_else(|| failed("two of its events are too far apart for a MIDI file".to_owned()))?;
            events.push(TrackEvent { delta, kind });
            now = tick;
        }
        events.push(TrackEvent { delta: u28::new(0), kind: TrackEventKind::Meta(MetaMessage::EndOfTrack) });
        smf.tracks.push(events);
    }
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes).map_err(|error| failed(error.to_string()))?;
    Ok(bytes)
}
