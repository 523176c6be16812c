//! The events of one MIDI track, as notes and changes at ticks.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use midly::{EventIter, MetaMessage, MidiMessage, TrackEvent, TrackEventKind};

use super::meter::TimeSignature;
use super::tempo::TempoChange;
use super::types::{KeySignature, PedalChange, ProgramChange};
use crate::base::error::{Error, Result};

/// The channel of percussion instruments, from 0.
const PERCUSSION_CHANNEL: u8 = 9;
const SUSTAIN_PEDAL: u8 = 64;
/// 1/128 is the shortest beat that is accepted; what claims less is damage.
const LARGEST_DENOMINATOR_POWER: u8 = 7;

/// A note in ticks. It may still have no length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RawNote {
    pub pitch: u8,
    pub velocity: u8,
    pub channel: u8,
    pub track: u16,
    pub onset_tick: u64,
    pub offset_tick: u64,
}

/// What one track, or all tracks together, say.
#[derive(Debug, Default)]
pub(super) struct TrackContent {
    pub title: Option<String>,
    pub notes: Vec<RawNote>,
    pub tempo: Vec<TempoChange>,
    pub meter: Vec<TimeSignature>,
    pub keys: Vec<KeySignature>,
    pub pedal: Vec<PedalChange>,
    pub programs: Vec<ProgramChange>,
    /// Names of the tracks.
    pub parts: Vec<String>,
    /// How many notes of percussion were left out.
    pub percussion_notes: usize,
    pub end_tick: u64,
}

impl TrackContent {
    /// Adds another track. The first title stays.
    pub fn append(&mut self, mut other: TrackContent) {
        self.title = self.title.take().or(other.title);
        self.notes.append(&mut other.notes);
        self.tempo.append(&mut other.tempo);
        self.meter.append(&mut other.meter);
        self.keys.append(&mut other.keys);
        self.pedal.append(&mut other.pedal);
        self.programs.append(&mut other.programs);
        self.percussion_notes += other.percussion_notes;
        self.end_tick = self.end_tick.max(other.end_tick);
    }

    /// How many notes and changes there are.
    pub fn event_count(&self) -> usize {
        let changes = self.tempo.len() + self.meter.len() + self.keys.len();
        self.notes.len() + self.pedal.len() + self.programs.len() + changes
    }

    /// Lifts every pedal that is still down at the end.
    pub fn lift_pedals(&mut self) {
        let tick = self.end_tick;
        for channel in 0..16 {
            let last = self.pedal.iter().rev().find(|change| change.channel == channel);
            if last.is_some_and(|change| change.value >= 64) {
                self.pedal.push(PedalChange { tick, channel, value: 0 });
            }
        }
    }

    /// Puts everything in order of time; what stands at one tick keeps the order of the file.
    pub fn sort(&mut self) {
        self.notes.sort_by_key(|n| (n.onset_tick, n.pitch, n.channel, n.track, n.offset_tick));
        self.keys.sort_by_key(|key| key.tick);
        self.pedal.sort_by_key(|change| change.tick);
        self.programs.sort_by_key(|change| change.tick);
    }
}

/// Reads a track whose first tick is `start`.
pub(super) fn read_track(name: &Path, index: usize, bytes: &[u8], start: u64) -> Result<TrackContent> {
    let mut reader = TrackReader { track: u16::try_from(index).unwrap_or(u16::MAX), tick: start, ..Default::default() };
    let mut events = EventIter::new(bytes);
    loop {
        let unread = events.unread().len();
        match events.next() {
            Some(Ok(event)) => {
                if reader.take(event) == Flow::EndOfTrack {
                    break;
                }
            }
            // The iterator ends early, without an error, at bytes it does not understand.
            Some(Err(_)) | None if unread > 0 => {
                let cause = format!("track {} has a damaged event at its byte {}", index + 1, bytes.len() - unread);
                return Err(Error::malformed(name, cause, "copy or export the file again"));
            }
            _ => break,
        }
    }
    Ok(reader.finish())
}

#[derive(PartialEq)]
enum Flow {
    Continue,
    EndOfTrack,
}

#[derive(Default)]
struct TrackReader {
    track: u16,
    tick: u64,
    /// Indices into `content.notes` of the notes that sound, oldest first, by channel and pitch.
    open: HashMap<(u8, u8), VecDeque<usize>>,
    content: TrackContent,
}

impl TrackReader {
    fn take(&mut self, event: TrackEvent<'_>) -> Flow {
        self.tick += u64::from(event.delta.as_int());
        match event.kind {
            TrackEventKind::Meta(MetaMessage::EndOfTrack) => return Flow::EndOfTrack,
            TrackEventKind::Meta(meta) => self.take_meta(meta),
            TrackEventKind::Midi { channel, message } if channel.as_int() != PERCUSSION_CHANNEL => {
                self.take_message(channel.as_int(), message);
            }
            TrackEventKind::Midi { message: MidiMessage::NoteOn { vel, .. }, .. } if vel.as_int() > 0 => {
                self.content.percussion_notes += 1;
            }
            _ => {}
        }
        Flow::Continue
    }

    fn take_meta(&mut self, meta: MetaMessage<'_>) {
        let tick = self.tick;
        match meta {
            MetaMessage::TrackName(text) if self.content.title.is_none() => self.content.title = decode_text(text),
            MetaMessage::Tempo(micros) => {
                self.content.tempo.push(TempoChange { tick, micros_per_beat: micros.as_int() });
            }
            MetaMessage::TimeSignature(numerator, power, _, _)
                if numerator > 0 && power <= LARGEST_DENOMINATOR_POWER =>
            {
                self.content.meter.push(TimeSignature { tick, numerator, denominator: 1 << power });
            }
            MetaMessage::KeySignature(accidentals, minor) if (-7..=7).contains(&accidentals) => {
                self.content.keys.push(KeySignature { tick, accidentals, minor });
            }
            _ => {}
        }
    }

    fn take_message(&mut self, channel: u8, message: MidiMessage) {
        let tick = self.tick;
        match message {
            MidiMessage::NoteOn { key, vel } if vel.as_int() > 0 => {
                let note = RawNote {
                    pitch: key.as_int(),
                    velocity: vel.as_int(),
                    channel,
                    track: self.track,
                    onset_tick: tick,
                    offset_tick: tick,
                };
                self.open.entry((channel, note.pitch)).or_default().push_back(self.content.notes.len());
                self.content.notes.push(note);
            }
            MidiMessage::NoteOn { key, .. } | MidiMessage::NoteOff { key, .. } => {
                let oldest = self.open.get_mut(&(channel, key.as_int())).and_then(VecDeque::pop_front);
                if let Some(index) = oldest {
                    self.content.notes[index].offset_tick = tick;
                }
            }
            MidiMessage::Controller { controller, value } if controller.as_int() == SUSTAIN_PEDAL => {
                self.content.pedal.push(PedalChange { tick, channel, value: value.as_int() });
            }
            MidiMessage::ProgramChange { program } => {
                self.content.programs.push(ProgramChange { tick, channel, program: program.as_int() });
            }
            _ => {}
        }
    }

    fn finish(mut self) -> TrackContent {
        for index in self.open.into_values().flatten() {
            self.content.notes[index].offset_tick = self.tick;
        }
        self.content.end_tick = self.tick;
        self.content
    }
}

/// Text of a meta event: UTF-8 if it is, Latin-1 otherwise.
fn decode_text(bytes: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    };
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let text = text.trim();
    if text.is_empty() { None } else { Some(text.to_owned()) }
}
