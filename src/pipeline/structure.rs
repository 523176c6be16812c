//! Which sections of the score were played: repeats left out, cuts, sections played once more than written. The engine's jumps
//! propose; the onsets decide.

use std::ops::Range;

use crate::alignment::Warp;
use crate::alignment::gdtw::{Coverage, FreeJumps, JumpOption, Structure, StructureParams, find_structure};
use crate::error::Result;
use crate::job::JobContext;
use crate::onsets::Placed;
use crate::score::Score;
use crate::start::{self, LogSpectrum, Start};

use super::reading::Reading;
use super::repeats::shortcuts;

/// What leaving a repeat out costs, in the unit of the engine: as much as some seconds of misfit.
const REPEAT_COST: f64 = 1.5;
/// What any other jump costs, and what it costs besides to leave or to land elsewhere than at a bar line.
const JUMP_COST: (f64, f64) = (2.0, 0.7);
/// What a second of the recording costs that belongs to no part of the score, at its start or end.
const OUTSIDE_PRICE: f64 = 1.1;
/// The search looks at half a second at a time, and at more in recordings that would have more frames than this.
const FRAME_S: f64 = 0.5;
const MOST_FRAMES: f64 = 2400.0;
/// How much lower the objective of the onsets must be: what about ten clear onsets are worth.
const CLEAR_GAIN: f64 = 30.0;
/// How much lower the cost of the rough start must be without repeats that were left out, times their share of the score. In fast
/// music any onset finds something, so that the onsets do not tell: there the sound as a whole does.
const CLEAR_START_GAIN: f64 = 0.08;
/// An onset speaks for a reading by what it has above this share of a typical one: so much any onset finds somewhere.
const UNHEARD_SHARE: f64 = 0.5;
/// In longer recordings no other reading is looked for: a lost passage would be taken for a cut.
const LONGEST_S: f64 = 1200.0;
/// Shorter sections are no sections.
const SHORTEST_S: f64 = 5.0;

/// A reading that the recording suggests.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub reading: Reading,
    /// The rough start of the score as it would have been played.
    pub start: Start,
    /// Repeats of the score that a reading may leave out.
    pub repeats: Vec<Range<f64>>,
    /// Whether all it does is to leave out some of them, and the rough start is clearly better for it.
    is_clear_from_start: bool,
}

impl Proposal {
    /// Whether to believe it, given its onsets and those of the best reading so far.
    pub(super) fn is_believed(&self, placed: &Placed, best: &Placed) -> bool {
        self.is_clear_from_start || is_clearly_better(placed, best)
    }
}

/// Looks for readings other than the score as written.
pub(super) fn propose(
    ctx: &JobContext,
    recording: &LogSpectrum,
    score: &Score,
    straight: &Start,
) -> Result<Vec<Proposal>> {
    let repeats: Vec<Range<f64>> = shortcuts(score).iter().map(|cut| cut.from_s..cut.to_s).collect();
    let written_s = score.end_s() - score.first_onset_s();
    let optional_s: f64 = repeats.iter().map(|cut| cut.end - cut.start).sum();
    let options: Vec<JumpOption> = repeats
        .iter()
        .map(|cut| JumpOption {
            from_s: cut.start,
            to_s: cut.end,
            cost: REPEAT_COST,
            label: "repeat left out".to_owned(),
        })
        .collect();
    let last_tick = score.notes.last().map_or(0, |note| note.onset_tick);
    let bars = score.meter.bar_ticks_until(last_tick);
    let bars: Vec<f64> = bars.iter().map(|&tick| score.tempo.tick_to_seconds(tick as f64)).collect();
    let heard_s = recording.frames() as f64 * recording.hop_s;
    if heard_s > LONGEST_S {
        return Ok(Vec::new());
    }
    let span = (straight.warp.at(straight.covered_s.0), straight.warp.at(straight.covered_s.1));
    let played_s = (span.1 - span.0).max(1.0);
    let mut ratios = vec![typical_slope(&straight.warp), straight.warp.mean_slope()];
    if optional_s > 0.0 {
        let lengths = [written_s - 0.5 * optional_s, (written_s - optional_s).max(0.1 * written_s)];
        ratios.extend(lengths.map(|length| played_s / length));
    }
    // A score drawn many times slower than it can have been played would only take memory.
    let least = 0.25 * straight.warp.mean_slope();
    ratios.retain(|ratio| ratio.is_finite() && *ratio > 0.0 && (least..16.0 * least).contains(ratio));
    // The search tolerates half to double tempo: ratios that hardly differ find the same.
    ratios.dedup_by(|next, ratio| (next.ln() - ratio.ln()).abs() < 0.05);
    let mut tried: Vec<Vec<Range<f64>>> = Vec::new();
    let mut proposals = Vec::new();
    for ratio in ratios {
        let (written, heard) = start::compared(recording, score, ratio, (0.0, heard_s));
        let params = StructureParams {
            frame_s: FRAME_S.max(heard_s / MOST_FRAMES),
            nominal_slope: ratio,
            coverage: Coverage::PartOfBoth(OUTSIDE_PRICE),
            free_jumps: Some(FreeJumps { cost: JUMP_COST.0, places_s: &bars, elsewhere: JUMP_COST.1 }),
            ..StructureParams::default()
        };
        let Ok(structure) = find_structure(&ctx.quiet(), &written.signal()?, &heard.signal()?, &options, &params)
        else {
            // Impossible at this tempo: then nothing is proposed.
            ctx.check()?;
            continue;
        };
        let sections = sections(&structure, score, &bars, 0.5 * params.frame_s / ratio);
        if sections.len() < 2 || tried.contains(&sections) {
            continue;
        }
        let reading = Reading::new(score, &sections);
        let left_out = left_out(&sections, &repeats);
        tried.push(sections);
        if reading.score.notes.len() < 2 {
            continue;
        }
        let start = start::find(&ctx.quiet(), recording, &reading.score)?;
        let is_clear_from_start = left_out.is_some_and(|left_out_s| {
            start.cost < straight.cost - CLEAR_START_GAIN * left_out_s / written_s.max(f64::MIN_POSITIVE)
        });
        proposals.push(Proposal { reading, start, repeats: repeats.clone(), is_clear_from_start });
    }
    Ok(proposals)
}

/// The slope that a warp has over half of the score: a stretch that was cut or played twice does not count for much.
fn typical_slope(warp: &Warp) -> f64 {
    const PARTS: usize = 64;
    let (first, last) = (warp.score_s()[0], warp.score_s()[warp.score_s().len() - 1]);
    let at = |part: usize| warp.at(first + (last - first) * part as f64 / PARTS as f64);
    let mut rises: Vec<f64> = (0..PARTS).map(|part| at(part + 1) - at(part)).collect();
    rises.sort_by(f64::total_cmp);
    rises[PARTS / 2] * PARTS as f64 / (last - first)
}

/// How much of the score is left out between sections, if all of it is repeats.
fn left_out(sections: &[Range<f64>], repeats: &[Range<f64>]) -> Option<f64> {
    const SAME_S: f64 = 0.1;
    let near = |a: f64, b: f64| (a - b).abs() < SAME_S;
    let mut sum = 0.0;
    for pair in sections.windows(2) {
        let (from, to) = (pair[0].end, pair[1].start);
        if !repeats.iter().any(|repeat| near(repeat.start, from) && near(repeat.end, to)) {
            return None;
        }
        sum += to - from;
    }
    Some(sum)
}

/// Whether the onsets speak for a reading against another one.
fn is_clearly_better(other: &Placed, than: &Placed) -> bool {
    let typical = -other.objective / other.chords.len().max(1) as f64;
    let price = UNHEARD_SHARE * typical.max(0.0);
    let worth = |placed: &Placed| placed.objective + price * placed.chords.len() as f64;
    worth(other) < worth(than) - CLEAR_GAIN
}

/// The sections of a structure, each beginning and ending at a bar line if one is near, else at an onset.
fn sections(structure: &Structure, score: &Score, bars: &[f64], near_s: f64) -> Vec<Range<f64>> {
    let snap = |second: f64| {
        let nearest = |places: &mut dyn Iterator<Item = f64>| {
            places.min_by(|a, b| (a - second).abs().total_cmp(&(b - second).abs()))
        };
        let bar = nearest(&mut bars.iter().copied()).filter(|bar| (bar - second).abs() <= near_s);
        bar.or_else(|| nearest(&mut score.notes.iter().map(|note| note.onset_s))).unwrap_or(second)
    };
    let mut sections: Vec<Range<f64>> = structure.sections.iter().map(|section| section.score_s.clone()).collect();
    let end_s = score.end_s();
    // What the recording leaves out at the start or the end of the score is not a question of structure.
    let count = sections.len();
    for index in 0..count {
        let last = index + 1 == count && sections[..index].iter().all(|section| section.end < end_s - SHORTEST_S);
        let ends = last || sections[index].end > end_s - SHORTEST_S;
        let section = &mut sections[index];
        section.start = if index == 0 { 0.0 } else { snap(section.start) };
        section.end = if ends { end_s } else { snap(section.end) };
    }
    sections.retain(|section| section.end - section.start >= SHORTEST_S);
    sections.dedup_by(|next, section| {
        let goes_on = (next.start - section.end).abs() < near_s;
        if goes_on {
            section.end = next.end;
        }
        goes_on
    });
    sections
}

#[cfg(test)]
#[path = "structure_tests.rs"]
mod tests;
