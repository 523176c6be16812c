//! Ticks of an aligned MIDI file: with a tempo map that follows the performance, or flat.

use super::ExportInput;
use super::events::{beats, ticks_per_quarter};
use crate::base::error::Result;
use crate::score::{Division, TempoChange, TempoMap};

/// Where score and performance are in the ticks of the new file.
pub trait Clock {
    /// Resolution.
    fn ticks_per_beat(&self) -> u16;
    /// Whether the file's bars are the score's.
    fn keeps_bars(&self) -> bool;
    /// Tempo events: tick, microseconds per quarter note.
    fn tempo(&self) -> Vec<(u64, u32)>;
    /// Tick of a place in the score.
    fn tick_of(&self, input: &ExportInput, score_tick: u64) -> u64;
    /// Tick of a place in the score that sounds at a time of its own.
    fn tick_at(&self, input: &ExportInput, score_tick: u64, performance_s: f64) -> u64;
}

/// 120 beats per minute, about a quarter of a millisecond a tick.
pub struct FlatClock;

const FLAT_TICKS: u16 = 1920;
const FLAT_MICROS: u32 = 500_000;

impl FlatClock {
    fn tick(seconds: f64) -> u64 {
        (seconds * f64::from(FLAT_TICKS) * 1e6 / f64::from(FLAT_MICROS)).round().max(0.0) as u64
    }
}

impl Clock for FlatClock {
    fn ticks_per_beat(&self) -> u16 {
        FLAT_TICKS
    }

    fn keeps_bars(&self) -> bool {
        false
    }

    fn tempo(&self) -> Vec<(u64, u32)> {
        vec![(0, FLAT_MICROS)]
    }

    fn tick_of(&self, input: &ExportInput, score_tick: u64) -> u64 {
        Self::tick(input.alignment.warp.at(input.score.tempo.tick_to_seconds(score_tick as f64)))
    }

    fn tick_at(&self, _: &ExportInput, _: u64, performance_s: f64) -> u64 {
        Self::tick(performance_s)
    }
}

/// The score's ticks under the performance's tempo.
pub struct MetricalClock {
    ticks_per_beat: u16,
    /// New ticks per tick of the score: 1 unless the score counts in time code.
    scale: f64,
    /// Ticks of the bars before the score begins.
    lead_in: u64,
    changes: Vec<TempoChange>,
    map: TempoMap,
}

/// A note this close to where its score tick falls stays on it; a sequencer then shows it on the grid.
const ON_GRID_S: f64 = 0.001;
const MAX_MICROS: f64 = 0xFF_FFFF as f64;
/// The longest a quarter note of the lead-in may last, in seconds; longer lead-ins have more bars.
const MAX_LEAD_IN_QUARTER_S: f64 = 16.0;

impl MetricalClock {
    /// A tempo change wherever a beat or an onset is, as far as the warp needs it.
    pub fn new(input: &ExportInput) -> Result<Self> {
        let (score, warp) = (input.score, &input.alignment.warp);
        let (ticks_per_beat, scale) = match score.tempo.division() {
            Division::PerBeat(ticks) if ticks < 0x8000 => (ticks, 1.0),
            _ => (480, 480.0 / ticks_per_quarter(score)),
        };
        let mut knots: Vec<(u64, f64)> = beats(input)?
            .iter()
            .map(|beat| ((beat.tick * scale).round() as u64, beat.performance_s))
            .chain(score.notes.iter().flat_map(|note| {
                [(note.onset_tick, note.onset_s), (note.offset_tick, note.offset_s)]
                    .map(|(tick, second)| ((tick as f64 * scale).round() as u64, warp.at(second)))
            }))
            .collect();
        knots.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        knots.dedup_by_key(|knot| knot.0);
        let start_s = warp.at(0.0);
        let lead_in = lead_in_ticks(input, ticks_per_beat, start_s);
        if lead_in > 0 {
            knots.retain(|knot| knot.0 > 0);
            knots.iter_mut().for_each(|knot| knot.0 += lead_in);
            knots.insert(0, (lead_in, start_s));
        }
        let changes = tempo_through(&knots, ticks_per_beat);
        let map = TempoMap::new(Division::PerBeat(ticks_per_beat), &changes)?;
        Ok(Self { ticks_per_beat, scale, lead_in, changes, map })
    }
}

/// Whole bars that last until the score begins; none if it begins with the recording or before.
fn lead_in_ticks(input: &ExportInput, ticks_per_beat: u16, start_s: f64) -> u64 {
    if start_s < ON_GRID_S {
        return 0;
    }
    let signature = input.score.meter.signature(0);
    let quarters = 4.0 * f64::from(signature.numerator) / f64::from(signature.denominator);
    let bars = (start_s / (quarters * MAX_LEAD_IN_QUARTER_S)).ceil();
    (bars * quarters * f64::from(ticks_per_beat)).round().max(1.0) as u64
}

/// Tempo changes that pass through the knots. Each is measured from where the rounded ones before it really led, so
/// that no error adds up; what a segment cannot reach (a pause too long for one tempo) the next one makes good.
fn tempo_through(knots: &[(u64, f64)], ticks_per_beat: u16) -> Vec<TempoChange> {
    let per_beat = f64::from(ticks_per_beat);
    let mut changes: Vec<TempoChange> = Vec::new();
    let (mut tick, mut second) = (0, 0.0);
    for &(next_tick, next_second) in knots.iter().filter(|knot| knot.0 > 0) {
        let quarters = (next_tick - tick) as f64 / per_beat;
        let micros = ((next_second - second) * 1e6 / quarters).round().clamp(1.0, MAX_MICROS);
        if changes.last().is_none_or(|last| last.micros_per_beat != micros as u32) {
            changes.push(TempoChange { tick, micros_per_beat: micros as u32 });
        }
        second += quarters * micros / 1e6;
        tick = next_tick;
    }
    changes
}

impl Clock for MetricalClock {
    fn ticks_per_beat(&self) -> u16 {
        self.ticks_per_beat
    }

    fn keeps_bars(&self) -> bool {
        true
    }

    fn tempo(&self) -> Vec<(u64, u32)> {
        self.changes.iter().map(|change| (change.tick, change.micros_per_beat)).collect()
    }

    fn tick_of(&self, _: &ExportInput, score_tick: u64) -> u64 {
        self.lead_in + (score_tick as f64 * self.scale).round() as u64
    }

    fn tick_at(&self, input: &ExportInput, score_tick: u64, performance_s: f64) -> u64 {
        let on_grid = self.tick_of(input, score_tick);
        if (self.map.tick_to_seconds(on_grid as f64) - performance_s).abs() <= ON_GRID_S {
            return on_grid;
        }
        self.map.seconds_to_tick(performance_s.max(0.0)).round().max(0.0) as u64
    }
}
