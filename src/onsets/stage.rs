//! Puts the onset problem together, solves it, widens the band where the path touches it.

use crate::alignment::Warp;
use crate::alignment::gdtw::{
    CostTable, EdgeCost, FirstGrid, Interpolation, NodeCost, Problem, SolveOptions, Workspace, solve,
};
use crate::error::Result;
use crate::job::JobContext;
use crate::score::Score;
use crate::start::LogSpectrum;

use super::chord::{Chord, chords};
use super::evidence::{Evidence, Pattern};
use super::pattern;
use super::segment::{Mismatch, norms, templates};
use super::support::{Support, support};
use super::voices::{place_notes, vertex};

/// Weights and widths of the onset problem.
#[derive(Debug, Clone, PartialEq)]
pub struct OnsetParams {
    /// Weight of the evidence.
    pub evidence_weight: f64,
    /// Weight of the attack as a whole, per note.
    pub attack_weight: f64,
    /// How much of the neighbouring onsets' partials counts against an onset.
    pub rival_share: f64,
    /// Neighbours further away than this do not.
    pub rival_reach_s: f64,
    /// The attack's weight when an onset is placed near where the path goes.
    pub local_attack: f64,
    /// How far from the path an onset may be placed.
    pub local_reach_s: f64,
    /// What 30 ms away from the path cost.
    pub local_price: f64,
    /// Softens the logarithm of short intervals.
    pub epsilon_s: f64,
    /// Typical size of a log tempo ratio.
    pub sigma: f64,
    /// Where the tempo penalty turns linear.
    pub delta: f64,
    /// Weight of the sound between onsets, per second.
    pub segment_weight: f64,
    /// How far an onset may be from the rough warp at first.
    pub band_s: f64,
    /// How often the band may be widened.
    pub widenings: usize,
    /// A run whose evidence is less than this share of the piece's median counts as lost: the band is widened there.
    pub lost_share: f64,
    /// How far a note may be from its chord.
    pub spread_s: f64,
    /// What 30 ms away from the chord cost.
    pub spread_price: f64,
    /// Newton steps on the continuous problem; 0: each onset moves to the top of its own evidence.
    pub newton_steps: usize,
    /// Least and greatest slope relative to the whole.
    pub slope: Option<(f64, f64)>,
}

impl Default for OnsetParams {
    fn default() -> Self {
        Self {
            evidence_weight: 3.5,
            attack_weight: 0.9,
            rival_share: 0.2,
            rival_reach_s: 0.25,
            local_attack: 1.3,
            local_reach_s: 0.03,
            local_price: 0.1,
            epsilon_s: 0.02,
            sigma: 0.4,
            delta: 2.0,
            segment_weight: 5.0,
            band_s: 1.0,
            widenings: 3,
            lost_share: 0.4,
            spread_s: 0.045,
            spread_price: 0.525,
            newton_steps: 0,
            slope: None,
        }
    }
}

impl OnsetParams {
    /// What places an onset near where the path goes: no rivals, a stronger attack.
    pub(super) fn local(&self) -> Self {
        Self { attack_weight: self.local_attack, rival_share: 0.0, ..self.clone() }
    }
}

/// What is known before: where the onsets are roughly, and at what tempo.
#[derive(Debug, Clone, Copy)]
pub struct Rough<'a> {
    /// Score seconds to performance seconds: the middle of the band.
    pub centre: &'a Warp,
    /// The same, smoother: its slope is the tempo expected.
    pub tempo: &'a Warp,
    /// First and last score time to place.
    pub covered_s: (f64, f64),
    /// Moments that are fixed, as score and performance seconds, in order.
    pub anchors: &'a [(f64, f64)],
}

/// The onsets found.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Score onset to performance onset, one knot per distinct onset (and per anchor).
    pub warp: Warp,
    /// Indices into the score's notes with the performance onset of each.
    pub notes: Vec<(usize, f64)>,
    /// The chords of the warp's knots, in order.
    pub chords: Vec<Chord>,
    /// What speaks for each of them.
    pub support: Vec<Support>,
    /// The problem's objective at the solution.
    pub objective: f64,
}

/// Places the onsets of a score in a recording.
pub fn place(
    ctx: &JobContext,
    evidence: &Evidence,
    spectrum: &LogSpectrum,
    score: &Score,
    rough: Rough<'_>,
    params: &OnsetParams,
) -> Result<Placed> {
    let (chords, fixed) = knots(score, rough);
    let centre: Vec<f64> = chords.iter().map(|chord| rough.centre.at(chord.onset_s)).collect();
    let norms = norms(spectrum);
    let templates = templates(score, &chords, &|s| rough.tempo.at(s));
    let patterns = pattern::of_chords(&chords, &centre, params);
    let mut radius = vec![params.band_s; chords.len()];
    let mut widenings = params.widenings;
    let mut workspace = Workspace::default();
    loop {
        let mut table = evidence_table(evidence, &patterns, &centre, &radius)?;
        if params.segment_weight > 0.0 {
            for (segment, template) in templates.iter().enumerate() {
                let span = (table.span(segment).0, table.span(segment + 1).1);
                let mismatch = Mismatch::over(spectrum, &norms, template, span);
                let step = table.step();
                table.add_segment_integral(segment, |k| params.segment_weight * mismatch.until(k as f64 * step));
            }
        }
        let problem = problem(&chords, &table, rough, &fixed, params)?;
        let options = SolveOptions {
            first_grid: FirstGrid::StepsPerFrame(1.0),
            refinements: 0,
            newton_steps: params.newton_steps,
            ..SolveOptions::default()
        };
        let solution = solve(ctx, &problem, &options, &mut workspace)?;
        let mut astray = touching(&centre, &solution.phi, &radius);
        astray.extend(lost(evidence, &patterns, &solution.phi, params));
        if widenings > 0 && widen(&centre, &astray, &mut radius) {
            widenings -= 1;
            continue;
        }
        let mut times = solution.phi;
        if params.newton_steps == 0 {
            refine_times(evidence, &chords, &fixed, params, &mut times);
        }
        let notes = place_notes(evidence, score, &chords, &times, params);
        let times = medians(&chords, &notes, &fixed, times);
        let expected: Vec<f64> = chords.iter().map(|chord| rough.tempo.at(chord.onset_s)).collect();
        let support = support(evidence, &chords, &times, &expected, params);
        let warp = onset_warp(score, &chords, rough, times)?;
        return Ok(Placed { warp, notes, chords, support, objective: solution.objective });
    }
}

/// One knot per chord and one at the end of the score, reached at the tempo expected.
fn onset_warp(score: &Score, chords: &[Chord], rough: Rough<'_>, mut times: Vec<f64>) -> Result<Warp> {
    let mut knots: Vec<f64> = chords.iter().map(|chord| chord.onset_s).collect();
    let (last, time, end) = (knots[knots.len() - 1], times[times.len() - 1], score.end_s());
    if end > last {
        knots.push(end);
        times.push(time + (rough.tempo.at(end) - rough.tempo.at(last)).max(0.0));
    }
    Warp::new(knots, times)
}

/// The time of a chord is the median of its notes' onsets; never backwards, and through what is fixed.
fn medians(chords: &[Chord], notes: &[(usize, f64)], fixed: &[(usize, f64)], mut times: Vec<f64>) -> Vec<f64> {
    let mut rest = notes;
    for (chord, time) in chords.iter().zip(&mut times) {
        let (own, others) = rest.split_at(chord.notes.len());
        rest = others;
        let mut onsets: Vec<f64> = own.iter().map(|note| note.1).collect();
        onsets.sort_by(f64::total_cmp);
        if let (Some(low), Some(high)) = (onsets.get((onsets.len().max(1) - 1) / 2), onsets.get(onsets.len() / 2)) {
            *time = 0.5 * (low + high);
        }
    }
    put_in_order(&mut times, fixed);
    times
}

/// Makes times go forward and pass through what is fixed.
fn put_in_order(times: &mut [f64], fixed: &[(usize, f64)]) {
    for index in 1..times.len() {
        times[index] = times[index].max(times[index - 1]);
    }
    for &(knot, time) in fixed {
        times[..knot].iter_mut().for_each(|t| *t = t.min(time));
        times[knot] = time;
        times[knot..].iter_mut().for_each(|t| *t = t.max(time));
    }
}

/// The chords to place, with an empty one at each anchor that is at no onset; and which knots are fixed.
fn knots(score: &Score, rough: Rough<'_>) -> (Vec<Chord>, Vec<(usize, f64)>) {
    const SAME_S: f64 = 1e-3;
    let mut chords = chords(score);
    let first = rough.anchors.first().map_or(rough.covered_s.0, |a| rough.covered_s.0.min(a.0));
    let last = rough.anchors.last().map_or(rough.covered_s.1, |a| rough.covered_s.1.max(a.0));
    if chords.iter().filter(|chord| (first..=last).contains(&chord.onset_s)).count() >= 2 {
        chords.retain(|chord| (first..=last).contains(&chord.onset_s));
    }
    let mut fixed = Vec::new();
    for &(score_s, performance_s) in rough.anchors {
        let at = chords.partition_point(|chord| chord.onset_s < score_s - SAME_S);
        if chords.get(at).is_none_or(|chord| chord.onset_s > score_s + SAME_S) {
            let notes = chords.get(at).map_or(score.notes.len(), |chord| chord.notes.start);
            chords.insert(at, Chord { onset_s: score_s, notes: notes..notes, bands: Vec::new() });
        }
        fixed.push((at, performance_s));
    }
    (chords, fixed)
}

fn evidence_table(evidence: &Evidence, patterns: &[Pattern], centre: &[f64], radius: &[f64]) -> Result<CostTable> {
    let step = Evidence::step_s();
    let last = evidence.frames() - 1;
    let mut table = CostTable::new(0.0, step, Interpolation::Parabolic)?;
    let mut row = Vec::new();
    for ((pattern, &centre), &radius) in patterns.iter().zip(centre).zip(radius) {
        let low = (((centre - radius) / step).floor().max(0.0) as usize).min(last);
        let high = (((centre + radius) / step).ceil().max(0.0) as usize).min(last);
        row.clear();
        row.extend((low..=high).map(|frame| -evidence.at(frame, pattern)));
        table.push_row(low, &row)?;
    }
    Ok(table)
}

fn problem<'a>(
    chords: &[Chord],
    table: &'a CostTable,
    rough: Rough<'_>,
    fixed: &[(usize, f64)],
    params: &OnsetParams,
) -> Result<Problem<'a>> {
    let knots: Vec<f64> = chords.iter().map(|chord| chord.onset_s).collect();
    let reference = knots.windows(2).map(|pair| rough.tempo.at(pair[1]) - rough.tempo.at(pair[0])).collect();
    let edges = EdgeCost::LogTempo {
        weight: vec![1.0; knots.len() - 1],
        reference,
        epsilon: params.epsilon_s,
        sigma: params.sigma,
        delta: params.delta,
    };
    let mut problem = Problem::new(knots, NodeCost::Table(table), edges);
    if let Some((least, most)) = params.slope {
        let whole = rough.tempo.mean_slope();
        problem = problem.with_slope_limits(least * whole, most * whole);
    }
    problem.with_anchors(fixed)
}

/// Moves each onset to the best place near by, in order: the path was chosen by what tells chords apart, the place is chosen by
/// what is sharp in time.
fn refine_times(
    evidence: &Evidence,
    chords: &[Chord],
    fixed: &[(usize, f64)],
    params: &OnsetParams,
    times: &mut [f64],
) {
    let step = Evidence::step_s();
    let last = evidence.frames() - 1;
    let grid = times.to_vec();
    let patterns = pattern::of_chords(chords, &grid, &params.local());
    for (index, pattern) in patterns.iter().enumerate() {
        if fixed.iter().any(|&(knot, _)| knot == index) || pattern.bands.is_empty() {
            continue;
        }
        let at = grid[index];
        let earlier = index.checked_sub(1).map_or(f64::INFINITY, |i| 0.5 * (at - grid[i])).min(params.local_reach_s);
        let later = grid.get(index + 1).map_or(f64::INFINITY, |t| 0.5 * (t - at)).min(params.local_reach_s);
        let value = |frame: usize| {
            let away = (frame as f64 * step - at) / 0.03;
            f64::from(evidence.at(frame, pattern)) - params.local_price * away * away
        };
        let here = ((at / step).round() as usize).min(last);
        let first = (((at - earlier) / step).ceil().max(0.0) as usize).min(here);
        let end = (((at + later) / step).floor().max(0.0) as usize).min(last).max(here);
        let best = (first..=end).fold(here, |best, frame| if value(frame) > value(best) { frame } else { best });
        times[index] = vertex(&value, best, 0, last) * step;
    }
    put_in_order(times, fixed);
}

/// Knots whose path touches the edge of the band.
fn touching(centre: &[f64], phi: &[f64], radius: &[f64]) -> Vec<usize> {
    const TOUCHING: f64 = 0.9;
    (0..phi.len()).filter(|&i| (phi[i] - centre[i]).abs() > TOUCHING * radius[i]).collect()
}

/// Knots in the middle of a run that the recording hardly supports, compared with the rest of the piece.
fn lost(evidence: &Evidence, patterns: &[Pattern], phi: &[f64], params: &OnsetParams) -> Vec<usize> {
    /// Knots of a run.
    const RUN: usize = 12;
    let frame = |time: f64| ((time / Evidence::step_s()).round() as usize).min(evidence.frames() - 1);
    let found: Vec<f64> = patterns.iter().zip(phi).map(|(p, &t)| f64::from(evidence.at(frame(t), p))).collect();
    let mut sorted = found.clone();
    sorted.sort_by(f64::total_cmp);
    let least = params.lost_share * sorted[sorted.len() / 2] * RUN as f64;
    let runs = found.windows(RUN).enumerate().filter(|(_, run)| run.iter().sum::<f64>() < least);
    runs.map(|(first, _)| first + RUN / 2).collect()
}

/// Doubles the band round some knots; false if there are none.
fn widen(centre: &[f64], astray: &[usize], radius: &mut [f64]) -> bool {
    let mut wider = radius.to_vec();
    for &at in astray {
        let reach = 4.0 * radius[at];
        let near =
            centre.partition_point(|&t| t < centre[at] - reach)..centre.partition_point(|&t| t <= centre[at] + reach);
        for index in near {
            wider[index] = wider[index].max(2.0 * radius[at]);
        }
    }
    radius.copy_from_slice(&wider);
    !astray.is_empty()
}
