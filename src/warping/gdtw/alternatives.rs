//! The best path that passes a knot elsewhere: min-marginals, forward and backward over one grid of displacements.
//!
//! Every knot may be moved from the warp by the same displacements, so the cost of a segment depends on the difference of two
//! displacement indices only and is tabulated once per segment, whatever its kind.

use crate::base::error::Result;
use crate::base::job::JobContext;

use super::pieces::Side;
use super::problem::Problem;
use crate::base::number::Real;

/// Knots between two looks at cancellation.
const KNOTS_PER_CHECK: usize = 256;

/// Displacements `−half·step ..= half·step`, the same for every knot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Displacements {
    pub step: f64,
    pub half: usize,
}

impl Displacements {
    fn count(self) -> usize {
        2 * self.half + 1
    }

    fn at(self, j: usize) -> f64 {
        (j as f64 - self.half as f64) * self.step
    }
}

/// For each knot, by how much the best path that passes it farther than `away` from `phi` exceeds the best path of all; infinite where
/// there is none within the displacements and the bounds.
pub(super) fn margins<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    phi: &[f64],
    grid: Displacements,
    away: f64,
) -> Result<Vec<f64>> {
    let (m, count) = (phi.len(), grid.count());
    let mut nodes = vec![0.0_f32; m * count];
    for (i, row) in nodes.chunks_exact_mut(count).enumerate() {
        if i % KNOTS_PER_CHECK == 0 {
            ctx.check()?;
        }
        node_row(problem, i, phi[i], grid, row);
    }
    let mut forward = nodes.clone();
    let mut edge = vec![0.0_f32; 2 * count - 1];
    for i in 1..m {
        if i % KNOTS_PER_CHECK == 0 {
            ctx.check()?;
        }
        edge_table(problem, i - 1, phi[i] - phi[i - 1], grid, &mut edge);
        let (before, row) = forward.split_at_mut(i * count);
        let before = &before[(i - 1) * count..];
        // edge[d] is the cost of k → j with d = j − k + count − 1: for fixed j that is a reversed stretch.
        for (j, value) in row[..count].iter_mut().enumerate() {
            let costs = edge[j..j + count].iter().rev();
            *value += least(before.iter().zip(costs).map(|(b, c)| b + c));
        }
        subtract_least(&mut row[..count]);
    }
    let far: Vec<bool> = (0..count).map(|j| grid.at(j).abs() > away).collect();
    let mut result = vec![0.0; m];
    let mut backward = vec![0.0_f32; count];
    let mut next = vec![0.0_f32; count];
    for i in (0..m).rev() {
        if i % KNOTS_PER_CHECK == 0 {
            ctx.check()?;
        }
        if i + 1 < m {
            edge_table(problem, i, phi[i + 1] - phi[i], grid, &mut edge);
            let node = &nodes[(i + 1) * count..(i + 2) * count];
            next.iter_mut().zip(&backward).zip(node).for_each(|((n, b), c)| *n = b + c);
            for (k, value) in backward.iter_mut().enumerate() {
                let costs = &edge[count - 1 - k..];
                *value = least(next.iter().zip(costs).map(|(b, c)| b + c));
            }
            subtract_least(&mut backward);
        }
        let through = forward[i * count..(i + 1) * count].iter().zip(&backward).map(|(f, b)| f + b);
        let (mut best, mut other) = (f32::INFINITY, f32::INFINITY);
        for (value, &far) in through.zip(&far) {
            best = best.min(value);
            if far {
                other = other.min(value);
            }
        }
        result[i] = if other.is_finite() { f64::from(other - best) } else { f64::INFINITY };
    }
    Ok(result)
}

fn least(values: impl Iterator<Item = f32>) -> f32 {
    values.fold(f32::INFINITY, |a, b| if b < a { b } else { a })
}

fn subtract_least(row: &mut [f32]) {
    let least = least(row.iter().copied());
    if least.is_finite() {
        row.iter_mut().for_each(|v| *v -= least);
    }
}

/// Node costs of the displaced knot, less the cost where it is; infinite outside its bounds.
fn node_row<T: Real>(problem: &Problem<'_, T>, knot: usize, at: f64, grid: Displacements, row: &mut [f32]) {
    let (lo, hi) = problem.limits(knot);
    let rounding = 1e-9 * grid.step;
    let mut piece = problem.piece(knot, at, Side::Right);
    let base = piece.eval(at).0;
    for (j, value) in row.iter_mut().enumerate() {
        let time = at + grid.at(j);
        if j != grid.half && (time < lo - rounding || time > hi + rounding) {
            *value = f32::INFINITY;
            continue;
        }
        if time < piece.lo || time > piece.hi {
            piece = problem.piece(knot, time, Side::Right);
        }
        *value = (piece.eval(time).0 - base) as f32;
    }
}

/// Costs of a segment for every difference of displacements, less the cost as it is; infinite beyond its slope limits.
fn edge_table<T: Real>(problem: &Problem<'_, T>, segment: usize, advance: f64, grid: Displacements, costs: &mut [f32]) {
    let (min, max) = problem.steps(segment);
    let rounding = 1e-9 * (grid.step + advance.abs());
    let base = problem.edge(segment, advance).value;
    let middle = grid.count() as f64 - 1.0;
    for (d, cost) in costs.iter_mut().enumerate() {
        let changed = advance + (d as f64 - middle) * grid.step;
        let feasible = changed >= min - rounding && changed <= max + rounding;
        *cost = if feasible { (problem.edge(segment, changed).value - base) as f32 } else { f32::INFINITY };
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{random, run};
    use super::*;
    use crate::warping::Signal;

    /// All paths over the displacements, by definition.
    fn naive(problem: &Problem<'_, f64>, phi: &[f64], grid: Displacements, away: f64) -> Vec<f64> {
        let (m, count) = (phi.len(), grid.count());
        let mut best = f64::INFINITY;
        let mut other = vec![f64::INFINITY; m];
        for code in 0..count.pow(m as u32) {
            let mut rest = code;
            let moved: Vec<f64> = (0..m)
                .map(|_| {
                    let j = rest % count;
                    rest /= count;
                    grid.at(j)
                })
                .collect();
            let warp: Vec<f64> = phi.iter().zip(&moved).map(|(a, b)| a + b).collect();
            let bounded = warp.iter().enumerate().all(|(i, &at)| {
                let (lo, hi) = problem.limits(i);
                at >= lo - 1e-9 && at <= hi + 1e-9
            });
            let sloped = warp.windows(2).enumerate().all(|(i, w)| {
                let (min, max) = problem.steps(i);
                (min - 1e-9..=max + 1e-9).contains(&(w[1] - w[0]))
            });
            if bounded && sloped {
                let cost = problem.objective(&warp);
                best = best.min(cost);
                for (other, _) in other.iter_mut().zip(&moved).filter(|(_, by)| by.abs() > away) {
                    *other = other.min(cost);
                }
            }
        }
        other.iter().map(|o| o - best).collect()
    }

    #[test]
    fn margins_equal_those_of_all_paths() {
        let times: Vec<f64> = (0..6).map(f64::from).collect();
        for seed in 0..10 {
            let (x, y) = (random(12, seed), random(12, seed + 50));
            let signal = |values| Signal::new(&times, values, 2).unwrap();
            let problem = Problem::from_signals(signal(&x), signal(&y), 0.05)
                .with_slope_limits(0.2, 3.0)
                .with_anchors(&[(3, 2.6)])
                .unwrap();
            let phi = run(&problem).unwrap().phi;
            let grid = Displacements { step: 0.3, half: 2 };
            let found = margins(&JobContext::new(), &problem, &phi, grid, 0.4).unwrap();
            let expected = naive(&problem, &phi, grid, 0.4);
            for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!(a == b || (a - b).abs() < 1e-5, "{seed} {i}: {found:?} {expected:?}");
            }
            assert_eq!(found[3], f64::INFINITY);
        }
    }
}
