//! The cheapest path through one grid: exact dynamic programming over the knots.

use crate::error::{Error, Result};
use crate::job::JobContext;

use super::frames::FrameTable;
use super::grid::KnotGrid;
use super::kernels::{self, MinPlusScratch, Step};
use super::problem::{EdgeCost, Problem};
use super::real::Real;
use super::tempo::TempoScratch;

/// Knots between two looks at cancellation.
const KNOTS_PER_CHECK: usize = 64;
/// Grid positions this close, in grid steps, count as equal: rounding must not cut off the last pass's warp.
const ROUNDING: f64 = 1e-6;

/// Reused arrays of the DP.
#[derive(Debug, Default)]
pub(super) struct DpScratch {
    /// Cost to reach each node, less the row's smallest; one row after the other.
    reached: Vec<f32>,
    offsets: Vec<usize>,
    from: Vec<f32>,
    to: Vec<f32>,
    node: Vec<f32>,
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
        let end = scratch.offsets[scratch.offsets.len() - 1] + g.count;
        scratch.offsets.push(end);
    }
    scratch.reached.clear();
    scratch.reached.resize(scratch.offsets[m], 0.0);
    table.row(problem, 0, &grid[0], &mut scratch.reached[..grid[0].count]);
    subtract_minimum(&mut scratch.reached[..grid[0].count]);
    let mut reachable = (0, grid[0].count - 1);
    for i in 1..m {
        if i % KNOTS_PER_CHECK == 0 {
            ctx.check()?;
        }
        scratch.windows.fill(problem, i, grid, reachable, unreachable);
        let (before, rest) = scratch.reached.split_at_mut(scratch.offsets[i]);
        let before = &before[scratch.offsets[i - 1]..];
        let row = &mut rest[..grid[i].count];
        match &problem.edges {
            EdgeCost::Slope { .. } => {
                scaled_positions(problem, i, grid, &mut scratch.from, &mut scratch.to);
                let Windows { first, last, .. } = &scratch.windows;
                let step = Step { from: before, b: &scratch.from, a: &scratch.to, first, last };
                kernels::min_plus(step, &mut scratch.min_plus, row);
            }
            EdgeCost::LogTempo { .. } => scratch.tempo.min_plus(problem, i - 1, grid, before, &scratch.windows, row),
        }
        scratch.node.resize(row.len(), 0.0);
        table.row(problem, i, &grid[i], &mut scratch.node);
        for (value, node) in row.iter_mut().zip(&scratch.node) {
            *value += node;
        }
        reachable = scratch.windows.reachable;
        if reachable.0 > reachable.1 {
            let reason = format!("no grid point of knot {i} can be reached from the knot before");
            return Err(Error::Infeasible { reason });
        }
        row[..reachable.0].fill(f32::INFINITY);
        row[reachable.1 + 1..].fill(f32::INFINITY);
        subtract_minimum(row);
    }
    trace_back(problem, grid, unreachable, scratch, phi);
    Ok(())
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
    let row =
        |reached: &[f32], offsets: &[usize], i: usize| offsets[i]..offsets[i].max(offsets[i + 1].min(reached.len()));
    let last = &scratch.reached[row(&scratch.reached, &scratch.offsets, m - 1)];
    let mut j = smallest(last);
    phi[m - 1] = grid[m - 1].at(j);
    for i in (1..m).rev() {
        let before = &scratch.reached[row(&scratch.reached, &scratch.offsets, i - 1)];
        let reachable = finite_range(before);
        let (first, last) = window(problem, i, grid, reachable, unreachable, j);
        let best = match &problem.edges {
            EdgeCost::Slope { .. } => {
                let (shift, from_scale, to_scale) = scales(problem, i, grid);
                scratch.from.clear();
                scratch.from.extend((first..=last).map(|k| k as f32 * from_scale));
                let a = [shift + j as f32 * to_scale];
                let (first_k, last_k) = ([0], [last - first]);
                let from = &before[first as usize..=last as usize];
                let step = Step { from, b: &scratch.from, a: &a, first: &first_k, last: &last_k };
                kernels::best_predecessor(step, 0)
            }
            EdgeCost::LogTempo { .. } => {
                TempoScratch::best_predecessor(problem, i - 1, grid, before, (first as usize, last as usize), j)
            }
        };
        j = first as usize + best;
        phi[i - 1] = grid[i - 1].at(j);
    }
}

/// Edge cost of a slope problem as `(a_j − b_k)²`: shift and scale of `a`, scale of `b`, relative to both rows' starts so that
/// single precision suffices.
fn scales<T: Real>(problem: &Problem<'_, T>, i: usize, grid: &[KnotGrid]) -> (f32, f32, f32) {
    let EdgeCost::Slope { lambda, rho } = &problem.edges else { return (0.0, 0.0, 0.0) };
    let interval = problem.interval(i - 1);
    let root = (lambda[i - 1] / interval).sqrt();
    let shift = root * (grid[i].lo - grid[i - 1].lo - rho[i - 1] * interval);
    (shift as f32, (root * grid[i - 1].step) as f32, (root * grid[i].step) as f32)
}

fn scaled_positions<T: Real>(
    problem: &Problem<'_, T>,
    i: usize,
    grid: &[KnotGrid],
    from: &mut Vec<f32>,
    to: &mut Vec<f32>,
) {
    let (shift, from_scale, to_scale) = scales(problem, i, grid);
    from.clear();
    to.clear();
    from.extend((0..grid[i - 1].count as i32).map(|k| k as f32 * from_scale));
    to.extend((0..grid[i].count as i32).map(|j| shift + j as f32 * to_scale));
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
        self.first.clear();
        self.last.clear();
        let (_, max) = problem.steps(i - 1);
        let (low, high) = (sources.0 as i32, sources.1 as i32);
        if grid[i].step == grid[i - 1].step && max == f64::INFINITY {
            // The commonest case, all integers: the same grid, or the same shifted.
            let (_, shift) = raw_window(problem, i, grid, 0);
            let shift = (shift + ROUNDING).floor().clamp(-1e9, 1e9) as i32;
            self.first.resize(count, low);
            self.last.extend((0..count as i32).map(|j| (j + shift).clamp(low, high)));
            let start = if unreachable == Unreachable::Forbid { (low - shift).max(0) as usize } else { 0 };
            self.reachable = (start, count - 1);
            return;
        }
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
fn raw_window<T: Real>(problem: &Problem<'_, T>, i: usize, grid: &[KnotGrid], j: usize) -> (f64, f64) {
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

fn subtract_minimum(row: &mut [f32]) {
    let least = row.iter().copied().fold(f32::INFINITY, |a, b| if b < a { b } else { a });
    if least.is_finite() {
        row.iter_mut().for_each(|v| *v -= least);
    }
}

fn smallest(row: &[f32]) -> usize {
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
