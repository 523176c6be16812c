//! Node costs in f64, piece by piece: between its kinks a node cost is smooth, and here is that smooth function.

use crate::warping::Signal;

use super::kernels;
use super::problem::{NodeCost, Penalty, Problem};
use super::table::{CostTable, Interpolation};
use crate::base::number::Real;

/// On which side of a point to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A node cost on `[lo, hi]`: with `u = φ − origin` and `q = c₀ + c₁u + c₂u²` it is `weight·q`, or the Huber of `√q`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Piece {
    pub lo: f64,
    pub hi: f64,
    /// Frame or grid index at or before the piece.
    pub index: usize,
    origin: f64,
    coefficients: [f64; 3],
    weight: f64,
    /// Huber threshold; infinite for none.
    delta: f64,
}

impl Piece {
    /// Value, first and second derivative at `at`.
    pub fn eval(&self, at: f64) -> (f64, f64, f64) {
        let [c0, c1, c2] = self.coefficients;
        let u = at - self.origin;
        let (q, q1, q2) = (c0 + u * (c1 + u * c2), c1 + 2.0 * c2 * u, 2.0 * c2);
        let w = self.weight;
        if q <= self.delta * self.delta {
            return (w * q, w * q1, w * q2);
        }
        let norm = q.sqrt();
        let scale = w * self.delta / norm;
        (w * self.delta * (2.0 * norm - self.delta), scale * q1, scale * (q2 - 0.5 * q1 * q1 / q))
    }

    /// Distance from the frame or grid point the piece is described about.
    pub fn offset(&self, at: f64) -> f64 {
        at - self.origin
    }

    /// Derivative of the penalty with respect to `q = ‖r‖²`, times the weight, and its own derivative.
    pub fn penalty_slope(&self, at: f64) -> (f64, f64) {
        let [c0, c1, c2] = self.coefficients;
        let u = at - self.origin;
        let q = c0 + u * (c1 + u * c2);
        if q <= self.delta * self.delta {
            return (self.weight, 0.0);
        }
        let slope = self.weight * self.delta / q.sqrt();
        (slope, -0.5 * slope / q)
    }
}

impl<T: Real> Problem<'_, T> {
    /// The piece of a knot's node cost next to `at`, on the given side where there is one.
    pub(super) fn piece(&self, knot: usize, at: f64, side: Side) -> Piece {
        match &self.nodes {
            NodeCost::Features { x, y, weights, penalty } => {
                let k = frame_at(y.times(), at, side);
                match penalty {
                    Penalty::Squared => squared_piece(x.frame(knot), y, k, weights[knot], f64::INFINITY),
                    Penalty::Huber { delta } => squared_piece(x.frame(knot), y, k, weights[knot], *delta),
                    Penalty::Absolute => absolute_piece(x.frame(knot), y, k, weights[knot], at, side),
                }
            }
            NodeCost::Table(table) => match table.interpolation() {
                Interpolation::Linear => linear_piece(table, knot, at, side),
                Interpolation::Parabolic => parabolic_piece(table, knot, at, side),
            },
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

fn squared_piece<T: Real>(x: &[T], y: &Signal<'_, T>, k: usize, weight: f64, delta: f64) -> Piece {
    let (lo, hi) = (y.times()[k], y.times()[k + 1]);
    let (r0, cross, energy) = kernels::segment_products(x, y.frame(k), y.frame(k + 1));
    let h = hi - lo;
    Piece { lo, hi, index: k, origin: lo, coefficients: [r0, -2.0 * cross / h, energy / (h * h)], weight, delta }
}

/// `Σ |x_c − y_c(φ)|` is linear between the places where one coordinate's difference changes its sign.
fn absolute_piece<T: Real>(x: &[T], y: &Signal<'_, T>, k: usize, weight: f64, at: f64, side: Side) -> Piece {
    let (start, end) = (y.times()[k], y.times()[k + 1]);
    let h = end - start;
    let (mut lo, mut hi) = (start, end);
    let (mut value, mut slope) = (0.0, 0.0);
    for ((&x, &y0), &y1) in x.iter().zip(y.frame(k)).zip(y.frame(k + 1)) {
        let (x, y0, y1): (f64, f64, f64) = (x.to_f64(), y0.to_f64(), y1.to_f64());
        let rate = (y1 - y0) / h;
        let mut r = x - y0;
        if rate != 0.0 {
            let crossing = start + r / rate;
            let beyond = if side == Side::Right { crossing > at } else { crossing >= at };
            if beyond {
                hi = hi.min(crossing);
            } else {
                lo = lo.max(crossing);
            }
            // Past the crossing the difference has the sign of −rate, before it that of rate.
            let sign = if beyond { rate.signum() } else { -rate.signum() };
            slope -= sign * rate;
            r *= sign;
        } else {
            r = r.abs();
        }
        value += r;
    }
    Piece { lo, hi, index: k, origin: start, coefficients: [value, slope, 0.0], weight, delta: f64::INFINITY }
}

fn linear_piece<T: Real>(table: &CostTable<T>, knot: usize, at: f64, side: Side) -> Piece {
    let row = table.row(knot);
    let (start, _) = table.span(knot);
    if row.len() == 1 {
        return constant_piece(start, row[0].to_f64());
    }
    let time = |k: usize| start + k as f64 * table.step();
    let k = cell(row.len() - 2, (at - start) / table.step(), |k| (time(k), time(k + 1)), at, side);
    let (v0, v1): (f64, f64) = (row[k].to_f64(), row[k + 1].to_f64());
    let coefficients = [v0, (v1 - v0) / table.step(), 0.0];
    let (lo, hi) = (time(k), time(k + 1));
    Piece { lo, hi, index: k, origin: lo, coefficients, weight: 1.0, delta: f64::INFINITY }
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
    Piece { lo: edge(k), hi: edge(k + 1), index: k, origin, coefficients, weight: 1.0, delta: f64::INFINITY }
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
    Piece { lo: at, hi: at, index: 0, origin: at, coefficients, weight: 1.0, delta: f64::INFINITY }
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
