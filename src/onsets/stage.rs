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
use super::evidence::Evidence;
use super::segment::{Mismatch, norms, templates};
use super::voices::{place_notes, vertex};

/// Weights and widths of the onset problem.
#[derive(Debug, Clone, PartialEq)]
pub struct OnsetParams {
    /// Weight of the evidence.
    pub evidence_weight: f64,
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
            epsilon_s: 0.02,
            sigma: 0.4,
            delta: 2.0,
            segment_weight: 5.0,
            band_s: 0.5,
            widenings: 3,
            spread_s: 0.045,
            spread_price: 0.525,
            newton_steps: 0,
            slope: None,
        }
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
    let mut radius = vec![params.band_s; chords.len()];
    let mut widenings = params.widenings;
    let mut workspace = Workspace::default();
    loop {
        let mut table = evidence_table(evidence, &chords, &centre, &radius, params)?;
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
        if widenings > 0 && widen_where_touched(&centre, &solution.phi, &mut radius) {
            widenings -= 1;
            continue;
        }
        let mut times = solution.phi;
        if params.newton_steps == 0 {
            refine_times(evidence, &chords, &fixed, &mut times);
        }
        let notes = place_notes(evidence, score, &chords, &times, params);
        let warp = Warp::new(chords.iter().map(|chord| chord.onset_s).collect(), times)?;
        return Ok(Placed { warp, notes, objective: solution.objective });
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

fn evidence_table(
    evidence: &Evidence,
    chords: &[Chord],
    centre: &[f64],
    radius: &[f64],
    params: &OnsetParams,
) -> Result<CostTable> {
    let step = Evidence::step_s();
    let last = evidence.frames() - 1;
    let mut table = CostTable::new(0.0, step, Interpolation::Parabolic)?;
    let mut row = Vec::new();
    for ((chord, &centre), &radius) in chords.iter().zip(centre).zip(radius) {
        let low = (((centre - radius) / step).floor().max(0.0) as usize).min(last);
        let high = (((centre + radius) / step).ceil().max(0.0) as usize).min(last);
        let scale = -params.evidence_weight as f32 / (chord.bands.len().max(1) as f32).sqrt();
        row.clear();
        row.extend(evidence.sums(low..high + 1, &chord.bands).map(|sum| scale * sum));
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

/// Moves each onset to the top of its evidence between grid points, in order.
fn refine_times(evidence: &Evidence, chords: &[Chord], fixed: &[(usize, f64)], times: &mut [f64]) {
    let step = Evidence::step_s();
    let last = evidence.frames() - 1;
    let grid = times.to_vec();
    for (index, chord) in chords.iter().enumerate() {
        if fixed.iter().any(|&(knot, _)| knot == index) || chord.bands.is_empty() {
            continue;
        }
        let frame = ((grid[index] / step).round() as usize).min(last);
        let value = |f: usize| chord.bands.iter().map(|&band| f64::from(evidence.at(f, band))).sum::<f64>();
        times[index] = vertex(&value, frame, 0, last) * step;
    }
    for index in 1..times.len() {
        times[index] = times[index].max(times[index - 1]);
    }
    for &(knot, time) in fixed {
        times[..knot].iter_mut().for_each(|t| *t = t.min(time));
        times[knot] = time;
        times[knot..].iter_mut().for_each(|t| *t = t.max(time));
    }
}

/// Doubles the band round the places where the path touches its edge; false if it does so nowhere.
fn widen_where_touched(centre: &[f64], phi: &[f64], radius: &mut [f64]) -> bool {
    const TOUCHING: f64 = 0.9;
    let touched: Vec<usize> = (0..phi.len()).filter(|&i| (phi[i] - centre[i]).abs() > TOUCHING * radius[i]).collect();
    let mut wider = radius.to_vec();
    for &at in &touched {
        let reach = 4.0 * radius[at];
        let near =
            centre.partition_point(|&t| t < centre[at] - reach)..centre.partition_point(|&t| t <= centre[at] + reach);
        for index in near {
            wider[index] = wider[index].max(2.0 * radius[at]);
        }
    }
    radius.copy_from_slice(&wider);
    !touched.is_empty()
}
