//! Follows the score through the recording, looking far: where time passes without notes of the score, or notes pass without sound.
//!
//! The rough start compares frames. Where the performance has other notes than the score, a cadenza, a trill, a long fermata, it smears
//! the score over them, and the tempo that it suggests is wrong for seconds on either side. Here every onset of the score is looked for
//! within seconds of the rough start, at the tempo that the whole passage has; what does not fit into that costs a [gap](crate::warping::gaps).

use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::warping::Warp;
use crate::warping::gaps::{GapPrices, follow};
use crate::warping::gdtw::CostTable;

use super::chord::Chord;
use super::coarse::CoarseEvidence;
use super::solving::Parts;

/// The tempo of a passage is the median over so many seconds of the performance before and after.
const PASSAGE_S: f64 = 4.0;
/// It is looked at this often.
const TEMPO_STEP_S: f64 = 0.25;
/// What following another tempo than that of the passage costs at each onset: that of the rough start just there, or that of the whole.
const OTHER_TEMPO_PRICE: f64 = 1.0;
/// Nobody plays so many onsets in a row with less than this between them: they are small notes, written without a measure. …
const UNPLAYABLE_S: f64 = 0.025;
const SMALL_NOTES: usize = 8;
/// … Then each may take about this long.
const SMALL_NOTE_S: f64 = 0.1;
/// The tempo of what was found is smoothed over this much of the performance.
const SMOOTHING_S: f64 = 0.75;

/// Where the onsets were found, to a coarse frame, and what is to be expected of the intervals between them.
pub(super) struct Way {
    /// By knot.
    pub times: Vec<f64>,
    /// The interval expected behind each knot but the last.
    pub intervals_s: Vec<f64>,
    /// What the gaps cost.
    pub gap_cost: f64,
}

impl Way {
    /// As the rough start says.
    pub fn of_rough(chords: &[Chord], centre: &Warp, tempo: &Warp) -> Self {
        let intervals = |pair: &[Chord]| tempo.at(pair[1].onset_s) - tempo.at(pair[0].onset_s);
        Self {
            times: chords.iter().map(|chord| centre.at(chord.onset_s)).collect(),
            intervals_s: chords.windows(2).map(intervals).collect(),
            gap_cost: 0.0,
        }
    }
}

/// Follows the score through the recording, at most `reach_s` from the rough start.
pub(super) fn way(ctx: &JobContext, parts: &Parts<'_>) -> Result<Way> {
    let Parts { chords, rough, params, .. } = parts;
    let straight = Way::of_rough(chords, rough.centre, rough.tempo);
    let steady: Vec<f64> = passage_intervals(chords, rough.tempo);
    let slopes = chords.windows(2).zip(&steady).map(|(pair, steady)| steady / (pair[1].onset_s - pair[0].onset_s));
    let typical = super::median(slopes.collect()).unwrap_or_else(|| rough.tempo.mean_slope());
    let is_unmeasured = unmeasured(&steady);
    let step = CoarseEvidence::step_s();
    let prices = GapPrices {
        open: params.gap_price as f32,
        knot: params.left_out_price as f32,
        step: (params.gap_second_price * step) as f32,
    };
    let edge = |segment: usize, costs: &mut Vec<f32>| {
        let whole = typical * (chords[segment + 1].onset_s - chords[segment].onset_s);
        let price = OTHER_TEMPO_PRICE;
        let free = if is_unmeasured[segment] { SMALL_NOTE_S } else { steady[segment] };
        let references = [(steady[segment], 0.0), (straight.intervals_s[segment], price), (whole, price), (free, 0.0)];
        let widest = references.iter().map(|&(reference, price)| {
            // Where the linear part of the penalty reaches the price of a gap.
            let z = (params.gap_price - price).max(0.0) / params.delta + 0.5 * params.delta;
            (reference + params.epsilon_s) * (params.sigma * z).exp() - params.epsilon_s
        });
        let band = 2.0 * params.reach_s + straight.times[segment + 1] - straight.times[segment];
        let most = (widest.fold(0.0, f64::max).min(band) / step).ceil() as usize;
        let cost = |steps: usize| {
            let penalty =
                |&(reference, price): &(f64, f64)| price + params.tempo_penalty(steps as f64 * step, reference);
            references.iter().map(penalty).fold(f64::INFINITY, f64::min) as f32
        };
        costs.extend((0..=most).map(cost));
    };
    let is_held = |knot: usize| parts.fixed.binary_search_by_key(&knot, |fixed| fixed.0).is_ok();
    let followed = follow(ctx, &table(ctx, parts, &straight.times)?, edge, is_held, prices)?;
    let found: Vec<Option<f64>> = followed.at.iter().map(|at| at.map(|frame| (frame as f64 + 0.5) * step)).collect();
    if !followed.cost.is_finite() || found.iter().flatten().count() < 2 {
        return Ok(straight);
    }
    let times = between(&found, &straight.times);
    let left_out = found.iter().filter(|time| time.is_none()).count();
    let gap_cost = params.gap_price * followed.behind_gaps.len() as f64 + params.left_out_price * left_out as f64;
    let is_own = |segment: usize| {
        let found_s = times[segment + 1] - times[segment];
        let ratio = (found_s + params.epsilon_s) / (steady[segment] + params.epsilon_s);
        let is_behind_gap = followed.behind_gaps.binary_search(&(segment + 1)).is_ok();
        is_unmeasured[segment] || is_behind_gap || ratio.ln().abs() > params.delta * params.sigma
    };
    let intervals_s = expected_intervals(chords, &times, &steady, is_own)?;
    Ok(Way { times, intervals_s, gap_cost })
}

/// Costs of the knots within reach of the rough start.
fn table(ctx: &JobContext, parts: &Parts<'_>, centre: &[f64]) -> Result<CostTable> {
    let coarse = CoarseEvidence::of(parts.evidence, &parts.patterns);
    let (step, last) = (CoarseEvidence::step_s(), coarse.frames() - 1);
    let frame = |time: f64| ((time / step).floor().max(0.0) as usize).min(last);
    let mut table = CostTable::new(0.0, step)?;
    for (knot, (pattern, &middle)) in parts.patterns.iter().zip(centre).enumerate() {
        if knot.is_multiple_of(256) {
            ctx.check()?;
        }
        let reach = parts.params.reach_s;
        let fixed = parts.fixed.binary_search_by_key(&knot, |fixed| fixed.0).ok().map(|at| parts.fixed[at].1);
        let (low, high) = fixed.map_or((frame(middle - reach), frame(middle + reach)), |at| (frame(at), frame(at)));
        let costs: Vec<f32> = coarse.row(low..high + 1, pattern).into_iter().map(|value| -value).collect();
        table.push_row(low, &costs)?;
    }
    Ok(table)
}

/// The interval behind each chord at the tempo of its passage: the median of what a warp has round it.
fn passage_intervals(chords: &[Chord], tempo: &Warp) -> Vec<f64> {
    let (first, last) = (chords[0].onset_s, chords[chords.len() - 1].onset_s);
    let ratio = tempo.mean_slope().max(f64::MIN_POSITIVE);
    let count = (((last - first) * ratio / TEMPO_STEP_S).ceil().max(1.0)) as usize;
    let step = (last - first) / count as f64;
    let at = |index: usize| first + index as f64 * step;
    let slopes: Vec<f64> = (0..count).map(|k| (tempo.at(at(k + 1)) - tempo.at(at(k))) / step).collect();
    let reach = (PASSAGE_S / TEMPO_STEP_S) as usize;
    let slope = |index: usize| {
        let around = index.saturating_sub(reach)..(index + reach + 1).min(count);
        super::median(slopes[around].to_vec()).unwrap_or(ratio)
    };
    let steady: Vec<f64> = (0..count).map(slope).collect();
    let interval = |pair: &[Chord]| {
        let (from, to) = (pair[0].onset_s, pair[1].onset_s);
        let index = ((0.5 * (from + to) - first) / step) as usize;
        (to - from) * steady[index.min(count - 1)]
    };
    chords.windows(2).map(interval).collect()
}

/// Which intervals are between small notes.
fn unmeasured(steady: &[f64]) -> Vec<bool> {
    let runs = steady.chunk_by(|&a, &b| (a < UNPLAYABLE_S) == (b < UNPLAYABLE_S));
    runs.flat_map(|run| std::iter::repeat_n(run[0] < UNPLAYABLE_S && run.len() >= SMALL_NOTES, run.len())).collect()
}

/// The times of all knots: those that were left out lie between those that were found as they do in `rough`.
fn between(found: &[Option<f64>], rough: &[f64]) -> Vec<f64> {
    let known: Vec<usize> = (0..found.len()).filter(|&knot| found[knot].is_some()).collect();
    let time = |knot: usize| found[knot].unwrap_or(rough[knot]);
    let (first, last) = (known[0], known[known.len() - 1]);
    let place = |knot: usize| {
        if found[knot].is_some() {
            return time(knot);
        }
        let next = known.partition_point(|&other| other < knot);
        if next == 0 {
            return (time(first) - (rough[first] - rough[knot])).max(0.0);
        }
        if next == known.len() {
            return time(last) + rough[knot] - rough[last];
        }
        let (a, b) = (known[next - 1], known[next]);
        let span = rough[b] - rough[a];
        let share = if span > 0.0 { (rough[knot] - rough[a]) / span } else { (knot - a) as f64 / (b - a) as f64 };
        time(a) + share * (time(b) - time(a))
    };
    (0..found.len()).map(place).collect()
}

/// The intervals to be expected: those that were found, smoothed. One that is all its own, in a gap or far from the tempo of its passage, is
/// expected as it was found, and says nothing of its neighbours.
fn expected_intervals(
    chords: &[Chord],
    times: &[f64],
    steady: &[f64],
    is_own: impl Fn(usize) -> bool,
) -> Result<Vec<f64>> {
    let found = |segment: usize| (times[segment + 1] - times[segment]).max(0.0);
    let mut played = vec![0.0];
    for (segment, &steady) in steady.iter().enumerate() {
        played.push(played[segment] + if is_own(segment) { steady } else { found(segment) });
    }
    let warp = Warp::new(chords.iter().map(|chord| chord.onset_s).collect(), played)?;
    let smooth = warp.smoothed(SMOOTHING_S / warp.mean_slope().max(f64::MIN_POSITIVE));
    let expected = |segment: usize| smooth.at(chords[segment + 1].onset_s) - smooth.at(chords[segment].onset_s);
    Ok((0..steady.len()).map(|segment| if is_own(segment) { found(segment) } else { expected(segment) }).collect())
}
