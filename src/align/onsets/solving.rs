//! The onset problem: put together, solved in windows, valued.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::warping::gdtw::{CostTable, EdgeCost, FirstGrid, NodeCost, Problem, SolveOptions, Workspace, solve};

use super::band::touching;
use super::chord::Chord;
use super::evidence::{Evidence, Pattern};
use super::params::OnsetParams;
use super::stage::Rough;

/// Pieces with more knots are solved window by window, so that memory does not grow with the piece, and what is settled is not
/// solved again.
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

/// Where each knot is looked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Search {
    /// Middle of the band at each knot.
    pub centre: Vec<f64>,
    /// How far from it.
    pub radius: Vec<f64>,
    /// Frames that are taken as one, by the best of them.
    pub stride: usize,
}

impl Search {
    /// Knots of a path that lie at the edge of the band.
    pub fn touched_by(&self, times: &[f64]) -> Vec<usize> {
        touching(&self.centre, times, &self.radius)
    }

    fn part(&self, range: Range<usize>) -> Self {
        let (centre, radius) = (self.centre[range.clone()].to_vec(), self.radius[range].to_vec());
        Self { centre, radius, stride: self.stride }
    }
}

/// A window that was solved: what it was asked and what it found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Window {
    /// Where the window before it settled its first knot.
    start: Option<f64>,
    search: Search,
    times: Vec<f64>,
}

impl Parts<'_> {
    /// Finds the best times of all knots, window by window if they are many. `known` holds the windows of the last time: those that
    /// are asked the same again are not solved again.
    pub fn solve(&self, ctx: &JobContext, search: &Search, known: &mut Vec<Window>) -> Result<Vec<f64>> {
        let mut workspace = Workspace::default();
        let mut found: Vec<f64> = Vec::with_capacity(self.chords.len());
        for (index, range) in windows(self.chords.len()).into_iter().enumerate() {
            found.truncate(range.start + 1);
            // The first knot of a later window was settled by the window before it.
            let start = if range.start > 0 { found.last().copied() } else { None };
            let search = search.part(range.clone());
            if known.get(index).is_none_or(|window| window.start != start || window.search != search) {
                let times = self.solve_window(ctx, range, &search, start, &mut workspace)?;
                let window = Window { start, search, times };
                match known.get_mut(index) {
                    Some(old) => *old = window,
                    None => known.push(window),
                }
            }
            found.extend(&known[index].times[usize::from(!found.is_empty())..]);
        }
        Ok(found)
    }

    fn solve_window(
        &self,
        ctx: &JobContext,
        range: Range<usize>,
        search: &Search,
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
        let table = self.table(ctx, range.clone(), search)?;
        let problem = self.problem(range, &table)?.with_anchors(&held)?;
        let options = SolveOptions {
            first_grid: FirstGrid::StepsPerFrame(1.0),
            refinements: 0,
            newton_steps: 0,
            ..SolveOptions::default()
        };
        Ok(solve(ctx, &problem, &options, workspace)?.phi)
    }

    /// The objective of a warp of the whole piece.
    pub fn objective(&self, ctx: &JobContext, phi: &[f64]) -> Result<f64> {
        // Parabolas read one neighbour to either side; the next ones are for times that lie between grid points.
        let radius = vec![2.0 * Evidence::step_s(); phi.len()];
        let table = self.table(ctx, 0..phi.len(), &Search { centre: phi.to_vec(), radius, stride: 1 })?;
        Ok(self.problem(0..phi.len(), &table)?.objective(phi))
    }

    /// Costs of the knots in `range` where they are looked for.
    fn table(&self, ctx: &JobContext, range: Range<usize>, search: &Search) -> Result<CostTable> {
        let step = search.stride as f64 * Evidence::step_s();
        let last = (self.evidence.frames() - 1) / search.stride;
        let mut table = CostTable::new(0.0, step)?;
        let row = |index: usize| {
            // What the ear says may have to be worked out first, and that takes time.
            ctx.check()?;
            let (centre, radius) = (search.centre[index], search.radius[index]);
            let low = (((centre - radius) / step).floor().max(0.0) as usize).min(last);
            let high = (((centre + radius) / step).ceil().max(0.0) as usize).min(last);
            let pattern = &self.patterns[range.start + index];
            Ok((low, (low..=high).map(|at| -self.evidence.best_at(at, search.stride, pattern)).collect()))
        };
        let rows: Vec<(usize, Vec<f32>)> = (0..range.len()).into_par_iter().map(row).collect::<Result<_>>()?;
        for (low, row) in &rows {
            table.push_row(*low, row)?;
        }
        Ok(table)
    }

    fn problem<'t>(&self, range: Range<usize>, table: &'t CostTable) -> Result<Problem<'t>> {
        let tempo = self.rough.tempo;
        let knots: Vec<f64> = self.chords[range].iter().map(|chord| chord.onset_s).collect();
        let tempo_s = knots.windows(2).map(|pair| tempo.at(pair[1]) - tempo.at(pair[0])).collect();
        let problem = onset_problem(knots, tempo_s, table, self.params);
        Ok(match self.params.slope {
            Some((least, most)) => {
                let whole = tempo.mean_slope();
                problem.with_slope_limits(least * whole, most * whole)
            }
            None => problem,
        })
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
