//! Aligned MIDI: the score's notes at performance times.
//!
//! [`Metrical`] keeps the score's ticks and writes a tempo map that lets them fall on the performance, so that bars and
//! beats survive in any sequencer. A recording that begins before the score gets whole lead-in bars. [`Flat`] gives up the
//! bars: one tempo, absolute times.

use midly::num::{u4, u7, u15, u24, u28};
use midly::{Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind};

use super::midi_clock::{Clock, FlatClock, MetricalClock};
use super::{ExportInput, Exporter, provenance};
use crate::base::error::{Error, Result};
use crate::score::Score;

/// With the performance's tempo.
pub struct Metrical;

impl Exporter for Metrical {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        write(input, &MetricalClock::new(input)?)
    }
}

/// With one tempo and absolute times.
pub struct Flat;

impl Exporter for Flat {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        write(input, &FlatClock)
    }
}

/// An event with its tick and its rank among those of the same tick.
type Timed<'a> = (u64, u8, TrackEventKind<'a>);

fn write(input: &ExportInput, clock: &dyn Clock) -> Result<Vec<u8>> {
    let comment = provenance::lines(input).join("; ");
    let mut tracks = vec![conductor_track(input, clock, &comment)];
    tracks.extend(note_tracks(input, clock));
    let mut smf = Smf::new(Header::new(midly::Format::Parallel, Timing::Metrical(u15::new(clock.ticks_per_beat()))));
    for track in tracks {
        smf.tracks.push(with_deltas(track)?);
    }
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes)
        .map_err(|e| Error::unsuitable("the aligned MIDI file", e.to_string(), "choose another format"))?;
    Ok(bytes)
}

fn conductor_track<'a>(input: &'a ExportInput, clock: &dyn Clock, comment: &'a str) -> Vec<Timed<'a>> {
    let score = input.score;
    let meta = |tick: u64, rank: u8, message: MetaMessage<'a>| (tick, rank, TrackEventKind::Meta(message));
    let mut track = Vec::new();
    track.extend(score.title.iter().map(|title| meta(0, 0, MetaMessage::TrackName(title.as_bytes()))));
    track.push(meta(0, 0, MetaMessage::Text(comment.as_bytes())));
    for (tick, micros) in clock.tempo() {
        track.push(meta(tick, 2, MetaMessage::Tempo(u24::new(micros))));
    }
    if clock.keeps_bars() {
        for signature in score.meter.signatures() {
            // The lead-in bars count in the first signature.
            let tick = if signature.tick == 0 { 0 } else { clock.tick_of(input, signature.tick) };
            let power = signature.denominator.trailing_zeros() as u8;
            track.push(meta(tick, 1, MetaMessage::TimeSignature(signature.numerator, power, 24, 8)));
        }
    }
    for key in &score.keys {
        let tick = if key.tick == 0 { 0 } else { clock.tick_of(input, key.tick) };
        track.push(meta(tick, 1, MetaMessage::KeySignature(key.accidentals, key.minor)));
    }
    track
}

fn note_tracks<'a>(input: &ExportInput, clock: &dyn Clock) -> Vec<Vec<Timed<'a>>> {
    let score = input.score;
    let mut numbers: Vec<u16> = score.notes.iter().map(|note| note.track).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut tracks: Vec<Vec<Timed>> = vec![Vec::new(); numbers.len().max(1)];
    let midi = |channel: u8, message: MidiMessage| TrackEventKind::Midi { channel: u4::new(channel & 15), message };
    for (note, aligned) in score.notes.iter().zip(&input.alignment.notes) {
        let on = clock.tick_at(input, note.onset_tick, aligned.onset_s);
        let off = clock.tick_at(input, note.offset_tick, aligned.offset_s).max(on + 1);
        let (key, vel) = (u7::new(note.pitch & 127), u7::new(note.velocity & 127));
        let track = &mut tracks[numbers.binary_search(&note.track).unwrap_or(0)];
        track.push((on, 4, midi(note.channel, MidiMessage::NoteOn { key, vel })));
        track.push((off, 2, midi(note.channel, MidiMessage::NoteOff { key, vel: u7::new(64) })));
    }
    let home = |channel: u8| track_of_channel(score, &numbers, channel);
    for program in &score.programs {
        let message = MidiMessage::ProgramChange { program: u7::new(program.program & 127) };
        let tick = if program.tick == 0 { 0 } else { clock.tick_of(input, program.tick) };
        tracks[home(program.channel)].push((tick, 1, midi(program.channel, message)));
    }
    for pedal in &score.pedal {
        let message = MidiMessage::Controller { controller: u7::new(64), value: u7::new(pedal.value & 127) };
        tracks[home(pedal.channel)].push((clock.tick_of(input, pedal.tick), 3, midi(pedal.channel, message)));
    }
    tracks
}

/// Pedal and program have a channel but no track: they go where the channel's first note stands.
fn track_of_channel(score: &Score, numbers: &[u16], channel: u8) -> usize {
    let note = score.notes.iter().find(|note| note.channel == channel);
    note.and_then(|note| numbers.binary_search(&note.track).ok()).unwrap_or(0)
}

fn with_deltas(mut track: Vec<Timed>) -> Result<Vec<TrackEvent>> {
    track.sort_by_key(|&(tick, rank, _)| (tick, rank));
    let mut events = Vec::with_capacity(track.len() + 1);
    let mut now = 0;
    for (tick, _, kind) in track {
        let delta = u32::try_from(tick - now).ok().and_then(u28::try_from).ok_or_else(|| {
            let cause = "two of its events are further apart than a MIDI file can say";
            Error::unsuitable("the aligned score", cause, "choose another format, such as csv")
        })?;
        events.push(TrackEvent { delta, kind });
        now = tick;
    }
    events.push(TrackEvent { delta: u28::new(0), kind: TrackEventKind::Meta(MetaMessage::EndOfTrack) });
    Ok(events)
}

#[cfg(test)]
#[path = "midi_tests.rs"]
mod tests;
