//! The cheapest path through one grid: exact dynamic programming over the knots.

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

use super::frames::FrameTable;
use super::grid::KnotGrid;
use super::kernels::{self, MinPlusScratch, PADDING, Step};
use super::problem::{EdgeCost, Problem};
use super::tempo::TempoScratch;
use crate::base::number::Real;

/// Knots between two looks at cancellation.
const KNOTS_PER_CHECK: usize = 64;
/// Grid positions this close, in grid steps, count as equal: rounding must not cut off the last pass's warp.
const ROUNDING: f64 = 1e-6;

/// Reused arrays of the DP.
#[derive(Debug, Default)]
pub(super) struct DpScratch {
    /// Cost to reach each node, less the row's smallest; one row after the other, each with [`PADDING`] behind it.
    reached: Vec<f32>,
    offsets: Vec<usize>,
    positions: Positions,
    windows: Windows,
    min_plus: MinPlusScratch,
    tempo: TempoScratch,
}

/// Admissible predecessors of each node of a row.
#[derive(Debug, Default, Clone)]
pub(super) struct Windows {
    pub first: Vec<i32>,
    pub last: Vec<i32>,
    /// The nodes `reachable.0 ..= reachable.1` of the row have a predecessor; the rest has none.
    pub reachable: (usize, usize),
    /// Shift, sources and number of nodes of the last simple windows, which mostly serve the next row too.
    simple: Option<(i32, i32, i32, usize)>,
}

/// How a row treats nodes that no grid point of the row before can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreachable {
    /// They take the nearest predecessor: in the first pass every time is reachable, if not from a grid point.
    Relax,
    /// They cost infinitely much.
    Forbid,
}

/// Finds the cheapest path through `grid` and writes its times to `phi`. Slope limits finer than the grid are met to within a
/// grid step; the caller mends that.
pub(super) fn cheapest_path<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    table: &FrameTable,
    grid: &[KnotGrid],
    unreachable: Unreachable,
    scratch: &mut DpScratch,
    phi: &mut [f64],
) -> Result<()> {
    let m = grid.len();
    scratch.offsets.clear();
    scratch.offsets.push(0);
    for g in grid {
        let end = scratch.offsets[scratch.offsets.len() - 1] + g.count + PADDING;
        scratch.offsets.push(end);
    }
    // Only grown: what earlier problems left is overwritten row by row, or never used.
    scratch.reached.resize(scratch.offsets[m].max(scratch.reached.len()), 0.0);
    table.row(problem, 0, &grid[0], &mut scratch.reached[..grid[0].count]);
    kernels::subtract_minimum(&mut scratch.reached[..grid[0].count]);
    let mut reachable = (0, grid[0].count - 1);
    for i in 1..m {
        if i % KNOTS_PER_CHECK == 0 {
            ctx.check()?;
        }
        scratch.windows.fill(problem, i, grid, reachable, unreachable);
        let (before, row) = rows(&mut scratch.reached, &scratch.offsets, i, grid[i].count);
        table.row(problem, i, &grid[i], row);
        match &problem.edges {
            EdgeCost::Slope { .. } => {
                let scale = scratch.positions.fill(problem, i, grid);
                let Windows { first, last, .. } = &scratch.windows;
                let Positions { from, to, .. } = &scratch.positions;
                kernels::min_plus(
                    Step { from: before, b: from, scale, a: to, first, last },
                    &mut scratch.min_plus,
                    row,
                );
            }
            EdgeCost::LogTempo { .. } => {
                let before = &before[..grid[i - 1].count];
                scratch.tempo.min_plus(problem, i - 1, grid, before, &scratch.windows, row);
            }
        }
        reachable = scratch.windows.reachable;
        if reachable.0 > reachable.1 {
            let reason = format!("no grid point of knot {i} can be reached from the knot before");
            return Err(Error::Infeasible { reason });
        }
        row[..reachable.0].fill(f32::INFINITY);
        row[reachable.1 + 1..].fill(f32::INFINITY);
        kernels::subtract_minimum(row);
    }
    trace_back(problem, grid, unreachable, scratch, phi);
    Ok(())
}

/// The row before `i`, with its padding, and row `i`.
fn rows<'a>(reached: &'a mut [f32], offsets: &[usize], i: usize, count: usize) -> (&'a [f32], &'a mut [f32]) {
    let (before, rest) = reached.split_at_mut(offsets[i]);
    (&before[offsets[i - 1]..], &mut rest[..count])
}

/// Follows the best predecessors from the cheapest end. They are found again rather than stored: that is one row search per knot.
fn trace_back<T: Real>(
    problem: &Problem<'_, T>,
    grid: &[KnotGrid],
    unreachable: Unreachable,
    scratch: &mut DpScratch,
    phi: &mut [f64],
) {
    let m = grid.len();
    let start = |i: usize| scratch.offsets[i];
    let mut j = smallest(&scratch.reached[start(m - 1)..][..grid[m - 1].count]);
    phi[m - 1] = grid[m - 1].at(j);
    for i in (1..m).rev() {
        let before = &scratch.reached[start(i - 1)..];
        let reachable = finite_range(&before[..grid[i - 1].count]);
        let (first, last) = window(problem, i, grid, reachable, unreachable, j);
        j = match &problem.edges {
            EdgeCost::Slope { .. } => {
                let scale = scratch.positions.fill(problem, i, grid);
                let a = [scratch.positions.to[j]];
                let step =
                    Step { from: before, b: &scratch.positions.from, scale, a: &a, first: &[first], last: &[last] };
                kernels::best_predecessor(step, 0)
            }
            EdgeCost::LogTempo { .. } => {
                TempoScratch::best_predecessor(problem, i - 1, grid, before, (first as usize, last as usize), j)
            }
        };
        phi[i - 1] = grid[i - 1].at(j);
    }
}

/// Edge cost of a slope problem as `(a_j − b_k)²`: shift and scale of `a`, scale of `b`, relative to both rows' starts so that
/// single precision suffices.
pub(super) fn scales<T: Real>(problem: &Problem<'_, T>, i: usize, grid: &[KnotGrid]) -> (f32, f32, f32) {
    let EdgeCost::Slope { lambda, rho } = &problem.edges else { return (0.0, 0.0, 0.0) };
    let interval = problem.interval(i - 1);
    let root = (lambda[i - 1] / interval).sqrt();
    let shift = root * (grid[i].lo - grid[i - 1].lo - rho[i - 1] * interval);
    (shift as f32, (root * grid[i - 1].step) as f32, (root * grid[i].step) as f32)
}

/// Scaled positions of two neighbouring rows; kept while they stay the same, as they mostly do where knots share a grid.
#[derive(Debug, Default)]
struct Positions {
    from: Vec<f32>,
    to: Vec<f32>,
    from_key: (f32, usize),
    to_key: (f32, f32, usize),
}

impl Positions {
    /// Fills both rows for the step to knot `i` and returns the scale of the row before.
    fn fill<T: Real>(&mut self, problem: &Problem<'_, T>, i: usize, grid: &[KnotGrid]) -> f32 {
        let (shift, from_scale, to_scale) = scales(problem, i, grid);
        let (from_key, to_key) = ((from_scale, grid[i - 1].count), (shift, to_scale, grid[i].count));
        if self.from_key != from_key {
            self.from.resize(grid[i - 1].count + PADDING, 0.0);
            kernels::ramp(0.0, from_scale, &mut self.from);
            self.from_key = from_key;
        }
        if self.to_key != to_key {
            self.to.resize(grid[i].count, 0.0);
            kernels::ramp(shift, to_scale, &mut self.to);
            self.to_key = to_key;
        }
        from_scale
    }
}

impl Windows {
    fn fill<T: Real>(
        &mut self,
        problem: &Problem<'_, T>,
        i: usize,
        grid: &[KnotGrid],
        sources: (usize, usize),
        unreachable: Unreachable,
    ) {
        let count = grid[i].count;
        let (_, max) = problem.steps(i - 1);
        let (low, high) = (sources.0 as i32, sources.1 as i32);
        if grid[i].step == grid[i - 1].step && max == f64::INFINITY {
            // The commonest case, all integers: the same grid, or the same shifted.
            let (_, shift) = raw_window(problem, i, grid, 0);
            let shift = (shift + ROUNDING).floor().clamp(-1e9, 1e9) as i32;
            let key = Some((shift, low, high, count));
            if self.simple != key {
                self.first.clear();
                self.first.resize(count, low);
                self.last.clear();
                self.last.extend((0..count as i32).map(|j| (j + shift).clamp(low, high)));
                self.simple = key;
            }
            let start = if unreachable == Unreachable::Forbid { (low - shift).max(0) as usize } else { 0 };
            self.reachable = (start, count - 1);
            return;
        }
        self.simple = None;
        self.first.clear();
        self.last.clear();
        let (mut start, mut end) = (count, 0);
        for j in 0..count {
            let (first, last) = window(problem, i, grid, sources, unreachable, j);
            if first <= last {
                start = start.min(j);
                end = j;
            }
            // Unreachable nodes keep a harmless window so that windows stay monotone; their cost is overwritten.
            let clamped = first.clamp(low, high);
            self.first.push(if first <= last { first } else { clamped });
            self.last.push(if first <= last { last } else { clamped });
        }
        self.reachable = (start, end);
    }
}

/// The admissible predecessors as a real interval of indices.
pub(super) fn raw_window<T: Real>(problem: &Problem<'_, T>, i: usize, grid: &[KnotGrid], j: usize) -> (f64, f64) {
    let (min, max) = problem.steps(i - 1);
    let (to, from) = (&grid[i], &grid[i - 1]);
    let relative = to.lo - from.lo + j as f64 * to.step;
    ((relative - max) / from.step, (relative - min) / from.step)
}

/// First and last admissible predecessor of node `j`, within `sources`; empty (first > last) if there is none.
fn window<T: Real>(
    problem: &Problem<'_, T>,
    i: usize,
    grid: &[KnotGrid],
    sources: (usize, usize),
    unreachable: Unreachable,
    j: usize,
) -> (i32, i32) {
    let (low, high) = (sources.0 as f64, sources.1 as f64);
    let (from, to) = raw_window(problem, i, grid, j);
    if unreachable == Unreachable::Forbid && (to + ROUNDING < low || from - ROUNDING > high) {
        // Empty on the proper side, so that the clamped window keeps its order.
        return if to < low { (low as i32, low as i32 - 1) } else { (high as i32, high as i32 - 1) };
    }
    let (mut first, mut last) = ((from - ROUNDING).ceil(), (to + ROUNDING).floor());
    if first > last {
        // The slope window lies between two grid points: take the nearer.
        let nearest = (0.5 * (from + to)).round();
        (first, last) = (nearest, nearest);
    }
    (first.clamp(low, high) as i32, last.clamp(low, high) as i32)
}

/// Index of the first of the smallest values.
pub(super) fn smallest(row: &[f32]) -> usize {
    let mut best = 0;
    for (j, &v) in row.iter().enumerate() {
        if v < row[best] {
            best = j;
        }
    }
    best
}

/// The nodes of a row that were reached.
fn finite_range(row: &[f32]) -> (usize, usize) {
    let first = row.iter().position(|v| v.is_finite()).unwrap_or(0);
    let last = row.iter().rposition(|v| v.is_finite()).unwrap_or(0);
    (first, last)
}

#[cfg(test)]
#[path = "dp_tests.rs"]
mod tests;
