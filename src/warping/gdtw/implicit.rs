//! The backward pass: how a loss on the optimal warp changes with everything the problem was made of, in O(m).
//!
//! At the optimum the active constraints hold and the rest of the gradient is zero; differentiating both gives one linear system. With
//! `v = ∂J/∂φ` it is `H u + Aᵀμ = v`, `A u = 0`: knots tied by active slope limits move as one, held knots not at all, so `u` solves a
//! smaller tridiagonal system and `μ` follows by substitution along each run. For anything `z` in the objective
//! `∂J/∂z = −uᵀ ∂²f/∂φ∂z`, for a constraint's bound the gradient is its `μ`.
//!
//! Degenerate cases have one rule each. A knot on a kink of its node cost stays there: it moves with the kink's time alone
//! (in [`smoothed_gradient`] it moves as if the kink were rounded). Of
//! constraints that depend on each other (two knots at a bound, tied as well) one is dropped: ties outrank kinks, bounds outrank ties.

use crate::base::error::{Error, Result};

use super::blocks::{BlockSystem, Hessian};
use super::pieces::Side;
use super::problem::Problem;
use super::sensitivity::{self, EdgeGradient, NodeGradient, Sides};
use super::solve::Solution;
use super::stationarity::{KnotState, SegmentState, runs};
use crate::base::number::Real;

/// Gradient of a loss with respect to the parts of a [`Problem`].
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient<T: Real = f32> {
    /// With respect to the node costs.
    pub nodes: NodeGradient<T>,
    /// With respect to the edge costs.
    pub edges: EdgeGradient,
    /// With respect to the least slopes.
    pub slope_min: Vec<f64>,
    /// With respect to the greatest slopes.
    pub slope_max: Vec<f64>,
    /// With respect to the lower bounds. Where both bounds are one, the gradient is given to the bound the objective pushes
    /// against; with respect to the common time it is the sum of both.
    pub lower: Vec<f64>,
    /// With respect to the upper bounds.
    pub upper: Vec<f64>,
}

/// Gradient of a loss, given its derivative `loss_gradient` with respect to the warp `solution.phi`.
///
/// Right at a stationary point only: `solution` must have converged.
pub fn gradient<T: Real>(problem: &Problem<'_, T>, solution: &Solution, loss_gradient: &[f64]) -> Result<Gradient<T>> {
    smoothed_gradient(problem, solution, loss_gradient, 0.0)
}

/// [`gradient`] of the same problem with every kink that a knot rests on rounded over `width` seconds: there the slope of
/// the node cost goes straight from the left one to the right one.
///
/// This is what to learn by. Between frames features are interpolated, so warps like to rest on frames, and a knot on a
/// frame answers to nothing: training by the exact gradient sees ever fewer knots and drifts away. One frame is a good
/// width; 0 is the exact gradient. Kinks of the 1-norm stay exact: they move with the features.
pub fn smoothed_gradient<T: Real>(
    problem: &Problem<'_, T>,
    solution: &Solution,
    loss_gradient: &[f64],
    width: f64,
) -> Result<Gradient<T>> {
    let m = problem.len();
    if solution.phi.len() != m || loss_gradient.len() != m {
        return Err(Error::invalid("length of the loss gradient", loss_gradient.len(), format!("one per knot: {m}")));
    }
    if let Some(i) = loss_gradient.iter().position(|v| !v.is_finite()) {
        return Err(Error::invalid(format!("loss gradient of knot {i}"), loss_gradient[i], "finite"));
    }
    if !(width.is_finite() && width >= 0.0) {
        return Err(Error::invalid("width of rounded kinks", width, "0 or above, in seconds"));
    }
    let mut local = Local::new(problem, &solution.phi);
    if width > 0.0 {
        local.round_kinks(problem, solution, width);
    }
    let held = Held::new(solution, &local);
    let adjoint = solve_adjoint(&held, &local, loss_gradient);
    let (ties, pins) = held.multipliers(&local.remainder(loss_gradient, &adjoint));
    // Which of two equal limits the objective pushes against: the sign of its own multiplier says.
    let (push_ties, push_pins) = held.multipliers(&local.descent);
    let mut result = Gradient {
        nodes: sensitivity::nodes(problem, &local.sides, &solution.phi, &adjoint),
        edges: sensitivity::edges(problem, &solution.phi, &adjoint),
        slope_min: vec![0.0; m - 1],
        slope_max: vec![0.0; m - 1],
        lower: vec![0.0; m],
        upper: vec![0.0; m],
    };
    for i in 0..m - 1 {
        let value = ties[i] * problem.interval(i);
        match solution.segments[i] {
            SegmentState::Free => {}
            SegmentState::Min => result.slope_min[i] = value,
            SegmentState::Max => result.slope_max[i] = value,
            SegmentState::Fixed if push_ties[i] >= 0.0 => result.slope_min[i] = value,
            SegmentState::Fixed => result.slope_max[i] = value,
        }
    }
    for i in 0..m {
        let (first, last) = problem.domain(i);
        let is_lower = match solution.knots[i] {
            KnotState::Free | KnotState::Kink => continue,
            KnotState::Lower => true,
            KnotState::Upper => false,
            KnotState::Fixed => push_pins[i] >= 0.0,
        };
        // A knot at the end of the recording is held by the recording, not by a bound of the problem.
        if is_lower && problem.lower[i] >= first {
            result.lower[i] = pins[i];
        } else if !is_lower && problem.upper[i] <= last {
            result.upper[i] = pins[i];
        }
    }
    Ok(result)
}

/// Pieces and derivatives at the optimum.
struct Local {
    sides: Vec<Sides>,
    slope_left: Vec<f64>,
    slope_right: Vec<f64>,
    bend: Vec<f64>,
    stiffness: Vec<f64>,
    /// Gradient of the objective.
    descent: Vec<f64>,
}

impl Local {
    fn new<T: Real>(problem: &Problem<'_, T>, phi: &[f64]) -> Self {
        let m = phi.len();
        let smooth = |(i, &at): (usize, &f64)| Sides::smooth(problem.piece(i, at, Side::Right));
        let mut local = Self {
            slope_left: Vec::with_capacity(m),
            slope_right: Vec::with_capacity(m),
            bend: Vec::with_capacity(m),
            stiffness: Vec::with_capacity(m - 1),
            descent: vec![0.0; m],
            sides: phi.iter().enumerate().map(smooth).collect(),
        };
        for (i, &at) in phi.iter().enumerate() {
            let piece = local.sides[i].right;
            let (_, right, bend) = piece.eval(at);
            let at_end = at <= piece.lo;
            let left = if at_end { problem.piece(i, at, Side::Left).eval(at).1 } else { right };
            local.slope_left.push(left);
            local.slope_right.push(right);
            local.bend.push(bend);
            local.descent[i] += right;
        }
        for i in 0..m - 1 {
            let edge = problem.edge(i, phi[i + 1] - phi[i]);
            local.stiffness.push(edge.second);
            local.descent[i] -= edge.first;
            local.descent[i + 1] += edge.first;
        }
        local
    }

    /// Rounds the kinks that knots rest on: the steep rise of the slope becomes curvature, and both sides have their share
    /// in the slope.
    fn round_kinks<T: Real>(&mut self, problem: &Problem<'_, T>, solution: &Solution, width: f64) {
        for (i, &at) in solution.phi.iter().enumerate() {
            let (left, right) = (self.slope_left[i], self.slope_right[i]);
            if solution.knots[i] != KnotState::Kink || right <= left {
                continue;
            }
            let pull = self.descent[i] - right;
            // Where on the rounded kink the slope balances the pull of the neighbours.
            let share = ((-pull - left) / (right - left)).clamp(0.0, 1.0);
            let before = problem.piece(i, at, Side::Left);
            let bend_left = before.eval(at).2;
            self.bend[i] = (1.0 - share) * bend_left + share * self.bend[i] + (right - left) / width;
            self.sides[i] = Sides { left: Some((before, 1.0 - share)), right_share: share, ..self.sides[i] };
        }
    }

    /// `v − H u`.
    fn remainder(&self, v: &[f64], u: &[f64]) -> Vec<f64> {
        let mut rest: Vec<f64> = v.iter().zip(u).zip(&self.bend).map(|((v, u), h)| v - h * u).collect();
        for (i, k) in self.stiffness.iter().enumerate() {
            let pull = k * (u[i + 1] - u[i]);
            rest[i] += pull;
            rest[i + 1] -= pull;
        }
        rest
    }
}

/// The independent active constraints.
struct Held {
    pinned: Vec<bool>,
    tied: Vec<bool>,
}

impl Held {
    /// Keeps at most one pin per tied run, so that what is held is independent.
    fn new(solution: &Solution, local: &Local) -> Self {
        let is_pinned = |(&state, sides): (&KnotState, &Sides)| state != KnotState::Free && sides.left.is_none();
        let mut pinned: Vec<bool> = solution.knots.iter().zip(&local.sides).map(is_pinned).collect();
        let mut tied: Vec<bool> = solution.segments.iter().map(|&s| s != SegmentState::Free).collect();
        for run in runs(&solution.segments) {
            let bound = |i: usize| !matches!(solution.knots[i], KnotState::Free | KnotState::Kink);
            if run.clone().any(bound) {
                let mut seen = false;
                for i in run.clone() {
                    pinned[i] = bound(i);
                    if pinned[i] && seen && i > run.start {
                        tied[i - 1] = false;
                    }
                    seen |= pinned[i];
                }
                continue;
            }
            if run.clone().filter(|&i| pinned[i]).count() < 2 {
                continue;
            }
            // Several kinks in one run: if the run spreads, the knot where the pull changes its sign keeps its kink.
            let mut pull: f64 = run.clone().map(|i| local.descent[i]).sum();
            let mut keeper = run.start;
            for i in run.clone() {
                if pinned[i] {
                    keeper = i;
                    pull += local.slope_left[i] - local.slope_right[i];
                    if pull <= 0.0 {
                        break;
                    }
                }
            }
            run.for_each(|i| pinned[i] = i == keeper);
        }
        Self { pinned, tied }
    }

    /// Splits `rest = Aᵀμ` into multipliers of ties and of pins.
    fn multipliers(&self, rest: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let m = rest.len();
        let (mut ties, mut pins) = (vec![0.0; m - 1], vec![0.0; m]);
        let mut start = 0;
        while start < m {
            let end = (start..m - 1).find(|&i| !self.tied[i]).map_or(m, |i| i + 1);
            let pin = (start..end).find(|&i| self.pinned[i]);
            // Without a pin the multipliers run through: the sum over the run is zero.
            let split = pin.unwrap_or(end - 1);
            let mut carried = 0.0;
            for i in start..split {
                carried -= rest[i];
                ties[i] = carried;
            }
            let mut back = 0.0;
            for i in (split + 1..end).rev() {
                back += rest[i];
                ties[i - 1] = back;
            }
            if let Some(p) = pin {
                pins[p] = rest[p] - carried + back;
            }
            start = end;
        }
        (ties, pins)
    }
}

/// `u`: the response of the warp, as seen by the loss.
fn solve_adjoint(held: &Held, local: &Local, v: &[f64]) -> Vec<f64> {
    let mut system = BlockSystem::default();
    let mut u = vec![0.0; v.len()];
    system.group(&held.pinned, &held.tied, &u);
    let hessian = Hessian { nodes: &local.bend, segments: &local.stiffness };
    let largest = local.bend.iter().chain(&local.stiffness).fold(f64::MIN_POSITIVE, |a, v| a.max(v.abs()));
    // Flat directions have no unique response: a growing ridge picks the smallest.
    for ridge in [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0] {
        if system.solve(hessian, v, ridge * largest, &mut u) && u.iter().all(|u| u.is_finite()) {
            return u;
        }
    }
    u.fill(0.0);
    u
}

#[cfg(test)]
#[path = "implicit_tests.rs"]
mod tests;
