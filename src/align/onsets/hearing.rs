//! What an ear's evidence says of each onset and of the passage round it: the features of its confidence.

use std::ops::Range;

use crate::align::heard::Heard;
use crate::features::LOWEST_SEMITONE;

use super::chord::Chord;

/// What was heard where an onset was placed and round it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hearing {
    /// Evidence that the chord's pitches begin here, on average.
    pub here: f64,
    /// That less the best of another moment near by that no other chord explains.
    pub margin: f64,
    /// Share of the pitches in the passage that are not heard to begin.
    pub unheard: f64,
    /// Share of the notes heard in the passage that the score does not have there.
    pub extra: f64,
    /// How much the logarithm of the tempo changes from onset to onset of the passage, on average.
    pub unsteady: f64,
    /// Seconds between the first and the last note of the chord.
    pub spread_s: f64,
    /// Seconds between it and the rough start.
    pub astray_s: f64,
    /// How much that differs from the onset before or the next one.
    pub bend_s: f64,
}

impl Hearing {
    /// Odds that the onset is right to within 50 ms, as a logarithm; `tempo` is as in [`super::Support`].
    pub(super) fn odds(&self, tempo: f64) -> f64 {
        let odds: f64 = self.clues(tempo).iter().zip(WEIGHTS).map(|(clue, weight)| clue * weight).sum();
        odds.min(MOST_ODDS)
    }

    /// What the odds are a weighted sum of, as [`ONSET_CLUES`] names them.
    pub(in crate::align) fn clues(&self, tempo: f64) -> [f64; ONSET_CLUES.len()] {
        [
            1.0,
            self.here.min(MOST_EVIDENCE),
            self.margin.clamp(-4.0, 4.0),
            self.unheard,
            self.extra,
            self.unsteady.min(1.5),
            tempo.min(1.5),
            self.spread_s.min(0.3),
            self.astray_s.min(0.5),
            self.bend_s.min(0.5),
        ]
    }
}

/// What tells whether an onset is right.
pub const ONSET_CLUES: [&str; 10] =
    ["always", "here", "margin", "unheard", "extra", "unsteady", "tempo", "spread", "astray", "bend"];
/// A logistic regression on 7,469 onsets of 18 recordings that no ear learned from: real pianos, rendered ones with cadenzas,
/// trills and wrong notes, and other instruments. The example `fit_judgement` makes it.
const WEIGHTS: [f64; ONSET_CLUES.len()] = [4.50, 0.50, 0.47, -1.89, -1.63, -2.46, -1.80, -21.3, -5.4, -3.3];

/// More evidence than this says no more.
const MOST_EVIDENCE: f64 = 6.0;
/// Even the clearest onset is another's now and then, such as in a trill.
const MOST_ODDS: f64 = 5.5;
/// Onsets to either side that make the passage.
const RUN: usize = 8;
/// Frames to either side in which a pitch begins with its chord: 23 ms.
const TOGETHER: usize = 2;
/// Other moments are looked for between so many frames from the onset: 58 ms to 0.3 s.
const ELSEWHERE: Range<usize> = 5..26;
/// Odds of a pitch below which it is not heard to begin.
const LEAST_ODDS: f32 = -1.0;
/// A note that is heard so near to a chord with its pitch is that chord's.
const EXPLAINED_S: f64 = 0.07;
/// Notes heard within this of an onset are of its passage.
const PASSAGE_S: f64 = 1.0;
/// Keeps the tempo between two onsets finite.
const EPSILON_S: f64 = 0.03;

/// What is heard of chords at their times. `expected` are times at the tempo expected, `rough` those of the rough start, `notes`
/// the onsets of the chords' notes, chord by chord.
pub(super) fn hearing(
    heard: &Heard,
    chords: &[Chord],
    times: &[f64],
    expected: &[f64],
    rough: &[f64],
    notes: &[(usize, f64)],
) -> Vec<Hearing> {
    let count = chords.len();
    let tempo = |to: usize| {
        let wanted = (expected[to] - expected[to - 1]).max(0.0);
        ((times[to] - times[to - 1] + EPSILON_S) / (wanted + EPSILON_S)).ln()
    };
    let jump = |at: usize| if at == 0 || at + 1 >= count { 0.0 } else { (tempo(at + 1) - tempo(at)).abs() };
    let jumps: Vec<f64> = (0..count).map(jump).collect();
    let alone: Vec<Alone> = (0..count).map(|index| alone(heard, chords, times, index)).collect();
    let unheard: Vec<f64> = alone.iter().map(|alone| alone.unheard).collect();
    let (extra, all) = extra_notes(heard, chords, times);
    let astray = |index: usize| times[index] - rough[index];
    let mut placed = notes.iter();
    (0..count)
        .map(|index| {
            let run = index.saturating_sub(RUN)..(index + RUN + 1).min(count);
            let mean = |values: &[f64]| values[run.clone()].iter().sum::<f64>() / run.len() as f64;
            let passage = |onsets: &[f64]| {
                let before = onsets.partition_point(|&onset| onset < times[index] - PASSAGE_S);
                (onsets.partition_point(|&onset| onset <= times[index] + PASSAGE_S) - before) as f64
            };
            let own = placed.by_ref().take(chords[index].notes.len()).map(|note| note.1);
            let (first, last) = own.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
            let neighbours = index.saturating_sub(1)..(index + 2).min(count);
            Hearing {
                here: alone[index].here,
                margin: alone[index].here - alone[index].elsewhere,
                unheard: mean(&unheard),
                extra: passage(&extra) / (passage(&all) + 2.0),
                unsteady: mean(&jumps),
                spread_s: (last - first).max(0.0),
                astray_s: astray(index).abs(),
                bend_s: neighbours.map(|other| (astray(other) - astray(index)).abs()).fold(0.0, f64::max),
            }
        })
        .collect()
}

/// What is heard of one chord, without its passage.
struct Alone {
    here: f64,
    elsewhere: f64,
    unheard: f64,
}

fn alone(heard: &Heard, chords: &[Chord], times: &[f64], index: usize) -> Alone {
    let bands = &chords[index].bands;
    let (at, notes) = (frame(times[index]), bands.len().max(1) as f64);
    let pitches = || bands.iter().map(|&band| pitch_of(band));
    let around = |middle: usize, reach: usize| middle.saturating_sub(reach)..=middle + reach;
    let evidence = |middle: usize, reach: usize| {
        let of = |pitch: u8| around(middle, reach).map(|f| heard.evidence(pitch, f)).fold(0.0, f32::max);
        pitches().map(|pitch| f64::from(of(pitch))).sum::<f64>() / notes
    };
    let is_unheard = |&pitch: &u8| around(at, TOGETHER).all(|f| heard.at(pitch, f).begins < LEAST_ODDS);
    // Chords near by that share a pitch explain what is heard of it.
    let reach = ELSEWHERE.end + ELSEWHERE.start;
    let before = (0..index).rev().take_while(|&other| frame(times[other]) + reach >= at);
    let after = (index + 1..times.len()).take_while(|&other| frame(times[other]) <= at + reach);
    let others: Vec<usize> = before
        .chain(after)
        .filter(|&other| chords[other].bands.iter().any(|band| bands.contains(band)))
        .map(|other| frame(times[other]))
        .collect();
    let elsewhere = ELSEWHERE.flat_map(|away| [at.checked_sub(away), Some(at + away)]).flatten();
    let free = elsewhere.filter(|&f| others.iter().all(|&other| other.abs_diff(f) >= ELSEWHERE.start));
    Alone {
        here: evidence(at, TOGETHER),
        elsewhere: free.map(|f| evidence(f, 1)).fold(0.0, f64::max),
        unheard: pitches().filter(is_unheard).count() as f64 / notes,
    }
}

/// Onsets of the notes that were heard and that no chord explains, and of all that were heard; both in order.
fn extra_notes(heard: &Heard, chords: &[Chord], times: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut explained = vec![Vec::new(); 128];
    for (chord, &time) in chords.iter().zip(times) {
        chord.bands.iter().for_each(|&band| explained[usize::from(pitch_of(band) & 127)].push(time));
    }
    let (mut extra, mut all) = (Vec::new(), Vec::new());
    for note in heard.notes() {
        let near = &explained[usize::from(note.pitch & 127)];
        let first = near.partition_point(|&time| time < note.onset_s - EXPLAINED_S);
        if near.get(first).is_none_or(|&time| time > note.onset_s + EXPLAINED_S) {
            extra.push(note.onset_s);
        }
        all.push(note.onset_s);
    }
    extra.sort_by(f64::total_cmp);
    all.sort_by(f64::total_cmp);
    (extra, all)
}

fn frame(time_s: f64) -> usize {
    (time_s / Heard::step_s()).round().max(0.0) as usize
}

fn pitch_of(band: usize) -> u8 {
    (LOWEST_SEMITONE + band) as u8
}
