//! Node costs in f64, piece by piece: between its kinks a node cost is smooth, and here is that smooth function.

use crate::warping::Signal;

use super::kernels;
use super::problem::{NodeCost, Problem};
use super::table::CostTable;
use crate::base::number::Real;

/// On which side of a point to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A node cost on `[lo, hi]`: `weight·(c₀ + c₁u + c₂u²)` with `u = φ − origin`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Piece {
    pub lo: f64,
    pub hi: f64,
    /// Frame or grid index at or before the piece.
    pub index: usize,
    origin: f64,
    coefficients: [f64; 3],
    pub weight: f64,
}

impl Piece {
    /// Value, first and second derivative at `at`.
    pub fn eval(&self, at: f64) -> (f64, f64, f64) {
        let [c0, c1, c2] = self.coefficients;
        let u = at - self.origin;
        let w = self.weight;
        (w * (c0 + u * (c1 + u * c2)), w * (c1 + 2.0 * c2 * u), w * (2.0 * c2))
    }

    /// Distance from the frame or grid point the piece is described about.
    pub fn offset(&self, at: f64) -> f64 {
        at - self.origin
    }
}

impl<T: Real> Problem<'_, T> {
    /// The piece of a knot's node cost next to `at`, on the given side where there is one.
    pub(super) fn piece(&self, knot: usize, at: f64, side: Side) -> Piece {
        match &self.nodes {
            NodeCost::Features { x, y, weights } => {
                squared_piece(x.frame(knot), y, frame_at(y.times(), at, side), weights[knot])
            }
            NodeCost::Table(table) => parabolic_piece(table, knot, at, side),
        }
    }

    /// The objective of a warp.
    pub fn objective(&self, phi: &[f64]) -> f64 {
        let nodes: f64 = phi.iter().enumerate().map(|(i, &at)| self.piece(i, at, Side::Right).eval(at).0).sum();
        nodes + self.edge_total(phi)
    }
}

/// Index of the frame interval that holds `at`; the outer intervals go on without end.
pub(super) fn frame_at(times: &[f64], at: f64, side: Side) -> usize {
    let top = times.len() - 2;
    let last = times[times.len() - 1];
    let guess = (at - times[0]) / (last - times[0]) * (times.len() - 1) as f64;
    let mut k = if guess > 0.0 { (guess as usize).min(top) } else { 0 };
    let holds = |k: usize| match side {
        Side::Left => (k == 0 || times[k] < at) && (k == top || at <= times[k + 1]),
        Side::Right => (k == 0 || times[k] <= at) && (k == top || at < times[k + 1]),
    };
    // Frames are mostly equidistant, so the guess or a neighbour holds; if not, search.
    for candidate in [k, k.saturating_sub(1), (k + 1).min(top)] {
        if holds(candidate) {
            return candidate;
        }
    }
    k = match side {
        Side::Left => times.partition_point(|&t| t < at),
        Side::Right => times.partition_point(|&t| t <= at),
    };
    k.saturating_sub(1).min(top)
}

fn squared_piece<T: Real>(x: &[T], y: &Signal<'_, T>, k: usize, weight: f64) -> Piece {
    let (lo, hi) = (y.times()[k], y.times()[k + 1]);
    let (r0, cross, energy) = kernels::segment_products(x, y.frame(k), y.frame(k + 1));
    let h = hi - lo;
    Piece { lo, hi, index: k, origin: lo, coefficients: [r0, -2.0 * cross / h, energy / (h * h)], weight }
}

fn parabolic_piece<T: Real>(table: &CostTable<T>, knot: usize, at: f64, side: Side) -> Piece {
    let row = table.row(knot);
    let (start, end) = table.span(knot);
    if row.len() == 1 {
        return constant_piece(start, row[0].to_f64());
    }
    let step = table.step();
    let top = row.len() - 1;
    let edge = |k: usize| {
        if k == 0 {
            start
        } else if k > top {
            end
        } else {
            start + (k as f64 - 0.5) * step
        }
    };
    let k = cell(top, (at - start) / step + 0.5, |k| (edge(k), edge(k + 1)), at, side);
    let [before, here, after] = neighbours(row, k);
    // About the grid point: value (b + 6h + a)/8, slope (a − b)/2, curvature a − 2h + b, all per step.
    let coefficients = [
        (before + 6.0 * here + after) / 8.0,
        (after - before) / (2.0 * step),
        (before - 2.0 * here + after) / (2.0 * step * step),
    ];
    let origin = start + k as f64 * step;
    Piece { lo: edge(k), hi: edge(k + 1), index: k, origin, coefficients, weight: 1.0 }
}

/// A cost and its neighbours; beyond the ends the row goes on as a straight line.
pub(super) fn neighbours<T: Real>(row: &[T], k: usize) -> [f64; 3] {
    let at = |k: usize| -> f64 { row[k].to_f64() };
    let here = at(k);
    let top = row.len() - 1;
    match (k == 0, k == top) {
        (true, true) => [here; 3],
        (true, false) => [2.0 * here - at(1), here, at(1)],
        (false, true) => [at(k - 1), here, 2.0 * here - at(k - 1)],
        (false, false) => [at(k - 1), here, at(k + 1)],
    }
}

fn constant_piece(at: f64, value: f64) -> Piece {
    let coefficients = [value, 0.0, 0.0];
    Piece { lo: at, hi: at, index: 0, origin: at, coefficients, weight: 1.0 }
}

/// Index of the cell, of `0..=top`, that holds `at`, starting from a guess that may be off by one.
fn cell(top: usize, guess: f64, edges: impl Fn(usize) -> (f64, f64), at: f64, side: Side) -> usize {
    let mut k = if guess > 0.0 { (guess as usize).min(top) } else { 0 };
    let before = |k: usize| if side == Side::Left { at <= edges(k).0 } else { at < edges(k).0 };
    let after = |k: usize| if side == Side::Left { at > edges(k).1 } else { at >= edges(k).1 };
    while k > 0 && before(k) {
        k -= 1;
    }
    while k < top && after(k) {
        k += 1;
    }
    k
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;
