//! The score as data: notes, tempo, meter, keys, pedal.

use std::sync::Arc;

use super::meter::{BarPosition, MeterMap};
use super::notation::{Form, Manuscript, WrittenPitch};
use super::tempo::TempoMap;
use crate::base::time::SAME_MOMENT_S;

/// One sounding note of the score. Percussion is not among them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Note {
    /// MIDI pitch, 60 = middle C.
    pub pitch: u8,
    /// 1 to 127.
    pub velocity: u8,
    /// MIDI channel, 0 to 15.
    pub channel: u8,
    /// Track of the file the note stands in, from 0.
    pub track: u16,
    /// Where it begins.
    pub onset_tick: u64,
    /// Where it ends, later than `onset_tick`.
    pub offset_tick: u64,
    /// `onset_tick` in seconds of the score's own tempo.
    pub onset_s: f64,
    /// `offset_tick` in seconds of the score's own tempo.
    pub offset_s: f64,
}

/// The sustain pedal of a channel goes down or up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PedalChange {
    /// When.
    pub tick: u64,
    /// Which channel, 0 to 15.
    pub channel: u8,
    /// Controller value, 0 to 127; 64 and more is down.
    pub value: u8,
}

/// The General MIDI program of a channel from a tick on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgramChange {
    /// When.
    pub tick: u64,
    /// Which channel, 0 to 15.
    pub channel: u8,
    /// 0 to 127.
    pub program: u8,
}

/// A key signature from a tick on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeySignature {
    /// When.
    pub tick: u64,
    /// Sharps (positive) or flats (negative), -7 to 7.
    pub accidentals: i8,
    /// Minor mode.
    pub minor: bool,
}

/// A beat of the score, with its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreBeat {
    /// Where it stands.
    pub tick: f64,
    /// When it falls, in seconds of the score's own tempo.
    pub second: f64,
    /// Bar, from 1.
    pub bar: u32,
    /// Beat in the bar, from 1; 1 is the downbeat.
    pub beat: u32,
}

/// A score as it is to be played, with times in ticks, beats, bars and seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Title, if the file has one.
    pub title: Option<String>,
    /// Notes by onset, then pitch, then channel. Never empty.
    pub notes: Vec<Note>,
    /// Ticks, beats and seconds.
    pub tempo: TempoMap,
    /// Bars.
    pub meter: MeterMap,
    /// Key signatures in order.
    pub keys: Vec<KeySignature>,
    /// Sustain pedal in order.
    pub pedal: Vec<PedalChange>,
    /// Programs in order.
    pub programs: Vec<ProgramChange>,
    /// Names, and what was left out.
    pub notation: Notation,
}

/// What the score's file calls things.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Notation {
    /// Names of the notes, one for each of [`Score::notes`]; none if the file has no names for them, as MIDI.
    pub notes: Vec<NoteName>,
    /// Names of the parts; [`Note::track`] is an index into them.
    pub parts: Vec<String>,
    /// What was left out or read otherwise than it is written, a sentence each.
    pub notices: Vec<String>,
    /// Its sections and the ways through them; none if there is only one, or the file does not tell.
    pub form: Option<Arc<Form>>,
    /// What it was read from; none for MIDI.
    pub manuscript: Option<Arc<Manuscript>>,
    /// Where it leaves the number of notes to the player, in order.
    pub liberties: Vec<Liberty>,
}

/// A note whose ornament may have any number of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Liberty {
    /// Where the note begins.
    pub tick: u64,
    /// Its part.
    pub track: u16,
    /// Its pitch.
    pub pitch: u8,
    /// The pitches that may be struck any number of times.
    pub pitches: Vec<u8>,
}

/// Where a note of the score comes from: of tied notes the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteOrigin {
    /// Index of the written note.
    pub note: u32,
    /// Which time it is played, counted from 1.
    pub time: u16,
    /// Which of the notes that its tremolo stands for, from 1.
    pub stroke: u16,
}

/// A note as the score's file calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteName {
    /// Its identifier; of a note that is played several times with the count behind it: "n12-1", "n12-2", and of a tremolo that is written out
    /// with that of the stroke from the second on: "n12.2".
    pub id: String,
    /// Its pitch as it is spelled, unless the part transposes.
    pub spelling: Option<WrittenPitch>,
    /// Where it stands in the written score.
    pub origin: NoteOrigin,
}

impl Score {
    /// Distinct onset times in seconds, increasing.
    pub fn onsets_s(&self) -> Vec<f64> {
        distinct(self.notes.iter().map(|note| note.onset_s))
    }

    /// Distinct onset and offset times in seconds, increasing: where what sounds changes.
    pub fn change_points_s(&self) -> Vec<f64> {
        distinct(self.notes.iter().flat_map(|note| [note.onset_s, note.offset_s]))
    }

    /// Time of the first onset.
    pub fn first_onset_s(&self) -> f64 {
        self.notes.first().map_or(0.0, |note| note.onset_s)
    }

    /// Whether a moment is one that music is written at: a 24th or a 32nd part of a quarter note. Notes of ornaments that a notation
    /// program has played out mostly are not.
    pub fn is_on_grid(&self, tick: u64) -> bool {
        const PARTS: [f64; 2] = [24.0, 32.0];
        let beat = self.tempo.tick_to_beat(tick as f64);
        PARTS.iter().any(|parts| (beat * parts - (beat * parts).round()).abs() < 1e-6 * parts)
    }

    /// Bar and beat of a note's onset.
    pub fn position(&self, note: &Note) -> BarPosition {
        self.meter.position(note.onset_tick as f64)
    }

    /// The beats of the time signatures from the start of the score to the end of its last note, for a click track.
    pub fn beats(&self) -> Vec<ScoreBeat> {
        let end = self.notes.iter().map(|note| note.offset_tick).max().unwrap_or(0);
        let beats = self.meter.beats_until(end).into_iter();
        beats
            .map(|beat| ScoreBeat {
                tick: beat.tick,
                second: self.tempo.tick_to_seconds(beat.tick),
                bar: beat.bar,
                beat: beat.beat,
            })
            .collect()
    }

    /// What a note leaves to the player, if it does.
    pub fn liberty_of(&self, note: &Note) -> Option<&Liberty> {
        let key = (note.onset_tick, note.pitch, note.track);
        let all = &self.notation.liberties;
        all.binary_search_by_key(&key, |liberty| (liberty.tick, liberty.pitch, liberty.track)).ok().map(|at| &all[at])
    }

    /// The identifier of a note in the score's file, if it has one.
    pub fn note_id(&self, index: usize) -> Option<&str> {
        self.notation.notes.get(index).map(|name| name.id.as_str())
    }

    /// Time of the last note's end.
    pub fn end_s(&self) -> f64 {
        self.notes.iter().map(|note| note.offset_s).fold(0.0, f64::max)
    }
}

fn distinct(times: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = times.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup_by(|later, earlier| *later - *earlier < SAME_MOMENT_S);
    sorted
}
