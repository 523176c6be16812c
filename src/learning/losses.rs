//! How far a warp is from the truth, and in which direction each knot should move.

use serde::{Deserialize, Serialize};

use super::extractor::SliceTruth;

/// What is measured. Both are exact integrals over score time, as in [`evaluate`](crate::evaluation::evaluate).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarpLoss {
    /// Mean absolute error.
    #[default]
    TimeErr,
    /// Root of the mean squared error.
    TimeDev,
}

/// A loss and its gradient.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LossOnWarp {
    /// In seconds.
    pub value: f64,
    /// With respect to the performance time of each knot.
    pub gradient: Vec<f64>,
}

/// The loss of the warp with values `phi` at `knots` (two or more, strictly increasing) against the truth's rows (two or
/// more). Beyond its ends the warp goes on straight.
pub(super) fn warp_loss(loss: WarpLoss, knots: &[f64], phi: &[f64], truth: &SliceTruth) -> LossOnWarp {
    let places: Vec<Place> = truth.score_s.iter().map(|&at| Place::of(knots, at)).collect();
    let errors: Vec<f64> =
        places.iter().zip(&truth.performance_s).map(|(place, truth)| place.read(phi) - truth).collect();
    let span = truth.score_s[truth.score_s.len() - 1] - truth.score_s[0];
    let mut by_error = vec![0.0; errors.len()];
    let mut sum = 0.0;
    for (i, (score_s, error)) in truth.score_s.windows(2).zip(errors.windows(2)).enumerate() {
        let weight = (score_s[1] - score_s[0]) / span;
        let (value, [first, second]) = match loss {
            WarpLoss::TimeErr => mean_absolute(error[0], error[1]),
            WarpLoss::TimeDev => mean_square(error[0], error[1]),
        };
        sum += weight * value;
        by_error[i] += weight * first;
        by_error[i + 1] += weight * second;
    }
    if loss == WarpLoss::TimeDev {
        sum = sum.sqrt();
        // A perfect warp is the tip of a cone: no direction is better than another.
        let factor = if sum > 0.0 { 0.5 / sum } else { 0.0 };
        by_error.iter_mut().for_each(|g| *g *= factor);
    }
    let mut gradient = vec![0.0; phi.len()];
    for (place, by_error) in places.iter().zip(by_error) {
        gradient[place.segment] += (1.0 - place.share) * by_error;
        gradient[place.segment + 1] += place.share * by_error;
    }
    LossOnWarp { value: sum, gradient }
}

/// A score time as a place between two knots; the share is outside 0 to 1 beyond the ends.
struct Place {
    segment: usize,
    share: f64,
}

impl Place {
    fn of(knots: &[f64], at: f64) -> Self {
        let segment = knots.partition_point(|&knot| knot <= at).saturating_sub(1).min(knots.len() - 2);
        Self { segment, share: (at - knots[segment]) / (knots[segment + 1] - knots[segment]) }
    }

    fn read(&self, phi: &[f64]) -> f64 {
        phi[self.segment] + self.share * (phi[self.segment + 1] - phi[self.segment])
    }
}

/// Mean of |e| where e goes straight from `first` to `second`, and its derivatives.
fn mean_absolute(first: f64, second: f64) -> (f64, [f64; 2]) {
    let (a, b) = (first.abs(), second.abs());
    let sum = a + b;
    if sum == 0.0 {
        return (0.0, [0.0; 2]);
    }
    if first * second >= 0.0 {
        // An error of zero beside another counts with the other's sign: the derivative is the same from both sides.
        let sign = if first + second > 0.0 { 0.5 } else { -0.5 };
        return (sum / 2.0, [sign; 2]);
    }
    let value = (a * a + b * b) / (2.0 * sum);
    let derivative = |size: f64, error: f64| error.signum() * (size - value) / sum;
    (value, [derivative(a, first), derivative(b, second)])
}

/// Mean of e² likewise.
fn mean_square(first: f64, second: f64) -> (f64, [f64; 2]) {
    let value = (first * first + first * second + second * second) / 3.0;
    (value, [(2.0 * first + second) / 3.0, (first + 2.0 * second) / 3.0])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOTH: [WarpLoss; 2] = [WarpLoss::TimeErr, WarpLoss::TimeDev];

    fn knots() -> Vec<f64> {
        (0..8).map(|i| 0.1 * f64::from(i)).collect()
    }

    fn truth(errors: &[f64]) -> SliceTruth {
        let score_s: Vec<f64> = (0..errors.len()).map(|i| 0.03 + 0.12 * i as f64).collect();
        let performance_s = score_s.iter().zip(errors).map(|(s, e)| 1.0 + s - e).collect();
        SliceTruth { score_s, performance_s }
    }

    fn straight() -> Vec<f64> {
        knots().iter().map(|knot| 1.0 + knot).collect()
    }

    #[test]
    fn values_agree_with_a_fine_sum_over_score_time() {
        let errors = [0.02, -0.01, 0.0, 0.03, 0.03, -0.05, -0.02];
        let truth = truth(&errors);
        let steps = 200_000;
        let (mut absolute, mut square) = (0.0, 0.0);
        for k in 0..steps {
            let place = (f64::from(k) + 0.5) / f64::from(steps) * (errors.len() - 1) as f64;
            let low = place as usize;
            let error = errors[low] + (errors[low + 1] - errors[low]) * (place - low as f64);
            absolute += error.abs() / f64::from(steps);
            square += error * error / f64::from(steps);
        }
        assert!((warp_loss(WarpLoss::TimeErr, &knots(), &straight(), &truth).value - absolute).abs() < 1e-9);
        assert!((warp_loss(WarpLoss::TimeDev, &knots(), &straight(), &truth).value - square.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_perfect_warp_has_no_loss_and_no_gradient() {
        // Binary fractions: the errors are zero exactly.
        let truth = SliceTruth { score_s: vec![0.25, 0.5, 1.0], performance_s: vec![1.25, 1.5, 2.0] };
        for loss in BOTH {
            let found = warp_loss(loss, &[0.0, 0.5, 1.0], &[1.0, 1.5, 2.0], &truth);
            assert_eq!((found.value, found.gradient), (0.0, vec![0.0; 3]));
        }
    }

    fn check_gradient(errors: &[f64]) {
        let truth = truth(errors);
        for loss in BOTH {
            let found = warp_loss(loss, &knots(), &straight(), &truth);
            for knot in 0..8 {
                let at = |change: f64| {
                    let mut phi = straight();
                    phi[knot] += change;
                    warp_loss(loss, &knots(), &phi, &truth).value
                };
                let h = 1e-6;
                let difference = (at(h) - at(-h)) / (2.0 * h);
                assert!((difference - found.gradient[knot]).abs() < 1e-4, "{loss:?} {knot} {difference} {found:?}");
            }
        }
    }

    #[test]
    fn the_gradient_is_right_where_one_error_is_zero() {
        check_gradient(&[0.02, 0.0, 0.02, -0.01, -0.02, 0.01]);
    }

    proptest! {
        #[test]
        fn the_gradient_is_that_of_finite_differences(errors in prop::collection::vec(-0.1..0.1_f64, 2..8)) {
            // Nearer to zero than the step, the loss bends too sharply for a difference to show its slope.
            prop_assume!(errors.iter().all(|e| e.abs() > 1e-3));
            check_gradient(&errors);
        }

        #[test]
        fn both_losses_are_finite_and_the_mean_is_below_the_root_mean_square(
            errors in prop::collection::vec(prop_oneof![Just(0.0), -1.0..1.0_f64, -1e-300..1e-300_f64], 2..8),
        ) {
            let [mean, root] = BOTH.map(|loss| warp_loss(loss, &knots(), &straight(), &truth(&errors)));
            prop_assert!(mean.value.is_finite() && mean.gradient.iter().chain(&root.gradient).all(|g| g.is_finite()));
            prop_assert!(mean.value <= root.value + 1e-12);
        }
    }
}
