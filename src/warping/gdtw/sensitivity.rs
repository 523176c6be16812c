//! Mixed second derivatives of the objective, contracted with the response of the warp.

use super::edges::huber;
use super::pieces::Piece;
use super::problem::{EdgeCost, NodeCost, Problem};
use super::table::CostTable;
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

/// Gradient with respect to the node costs, given the response `u`.
pub(super) fn nodes<T: Real>(problem: &Problem<'_, T>, sides: &[Sides], phi: &[f64], u: &[f64]) -> NodeGradient<T> {
    match &problem.nodes {
        NodeCost::Features { x, y, .. } => {
            let mut into =
                FeatureGradient { x: vec![T::default(); x.values().len()], y: vec![T::default(); y.values().len()] };
            for i in 0..phi.len() {
                if u[i] != 0.0 {
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

    /// The derivative of `weight·‖r‖²` in the time of the knot, differentiated.
    fn add_squared(&mut self, x: &Signal<'_, T>, y: &Signal<'_, T>, knot: usize, at: f64, piece: &Piece, u: f64) {
        let k = piece.index;
        let h = y.times()[k + 1] - y.times()[k];
        let a = (at - y.times()[k]) / h;
        let (xs, y0, y1) = (x.frame(knot), y.frame(k), y.frame(k + 1));
        let vector = |c: usize| -> (f64, f64) {
            let (x, y0, y1): (f64, f64, f64) = (xs[c].to_f64(), y0[c].to_f64(), y1[c].to_f64());
            (x - y0 - a * (y1 - y0), (y1 - y0) / h)
        };
        let (gx, g0, g1) = self.parts(knot, k, xs.len());
        for c in 0..xs.len() {
            let (r, rate) = vector(c);
            let (turn, shift) = (2.0 * u * piece.weight * rate, 2.0 * u * piece.weight * r / h);
            add(&mut gx[c], turn);
            add(&mut g0[c], -(1.0 - a) * turn - shift);
            add(&mut g1[c], -a * turn + shift);
        }
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
    result
}
