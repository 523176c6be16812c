//! Where a joint step does not help: one stretch of knots after the other.

use super::super::problem::Problem;
use super::{HALVINGS, NewtonScratch};
use crate::base::number::Real;

impl NewtonScratch {
    /// Moves every descending stretch by itself to its own optimum within its pieces. Returns whether any moved.
    pub(super) fn sweep<T: Real>(&mut self, problem: &Problem<'_, T>, phi: &mut [f64]) -> bool {
        let m = phi.len();
        let mut moved = false;
        for descent in &self.descents {
            let (start, end) = (descent.knots.start, descent.knots.end);
            let sign = if descent.forward { 1.0 } else { -1.0 };
            let pieces = if descent.forward { &self.right } else { &self.left };
            let mut room = f64::INFINITY;
            for i in start..end {
                let (lo, hi) = problem.limits(i);
                let end = if descent.forward { pieces[i].hi.min(hi) - phi[i] } else { phi[i] - pieces[i].lo.max(lo) };
                room = room.min(end);
            }
            let before = (start > 0).then(|| (start - 1, problem.steps(start - 1)));
            let after = (end < m).then(|| (end - 1, problem.steps(end - 1)));
            for (border, grows) in [(before, descent.forward), (after, !descent.forward)] {
                if let Some((i, (min, max))) = border {
                    let advance = phi[i + 1] - phi[i];
                    room = room.min(if grows { max - advance } else { advance - min });
                }
            }
            // Value, slope and curvature of the objective along the move.
            let along = |t: f64| {
                let mut total = (0.0, 0.0, 0.0);
                for i in start..end {
                    let (value, slope, bend) = pieces[i].eval(phi[i] + sign * t);
                    total = (total.0 + value, total.1 + sign * slope, total.2 + bend);
                }
                for (border, grows) in [(before, sign), (after, -sign)] {
                    if let Some((i, _)) = border {
                        let edge = problem.edge(i, phi[i + 1] - phi[i] + grows * t);
                        total = (total.0 + edge.value, total.1 + grows * edge.first, total.2 + edge.second);
                    }
                }
                total
            };
            let (value, slope, bend) = along(0.0);
            if room.is_nan() || room <= 0.0 || slope >= 0.0 {
                continue;
            }
            let mut t = if bend * room > -slope { -slope / bend } else { room };
            let fell = (0..HALVINGS).any(|_| {
                let good = along(t).0 < value;
                t = if good { t } else { 0.5 * t };
                good
            });
            if fell {
                phi[start..end].iter_mut().for_each(|v| *v += sign * t);
                moved = true;
            }
        }
        moved
    }
}
