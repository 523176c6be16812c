//! The finish: active-set Newton on the continuous problem, until no feasible move goes downhill.
//!
//! Each step holds what should stay (bounds, kinks and slope limits with nothing to gain from leaving them), solves the rest as one
//! tridiagonal system, clips the step to the smooth pieces and the constraints, and takes it only as far as the objective falls.

use crate::error::Result;
use crate::job::JobContext;

use super::blocks::{BlockSystem, Hessian};
use super::bounds::Reach;
use super::pieces::{Piece, Side};
use super::problem::Problem;
use super::real::Real;
use super::stationarity::{Descent, KnotState, SegmentState, runs, steepest};

/// The finish stops when the steepest feasible move lowers the objective at less than this share of the largest single derivative:
/// [`Solution::kkt_residual`](super::Solution::kkt_residual) is that share.
pub const KKT_TOLERANCE: f64 = 1e-9;

/// Times closer than this share of the time span are one.
const SAME_TIME: f64 = 1e-11;
/// A change of the objective smaller than this share of it is rounding.
const SAME_OBJECTIVE: f64 = 1e-14;
const HALVINGS: usize = 12;
const CLIPPING_ROUNDS: usize = 8;
const OBSTACLES: usize = 20;

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
    let mut one_at_a_time = false;
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
        if std::env::var("GDTW_DEBUG").is_ok() {
            eprintln!(
                "step {} f {:.17e} res {:.3e} desc {:?} one {} stalled {}",
                state.steps,
                state.objective,
                state.kkt_residual,
                self::debug(&scratch.descents),
                one_at_a_time,
                stalled
            );
        }
        if state.kkt_residual <= KKT_TOLERANCE || state.steps >= max_steps || stalled > 4 {
            break;
        }
        if one_at_a_time {
            scratch.keep_steepest_only();
        }
        state.steps += 1;
        let moved = scratch.advance(problem, reach, tolerance, phi, &state);
        if !moved && one_at_a_time {
            break;
        }
        one_at_a_time = !moved;
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
        for i in 0..m {
            let (lo, hi) = problem.limits(i);
            locate(problem, i, tolerance, &mut phi[i], &mut self.left[i], &mut self.right[i]);
            state.knots[i] = bound_state(lo, hi, tolerance, &mut phi[i]);
            let (value, right, bend) = self.right[i].eval(phi[i]);
            let left = if self.left[i] == self.right[i] { right } else { self.left[i].eval(phi[i]).1 };
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

    fn keep_steepest_only(&mut self) {
        let first = self.descents.iter().enumerate().min_by(|a, b| a.1.rate.total_cmp(&b.1.rate)).map(|(i, _)| i);
        if let Some(first) = first {
            self.descents.swap(0, first);
            self.descents.truncate(1);
        }
    }

    /// One step. Returns whether the warp moved.
    fn advance<T: Real>(
        &mut self,
        problem: &Problem<'_, T>,
        reach: &Reach,
        tolerance: f64,
        phi: &mut [f64],
        state: &Finish,
    ) -> bool {
        self.hold(problem, state, phi);
        // Knots that would leave their range go to its end, and the others adapt to that.
        for _ in 0..CLIPPING_ROUNDS {
            self.solve();
            self.clip_each(phi);
            reach.project(problem, &mut self.target);
            if self.search(problem, phi, state.objective) {
                return true;
            }
            if !self.fix_clipped(phi) {
                break;
            }
        }
        // Else straight along the step up to the first obstacle; one that stops it at once is held.
        self.hold(problem, state, phi);
        for _ in 0..OBSTACLES {
            self.solve();
            self.clip_at_first(problem, phi);
            reach.project(problem, &mut self.target);
            if self.search(problem, phi, state.objective) {
                return true;
            }
            if !self.hold_blocking(problem, tolerance, phi) {
                return false;
            }
        }
        false
    }

    /// Prescribes the moves of knots that the step takes out of their range; false if there are none.
    fn fix_clipped(&mut self, phi: &[f64]) -> bool {
        let mut fixed = false;
        for (i, &at) in phi.iter().enumerate() {
            let (lo, hi) = self.range[i];
            let to = at + self.step[i];
            // One that is only dragged along against its own slope may turn once the others stop.
            if !self.pinned[i] && (to < lo || to > hi) && self.step[i] * self.downhill[i] > 0.0 {
                self.pinned[i] = true;
                self.moves[i] = to.min(hi).max(lo) - at;
                fixed = true;
            }
        }
        fixed
    }

    /// Holds every active constraint and kink except those that a descent leaves.
    fn hold<T: Real>(&mut self, problem: &Problem<'_, T>, state: &Finish, phi: &[f64]) {
        self.moves.fill(0.0);
        for i in 0..phi.len() {
            let (lo, hi) = problem.limits(i);
            self.pinned[i] = state.knots[i] != KnotState::Free;
            self.range[i] = (self.left[i].lo.max(lo), self.right[i].hi.min(hi));
            self.downhill[i] = -(self.slope_right[i] + self.pull[i]);
        }
        for (tied, segment) in self.tied.iter_mut().zip(&state.segments) {
            *tied = *segment != SegmentState::Free;
        }
        for descent in &self.descents {
            for i in descent.knots.clone() {
                self.pinned[i] = false;
                let (lo, hi) = self.range[i];
                if descent.forward {
                    self.range[i] = (self.right[i].lo.max(lo), hi);
                } else {
                    self.range[i] = (lo, self.left[i].hi.min(hi));
                    self.downhill[i] = -(self.slope_left[i] + self.pull[i]);
                    self.bend[i] = self.left[i].eval(phi[i]).2;
                }
            }
            if descent.knots.start > 0 {
                self.tied[descent.knots.start - 1] = false;
            }
            if let Some(tied) = self.tied.get_mut(descent.knots.end - 1) {
                *tied = false;
            }
        }
    }

    /// The Newton step of what is not held; where the Hessian is not positive definite, its convex part is used.
    fn solve(&mut self) {
        self.system.group(&self.pinned, &self.tied, &self.moves);
        let largest = self.bend.iter().chain(&self.stiffness).fold(f64::MIN_POSITIVE, |a, v| a.max(v.abs()));
        let ridge = 1e-13 * largest;
        let hessian = Hessian { nodes: &self.bend, segments: &self.stiffness };
        if self.system.solve(hessian, &self.downhill, ridge, &mut self.step) {
            return;
        }
        self.bend.iter_mut().chain(&mut self.stiffness).for_each(|v| *v = v.max(0.0));
        let hessian = Hessian { nodes: &self.bend, segments: &self.stiffness };
        if !self.system.solve(hessian, &self.downhill, 1e-6 * largest, &mut self.step) {
            self.step.fill(0.0);
        }
    }

    /// The Newton point, each knot clipped to its own range.
    fn clip_each(&mut self, phi: &[f64]) {
        let moves = phi.iter().zip(&self.step).zip(&self.range);
        for (target, ((at, step), (lo, hi))) in self.target.iter_mut().zip(moves) {
            *target = (at + step).min(*hi).max(*lo);
        }
    }

    /// The straight step up to its first obstacle.
    fn clip_at_first<T: Real>(&mut self, problem: &Problem<'_, T>, phi: &[f64]) {
        let mut share = 1.0_f64;
        let mut obstacle = |room: f64, way: f64| {
            if way > 0.0 {
                share = share.min((room / way).max(0.0));
            }
        };
        for (i, &at) in phi.iter().enumerate() {
            obstacle(self.range[i].1 - at, self.step[i]);
            obstacle(at - self.range[i].0, -self.step[i]);
        }
        for (i, pair) in phi.windows(2).enumerate() {
            let (min, max) = problem.steps(i);
            let (advance, change) = (pair[1] - pair[0], self.step[i + 1] - self.step[i]);
            obstacle(max - advance, change);
            obstacle(advance - min, -change);
        }
        self.step.iter_mut().for_each(|v| *v *= share);
        self.clip_each(phi);
        self.step.iter_mut().for_each(|v| *v /= share.max(f64::MIN_POSITIVE));
    }

    /// Backtracks from the target until the objective falls enough.
    fn search<T: Real>(&mut self, problem: &Problem<'_, T>, phi: &mut [f64], objective: f64) -> bool {
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            let mut moved = false;
            let mut slope = 0.0;
            for (i, &from) in phi.iter().enumerate() {
                let at = if share == 1.0 { self.target[i] } else { from + share * (self.target[i] - from) };
                moved |= at != from;
                slope -= self.downhill[i] * (at - from);
                self.trial[i] = at;
            }
            // Along a segment the first-order change keeps its sign: uphill at once means uphill for every share.
            let rounding = SAME_OBJECTIVE * objective.abs();
            if !moved || slope > rounding {
                return false;
            }
            let value = self.value(problem, &self.trial);
            if (slope < 0.0 && value <= objective + 1e-4 * slope)
                || (-slope <= rounding && value <= objective + rounding)
            {
                phi.copy_from_slice(&self.trial);
                return true;
            }
            share *= 0.5;
        }
        false
    }

    /// Holds the constraints that stop the step at once; false if there are none.
    fn hold_blocking<T: Real>(&mut self, problem: &Problem<'_, T>, tolerance: f64, phi: &[f64]) -> bool {
        let mut held = false;
        for i in 0..phi.len() {
            let (lo, hi) = self.range[i];
            let outward =
                (phi[i] <= lo + tolerance && self.step[i] < 0.0) || (phi[i] >= hi - tolerance && self.step[i] > 0.0);
            if outward && !self.pinned[i] {
                self.pinned[i] = true;
                held = true;
            }
        }
        for i in 0..phi.len() - 1 {
            let (min, max) = problem.steps(i);
            let (advance, change) = (phi[i + 1] - phi[i], self.step[i + 1] - self.step[i]);
            let slack = 4.0 * tolerance;
            let outward = (advance <= min + slack && change < 0.0) || (advance >= max - slack && change > 0.0);
            if outward && !self.tied[i] {
                self.tied[i] = true;
                held = true;
            }
        }
        held
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

fn debug(d: &[Descent]) -> String {
    d.iter().map(|d| format!("{:?}{}{:.1e} ", d.knots, if d.forward { ">" } else { "<" }, d.rate)).collect()
}
