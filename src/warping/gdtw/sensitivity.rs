//! Mixed second derivatives of the objective, contracted with the response of the warp.

use super::edges::huber;
use super::pieces::Piece;
use super::problem::{EdgeCost, NodeCost, Penalty, Problem};
use super::stationarity::KnotState;
use super::table::{CostTable, Interpolation};
use crate::base::number::Real;

use crate::warping::Signal;

/// Gradient with respect to the node costs.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeGradient<T: Real = f32> {
    /// Of [`NodeCost::Features`].
    Features {
        /// Like the values of `x`.
        x: Vec<T>,
        /// Like the values of `y`.
        y: Vec<T>,
    },
    /// Of [`NodeCost::Table`], like its flat array of costs.
    Table(Vec<T>),
}

/// Gradient with respect to the edge costs.
#[derive(Debug, Clone, PartialEq)]
pub enum EdgeGradient {
    /// Of [`EdgeCost::Slope`].
    Slope {
        /// Per segment.
        lambda: Vec<f64>,
        /// Per segment.
        rho: Vec<f64>,
    },
    /// Of [`EdgeCost::LogTempo`].
    LogTempo {
        /// Per segment.
        weight: Vec<f64>,
        /// Per segment.
        reference: Vec<f64>,
        /// Of the common spread.
        sigma: f64,
    },
}

/// The smooth pieces that make up a knot's node cost where it rests: the one to its right, or both sides of a rounded kink,
/// each with its share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    pub left: Option<(Piece, f64)>,
    pub right: Piece,
    pub right_share: f64,
}

impl Sides {
    /// A cost without a kink.
    pub fn smooth(piece: Piece) -> Self {
        Self { left: None, right: piece, right_share: 1.0 }
    }

    /// The pieces with their shares.
    fn shares(&self) -> impl Iterator<Item = (&Piece, f64)> {
        let left = self.left.iter().map(|(piece, share)| (piece, *share));
        left.chain([(&self.right, self.right_share)])
    }
}

/// Gradient with respect to the node costs, given the response `u` and the multipliers of held knots.
pub(super) fn nodes<T: Real>(
    problem: &Problem<'_, T>,
    sides: &[Sides],
    phi: &[f64],
    u: &[f64],
    pins: &[f64],
    states: &[KnotState],
) -> NodeGradient<T> {
    match &problem.nodes {
        NodeCost::Features { x, y, weights, penalty } => {
            let mut into =
                FeatureGradient { x: vec![T::default(); x.values().len()], y: vec![T::default(); y.values().len()] };
            for i in 0..phi.len() {
                if *penalty == Penalty::Absolute {
                    let frame = sides[i].right.index;
                    if states[i] == KnotState::Kink {
                        into.add_crossing(x, y, i, phi[i], frame, pins[i]);
                    } else if u[i] != 0.0 {
                        into.add_absolute(x, y, i, phi[i], frame, u[i] * weights[i]);
                    }
                } else if u[i] != 0.0 {
                    for (piece, share) in sides[i].shares() {
                        into.add_squared(x, y, i, phi[i], piece, share * u[i]);
                    }
                }
            }
            NodeGradient::Features { x: into.x, y: into.y }
        }
        NodeCost::Table(table) => NodeGradient::Table(table_gradient(table, sides, phi, u)),
    }
}

/// Gradient with respect to the edge costs.
pub(super) fn edges<T: Real>(problem: &Problem<'_, T>, phi: &[f64], u: &[f64]) -> EdgeGradient {
    let segments = phi.len() - 1;
    let stretch = |i: usize| u[i + 1] - u[i];
    let advance = |i: usize| phi[i + 1] - phi[i];
    match &problem.edges {
        EdgeCost::Slope { lambda, rho } => EdgeGradient::Slope {
            lambda: (0..segments).map(|i| -2.0 * (advance(i) / problem.interval(i) - rho[i]) * stretch(i)).collect(),
            rho: (0..segments).map(|i| 2.0 * lambda[i] * stretch(i)).collect(),
        },
        EdgeCost::LogTempo { weight, reference, epsilon, sigma, delta } => {
            let mut result = (Vec::with_capacity(segments), Vec::with_capacity(segments), 0.0);
            for i in 0..segments {
                let length = advance(i).max(0.0) + epsilon;
                let target = reference[i] + epsilon;
                let z = (length / target).ln() / sigma;
                let (_, slope, curvature) = huber(z, *delta);
                let scale = stretch(i) / (sigma * length);
                result.0.push(-scale * slope);
                result.1.push(scale * weight[i] * curvature / (sigma * target));
                result.2 += scale * weight[i] * (curvature * z + slope) / sigma;
            }
            EdgeGradient::LogTempo { weight: result.0, reference: result.1, sigma: result.2 }
        }
    }
}

struct FeatureGradient<T> {
    x: Vec<T>,
    y: Vec<T>,
}

fn add<T: Real>(to: &mut T, value: f64) {
    *to = T::from_f64((*to).to_f64() + value);
}

impl<T: Real> FeatureGradient<T> {
    /// The knot's vector and those of the frames on either side.
    fn parts(&mut self, knot: usize, k: usize, dim: usize) -> (&mut [T], &mut [T], &mut [T]) {
        let (y0, y1) = self.y[k * dim..(k + 2) * dim].split_at_mut(dim);
        (&mut self.x[knot * dim..(knot + 1) * dim], y0, y1)
    }

    /// Squared norm or its Huber: `f' = ψ q'` with `q = ‖r‖²` and `ψ` the slope of the penalty in `q`.
    fn add_squared(&mut self, x: &Signal<'_, T>, y: &Signal<'_, T>, knot: usize, at: f64, piece: &Piece, u: f64) {
        let k = piece.index;
        let h = y.times()[k + 1] - y.times()[k];
        let a = (at - y.times()[k]) / h;
        let (psi, psi_slope) = piece.penalty_slope(at);
        let (xs, y0, y1) = (x.frame(knot), y.frame(k), y.frame(k + 1));
        let vector = |c: usize| -> (f64, f64) {
            let (x, y0, y1): (f64, f64, f64) = (xs[c].to_f64(), y0[c].to_f64(), y1[c].to_f64());
            (x - y0 - a * (y1 - y0), (y1 - y0) / h)
        };
        let q_slope = if psi_slope == 0.0 {
            0.0
        } else {
            -2.0 * (0..xs.len()).map(vector).map(|(r, rate)| r * rate).sum::<f64>()
        };
        let bend = 2.0 * u * psi_slope * q_slope;
        let (gx, g0, g1) = self.parts(knot, k, xs.len());
        for c in 0..xs.len() {
            let (r, rate) = vector(c);
            let (turn, shift) = (2.0 * u * psi * rate - bend * r, 2.0 * u * psi * r / h);
            add(&mut gx[c], turn);
            add(&mut g0[c], -(1.0 - a) * turn - shift);
            add(&mut g1[c], -a * turn + shift);
        }
    }

    /// 1-norm between crossings: the slope is `−w Σ sign(r) y'`.
    fn add_absolute(&mut self, x: &Signal<'_, T>, y: &Signal<'_, T>, knot: usize, at: f64, k: usize, u: f64) {
        let h = y.times()[k + 1] - y.times()[k];
        let a = (at - y.times()[k]) / h;
        let (xs, y0, y1) = (x.frame(knot), y.frame(k), y.frame(k + 1));
        let (_, g0, g1) = self.parts(knot, k, xs.len());
        for c in 0..xs.len() {
            let (x, y0, y1): (f64, f64, f64) = (xs[c].to_f64(), y0[c].to_f64(), y1[c].to_f64());
            let r = x - y0 - a * (y1 - y0);
            let value = if r == 0.0 { 0.0 } else { u * r.signum() / h };
            add(&mut g0[c], -value);
            add(&mut g1[c], value);
        }
    }

    /// A knot held where one coordinate's difference is zero moves with that place.
    fn add_crossing(&mut self, x: &Signal<'_, T>, y: &Signal<'_, T>, knot: usize, at: f64, k: usize, pin: f64) {
        let (start, h) = (y.times()[k], y.times()[k + 1] - y.times()[k]);
        if at <= start || at >= start + h {
            return;
        }
        let a = (at - start) / h;
        let (xs, y0, y1) = (x.frame(knot), y.frame(k), y.frame(k + 1));
        let miss = |c: usize| -> f64 {
            let (x, y0, y1): (f64, f64, f64) = (xs[c].to_f64(), y0[c].to_f64(), y1[c].to_f64());
            if y1 == y0 { f64::INFINITY } else { ((x - y0) / (y1 - y0) - a).abs() }
        };
        let Some(c) = (0..xs.len()).min_by(|&i, &j| miss(i).total_cmp(&miss(j))) else { return };
        let (y0, y1): (f64, f64) = (y0[c].to_f64(), y1[c].to_f64());
        let value = pin * h / (y1 - y0);
        let (gx, g0, g1) = self.parts(knot, k, xs.len());
        add(&mut gx[c], value);
        add(&mut g0[c], -(1.0 - a) * value);
        add(&mut g1[c], -a * value);
    }
}

fn table_gradient<T: Real>(table: &CostTable<T>, sides: &[Sides], phi: &[f64], u: &[f64]) -> Vec<T> {
    let mut result = vec![T::default(); table.costs().len()];
    let responses = sides.iter().enumerate().flat_map(|(i, sides)| sides.shares().map(move |side| (i, side)));
    for (i, (piece, share)) in responses {
        let length = table.row(i).len();
        if u[i] == 0.0 || length == 1 {
            continue;
        }
        let row = &mut result[table.offset(i)..][..length];
        let value = -share * u[i] / table.step();
        let k = piece.index;
        match table.interpolation() {
            Interpolation::Linear => {
                add(&mut row[k], -value);
                add(&mut row[k + 1], value);
            }
            Interpolation::Parabolic => {
                let a = piece.offset(phi[i]) / table.step();
                let (before, after) = (-(0.5 - a) * value, (0.5 + a) * value);
                add(&mut row[k], -2.0 * a * value);
                // Beyond an end the row goes on as a straight line through its last two costs.
                for (share, exists, inner) in [(before, k > 0, k + 1), (after, k + 1 < length, k.wrapping_sub(1))] {
                    if exists {
                        let outer = if inner == k + 1 { k - 1 } else { k + 1 };
                        add(&mut row[outer], share);
                    } else {
                        add(&mut row[k], 2.0 * share);
                        add(&mut row[inner], -share);
                    }
                }
            }
        }
    }
    result
}
