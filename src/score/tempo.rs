//! The tempo map: ticks, beats (quarter notes) and seconds, both ways.

use crate::base::error::{Error, Result};

/// What one tick is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Division {
    /// Ticks per quarter note; tempo changes apply.
    PerBeat(u16),
    /// Ticks per second (SMPTE time code); tempo changes only say what a beat is.
    PerSecond(f64),
}

/// A tempo from a tick on, in microseconds per quarter note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TempoChange {
    /// Where it begins.
    pub tick: u64,
    /// Microseconds per quarter note, at least 1.
    pub micros_per_beat: u32,
}

/// Converts ticks, beats and seconds into each other. Every conversion is increasing and continuous.
#[derive(Debug, Clone, PartialEq)]
pub struct TempoMap {
    division: Division,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Segment {
    tick: f64,
    second: f64,
    beat: f64,
    seconds_per_tick: f64,
    beats_per_tick: f64,
    micros_per_beat: u32,
}

/// The tempo that holds until the first tempo event: 120 beats per minute.
pub const DEFAULT_MICROS_PER_BEAT: u32 = 500_000;

impl TempoMap {
    /// Builds the map. Changes may come in any order; of several at one tick the last given wins.
    pub fn new(division: Division, changes: &[TempoChange]) -> Result<Self> {
        let legal = match division {
            Division::PerBeat(ticks) => ticks > 0,
            Division::PerSecond(ticks) => ticks.is_finite() && ticks > 0.0,
        };
        if !legal {
            return Err(Error::invalid("ticks of the MIDI division", format!("{division:?}"), "more than zero"));
        }
        let mut sorted = changes.to_vec();
        sorted.sort_by_key(|change| change.tick);
        let mut segments = vec![Segment::first(division, DEFAULT_MICROS_PER_BEAT)];
        for change in sorted {
            let next = segments[segments.len() - 1].followed_by(division, change);
            if next.tick == segments[segments.len() - 1].tick {
                segments.pop();
            }
            segments.push(next);
        }
        Ok(Self { division, segments })
    }

    /// What one tick is worth.
    pub fn division(&self) -> Division {
        self.division
    }

    /// Time of a tick.
    pub fn tick_to_seconds(&self, tick: f64) -> f64 {
        let s = self.segment(tick, |s| s.tick);
        s.second + (tick - s.tick) * s.seconds_per_tick
    }

    /// Tick of a time.
    pub fn seconds_to_tick(&self, second: f64) -> f64 {
        let s = self.segment(second, |s| s.second);
        s.tick + (second - s.second) / s.seconds_per_tick
    }

    /// Beats (quarter notes) from the start of the file to a tick.
    pub fn tick_to_beat(&self, tick: f64) -> f64 {
        let s = self.segment(tick, |s| s.tick);
        s.beat + (tick - s.tick) * s.beats_per_tick
    }

    /// Tick of a beat.
    pub fn beat_to_tick(&self, beat: f64) -> f64 {
        let s = self.segment(beat, |s| s.beat);
        s.tick + (beat - s.beat) / s.beats_per_tick
    }

    /// Time of a beat.
    pub fn beat_to_seconds(&self, beat: f64) -> f64 {
        self.tick_to_seconds(self.beat_to_tick(beat))
    }

    /// Beat of a time.
    pub fn seconds_to_beat(&self, second: f64) -> f64 {
        self.tick_to_beat(self.seconds_to_tick(second))
    }

    /// The tempo changes, the one at tick 0 included.
    pub fn changes(&self) -> impl Iterator<Item = TempoChange> + '_ {
        self.segments.iter().map(|s| TempoChange { tick: s.tick as u64, micros_per_beat: s.micros_per_beat })
    }

    fn segment(&self, at: f64, key: impl Fn(&Segment) -> f64) -> &Segment {
        let after = self.segments.partition_point(|s| key(s) <= at);
        &self.segments[after.max(1) - 1]
    }
}

impl Segment {
    fn first(division: Division, micros_per_beat: u32) -> Self {
        let (seconds_per_tick, beats_per_tick) = tick_worth(division, micros_per_beat);
        Self { tick: 0.0, second: 0.0, beat: 0.0, seconds_per_tick, beats_per_tick, micros_per_beat }
    }

    fn followed_by(&self, division: Division, change: TempoChange) -> Self {
        let ticks = change.tick as f64 - self.tick;
        let (seconds_per_tick, beats_per_tick) = tick_worth(division, change.micros_per_beat);
        Self {
            tick: change.tick as f64,
            second: self.second + ticks * self.seconds_per_tick,
            beat: self.beat + ticks * self.beats_per_tick,
            seconds_per_tick,
            beats_per_tick,
            micros_per_beat: change.micros_per_beat,
        }
    }
}

/// Seconds and beats per tick. A tempo of zero would stop time, so it counts as the fastest there is.
fn tick_worth(division: Division, micros_per_beat: u32) -> (f64, f64) {
    let seconds_per_beat = f64::from(micros_per_beat.max(1)) / 1e6;
    match division {
        Division::PerBeat(ticks) => (seconds_per_beat / f64::from(ticks), 1.0 / f64::from(ticks)),
        Division::PerSecond(ticks) => (1.0 / ticks, 1.0 / (ticks * seconds_per_beat)),
    }
}

#[cfg(test)]
#[path = "tempo_tests.rs"]
mod tests;
