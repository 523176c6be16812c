//! The finish: active-set Newton on the continuous problem, until no feasible move goes downhill.
//!
//! Each step holds what should stay (bounds, kinks and slope limits with nothing to gain from leaving them), solves the rest as one
//! tridiagonal system, clips the step to the smooth pieces and the constraints, and takes it only as far as the objective falls.

mod step;
mod sweep;

use crate::base::error::Result;
use crate::base::job::JobContext;

use super::blocks::BlockSystem;
use super::bounds::Reach;
use super::pieces::{Piece, Side};
use super::problem::Problem;
use super::stationarity::{Descent, KnotState, SegmentState, runs, steepest};
use crate::base::number::Real;

/// The finish stops when the steepest feasible move lowers the objective at less than this share of the largest single derivative:
/// [`Solution::kkt_residual`](super::Solution::kkt_residual) is that share.
pub const KKT_TOLERANCE: f64 = 1e-9;

/// Times closer than this share of the time span are one.
const SAME_TIME: f64 = 1e-11;
/// A change of the objective smaller than this share of it is rounding.
const SAME_OBJECTIVE: f64 = 1e-14;
const HALVINGS: usize = 12;

/// Where the finish ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finish {
    pub objective: f64,
    pub kkt_residual: f64,
    pub steps: usize,
    pub knots: Vec<KnotState>,
    pub segments: Vec<SegmentState>,
}

/// Reused arrays of the finish.
#[derive(Debug, Default)]
pub(super) struct NewtonScratch {
    left: Vec<Piece>,
    right: Vec<Piece>,
    /// Derivatives of each knot's node cost to either side.
    slope_left: Vec<f64>,
    slope_right: Vec<f64>,
    /// Derivative of the edge costs with respect to each knot.
    pull: Vec<f64>,
    forward: Vec<f64>,
    backward: Vec<f64>,
    bend: Vec<f64>,
    stiffness: Vec<f64>,
    pinned: Vec<bool>,
    tied: Vec<bool>,
    /// How far a pinned knot is moved all the same: to the end of its range.
    moves: Vec<f64>,
    descents: Vec<Descent>,
    downhill: Vec<f64>,
    range: Vec<(f64, f64)>,
    step: Vec<f64>,
    target: Vec<f64>,
    trial: Vec<f64>,
    system: BlockSystem,
}

/// Improves the feasible warp `phi` until it is stationary, or for at most `max_steps` steps. The objective never rises.
pub(super) fn finish<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    reach: &Reach,
    max_steps: usize,
    scratch: &mut NewtonScratch,
    phi: &mut [f64],
) -> Result<Finish> {
    let m = phi.len();
    let tolerance = time_tolerance(reach);
    let mut state = Finish {
        objective: 0.0,
        kkt_residual: f64::INFINITY,
        steps: 0,
        knots: vec![KnotState::Free; m],
        segments: vec![SegmentState::Free; m - 1],
    };
    scratch.prepare(m);
    // The best point so far: near the end steps change the objective by rounding only, and the residual decides.
    let mut best: Option<(Finish, Vec<f64>)> = None;
    let mut stalled = 0;
    loop {
        ctx.check()?;
        let scale = scratch.examine(problem, tolerance, phi, &mut state);
        scratch.find_descents(scale, &mut state);
        let better = best.as_ref().is_none_or(|(b, _)| {
            let gain = b.objective - state.objective;
            let rounding = SAME_OBJECTIVE * b.objective.abs();
            gain > rounding || (gain >= -rounding && state.kkt_residual < b.kkt_residual)
        });
        if better {
            best = Some((state.clone(), phi.to_vec()));
            stalled = 0;
        } else {
            stalled += 1;
        }
        if state.kkt_residual <= KKT_TOLERANCE || state.steps >= max_steps || stalled > 8 {
            break;
        }
        state.steps += 1;
        // Where knots hinder each other, moving them one stretch at a time always gets on.
        let share = if stalled == 0 { scratch.advance(problem, reach, tolerance, phi, &state) } else { 0.0 };
        if share < 1.0 && !scratch.sweep(problem, phi) && share == 0.0 {
            break;
        }
    }
    let steps = state.steps;
    if let Some((finish, warp)) = best {
        phi.copy_from_slice(&warp);
        state = Finish { steps, ..finish };
    }
    Ok(state)
}

/// How close two times must be to be one, in a problem of this extent.
pub(super) fn time_tolerance(reach: &Reach) -> f64 {
    let span = reach.lo.iter().chain(&reach.hi).fold(0.0_f64, |a, v| a.max(v.abs()));
    SAME_TIME * span.max(f64::MIN_POSITIVE)
}

impl NewtonScratch {
    fn prepare(&mut self, m: usize) {
        self.left.clear();
        self.left.resize(m, Piece::default());
        self.right.clear();
        self.right.resize(m, Piece::default());
        for values in
            [&mut self.slope_left, &mut self.slope_right, &mut self.pull, &mut self.forward, &mut self.backward]
        {
            values.clear();
            values.resize(m, 0.0);
        }
        for values in
            [&mut self.bend, &mut self.moves, &mut self.downhill, &mut self.step, &mut self.target, &mut self.trial]
        {
            values.clear();
            values.resize(m, 0.0);
        }
        self.stiffness.clear();
        self.stiffness.resize(m - 1, 0.0);
        self.pinned.clear();
        self.pinned.resize(m, false);
        self.tied.clear();
        self.tied.resize(m - 1, false);
        self.range.clear();
        self.range.resize(m, (0.0, 0.0));
    }

    /// Derivatives, objective and active constraints at `phi`, which is moved onto bounds and piece ends within rounding. Returns
    /// the largest single derivative (with one natural step of curvature, so that a perfect fit has a scale too).
    fn examine<T: Real>(
        &mut self,
        problem: &Problem<'_, T>,
        tolerance: f64,
        phi: &mut [f64],
        state: &mut Finish,
    ) -> f64 {
        let m = phi.len();
        let mut scale = f64::MIN_POSITIVE;
        let mut objective = 0.0;
        for (i, at) in phi.iter_mut().enumerate() {
            let (lo, hi) = problem.limits(i);
            locate(problem, i, tolerance, at, &mut self.left[i], &mut self.right[i]);
            state.knots[i] = bound_state(lo, hi, tolerance, at);
            let (value, right, bend) = self.right[i].eval(*at);
            let left = if self.left[i] == self.right[i] { right } else { self.left[i].eval(*at).1 };
            objective += value;
            (self.slope_left[i], self.slope_right[i], self.bend[i]) = (left, right, bend);
            let natural = self.right[i].hi - self.right[i].lo;
            scale = scale.max(left.abs()).max(right.abs()).max(bend.abs() * natural);
            self.pull[i] = 0.0;
        }
        for i in 0..m - 1 {
            let advance = phi[i + 1] - phi[i];
            let edge = problem.edge(i, advance);
            objective += edge.value;
            self.stiffness[i] = edge.second;
            self.pull[i] -= edge.first;
            self.pull[i + 1] += edge.first;
            scale = scale.max(edge.first.abs()).max(edge.second.abs() * problem.interval(i).min(advance.max(0.0)));
            let (min, max) = problem.steps(i);
            let slack = 4.0 * tolerance;
            state.segments[i] = match (advance <= min + slack, advance >= max - slack) {
                (true, true) => SegmentState::Fixed,
                (true, false) => SegmentState::Min,
                (false, true) => SegmentState::Max,
                (false, false) => SegmentState::Free,
            };
        }
        for i in 0..m {
            let blocked = |at: &[KnotState]| if at.contains(&state.knots[i]) { f64::INFINITY } else { 0.0 };
            self.forward[i] = self.slope_right[i] + self.pull[i] + blocked(&[KnotState::Upper, KnotState::Fixed]);
            self.backward[i] = -self.slope_left[i] - self.pull[i] + blocked(&[KnotState::Lower, KnotState::Fixed]);
            if state.knots[i] == KnotState::Free && self.slope_right[i] - self.slope_left[i] > KKT_TOLERANCE * scale {
                state.knots[i] = KnotState::Kink;
            }
        }
        state.objective = objective;
        scale
    }

    /// Lists every tied run's steepest descent and sets the residual.
    fn find_descents(&mut self, scale: f64, state: &mut Finish) {
        self.descents.clear();
        let mut steepest_rate = 0.0_f64;
        for run in runs(&state.segments) {
            if let Some(descent) = steepest(run, &state.segments, &self.forward, &self.backward) {
                steepest_rate = steepest_rate.max(-descent.rate);
                if -descent.rate > 0.1 * KKT_TOLERANCE * scale {
                    self.descents.push(descent);
                }
            }
        }
        state.kkt_residual = steepest_rate / scale;
    }

    fn value<T: Real>(&self, problem: &Problem<'_, T>, phi: &[f64]) -> f64 {
        let mut total = problem.edge_total(phi);
        for (i, &at) in phi.iter().enumerate() {
            let (left, right) = (&self.left[i], &self.right[i]);
            total += if right.lo <= at && at <= right.hi {
                right.eval(at).0
            } else if left.lo <= at && at <= left.hi {
                left.eval(at).0
            } else {
                problem.piece(i, at, Side::Right).eval(at).0
            };
        }
        total
    }
}

/// Finds the pieces to both sides of a time, reusing the known ones; a time within rounding of a piece's end is moved onto it.
fn locate<T: Real>(
    problem: &Problem<'_, T>,
    knot: usize,
    tolerance: f64,
    at: &mut f64,
    left: &mut Piece,
    right: &mut Piece,
) {
    let inside = |piece: &Piece| piece.lo + tolerance < *at && *at < piece.hi - tolerance;
    if inside(right) {
        *left = *right;
        return;
    }
    if inside(left) {
        *right = *left;
        return;
    }
    if *at == right.lo && *at == left.hi && left.lo < right.lo {
        return;
    }
    let piece = problem.piece(knot, *at, Side::Right);
    if *at - piece.lo <= tolerance {
        *at = piece.lo;
        (*left, *right) = (problem.piece(knot, piece.lo, Side::Left), piece);
    } else if piece.hi - *at <= tolerance {
        *at = piece.hi;
        (*left, *right) = (piece, problem.piece(knot, piece.hi, Side::Right));
    } else {
        (*left, *right) = (piece, piece);
    }
}

/// Whether a knot is on its bounds, and exactly there.
fn bound_state(lo: f64, hi: f64, tolerance: f64, at: &mut f64) -> KnotState {
    match (*at <= lo + tolerance, *at >= hi - tolerance) {
        (true, true) => KnotState::Fixed,
        (true, false) => {
            *at = lo;
            KnotState::Lower
        }
        (false, true) => {
            *at = hi;
            KnotState::Upper
        }
        (false, false) => KnotState::Free,
    }
}
