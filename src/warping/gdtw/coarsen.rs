//! A coarser version of a problem: fewer knots, fewer frames, the same constraints.
//!
//! The coarse knots are some of the fine knots, so every feasible fine warp, read at them, is a feasible coarse warp: bounds, anchors
//! and slope limits hold at every level and coarsening never makes a problem infeasible. Features are averaged over a triangle
//! that reaches to the neighbouring coarse times, which keeps events where they are. Both terms of the objective are integrals over
//! time, so λ stays as it is.

use crate::base::error::{Error, Result};
use crate::warping::Signal;

use super::bounds::Reach;
use super::problem::{EdgeCost, NodeCost, Penalty, Problem};
use crate::base::number::Real;

/// Owns what a coarse [`Problem`] borrows.
#[derive(Debug)]
pub(super) struct Level {
    x: Vec<f32>,
    y: Vec<f32>,
    dim: usize,
    y_times: Vec<f64>,
    penalty: Penalty,
    knots: Vec<f64>,
    weights: Vec<f64>,
    lambda: Vec<f64>,
    rho: Vec<f64>,
    slope_min: Vec<f64>,
    slope_max: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Level {
    /// Keeps every `factor`th knot and frame, the ends, and every knot that can take one time only.
    pub fn of<T: Real>(problem: &Problem<'_, T>, factor: usize) -> Result<Self> {
        let (NodeCost::Features { x, y, weights, penalty }, EdgeCost::Slope { lambda, rho }) =
            (&problem.nodes, &problem.edges)
        else {
            let allowed = "feature signals with a penalty on the slope";
            return Err(Error::invalid("problem to be solved from coarse to fine", "of another kind", allowed));
        };
        let reach = Reach::of(problem)?;
        let last = problem.len() - 1;
        let kept = |i: &usize| i.is_multiple_of(factor) || *i == last || reach.lo[*i] == reach.hi[*i];
        let kept: Vec<usize> = (0..=last).filter(kept).collect();
        let knots: Vec<f64> = kept.iter().map(|&i| problem.knots[i]).collect();
        let (x, weights) = averaged(x, &problem.knots, weights, &knots);
        let y_times = spread(y.times(), factor);
        let y_values = averaged(y, y.times(), &vec![1.0; y.frames()], &y_times).0;
        let mut level = Self {
            x,
            y: y_values,
            dim: y.dim(),
            y_times,
            penalty: *penalty,
            knots,
            weights,
            lambda: Vec::new(),
            rho: Vec::new(),
            slope_min: Vec::new(),
            slope_max: Vec::new(),
            lower: kept.iter().map(|&i| reach.lo[i]).collect(),
            upper: kept.iter().map(|&i| reach.hi[i]).collect(),
        };
        for pair in kept.windows(2) {
            let whole = problem.knots[pair[1]] - problem.knots[pair[0]];
            let mean = |of: &[f64]| (pair[0]..pair[1]).map(|i| of[i] * problem.interval(i)).sum::<f64>() / whole;
            level.lambda.push(mean(lambda));
            level.rho.push(mean(rho));
            level.slope_min.push(mean(&problem.slope_min));
            level.slope_max.push(mean(&problem.slope_max));
        }
        Ok(level)
    }

    /// The problem at this level.
    pub fn problem(&self) -> Result<Problem<'_>> {
        let x = Signal::new(&self.knots, &self.x, self.dim)?;
        let y = Signal::new(&self.y_times, &self.y, self.dim)?;
        Ok(Problem {
            knots: self.knots.clone(),
            nodes: NodeCost::Features { x, y, weights: self.weights.clone(), penalty: self.penalty },
            edges: EdgeCost::Slope { lambda: self.lambda.clone(), rho: self.rho.clone() },
            slope_min: self.slope_min.clone(),
            slope_max: self.slope_max.clone(),
            lower: self.lower.clone(),
            upper: self.upper.clone(),
        })
    }

    /// Knot times.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// Number of frames of `y`.
    pub fn frames(&self) -> usize {
        self.y_times.len()
    }

    /// Distance of frames of `y`.
    pub fn frame_s(&self) -> f64 {
        self.y_times[1] - self.y_times[0]
    }
}

/// Equidistant times over the same span, about `factor` times fewer.
fn spread(times: &[f64], factor: usize) -> Vec<f64> {
    let (first, last) = (times[0], times[times.len() - 1]);
    let steps = (times.len() - 1).div_ceil(factor).max(1);
    let mut result: Vec<f64> = (0..steps).map(|k| first + (last - first) * k as f64 / steps as f64).collect();
    result.push(last);
    result
}

/// Weighted means over triangles that peak at the times `at` and end at their neighbours, with the weight of each mean.
pub(super) fn averaged<T: Real>(
    signal: &Signal<'_, T>,
    times: &[f64],
    weights: &[f64],
    at: &[f64],
) -> (Vec<f32>, Vec<f64>) {
    let dim = signal.dim();
    let mut sums = vec![0.0_f32; at.len() * dim];
    let (mut shares, mut totals) = (vec![0.0_f64; at.len()], vec![0.0_f64; at.len()]);
    let mut k = 0;
    for (i, (&time, &weight)) in times.iter().zip(weights).enumerate() {
        while k + 2 < at.len() && at[k + 1] <= time {
            k += 1;
        }
        let later = ((time - at[k]) / (at[k + 1] - at[k])).clamp(0.0, 1.0);
        for (to, share) in [(k, 1.0 - later), (k + 1, later)] {
            if share > 0.0 {
                totals[to] += share * weight;
                shares[to] += share;
                let sum = &mut sums[to * dim..(to + 1) * dim];
                for (s, &v) in sum.iter_mut().zip(signal.frame(i)) {
                    let value: f64 = v.to_f64();
                    *s += (share * value) as f32;
                }
            }
        }
    }
    for (k, sum) in sums.chunks_exact_mut(dim).enumerate() {
        if shares[k] > 1e-6 {
            sum.iter_mut().for_each(|s| *s /= shares[k] as f32);
        } else {
            // Frames far apart may leave a triangle empty: the nearest frame stands for it.
            let nearest = times.partition_point(|&t| t < at[k]).min(times.len() - 1);
            let frame = signal.frame(nearest);
            sum.iter_mut().zip(frame).for_each(|(s, &v)| *s = v.to_f64() as f32);
        }
    }
    (sums, totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_signals_keep_span_weight_and_straight_lines() {
        let times: Vec<f64> = (0..23).map(|i| f64::from(i) * 0.1).collect();
        let values: Vec<f32> = times.iter().flat_map(|&t| [t as f32, 1.0]).collect();
        let signal = Signal::new(&times, &values, 2).unwrap();
        let problem =
            Problem::from_signals(signal, signal, 0.3).with_anchors(&[(9, 0.95)]).unwrap().with_slope_limits(0.5, 2.0);
        let level = Level::of(&problem, 4).unwrap();
        let coarse = level.problem().unwrap();
        let times_of = |i: &[usize]| i.iter().map(|&i| times[i]).collect::<Vec<_>>();
        assert_eq!(coarse.knots, times_of(&[0, 4, 8, 9, 12, 16, 20, 22]));
        assert!((level.weights.iter().sum::<f64>() - 2.2).abs() < 1e-12);
        assert_eq!((coarse.lower[3], coarse.upper[3]), (0.95, 0.95));
        assert_eq!(coarse.domain(0), (0.0, times[22]));
        assert!(level.slope_min.iter().all(|s| (s - 0.5).abs() < 1e-12));
        // In the middle the mean of a straight line is its value.
        assert!((level.x[2] - 0.4).abs() < 1e-6 && (level.x[2 * 5] - 1.6).abs() < 1e-6, "{:?}", level.x);
        let middle = level.y_times.len() / 2;
        assert!((f64::from(level.y[2 * middle]) - level.y_times[middle]).abs() < 0.02);
    }
}
