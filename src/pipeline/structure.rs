//! Repeats that the performance leaves out: found by the engine's jumps, believed only if the whole then fits clearly better.

use std::ops::Range;

use crate::alignment::Warp;
use crate::alignment::gdtw::{Coverage, JumpOption, StructureParams, find_structure};
use crate::error::Result;
use crate::job::JobContext;
use crate::onsets::{Chord, Placed};
use crate::score::{Note, Score};
use crate::start::{self, LogSpectrum, Start};

use super::repeats::shortcuts;

/// What leaving a repeat out costs, in the unit of the engine: as much as some seconds of misfit.
const JUMP_COST: f64 = 1.5;
/// How much lower the cost of the rough start must be without what was left out, times its share of the score.
const CLEAR_GAIN: f64 = 0.08;

/// The score without what was not played.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    /// The score as it was played: later notes move up.
    pub score: Score,
    /// The rough start of that score.
    pub start: Start,
    /// What was left out, in seconds of the score as written, in order.
    skipped: Vec<Range<f64>>,
    /// For each note of the score as played its index in the score as written.
    written: Vec<usize>,
}

/// Looks for a reading that leaves repeats out; none if the score has no repeats or was played as written.
pub(super) fn find(
    ctx: &JobContext,
    recording: &LogSpectrum,
    score: &Score,
    straight: &Start,
) -> Result<Option<Reading>> {
    let shortcuts = shortcuts(score);
    let written_s = score.end_s() - score.first_onset_s();
    let optional_s: f64 = shortcuts.iter().map(|cut| cut.to_s - cut.from_s).sum();
    let options: Vec<JumpOption> = shortcuts
        .iter()
        .map(|cut| JumpOption {
            from_s: cut.from_s,
            to_s: cut.to_s,
            cost: JUMP_COST,
            label: "repeat left out".to_owned(),
        })
        .collect();
    if options.is_empty() {
        return Ok(None);
    }
    let span = (straight.warp.at(straight.covered_s.0), straight.warp.at(straight.covered_s.1));
    let played_s = (span.1 - span.0).max(1.0);
    let mut best: Option<Reading> = None;
    for expected_s in [written_s, written_s - 0.5 * optional_s, (written_s - optional_s).max(0.1 * written_s)] {
        let ratio = played_s / expected_s;
        let (written, heard) = start::compared(recording, score, ratio, span);
        let params = StructureParams { nominal_slope: ratio, coverage: Coverage::Part, ..StructureParams::default() };
        let Ok(structure) = find_structure(&ctx.quiet(), &written.signal()?, &heard.signal()?, &options, &params)
        else {
            // Too long to search, or impossible at this tempo: then nothing is proposed.
            ctx.check()?;
            continue;
        };
        let skipped: Vec<Range<f64>> =
            structure.jumps_taken.iter().map(|jump| options[jump.option].from_s..options[jump.option].to_s).collect();
        if skipped.is_empty() || best.as_ref().is_some_and(|best| best.skipped == skipped) {
            continue;
        }
        let (played, written) = without(score, &skipped);
        let start = start::find(&ctx.quiet(), recording, &played)?;
        let share = skipped.iter().map(|cut| cut.end - cut.start).sum::<f64>() / written_s;
        let limit = best.as_ref().map_or(straight.cost - CLEAR_GAIN * share, |best| best.start.cost);
        if start.cost < limit {
            best = Some(Reading { score: played, start, skipped, written });
        }
    }
    Ok(best)
}

/// The score without some stretches, and the index in `score` of each of its notes.
fn without(score: &Score, skipped: &[Range<f64>]) -> (Score, Vec<usize>) {
    const SAME_S: f64 = 1e-6;
    let is_skipped = |note: &Note| skipped.iter().any(|cut| (cut.start..cut.end).contains(&(note.onset_s + SAME_S)));
    let kept: Vec<usize> = (0..score.notes.len()).filter(|&index| !is_skipped(&score.notes[index])).collect();
    let moved = |&index: &usize| {
        let note = score.notes[index];
        let earlier = |time: f64| -> f64 {
            skipped.iter().filter(|cut| cut.end <= time + SAME_S).map(|cut| cut.end - cut.start).sum()
        };
        let shift = earlier(note.onset_s);
        Note { onset_s: note.onset_s - shift, offset_s: note.offset_s - shift, ..note }
    };
    (Score { notes: kept.iter().map(moved).collect(), ..score.clone() }, kept)
}

impl Reading {
    /// A time of the score as played in the score as written.
    fn to_written(&self, played_s: f64) -> f64 {
        let pass = |time: f64, cut: &Range<f64>| {
            if time >= cut.start - 1e-6 { time + cut.end - cut.start } else { time }
        };
        self.skipped.iter().fold(played_s, pass)
    }

    /// The warp of the score as written: it stands still over what was left out.
    pub(super) fn unfold_warp(&self, warp: &Warp) -> Result<Warp> {
        let mut pairs: Vec<(f64, f64)> = warp
            .score_s()
            .iter()
            .zip(warp.performance_s())
            .map(|(&score_s, &performance_s)| (self.to_written(score_s), performance_s))
            .collect();
        let mut before = 0.0;
        for cut in &self.skipped {
            let moment = warp.at(cut.start - before);
            pairs.retain(|pair| !(cut.start..=cut.end).contains(&pair.0));
            pairs.extend([(cut.start, moment), (cut.end, moment)]);
            before += cut.end - cut.start;
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs.dedup_by(|later, earlier| later.0 - earlier.0 < 1e-9);
        let (score_s, performance_s) = pairs.into_iter().unzip();
        Warp::new(score_s, performance_s)
    }

    /// The rough start as one of the score as written.
    pub(super) fn unfold_start(&self) -> Result<Start> {
        let covered_s = (self.to_written(self.start.covered_s.0), self.to_written(self.start.covered_s.1));
        Ok(Start { warp: self.unfold_warp(&self.start.warp)?, covered_s, ..self.start.clone() })
    }

    /// Onsets found in the score as played, as those of the score as written.
    pub(super) fn unfold_placed(&self, placed: Placed) -> Result<Placed> {
        let warp = self.unfold_warp(&placed.warp)?;
        let notes = placed.notes.iter().map(|&(index, onset_s)| (self.written[index], onset_s)).collect();
        let chord = |chord: Chord| {
            // A chord's notes are never parted: all begin at one moment.
            let first = self.written.get(chord.notes.start).copied().unwrap_or(usize::MAX);
            let notes = if chord.notes.is_empty() { 0..0 } else { first..first + chord.notes.len() };
            Chord { onset_s: self.to_written(chord.onset_s), notes, bands: chord.bands }
        };
        Ok(Placed { warp, notes, chords: placed.chords.into_iter().map(chord).collect(), ..placed })
    }

    /// What the user should know.
    pub(super) fn notices(&self, score: &Score) -> Vec<String> {
        let bar = |second: f64| {
            let tick = score.notes.iter().find(|note| note.onset_s >= second - 1e-6).map(|note| note.onset_tick);
            tick.map_or(0, |tick| score.meter.position(tick as f64).bar)
        };
        let tell = |cut: &Range<f64>| {
            let (first, after) = (bar(cut.start), bar(cut.end));
            format!("bars {first} to {} are a repeat that was not played: they are left out", after.max(first + 1) - 1)
        };
        self.skipped.iter().map(tell).collect()
    }
}

#[cfg(test)]
#[path = "structure_tests.rs"]
mod tests;
