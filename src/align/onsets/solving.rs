//! The onset problem: put together, solved in windows, valued.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::warping::gdtw::{CostTable, EdgeCost, FirstGrid, NodeCost, Problem, SolveOptions, Workspace, solve};

use super::chord::Chord;
use super::evidence::{Evidence, Pattern};
use super::following::Way;
use super::params::OnsetParams;
use super::stage::Rough;

/// Pieces with more knots are solved window by window, so that memory does not grow with the piece.
const WINDOW_KNOTS: usize = 1500;
/// Share of a window that is kept: what follows it must be able to speak for the rest.
const KEPT_SHARE: f64 = 0.8;

/// What the problem is made of.
pub(super) struct Parts<'a> {
    pub evidence: &'a Evidence,
    pub chords: &'a [Chord],
    pub patterns: Vec<Pattern>,
    pub rough: Rough<'a>,
    /// Knots that are fixed, with their times.
    pub fixed: &'a [(usize, f64)],
    pub params: &'a OnsetParams,
}

impl Parts<'_> {
    /// Finds the best times of all knots near where the score was followed to, window by window if they are many.
    pub fn solve(&self, ctx: &JobContext, way: &Way) -> Result<Vec<f64>> {
        let mut workspace = Workspace::default();
        let mut found: Vec<f64> = Vec::with_capacity(self.chords.len());
        for range in windows(self.chords.len()) {
            found.truncate(range.start + 1);
            // The first knot of a later window was settled by the window before it.
            let start = if range.start > 0 { found.last().copied() } else { None };
            let times = self.solve_window(ctx, range, way, start, &mut workspace)?;
            found.extend(&times[usize::from(!found.is_empty())..]);
        }
        Ok(found)
    }

    /// Where a knot is looked for.
    fn limits(&self, way: &Way, knot: usize) -> (f64, f64) {
        let OnsetParams { band_s, reach_s, .. } = *self.params;
        let rough = self.rough.centre.at(self.chords[knot].onset_s);
        ((way.times[knot] - band_s).max(rough - reach_s), (way.times[knot] + band_s).min(rough + reach_s))
    }

    /// Knots that lie at the edge of where they were looked for.
    pub fn at_limit(&self, way: &Way, times: &[f64]) -> Vec<usize> {
        /// Of the width of the band.
        const TOUCHING: f64 = 0.1;
        let near = TOUCHING * self.params.band_s;
        let touches = |&knot: &usize| {
            let (low, high) = self.limits(way, knot);
            times[knot] < low + near || times[knot] > high - near
        };
        (0..times.len()).filter(touches).collect()
    }

    fn solve_window(
        &self,
        ctx: &JobContext,
        range: Range<usize>,
        way: &Way,
        start: Option<f64>,
        workspace: &mut Workspace,
    ) -> Result<Vec<f64>> {
        let fixed = self.fixed.iter().copied().filter(|(knot, _)| range.contains(knot));
        let mut held: Vec<(usize, f64)> = fixed.map(|(knot, time)| (knot - range.start, time)).collect();
        if let Some(time) = start
            && held.first().is_none_or(|&(knot, _)| knot > 0)
        {
            held.insert(0, (0, time));
        }
        let table = self.table(ctx, range.clone(), |knot| self.limits(way, knot))?;
        let problem = self.problem(range, &table, way).with_anchors(&held)?;
        let options = SolveOptions {
            first_grid: FirstGrid::StepsPerFrame(1.0),
            refinements: 0,
            newton_steps: 0,
            ..SolveOptions::default()
        };
        Ok(solve(ctx, &problem, &options, workspace)?.phi)
    }

    /// The objective of a warp of the whole piece.
    pub fn objective(&self, ctx: &JobContext, way: &Way, phi: &[f64]) -> Result<f64> {
        // Parabolas read one neighbour to either side; the next ones are for times that lie between grid points.
        let radius = 2.0 * Evidence::step_s();
        let table = self.table(ctx, 0..phi.len(), |knot| (phi[knot] - radius, phi[knot] + radius))?;
        Ok(self.problem(0..phi.len(), &table, way).objective(phi) + way.gap_cost)
    }

    /// Costs of the knots in `range` where they are looked for.
    fn table(
        &self,
        ctx: &JobContext,
        range: Range<usize>,
        limits: impl Fn(usize) -> (f64, f64) + Sync,
    ) -> Result<CostTable> {
        let step = Evidence::step_s();
        let last = self.evidence.frames() - 1;
        let mut table = CostTable::new(0.0, step)?;
        let row = |knot: usize| {
            ctx.check()?;
            let (low, high) = limits(knot);
            let low = ((low / step).floor().max(0.0) as usize).min(last);
            let high = ((high / step).ceil().max(0.0) as usize).clamp(low, last);
            let pattern = &self.patterns[knot];
            Ok((low, (low..=high).map(|frame| -self.evidence.at(frame, pattern)).collect()))
        };
        let rows: Vec<(usize, Vec<f32>)> = range.into_par_iter().map(row).collect::<Result<_>>()?;
        for (low, row) in &rows {
            table.push_row(*low, row)?;
        }
        Ok(table)
    }

    fn problem<'t>(&self, range: Range<usize>, table: &'t CostTable, way: &Way) -> Problem<'t> {
        let knots: Vec<f64> = self.chords[range.clone()].iter().map(|chord| chord.onset_s).collect();
        let intervals = way.intervals_s[range.start..range.end - 1].to_vec();
        let problem = onset_problem(knots, intervals, table, self.params);
        match self.params.slope {
            Some((least, most)) => {
                let whole = self.rough.tempo.mean_slope();
                problem.with_slope_limits(least * whole, most * whole)
            }
            None => problem,
        }
    }
}

/// The onset problem: the costs of the knots, and of how far each interval between two is from the one expected, `tempo_s`.
pub(crate) fn onset_problem<'t, F: Real>(
    knots: Vec<f64>,
    tempo_s: Vec<f64>,
    table: &'t CostTable<F>,
    params: &OnsetParams,
) -> Problem<'t, F> {
    let edges = EdgeCost::LogTempo {
        weight: vec![1.0; tempo_s.len()],
        reference: tempo_s,
        epsilon: params.epsilon_s,
        sigma: params.sigma,
        delta: params.delta,
    };
    Problem::new(knots, NodeCost::Table(table), edges)
}

/// The windows of a piece: each begins with a knot of the one before it.
fn windows(count: usize) -> Vec<Range<usize>> {
    let kept = (KEPT_SHARE * WINDOW_KNOTS as f64) as usize;
    let mut windows = Vec::new();
    let mut first = 0;
    // A last window is never shorter than what the others keep to themselves.
    while count - first > WINDOW_KNOTS + (WINDOW_KNOTS - kept) {
        windows.push(first..first + WINDOW_KNOTS);
        first += kept;
    }
    windows.push(first..count);
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_overlap_and_cover_everything() {
        for count in [2, 10, WINDOW_KNOTS, WINDOW_KNOTS + 1, 2 * WINDOW_KNOTS, 12_345, 50_000] {
            let windows = windows(count);
            assert_eq!((windows[0].start, windows[windows.len() - 1].end), (0, count));
            for pair in windows.windows(2) {
                assert!(pair[1].start > pair[0].start && pair[1].start < pair[0].end, "{count}: {pair:?}");
                assert!(pair[0].end - pair[1].start >= WINDOW_KNOTS / 6, "{count}: {pair:?}");
            }
            assert!(windows.iter().all(|window| window.len() <= WINDOW_KNOTS + WINDOW_KNOTS / 2), "{count}");
        }
    }
}
