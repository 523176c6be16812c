//! A passage of a score, as it will be written beside its performance.

use super::material::Source;
use crate::base::error::Result;
use crate::base::random::Random;
use crate::score::{Division, TempoChange, TempoMap};

/// Ticks per quarter note of the scores that are written: triplets, sixteenths and their halves are whole numbers.
pub(super) const TICKS_PER_BEAT: u16 = 960;
/// How many times longer than the performance the passage may be in the score's own tempo, for a fast player.
const LONGEST_RATIO: f64 = 2.6;
/// Notes that an excerpt leaves behind it at the end of the score, if it can.
const NOTES_TO_COME: usize = 60;

/// Pitches that a piano has.
const KEYBOARD: std::ops::RangeInclusive<u8> = 21..=108;

/// A note as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WrittenNote {
    /// Where it begins.
    pub tick: u32,
    /// MIDI pitch.
    pub pitch: u8,
    /// Index among the parts of its source.
    pub part: usize,
    /// Where it ends, later than it begins.
    pub end_tick: u32,
}

/// A passage. Tick 0 is the beginning of the bar in which its first note stands.
#[derive(Debug, Clone)]
pub(super) struct Excerpt {
    /// By tick, then pitch.
    pub notes: Vec<WrittenNote>,
    /// The score's own tempo.
    pub tempo: TempoMap,
    /// Numerator and denominator of the time signature at its beginning.
    pub signature: (u8, u16),
}

impl Excerpt {
    /// A passage of `source` that lasts for `seconds` even if it is played fast, from anywhere in it.
    pub fn draw(random: &mut Random, source: &Source, seconds: f64) -> Result<Self> {
        let score = &source.score;
        // So early that what follows fills the time at the score's own tempo.
        let latest_s = score.end_s() - seconds;
        let starts = score.notes.partition_point(|note| note.onset_s < latest_s);
        let starts = starts.min(score.notes.len().saturating_sub(NOTES_TO_COME)).max(1);
        let first = if random.chance(0.12) { 0 } else { random.below(starts) };
        let first_tick = score.notes[first].onset_tick as f64;
        let bar_beat = score.tempo.tick_to_beat(first_tick) - score.position(&score.notes[first]).quarters;
        let from_beat = if random.chance(0.8) { bar_beat } else { score.tempo.tick_to_beat(first_tick) };
        let from_s = score.notes[first].onset_s;
        let tick_of = |tick: f64| {
            let beats = score.tempo.tick_to_beat(tick) - bar_beat;
            (beats * f64::from(TICKS_PER_BEAT)).round().max(0.0) as u32
        };
        let from_tick = ((from_beat - bar_beat) * f64::from(TICKS_PER_BEAT)).round() as u32;
        let part_of = |track: u16| source.parts.iter().position(|part| part.track == track).unwrap_or(0);
        let inside = |onset_s: f64| onset_s < from_s + LONGEST_RATIO * seconds;
        let mut notes: Vec<WrittenNote> = score
            .notes
            .iter()
            .filter(|note| score.tempo.tick_to_beat(note.onset_tick as f64) > from_beat - 1e-6 && inside(note.onset_s))
            .map(|note| {
                let tick = tick_of(note.onset_tick as f64);
                let end_tick = tick_of(note.offset_tick as f64).max(tick + 1);
                WrittenNote { tick, pitch: note.pitch, part: part_of(note.track), end_tick }
            })
            .collect();
        notes.retain(|note| note.tick >= from_tick);
        notes.sort_unstable();
        let tempo = TempoMap::new(Division::PerBeat(TICKS_PER_BEAT), &tempo_from(source, bar_beat))?;
        let start_tick = score.tempo.beat_to_tick(bar_beat) + 0.5;
        let signatures = score.meter.signatures();
        let signature =
            signatures.filter(|s| (s.tick as f64) < start_tick).last().map(|s| (s.numerator, s.denominator));
        Ok(Self { notes, tempo, signature: signature.unwrap_or((4, 4)) })
    }

    /// Ticks of a bar.
    pub fn bar_ticks(&self) -> u32 {
        let (numerator, denominator) = self.signature;
        (u32::from(TICKS_PER_BEAT) * 4 * u32::from(numerator) / u32::from(denominator.max(1))).max(1)
    }

    /// Moves each part by its number of semitones; notes that leave the keyboard are left out.
    pub fn transpose(&mut self, steps: impl Fn(usize) -> i16) {
        self.notes.retain_mut(|note| {
            let moved = u8::try_from(i16::from(note.pitch) + steps(note.part)).ok();
            let moved = moved.filter(|pitch| KEYBOARD.contains(pitch));
            note.pitch = moved.unwrap_or(note.pitch);
            moved.is_some()
        });
        self.notes.sort_unstable();
    }

    /// Time of a tick in the score's own tempo.
    pub fn second(&self, tick: u32) -> f64 {
        self.tempo.tick_to_seconds(f64::from(tick))
    }

    /// The notes in groups that begin together: ranges of [`Self::notes`].
    pub fn chords(&self) -> Vec<std::ops::Range<usize>> {
        let mut chords: Vec<std::ops::Range<usize>> = Vec::new();
        for (index, note) in self.notes.iter().enumerate() {
            match chords.last_mut() {
                Some(chord) if self.notes[chord.start].tick == note.tick => chord.end = index + 1,
                _ => chords.push(index..index + 1),
            }
        }
        chords
    }
}

/// The tempo changes from a beat on, the tempo at that beat first.
fn tempo_from(source: &Source, first_beat: f64) -> Vec<TempoChange> {
    let tempo = &source.score.tempo;
    let tick = |change: &TempoChange| {
        let beats = tempo.tick_to_beat(change.tick as f64) - first_beat;
        (beats * f64::from(TICKS_PER_BEAT)).round().max(0.0) as u64
    };
    // Of several that fall on tick 0 the last is the one that holds there.
    tempo.changes().map(|change| TempoChange { tick: tick(&change), ..change }).collect()
}
