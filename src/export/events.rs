//! What formats are made of: change points, onsets and beats, each with its place in score and recording.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ExportInput;
use super::spelling::{accidentals_at, spell};
use super::text::short;
use crate::base::error::{Error, Result};
use crate::evaluation::TimeMap;
use crate::score::{BarPosition, Division, Score, TimeSignature};

/// No piece has as many beats; a file with absurd ticks may.
const MAX_BEATS: f64 = 1e6;

/// A moment where what sounds in the score changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// Quarter notes from the start of the score.
    pub score_beat: f64,
    /// Seconds of the score's own tempo.
    pub score_s: f64,
    /// Seconds of the recording.
    pub performance_s: f64,
}

/// Every distinct onset and offset of the score, in its order; performance times never run backwards.
pub fn change_points(input: &ExportInput) -> Vec<ChangePoint> {
    let times = TimeMap::of_alignment(input.score, input.alignment);
    let pairs = times.score_s.into_iter().zip(times.performance_s);
    let point = |(score_s, performance_s)| {
        let score_beat = input.score.tempo.seconds_to_beat(score_s);
        ChangePoint { score_beat, score_s, performance_s }
    };
    pairs.map(point).collect()
}

/// The notes that begin at one tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Onset {
    /// Where in the score.
    pub tick: u64,
    /// Seconds of the recording, from the warp.
    pub performance_s: f64,
    /// Bar and beat.
    pub position: BarPosition,
    /// Which notes of the score.
    pub notes: Range<usize>,
}

/// The onsets of the score in order; performance times never run backwards.
pub fn onsets(input: &ExportInput) -> Vec<Onset> {
    let notes = &input.score.notes;
    let mut onsets = Vec::new();
    let mut start = 0;
    for chord in notes.chunk_by(|a, b| a.onset_tick == b.onset_tick) {
        let tick = chord[0].onset_tick;
        onsets.push(Onset {
            tick,
            performance_s: input.alignment.warp.at(chord[0].onset_s),
            position: input.score.meter.position(tick as f64),
            notes: start..start + chord.len(),
        });
        start += chord.len();
    }
    onsets
}

impl Onset {
    /// Bar and beat, such as "12:2.5".
    pub fn place(&self) -> String {
        format!("{}:{}", self.position.bar, short(self.position.beat))
    }

    /// Place and note names, such as "12:2.5 C4 E4".
    pub fn label(&self, score: &Score) -> String {
        let accidentals = accidentals_at(score, self.tick);
        let names = score.notes[self.notes.clone()].iter().map(|note| format!(" {}", spell(note.pitch, accidentals)));
        self.place() + &names.collect::<String>()
    }
}

/// A beat in the unit of the time signature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beat {
    /// Where in the score; between ticks if the meter does not divide them.
    pub tick: f64,
    /// Bar, from 1.
    pub bar: u32,
    /// Beat in the bar, from 1.
    pub number: u32,
    /// The signature it counts in.
    pub signature: TimeSignature,
    /// Seconds of the score's own tempo.
    pub score_s: f64,
    /// Seconds of the recording.
    pub performance_s: f64,
}

/// The beats from the one at or before the first onset to the last at or before the end of the score.
pub fn beats(input: &ExportInput) -> Result<Vec<Beat>> {
    let score = input.score;
    let first = score.notes.first().map_or(0, |note| note.onset_tick) as f64;
    let end = score.notes.iter().map(|note| note.offset_tick).max().unwrap_or(0) as f64;
    let signatures: Vec<TimeSignature> = score.meter.signatures().collect();
    let mut beats = Vec::new();
    for (index, &signature) in signatures.iter().enumerate() {
        let start = signature.tick as f64;
        let next = signatures.get(index + 1).map_or(f64::INFINITY, |next| next.tick as f64);
        let step = beat_ticks(score, signature);
        let from = ((first - start) / step).floor().max(0.0);
        let until = if next <= end { ((next - start) / step).ceil() } else { ((end - start) / step).floor() + 1.0 };
        if until <= from || start > end {
            continue;
        }
        if until - from + beats.len() as f64 > MAX_BEATS {
            let cause = format!("it has more than {MAX_BEATS} beats");
            return Err(Error::unsuitable("the score", cause, "choose a format without beats, such as csv"));
        }
        beats.extend((from as u64..until as u64).map(|beat| {
            let tick = start + beat as f64 * step;
            let score_s = score.tempo.tick_to_seconds(tick);
            Beat {
                tick,
                // A thousandth of a tick further: rounding must not put a downbeat into the bar before.
                bar: score.meter.position(tick + 1e-3).bar,
                number: (beat % u64::from(signature.numerator)) as u32 + 1,
                signature,
                score_s,
                performance_s: input.alignment.warp.at(score_s),
            }
        }));
    }
    Ok(beats)
}

/// Ticks of a quarter note, as the meter counts them.
pub fn ticks_per_quarter(score: &Score) -> f64 {
    match score.tempo.division() {
        Division::PerBeat(ticks) => f64::from(ticks),
        Division::PerSecond(_) => {
            let quarters = score.meter.position(1.0).quarters;
            if quarters > 0.0 { 1.0 / quarters } else { score.tempo.beat_to_tick(1.0) }
        }
    }
}

fn beat_ticks(score: &Score, signature: TimeSignature) -> f64 {
    (4.0 * ticks_per_quarter(score) / f64::from(signature.denominator)).max(1.0)
}

/// A fraction of a whole note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeNotes {
    /// Numerator of the reduced fraction.
    pub numerator: u64,
    /// Denominator of the reduced fraction, at least 1.
    pub denominator: u64,
}

/// Quarter notes as a reduced fraction of a whole note; exact for what falls on ticks.
pub fn whole_notes(score: &Score, quarters: f64) -> WholeNotes {
    let grid = match score.tempo.division() {
        Division::PerBeat(ticks) => f64::from(ticks),
        Division::PerSecond(_) => 480.0,
    };
    let (numerator, denominator) = ((quarters * grid).round().max(0.0) as u64, 4 * grid as u64);
    let divisor = greatest_common_divisor(numerator, denominator);
    WholeNotes { numerator: numerator / divisor, denominator: denominator / divisor }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::test_piece;

    #[test]
    fn beats_follow_the_time_signatures_and_count_bars() {
        let piece = test_piece::piece();
        let found = beats(&piece.input()).unwrap();
        let counted: Vec<(u32, u32, u16)> = found.iter().map(|b| (b.bar, b.number, b.signature.denominator)).collect();
        assert_eq!(
            counted,
            [
                (1, 1, 4),
                (1, 2, 4),
                (1, 3, 4),
                (2, 1, 8),
                (2, 2, 8),
                (2, 3, 8),
                (2, 4, 8),
                (2, 5, 8),
                (2, 6, 8),
                (3, 1, 8)
            ]
        );
        assert!(found.windows(2).all(|pair| pair[0].performance_s < pair[1].performance_s));
    }

    #[test]
    fn onsets_name_place_and_notes() {
        let piece = test_piece::piece();
        let found = onsets(&piece.input());
        assert_eq!(found[0].label(&piece.score), "1:1 C4 E4");
        assert_eq!(found[1].label(&piece.score), "1:2.5 Bb4");
        assert_eq!(found.iter().map(|onset| onset.notes.len()).sum::<usize>(), piece.score.notes.len());
    }

    #[test]
    fn fractions_are_reduced() {
        let piece = test_piece::piece();
        let fraction = |quarters| {
            let found = whole_notes(&piece.score, quarters);
            (found.numerator, found.denominator)
        };
        assert_eq!(
            (fraction(0.0), fraction(1.0), fraction(1.5), fraction(1.0 / 3.0)),
            ((0, 1), (1, 4), (3, 8), (1, 12))
        );
    }
}
