//! The warp: a monotone piecewise linear map from score time to performance time, both in seconds.

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};

/// Piecewise linear, strictly increasing knots, non-decreasing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warp {
    score_s: Vec<f64>,
    performance_s: Vec<f64>,
}

impl Warp {
    /// Checks that there are at least two knots, that knots increase strictly, and that the warp never runs backwards.
    pub fn new(score_s: Vec<f64>, performance_s: Vec<f64>) -> Result<Self> {
        if score_s.len() != performance_s.len() || score_s.len() < 2 {
            return Err(Error::invalid(
                "number of warp knots",
                score_s.len(),
                "two or more, each with its performance time",
            ));
        }
        if score_s.iter().chain(&performance_s).any(|t| !t.is_finite()) {
            return Err(Error::invalid("a warp time", "not a number", "finite"));
        }
        if let Some(i) = score_s.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Err(Error::invalid(
                "score time of a warp knot",
                score_s[i + 1],
                format!("later than {}", score_s[i]),
            ));
        }
        if let Some(i) = performance_s.windows(2).position(|pair| pair[1] < pair[0]) {
            let allowed = format!("not before {}", performance_s[i]);
            return Err(Error::invalid("performance time of a warp knot", performance_s[i + 1], allowed));
        }
        Ok(Self { score_s, performance_s })
    }

    /// Knots: score times.
    pub fn score_s(&self) -> &[f64] {
        &self.score_s
    }

    /// Performance times of the knots.
    pub fn performance_s(&self) -> &[f64] {
        &self.performance_s
    }

    /// Performance time of a score time; beyond the ends the warp goes on with the slope of the whole.
    pub fn at(&self, score_s: f64) -> f64 {
        interpolate(&self.score_s, &self.performance_s, score_s, self.mean_slope())
    }

    /// The earliest score time of a performance time (a pause maps many score times to one moment).
    pub fn inverse(&self, performance_s: f64) -> f64 {
        let slope = self.mean_slope();
        let inverse_slope = if slope > 0.0 { 1.0 / slope } else { 0.0 };
        interpolate(&self.performance_s, &self.score_s, performance_s, inverse_slope)
    }

    /// A smooth, strictly increasing version: values averaged over a Gaussian of `sigma_s` score seconds, raised where the warp
    /// would stand still.
    pub fn smoothed(&self, sigma_s: f64) -> Self {
        const REACH: i32 = 12;
        /// Least slope, as a share of the whole warp's.
        const LEAST_SLOPE: f64 = 0.02;
        let step = sigma_s / 4.0;
        let (first, last) = (self.score_s[0], self.score_s[self.score_s.len() - 1]);
        let weights: Vec<f64> = (-REACH..=REACH).map(|k| (-0.5 * (f64::from(k) / 4.0).powi(2)).exp()).collect();
        let total: f64 = weights.iter().sum();
        let count = ((last - first) / step).ceil().max(1.0) as usize;
        let knots: Vec<f64> = (0..=count).map(|k| first + (last - first) * k as f64 / count as f64).collect();
        let value = |at: f64| {
            let around = (-REACH..=REACH).zip(&weights);
            around.map(|(k, w)| w * self.at(at + f64::from(k) * step)).sum::<f64>() / total
        };
        let mut values: Vec<f64> = knots.iter().map(|&at| value(at)).collect();
        let least = LEAST_SLOPE * self.mean_slope() * (last - first) / count as f64;
        for index in 1..values.len() {
            values[index] = values[index].max(values[index - 1] + least);
        }
        Self { score_s: knots, performance_s: values }
    }

    /// Performance seconds per score second over the whole warp.
    pub fn mean_slope(&self) -> f64 {
        let last = self.score_s.len() - 1;
        (self.performance_s[last] - self.performance_s[0]) / (self.score_s[last] - self.score_s[0])
    }
}

/// Linear interpolation over non-decreasing `xs`, with a fixed slope beyond the ends.
fn interpolate(xs: &[f64], ys: &[f64], at: f64, outer_slope: f64) -> f64 {
    let last = xs.len() - 1;
    if at <= xs[0] {
        return ys[0] + (at - xs[0]) * outer_slope;
    }
    if at >= xs[last] {
        let first_of_last = xs.partition_point(|&x| x < xs[last]);
        return ys[if at == xs[last] { first_of_last } else { last }] + (at - xs[last]) * outer_slope;
    }
    let high = xs.partition_point(|&x| x < at);
    let (x0, x1) = (xs[high - 1], xs[high]);
    ys[high - 1] + (ys[high] - ys[high - 1]) * (at - x0) / (x1 - x0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warp() -> Warp {
        Warp::new(vec![0.0, 1.0, 2.0, 4.0], vec![10.0, 12.0, 12.0, 18.0]).unwrap()
    }

    #[test]
    fn interpolates_between_knots_and_goes_on_beyond_them() {
        assert_eq!(warp().at(0.5), 11.0);
        assert_eq!(warp().at(3.0), 15.0);
        assert_eq!(warp().at(-1.0), 8.0);
        assert_eq!(warp().at(5.0), 20.0);
    }

    #[test]
    fn inverse_takes_the_earliest_score_time_of_a_flat_run() {
        assert_eq!(warp().inverse(12.0), 1.0);
        assert_eq!(warp().inverse(15.0), 3.0);
        assert_eq!(warp().inverse(8.0), -1.0);
        let flat_end = Warp::new(vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 1.0]).unwrap();
        assert_eq!(flat_end.inverse(1.0), 1.0);
    }

    #[test]
    fn smoothing_keeps_lines_straight_and_makes_pauses_advance() {
        let line = Warp::new(vec![0.0, 10.0], vec![5.0, 25.0]).unwrap().smoothed(0.3);
        for at in [0.0, 0.1, 3.3, 10.0] {
            assert!((line.at(at) - (5.0 + 2.0 * at)).abs() < 1e-9);
        }
        let paused = Warp::new(vec![0.0, 5.0, 15.0, 20.0], vec![0.0, 10.0, 10.0, 20.0]).unwrap().smoothed(0.3);
        assert!(paused.performance_s().windows(2).all(|pair| pair[1] > pair[0]));
        // The corner is rounded by 2·σ/√(2π), and the pause advances by 2 % of the whole's slope.
        assert!((paused.at(5.0) - 10.0).abs() < 0.35);
        assert!((paused.at(2.5) - 5.0).abs() < 1e-9);
        assert!((paused.at(14.0) - 10.0).abs() < 0.2);
        assert!((paused.at(19.0) - 18.0).abs() < 1e-9);
    }

    #[test]
    fn smoothing_does_not_move_a_long_warp_however_far_from_straight_it_is() {
        // Half an hour at half tempo, then half an hour at double.
        let warp = Warp::new(vec![0.0, 1800.0, 3600.0], vec![0.0, 3600.0, 4500.0]).unwrap();
        let smooth = warp.smoothed(0.3);
        for at in [10.0, 900.0, 1790.0, 1810.0, 3000.0] {
            assert!((smooth.at(at) - warp.at(at)).abs() < 1e-6, "{at} s: {} for {}", smooth.at(at), warp.at(at));
        }
    }

    #[test]
    fn backward_and_degenerate_warps_are_rejected() {
        assert!(Warp::new(vec![0.0], vec![0.0]).is_err());
        assert!(Warp::new(vec![0.0, 0.0], vec![0.0, 1.0]).is_err());
        assert!(Warp::new(vec![0.0, 1.0], vec![1.0, 0.5]).is_err());
        assert!(Warp::new(vec![0.0, 1.0], vec![0.0, f64::NAN]).is_err());
    }
}
