//! Node costs on a grid: the banded table of distances between knots and frames, and rows of costs read from it.

use crate::base::error::Result;
use crate::base::job::JobContext;

use super::bounds::Reach;
use super::grid::KnotGrid;
use super::kernels::{self, RowSource};
use super::pieces::{Side, frame_at, neighbours};
use super::problem::{NodeCost, Problem};
use super::table::CostTable;
use crate::base::number::Real;

/// Knots that share one range of frames, that of their common band.
const KNOTS_PER_BLOCK: usize = 64;
/// Knots in one matrix product at most: between two of them cancellation is looked at.
const KNOTS_PER_PRODUCT: usize = 1024;

/// Squared distances `‖x_i − Y_k‖²` inside the band, and what interpolates them.
#[derive(Debug, Default)]
pub(super) struct FrameTable {
    first: Vec<usize>,
    offsets: Vec<usize>,
    distances: Vec<f32>,
    /// `‖Y_{k+1} − Y_k‖²`.
    energy: Vec<f32>,
    norms: Vec<f32>,
    /// Frames per second where frames are equidistant.
    rate: Option<f64>,
}

impl FrameTable {
    /// Decides which frames each block of knots needs; returns the number of distances that [`fill`](Self::fill) will store.
    pub fn lay_out<T: Real>(&mut self, problem: &Problem<'_, T>, reach: &Reach) -> usize {
        self.first.clear();
        self.offsets.clear();
        self.offsets.push(0);
        let NodeCost::Features { y, .. } = &problem.nodes else { return 0 };
        self.rate = frame_rate(y.times());
        let m = reach.lo.len();
        let mut total = 0;
        for start in (0..m).step_by(KNOTS_PER_BLOCK) {
            let end = (start + KNOTS_PER_BLOCK).min(m);
            let lowest = reach.lo[start..end].iter().copied().fold(f64::INFINITY, f64::min);
            let highest = reach.hi[start..end].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let first = frame_at(y.times(), lowest, Side::Right);
            let last = frame_at(y.times(), highest, Side::Left).max(first) + 1;
            for _ in start..end {
                total += last + 1 - first;
                self.first.push(first);
                self.offsets.push(total);
            }
        }
        total
    }

    /// First frame of each knot, and where its distances start.
    pub fn layout(&self) -> (&[usize], &[usize]) {
        (&self.first, &self.offsets)
    }

    /// Number of distances.
    pub fn cells(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Whether rows can be read by position alone: frames are equidistant, or there are none.
    pub fn is_regular<T: Real>(&self, problem: &Problem<'_, T>) -> bool {
        self.rate.is_some() || matches!(problem.nodes, NodeCost::Table(_))
    }

    /// Position of a knot's grid among its equidistant frames, frames per grid step, and how many frames there are.
    pub fn position<T: Real>(&self, problem: &Problem<'_, T>, knot: usize, grid: &KnotGrid) -> (f64, f64, usize) {
        let (NodeCost::Features { y, .. }, Some(rate)) = (&problem.nodes, self.rate) else { return (0.0, 0.0, 0) };
        ((grid.lo - y.times()[self.first[knot]]) * rate, grid.step * rate, self.width(knot))
    }

    /// Computes the distances that were laid out; does nothing for node costs that need none.
    pub fn fill<T: Real>(&mut self, ctx: &JobContext, problem: &Problem<'_, T>) -> Result<()> {
        let NodeCost::Features { x, y, .. } = &problem.nodes else { return Ok(()) };
        let (xs, ys) = (T::as_f32(x.values()), T::as_f32(y.values()));
        let dim = x.dim();
        self.prepare_frames(&ys, dim);
        self.distances.resize(self.offsets[x.frames()], 0.0);
        let mut start = 0;
        while start < x.frames() {
            ctx.check()?;
            let end = self.end_of_product(start);
            let (first, width) = (self.first[start], self.width(start));
            let rows = &mut self.distances[self.offsets[start]..self.offsets[end]];
            let block = &xs[start * dim..end * dim];
            kernels::dot_products(block, &ys[first * dim..(first + width) * dim], dim, rows, width);
            for (row, x) in rows.chunks_exact_mut(width).zip(block.chunks_exact(dim)) {
                kernels::dots_to_distances(kernels::squared_norm(x), &self.norms[first..first + width], row);
            }
            start = end;
        }
        Ok(())
    }

    /// How many frames a knot has distances to.
    fn width(&self, knot: usize) -> usize {
        self.offsets[knot + 1] - self.offsets[knot]
    }

    /// One past the knots that join `start` in one matrix product: blocks that need the same frames share the packing of them.
    fn end_of_product(&self, start: usize) -> usize {
        let knots = self.first.len().min(start + KNOTS_PER_PRODUCT);
        let same = |&knot: &usize| self.first[knot] == self.first[start] && self.width(knot) == self.width(start);
        (start..knots).take_while(same).count() + start
    }

    fn prepare_frames(&mut self, ys: &[f32], dim: usize) {
        self.norms.clear();
        self.energy.clear();
        self.norms.extend(ys.chunks_exact(dim).map(kernels::squared_norm));
        let pairs = ys.chunks_exact(dim).zip(ys[dim..].chunks_exact(dim));
        self.energy.extend(pairs.map(|(a, b)| kernels::segment_products(a, a, b).2 as f32));
        self.energy.push(0.0);
    }

    /// Node costs of one knot's grid.
    pub fn row<T: Real>(&self, problem: &Problem<'_, T>, knot: usize, grid: &KnotGrid, out: &mut [f32]) {
        match &problem.nodes {
            NodeCost::Features { y, weights, .. } => self.squared(y.times(), knot, grid, weights[knot] as f32, out),
            NodeCost::Table(table) => table_row(table, knot, grid, out),
        }
    }

    fn squared(&self, times: &[f64], knot: usize, grid: &KnotGrid, weight: f32, out: &mut [f32]) {
        let first = self.first[knot];
        let distance = &self.distances[self.offsets[knot]..self.offsets[knot + 1]];
        let energy = &self.energy[first..first + distance.len()];
        if let Some(rate) = self.rate {
            // From the frame just before the grid: single precision is then exact enough.
            let start = (grid.lo - times[first]) * rate;
            let skip = (start.max(0.0) as usize).min(distance.len() - 2);
            let start = (start - skip as f64) as f32;
            let step = (grid.step * rate) as f32;
            let source = RowSource { distance: &distance[skip..], energy: &energy[skip..], start, step };
            kernels::interpolate_row(source, weight, out);
            return;
        }
        let mut k = frame_at(times, grid.lo, Side::Right).max(first) - first;
        for (j, value) in out.iter_mut().enumerate() {
            let at = grid.at(j);
            while k + 2 < distance.len() && times[first + k + 1] <= at {
                k += 1;
            }
            let a = ((at - times[first + k]) / (times[first + k + 1] - times[first + k])) as f32;
            let line = distance[k] + a * (distance[k + 1] - distance[k]);
            *value = weight * (line - a * (1.0 - a) * energy[k]);
        }
    }
}

/// Frames per second, if frames are equidistant.
fn frame_rate(times: &[f64]) -> Option<f64> {
    let last = times.len() - 1;
    let rate = last as f64 / (times[last] - times[0]);
    let regular = times.iter().enumerate().all(|(k, t)| ((t - times[0]) * rate - k as f64).abs() < 1e-4);
    regular.then_some(rate)
}

fn table_row<T: Real>(table: &CostTable<T>, knot: usize, grid: &KnotGrid, out: &mut [f32]) {
    let row = table.row(knot);
    let start = table.span(knot).0;
    if row.len() == 1 {
        out.fill(row[0].to_f64() as f32);
        return;
    }
    for (j, value) in out.iter_mut().enumerate() {
        let position = ((grid.at(j) - start) / table.step()).clamp(0.0, (row.len() - 1) as f64);
        let k = ((position + 0.5) as usize).min(row.len() - 1);
        let a = position - k as f64;
        let [before, here, after] = neighbours(row, k);
        let bend = 0.5 * (before - 2.0 * here + after);
        *value = ((before + 6.0 * here + after) / 8.0 + a * (0.5 * (after - before) + a * bend)) as f32;
    }
}
