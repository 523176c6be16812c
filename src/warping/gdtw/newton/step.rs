//! One Newton step: what is held, where it leads, how far to go.

use super::super::blocks::Hessian;
use super::super::bounds::Reach;
use super::super::problem::Problem;
use super::super::stationarity::{KnotState, SegmentState};
use super::{Finish, HALVINGS, NewtonScratch, SAME_OBJECTIVE};
use crate::base::number::Real;

/// Rounds of moving knots to the ends of their ranges and solving for the rest.
const CLIPPING_ROUNDS: usize = 8;
/// Obstacles held one after the other before a step is given up.
const OBSTACLES: usize = 20;

impl NewtonScratch {
    /// One step. Returns the share of it that was taken.
    pub(super) fn advance<T: Real>(
        &mut self,
        problem: &Problem<'_, T>,
        reach: &Reach,
        tolerance: f64,
        phi: &mut [f64],
        state: &Finish,
    ) -> f64 {
        self.hold(problem, state, phi);
        // A stiff problem crosses many kinks at once: the whole step may be right although its model ends at the first kink.
        self.solve(phi);
        if phi.iter().zip(&self.step).zip(&self.range).any(|((at, by), (lo, hi))| at + by < *lo || at + by > *hi) {
            self.solve_beyond_kinks();
            self.target.iter_mut().zip(phi.iter().zip(&self.step)).for_each(|(to, (at, by))| *to = at + by);
            reach.project(problem, &mut self.target);
            if self.search(problem, phi, state.objective, 3) > 0.0 {
                return 0.5;
            }
        }
        // Knots that would leave their range go to its end, and the others adapt to that.
        for _ in 0..CLIPPING_ROUNDS {
            self.solve(phi);
            self.clip_each(phi);
            reach.project(problem, &mut self.target);
            let share = self.search(problem, phi, state.objective, HALVINGS);
            if share > 0.0 {
                return share;
            }
            if !self.fix_clipped(phi) {
                break;
            }
        }
        // Else straight along the step up to the first obstacle; one that stops it at once is held.
        self.hold(problem, state, phi);
        for _ in 0..OBSTACLES {
            self.solve(phi);
            self.clip_at_first(problem, phi);
            reach.project(problem, &mut self.target);
            // Taken whole or not, an obstacle ended it early.
            if self.search(problem, phi, state.objective, HALVINGS) > 0.0 {
                return 0.5;
            }
            if !self.hold_blocking(problem, tolerance, phi) {
                return 0.0;
            }
        }
        0.0
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
        for (i, pinned) in self.pinned.iter_mut().enumerate() {
            let (lo, hi) = problem.limits(i);
            *pinned = state.knots[i] != KnotState::Free;
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
    fn solve(&mut self, phi: &[f64]) {
        self.system.group(&self.pinned, &self.tied, &self.moves);
        let absolute = |values: &[f64]| values.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let largest = absolute(&self.bend).max(absolute(&self.stiffness));
        // Where there is no curvature at all, the step is long but finite: it is clipped anyway.
        let extent = (phi[phi.len() - 1] - phi[0]).abs().max(f64::MIN_POSITIVE);
        let floor = (1e-9 * absolute(&self.downhill) / extent).max(f64::MIN_POSITIVE);
        let ridge = if largest > 0.0 { 1e-13 * largest } else { floor };
        let hessian = Hessian { nodes: &self.bend, segments: &self.stiffness };
        if self.system.solve(hessian, &self.downhill, ridge, &mut self.step) {
            return;
        }
        self.bend.iter_mut().chain(&mut self.stiffness).for_each(|v| *v = v.max(0.0));
        let hessian = Hessian { nodes: &self.bend, segments: &self.stiffness };
        if !self.system.solve(hessian, &self.downhill, (1e-9 * largest).max(floor), &mut self.step) {
            self.step.fill(0.0);
        }
    }

    /// The step with a curvature that stands for the kinks ahead: over the length of a piece a slope may vanish.
    fn solve_beyond_kinks(&mut self) {
        for (i, bend) in self.trial.iter_mut().enumerate() {
            let length = (self.right[i].hi - self.left[i].lo).max(f64::MIN_POSITIVE);
            *bend = self.bend[i].max(0.0) + self.slope_left[i].abs().max(self.slope_right[i].abs()) / length;
        }
        self.stiffness.iter_mut().for_each(|v| *v = v.max(0.0));
        let largest = self.trial.iter().chain(&self.stiffness).fold(f64::MIN_POSITIVE, |a, v| a.max(*v));
        let hessian = Hessian { nodes: &self.trial, segments: &self.stiffness };
        if !self.system.solve(hessian, &self.downhill, 1e-13 * largest, &mut self.step) {
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

    /// Backtracks from the target until the objective falls enough; returns the share of the way.
    fn search<T: Real>(&mut self, problem: &Problem<'_, T>, phi: &mut [f64], objective: f64, tries: usize) -> f64 {
        let mut share = 1.0;
        for _ in 0..tries {
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
                return 0.0;
            }
            let value = self.value(problem, &self.trial);
            if (slope < 0.0 && value <= objective + 1e-4 * slope)
                || (-slope <= rounding && value <= objective + rounding)
            {
                phi.copy_from_slice(&self.trial);
                return share;
            }
            share *= 0.5;
        }
        0.0
    }

    /// Holds the constraints that stop the step at once; false if there are none.
    fn hold_blocking<T: Real>(&mut self, problem: &Problem<'_, T>, tolerance: f64, phi: &[f64]) -> bool {
        let mut held = false;
        for (i, &at) in phi.iter().enumerate() {
            let (lo, hi) = self.range[i];
            let outward = (at <= lo + tolerance && self.step[i] < 0.0) || (at >= hi - tolerance && self.step[i] > 0.0);
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
}
