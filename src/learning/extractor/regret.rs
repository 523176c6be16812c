//! What lost slices learn from.
//!
//! The error of a warp says how to move it a little. A slice that has fallen into another figure of the music, or collapsed onto one
//! frame, is not helped by that: the wrong figure would only be shifted. Its *regret* helps: by how much the objective
//! prefers the warp found to the true one. It is zero where the truth is the optimum, and its gradient is plain, because the
//! warp found is optimal: features (and λ) must make the true warp cheaper and the one found dearer.

use super::slices::SliceTruth;
use crate::base::number::Real;
use crate::warping::Signal;

/// The objective's preference for a warp over the truth, within the truth's span, and its gradient.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Regret<T> {
    pub value: f64,
    pub score: Vec<T>,
    pub performance: Vec<T>,
    pub lambda: f64,
}

/// The regret of the warp `phi`, which has the score's frames as its knots.
pub(super) fn regret<T: Real>(
    score: Signal<'_, T>,
    performance: Signal<'_, T>,
    lambda: f64,
    truth: &SliceTruth,
    phi: &[f64],
) -> Regret<T> {
    let knots = score.times();
    let (first, last) = (truth.score_s[0], truth.score_s[truth.score_s.len() - 1]);
    let inside = knots.partition_point(|&t| t < first)..knots.partition_point(|&t| t <= last);
    let mut sums = Sums {
        score,
        performance,
        value: 0.0,
        by_score: vec![0.0; score.values().len()],
        by_performance: vec![0.0; performance.values().len()],
    };
    let mut by_lambda = 0.0;
    let mut before: Option<(f64, f64, f64)> = None;
    for knot in inside {
        let (time, found, real) = (knots[knot], phi[knot], true_time(truth, knots[knot]));
        let interval = if knot == 0 { knots[1] - knots[0] } else { knots[knot] - knots[knot - 1] };
        sums.add(knot, real, interval);
        sums.add(knot, found, -interval);
        if let Some((earlier, earlier_found, earlier_real)) = before {
            let cost = |advance: f64| (advance / (time - earlier) - 1.0).powi(2) * (time - earlier);
            by_lambda += cost(real - earlier_real) - cost(found - earlier_found);
        }
        before = Some((time, found, real));
    }
    let rounded = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect();
    Regret {
        value: sums.value + lambda * by_lambda,
        score: rounded(sums.by_score),
        performance: rounded(sums.by_performance),
        lambda: by_lambda,
    }
}

/// The truth between its rows.
fn true_time(truth: &SliceTruth, score_s: f64) -> f64 {
    let row = truth.score_s.partition_point(|&t| t <= score_s).clamp(1, truth.score_s.len() - 1);
    let (before, after) = (truth.score_s[row - 1], truth.score_s[row]);
    let share = (score_s - before) / (after - before);
    truth.performance_s[row - 1] + share * (truth.performance_s[row] - truth.performance_s[row - 1])
}

struct Sums<'a, T> {
    score: Signal<'a, T>,
    performance: Signal<'a, T>,
    value: f64,
    by_score: Vec<f64>,
    by_performance: Vec<f64>,
}

impl<T: Real> Sums<'_, T> {
    /// Adds `weight · ‖x − y(at)‖²`.
    fn add(&mut self, knot: usize, at: f64, weight: f64) {
        let (times, dim) = (self.performance.times(), self.score.dim());
        let k = times.partition_point(|&t| t <= at).clamp(1, times.len() - 1) - 1;
        let share = ((at - times[k]) / (times[k + 1] - times[k])).clamp(0.0, 1.0);
        for c in 0..dim {
            let x = self.score.frame(knot)[c].to_f64();
            let (y0, y1) = (self.performance.frame(k)[c].to_f64(), self.performance.frame(k + 1)[c].to_f64());
            let difference = x - y0 - share * (y1 - y0);
            let slope = 2.0 * weight * difference;
            self.value += weight * difference * difference;
            self.by_score[knot * dim + c] += slope;
            self.by_performance[k * dim + c] -= (1.0 - share) * slope;
            self.by_performance[(k + 1) * dim + c] -= share * slope;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIM: usize = 3;
    const STEP: f64 = 0.05;

    fn times(count: usize) -> Vec<f64> {
        (0..count).map(|i| STEP * i as f64).collect()
    }

    fn wave(count: usize, pace: f64) -> Vec<f64> {
        (0..count * DIM).map(|i| (pace * i as f64).sin()).collect()
    }

    fn truth() -> SliceTruth {
        let score_s: Vec<f64> = (0..8).map(|i| 0.12 + 0.1 * f64::from(i)).collect();
        let performance_s = score_s.iter().map(|s| 0.03 + 1.05 * s).collect();
        SliceTruth { score_s, performance_s }
    }

    fn found(x: &[f64], y: &[f64], lambda: f64, phi: &[f64]) -> Regret<f64> {
        let (score_s, performance_s) = (times(20), times(22));
        let (x, y) = (Signal::new(&score_s, x, DIM).unwrap(), Signal::new(&performance_s, y, DIM).unwrap());
        regret(x, y, lambda, &truth(), phi)
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let (x, y, lambda) = (wave(20, 0.37), wave(22, 0.41), 0.3);
        let collapsed: Vec<f64> = times(20).iter().map(|t| 0.4 + 0.1 * t).collect();
        let base = found(&x, &y, lambda, &collapsed);
        let h = 1e-6;
        let check = |analytic: f64, at: &dyn Fn(f64) -> f64| {
            let difference = (at(h) - at(-h)) / (2.0 * h);
            assert!((difference - analytic).abs() < 1e-6 * (1.0 + analytic.abs()), "{difference} {analytic}");
        };
        for i in (0..20 * DIM).step_by(4) {
            let changed = |values: &[f64], by: f64| {
                let mut values = values.to_vec();
                values[i] += by;
                values
            };
            check(base.score[i], &|by| found(&changed(&x, by), &y, lambda, &collapsed).value);
            check(base.performance[i], &|by| found(&x, &changed(&y, by), lambda, &collapsed).value);
        }
        check(base.lambda, &|by| found(&x, &y, lambda + by, &collapsed).value);
        assert!(base.lambda < 0.0, "a stiffer warp would not collapse: lambda should grow");
    }

    #[test]
    fn the_truth_regrets_nothing() {
        let true_warp: Vec<f64> = times(20).iter().map(|&t| true_time(&truth(), t)).collect();
        let found = found(&wave(20, 0.37), &wave(22, 0.41), 0.3, &true_warp);
        assert!(found.value.abs() < 1e-12 && found.score.iter().all(|g| g.abs() < 1e-12));
    }
}
