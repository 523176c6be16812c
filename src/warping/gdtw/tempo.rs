//! One DP step with log-tempo edges: not convex, but cheapest at the reference interval and dearer the further from it, so the
//! search runs outwards from there and stops when nothing further out can win.

use super::dp::Windows;
use super::grid::KnotGrid;
use super::kernels;
use super::problem::Problem;
use crate::base::number::Real;

/// Reused arrays of [`TempoScratch::min_plus`].
#[derive(Debug, Default)]
pub(super) struct TempoScratch {
    /// Edge cost of each index difference.
    cost: Vec<f32>,
}

impl TempoScratch {
    /// Adds `min_k before[k] + edge(time_j − time_k)` over the windows to `out[j]`. Both rows have the same step.
    pub fn min_plus<T: Real>(
        &mut self,
        problem: &Problem<'_, T>,
        segment: usize,
        grid: &[KnotGrid],
        before: &[f32],
        windows: &Windows,
        out: &mut [f32],
    ) {
        let (from, to) = (&grid[segment], &grid[segment + 1]);
        let shift = to.lo - from.lo;
        let (low, high) = difference_range(windows);
        self.cost.clear();
        self.cost.extend((low..=high).map(|d| problem.edge(segment, shift + d as f64 * to.step).value as f32));
        kernels::min_plus_differences(before, &windows.first, &windows.last, &self.cost, low as i32, out);
    }

    /// The best predecessor of node `j`.
    pub fn best_predecessor<T: Real>(
        problem: &Problem<'_, T>,
        segment: usize,
        grid: &[KnotGrid],
        before: &[f32],
        (first, last): (usize, usize),
        j: usize,
    ) -> usize {
        let (from, to) = (&grid[segment], &grid[segment + 1]);
        let shift = to.lo - from.lo;
        let cost = |k: usize| before[k] + problem.edge(segment, shift + (j as f64 - k as f64) * to.step).value as f32;
        let mut best = first;
        let mut value = cost(first);
        for (k, &reached) in before.iter().enumerate().take(last + 1).skip(first + 1) {
            // Even for nothing the way from k would cost more.
            if reached >= value {
                continue;
            }
            let candidate = cost(k);
            if candidate < value {
                (best, value) = (k, candidate);
            }
        }
        best
    }
}

/// Smallest and greatest `j − k` over all windows.
fn difference_range(windows: &Windows) -> (i64, i64) {
    let mut range = (i64::MAX, i64::MIN);
    for (j, (&first, &last)) in windows.first.iter().zip(&windows.last).enumerate() {
        range.0 = range.0.min(j as i64 - i64::from(last));
        range.1 = range.1.max(j as i64 - i64::from(first));
    }
    range
}
