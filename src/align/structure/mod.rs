//! Which sections of the score were played: repeats left out, cuts, sections played once more than written. The engine's jumps
//! propose; the onsets decide.

mod paths;
mod reading;
mod repeats;

use std::ops::Range;

use crate::align::onsets::Placed;
use crate::align::start::{self, LogSpectrum, Start};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::score::Score;
use crate::warping::Warp;
use crate::warping::gdtw::{Coverage, FreeJumps, JumpOption, Structure, StructureParams, find_structure};

pub(super) use paths::{asked, choose, played_sections, reading_along};
pub(super) use reading::Reading;
use repeats::shortcuts;

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
/// How much lower a jump must make the cost of the rough start, times the share of the score that it leaves out or plays again. What
/// is left out is decided by this alone: in fast music any onset finds something. (Made cuts and repeats not played brought 0.115
/// and more, a variation played much faster than written 0.098.) What is played again must be confirmed by the onsets, too.
const CLEAR_START_GAIN: (f64, f64) = (0.105, 0.05);
/// An onset speaks for a reading by what it has above this share of a typical one: so much any onset finds somewhere.
const UNHEARD_SHARE: f64 = 0.5;
/// A structure with more jumps than this is the search being lost.
const MOST_JUMPS: usize = 5;
/// Over this much of the score 93 performances as written were at 0.55 to 2.7 times their typical tempo, but for two that had long
/// pauses; those with cuts at less than 0.05, those with sections played again at 3.7 and more.
const TEMPO_SPAN_S: f64 = 3.0;
const TEMPO_RANGE: (f64, f64) = (0.3, 3.2);
/// This much of the recording may lie before or behind the score.
const OUTSIDE_S: f64 = 8.0;
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
    /// Whether all it does is to leave something out.
    only_leaves_out: bool,
    /// Whether the user asked for it.
    is_asked: bool,
}

impl Proposal {
    /// What the user asks for.
    pub(super) fn asked(reading: Reading, start: Start) -> Self {
        Self { reading, start, repeats: Vec::new(), only_leaves_out: true, is_asked: true }
    }

    /// Whether its rough start is clearly better than that of another one, so much as a part of the score that it leaves out must be worth.
    pub(super) fn fits_better(&self, than: &Self) -> bool {
        self.start.cost < than.start.cost - CLEAR_START_GAIN.0 * self.reading.share_changed()
    }

    /// Whether the user knows it already.
    pub(super) fn is_asked(&self) -> bool {
        self.is_asked
    }

    /// Whether to believe it, given its onsets and those of the best reading so far.
    pub(super) fn is_believed(&self, placed: &Placed, best: &Placed) -> bool {
        self.only_leaves_out || is_clearly_better(placed, best)
    }
}

/// Whether a warp leaves nothing to explain.
pub(super) fn explains(recording: &LogSpectrum, warp: &Warp) -> bool {
    is_whole(warp, recording.frames() as f64 * recording.hop_s)
}

/// Whether a rough start holds the score from its beginning to its end.
pub(super) fn covers(start: &Start, score: &Score) -> bool {
    let last_s = score.notes.last().map_or(0.0, |note| note.onset_s);
    start.covered_s.0 <= score.first_onset_s() + SHORTEST_S && start.covered_s.1 >= last_s - SHORTEST_S
}

/// Looks for readings other than the score as written, whose rough start is `straight`.
pub(super) fn propose(
    ctx: &JobContext,
    recording: &LogSpectrum,
    score: &Score,
    straight: &Start,
) -> Result<Vec<Proposal>> {
    let heard_s = recording.frames() as f64 * recording.hop_s;
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
    let mut candidates: Vec<Candidate> = Vec::new();
    for ratio in ratios {
        let (written, heard) = start::compared(recording, score, ratio);
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
        if !(2..=MOST_JUMPS + 1).contains(&sections.len()) {
            continue;
        }
        let Some(found) = without_idle_jumps(ctx, recording, score, sections)? else { continue };
        if found.sections.len() < 2 || found.cost >= straight.cost {
            continue;
        }
        match candidates.iter_mut().find(|candidate| alike(&candidate.sections, &found.sections)) {
            Some(same) if found.cost < same.cost => *same = found,
            Some(_) => {}
            None => candidates.push(found),
        }
    }
    let propose = |candidate: Candidate| {
        let start = start::find(&ctx.quiet(), recording, &candidate.reading.score)?;
        let only_leaves_out = candidate.sections.windows(2).all(|pair| pair[1].start > pair[0].end);
        Ok(Proposal { reading: candidate.reading, start, repeats: repeats.clone(), only_leaves_out, is_asked: false })
    };
    candidates.into_iter().map(propose).collect()
}

/// Whether a warp uses all of the recording and all of the score, at a tempo that music may have. What was not played is hurried
/// through, what was played besides is waited for.
fn is_whole(warp: &Warp, heard_s: f64) -> bool {
    let (score_s, performance_s) = (warp.score_s(), warp.performance_s());
    let slope = |first: usize| {
        let last = score_s.partition_point(|&s| s < score_s[first] + TEMPO_SPAN_S);
        (last < score_s.len()).then(|| (performance_s[last] - performance_s[first]) / (score_s[last] - score_s[first]))
    };
    let mut slopes: Vec<f64> = (0..score_s.len()).filter_map(slope).collect();
    slopes.sort_by(f64::total_cmp);
    let Some(typical) = slopes.get(slopes.len() / 2) else { return false };
    let musical = TEMPO_RANGE.0 * typical..TEMPO_RANGE.1 * typical;
    let outside_s = performance_s[0].max(heard_s - performance_s[performance_s.len() - 1]);
    musical.contains(&slopes[0]) && musical.contains(&slopes[slopes.len() - 1]) && outside_s < OUTSIDE_S
}

/// A reading with how well it fits.
struct Candidate {
    sections: Vec<Range<f64>>,
    reading: Reading,
    /// That of the rough start.
    cost: f64,
}

/// The reading without those jumps that the rough start is not clearly better for; none if there is nothing to play.
fn without_idle_jumps(
    ctx: &JobContext,
    recording: &LogSpectrum,
    score: &Score,
    sections: Vec<Range<f64>>,
) -> Result<Option<Candidate>> {
    let candidate = |sections: Vec<Range<f64>>| -> Result<Option<Candidate>> {
        let reading = Reading::new(score, &sections);
        if reading.score.notes.len() < 2 {
            return Ok(None);
        }
        let cost = start::glance(&ctx.quiet(), recording, &reading.score)?.cost;
        Ok(Some(Candidate { sections, reading, cost }))
    };
    let Some(mut best) = candidate(sections)? else { return Ok(None) };
    let written_s = (score.end_s() - score.first_onset_s()).max(f64::MIN_POSITIVE);
    let mut jump = 0;
    while jump + 1 < best.sections.len() {
        let mut sections = best.sections.clone();
        let share = (sections[jump + 1].start - sections[jump].end) / written_s;
        let gain = if share > 0.0 { CLEAR_START_GAIN.0 * share } else { -CLEAR_START_GAIN.1 * share };
        sections[jump].end = sections[jump + 1].end;
        sections.remove(jump + 1);
        let is_one = sections[jump].end - sections[jump].start >= SHORTEST_S;
        match if is_one { candidate(sections)? } else { None } {
            Some(without) if without.cost <= best.cost + gain => best = without,
            _ => jump += 1,
        }
    }
    Ok(Some(best))
}

/// Whether two structures are the same but for where exactly they jump.
fn alike(one: &[Range<f64>], other: &[Range<f64>]) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() < SHORTEST_S;
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| near(a.start, b.start) && near(a.end, b.end))
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
mod tests;
