//! The usual global constraints, and the test whether all constraints together leave anything.

use crate::base::error::{Error, Result};

use super::problem::Problem;
use crate::base::number::Real;

/// Contradictions smaller than this share of the time span are rounding, not conflict.
const SLACK: f64 = 1e-10;

impl<T: Real> Problem<'_, T> {
    /// Ties the first knot to the start of the domain and the last to its end.
    pub fn with_pinned_ends(self) -> Self {
        self.with_end_slack(0.0, 0.0)
    }

    /// Boundary constraint: the first knot at most `start` seconds into the domain, the last at most `end` before its end.
    pub fn with_end_slack(mut self, start: f64, end: f64) -> Self {
        if let Some(last) = self.len().checked_sub(1) {
            let (first_time, last_time) = (self.domain(0).0, self.domain(last).1);
            let (upper, lower) = (first_time + start, last_time - end);
            self.upper[0] = if upper.is_nan() { upper } else { self.upper[0].min(upper) };
            self.lower[last] = if lower.is_nan() { lower } else { self.lower[last].max(lower) };
        }
        self
    }

    /// R-K band: within `radius[i]` seconds of `centre[i]`, a shape of one's own.
    pub fn with_band(self, centre: &[f64], radius: &[f64]) -> Result<Self> {
        let m = self.len();
        if centre.len() != m || radius.len() != m {
            let given = format!("{} centres, {} radii", centre.len(), radius.len());
            return Err(Error::invalid("band", given, format!("one centre and radius per knot: {m}")));
        }
        Ok(self.bounded(centre.iter().zip(radius).map(|(c, r)| (c - r, c + r))))
    }

    /// Anchors: `(knot, time)` pairs that the warp must pass through exactly. They replace the bounds of their knots.
    pub fn with_anchors(mut self, anchors: &[(usize, f64)]) -> Result<Self> {
        for &(knot, time) in anchors {
            if knot >= self.len() {
                return Err(Error::invalid("knot of an anchor", knot, format!("below {}", self.len())));
            }
            (self.lower[knot], self.upper[knot]) = (time, time);
        }
        Ok(self)
    }

    /// Narrows all bounds. What is not a number is kept for the validation to find.
    fn bounded(mut self, bounds: impl Iterator<Item = (f64, f64)>) -> Self {
        for (i, (low, high)) in bounds.enumerate() {
            self.lower[i] = if low.is_nan() { low } else { self.lower[i].max(low) };
            self.upper[i] = if high.is_nan() { high } else { self.upper[i].min(high) };
        }
        self
    }
}

/// For each knot the interval of times that some feasible warp takes there: every time inside has a feasible way on to
/// both sides.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Reach {
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
}

impl Reach {
    /// Propagates bounds and slope limits forward and backward; a contradiction is reported with both its sources.
    pub fn of<T: Real>(problem: &Problem<'_, T>) -> Result<Self> {
        let m = problem.len();
        let (mut lo, mut hi) = (vec![0.0; m], vec![0.0; m]);
        for i in 0..m {
            (lo[i], hi[i]) = problem.limits(i);
        }
        let span = hi[m - 1].max(hi[0]) - lo[0].min(lo[m - 1]);
        let slack = SLACK * span.abs().max(f64::MIN_POSITIVE);
        for (i, (min, max)) in problem.slope_min.iter().zip(&problem.slope_max).enumerate() {
            if min > max {
                let (t0, t1) = (problem.knots[i], problem.knots[i + 1]);
                let reason =
                    format!("between {t0:.3} s and {t1:.3} s the least slope {min} exceeds the greatest {max}");
                return Err(Error::Infeasible { reason });
            }
        }
        // The knots whose own bounds the current limits stem from.
        let (mut lo_from, mut hi_from): (Vec<usize>, Vec<usize>) = ((0..m).collect(), (0..m).collect());
        let settle = |lo: &mut [f64], hi: &mut [f64], i: usize, lo_from: &[usize], hi_from: &[usize]| {
            if lo[i] <= hi[i] {
                return Ok(());
            }
            if lo[i] - hi[i] > slack {
                return Err(Error::Infeasible { reason: conflict(problem, i, lo_from[i], hi_from[i], lo[i] - hi[i]) });
            }
            let middle = 0.5 * (lo[i] + hi[i]);
            (lo[i], hi[i]) = (middle, middle);
            Ok(())
        };
        settle(&mut lo, &mut hi, 0, &lo_from, &hi_from)?;
        for i in 1..m {
            let (min, max) = problem.steps(i - 1);
            if lo[i - 1] + min > lo[i] {
                (lo[i], lo_from[i]) = (lo[i - 1] + min, lo_from[i - 1]);
            }
            if hi[i - 1] + max < hi[i] {
                (hi[i], hi_from[i]) = (hi[i - 1] + max, hi_from[i - 1]);
            }
            settle(&mut lo, &mut hi, i, &lo_from, &hi_from)?;
        }
        for i in (0..m - 1).rev() {
            let (min, max) = problem.steps(i);
            if lo[i + 1] - max > lo[i] {
                (lo[i], lo_from[i]) = (lo[i + 1] - max, lo_from[i + 1]);
            }
            if hi[i + 1] - min < hi[i] {
                (hi[i], hi_from[i]) = (hi[i + 1] - min, hi_from[i + 1]);
            }
            settle(&mut lo, &mut hi, i, &lo_from, &hi_from)?;
        }
        Ok(Self { lo, hi })
    }

    /// Moves `phi` to a feasible warp, each knot as little as the knots before it allow.
    pub fn project<T: Real>(&self, problem: &Problem<'_, T>, phi: &mut [f64]) {
        phi[0] = phi[0].clamp(self.lo[0], self.hi[0]);
        for i in 1..phi.len() {
            let (min, max) = problem.steps(i - 1);
            let low = (phi[i - 1] + min).max(self.lo[i]);
            let high = (phi[i - 1] + max).min(self.hi[i]);
            phi[i] = phi[i].min(high).max(low);
        }
    }
}

/// Says in words which bounds or anchors contradict each other.
fn conflict<T: Real>(problem: &Problem<'_, T>, at: usize, low: usize, high: usize, excess: f64) -> String {
    let name = |knot: usize| format!("knot {knot} (at {:.3} s)", problem.knots[knot]);
    let bound = |knot: usize, lower: bool| {
        let (first, last) = problem.domain(knot);
        let (low, high) = (problem.lower[knot], problem.upper[knot]);
        let own = if lower { low >= first } else { high <= last };
        match (own, low == high, lower) {
            (true, true, _) => format!("the anchor at {low:.3} s of {}", name(knot)),
            (true, false, true) => format!("the lower bound {low:.3} s of {}", name(knot)),
            (true, false, false) => format!("the upper bound {high:.3} s of {}", name(knot)),
            (false, _, true) => format!("the start {first:.3} s of what {} may take", name(knot)),
            (false, _, false) => format!("the end {last:.3} s of what {} may take", name(knot)),
        }
    };
    let (lower, upper) = (bound(low, true), bound(high, false));
    if low == high {
        return format!("{lower} lies {excess:.3} s after {upper}");
    }
    let (first, last) = (low.min(high), low.max(high));
    let rule = if low < high { "least" } else { "greatest" };
    let limits = if low < high { &problem.slope_min } else { &problem.slope_max };
    let (least, most) =
        limits[first..last].iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
    let slopes = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    format!(
        "{lower} and {upper} conflict by {excess:.3} s at {} under the {rule} slope of {slopes} between them",
        name(at)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warping::Signal;

    fn times() -> Vec<f64> {
        (0..11).map(f64::from).collect()
    }

    fn with<R>(change: impl FnOnce(Problem<'_>) -> R) -> R {
        let times = times();
        let values = vec![0.0_f32; 11];
        let signal = Signal::new(&times, &values, 1).unwrap();
        change(Problem::from_signals(signal, signal, 1.0))
    }

    fn reason(change: impl FnOnce(Problem<'_>) -> Problem<'_>) -> String {
        with(|p| Reach::of(&change(p)).unwrap_err().to_string())
    }

    #[test]
    fn anchors_narrow_their_neighbours_on_both_sides() {
        let reach = with(|p| Reach::of(&p.with_slope_limits(0.5, 2.0).with_anchors(&[(5, 4.0)]).unwrap()).unwrap());
        assert_eq!((reach.lo[4], reach.hi[4]), (2.0, 3.5));
        assert_eq!((reach.lo[7], reach.hi[7]), (5.0, 8.0));
        assert_eq!((reach.lo[0], reach.hi[0]), (0.0, 1.5));
    }

    #[test]
    fn contradictions_name_both_sources() {
        let text = reason(|p| p.with_anchors(&[(3, 6.0), (7, 5.0)]).unwrap());
        assert!(text.contains("anchor at 6.000 s of knot 3") && text.contains("anchor at 5.000 s of knot 7"), "{text}");
        let text = reason(|p| p.with_slope_limits(0.0, 1.2).with_anchors(&[(2, 1.0), (4, 5.0)]).unwrap());
        assert!(text.contains("greatest slope of 1.2") && text.contains("knot 2") && text.contains("knot 4"), "{text}");
        let text = reason(|p| p.with_pinned_ends().with_slope_limits(0.0, 0.9));
        assert!(text.contains("greatest slope of 0.9"), "{text}");
        let text = reason(|p| p.with_slope_limits(2.0, 1.0));
        assert!(text.contains("least slope 2 exceeds the greatest 1"), "{text}");
        let text = reason(|p| p.with_anchors(&[(4, 20.0)]).unwrap());
        assert!(text.contains("knot 4") && text.contains("end 10.000 s"), "{text}");
        let text = reason(|mut p| {
            (p.lower[6], p.upper[6]) = (5.0, 4.0);
            p
        });
        assert!(text.contains("lower bound 5.000 s of knot 6") && text.contains("upper bound 4.000 s"), "{text}");
    }

    #[test]
    fn malformed_bands_and_anchors_are_refused() {
        with(|p| assert!(p.with_band(&[0.0], &[1.0]).is_err()));
        with(|p| assert!(p.with_anchors(&[(11, 1.0)]).is_err()));
        with(|p| assert!(p.with_band(&times(), &[f64::NAN; 11]).unwrap().validate().is_err()));
        with(|p| assert!(p.with_anchors(&[(1, f64::NAN)]).unwrap().validate().is_err()));
        with(|p| assert!(p.with_end_slack(f64::NAN, 0.0).validate().is_err()));
    }

    #[test]
    fn rounding_is_no_conflict() {
        let reach = with(|p| Reach::of(&p.with_pinned_ends().with_slope_limits(1.0 + 1e-12, 1.0 + 1e-12)));
        assert!(reach.is_ok());
    }

    #[test]
    fn projection_keeps_what_is_feasible_and_mends_the_rest() {
        with(|p| {
            let p = p.with_pinned_ends().with_slope_limits(0.5, 2.0).with_band(&times(), &[1.5; 11]).unwrap();
            let reach = Reach::of(&p).unwrap();
            let mut phi: Vec<f64> = times();
            reach.project(&p, &mut phi);
            assert_eq!(phi, times());
            let mut wild: Vec<f64> = (0..11).map(|i| if i % 2 == 0 { -3.0 } else { 30.0 }).collect();
            reach.project(&p, &mut wild);
            assert_eq!((wild[0], wild[10]), (0.0, 10.0));
            assert!(wild.windows(2).all(|w| (0.5 - 1e-12..=2.0 + 1e-12).contains(&(w[1] - w[0]))), "{wild:?}");
            assert!(wild.iter().zip(times()).all(|(a, b)| (a - b).abs() <= 1.5 + 1e-12));
        });
    }
}
