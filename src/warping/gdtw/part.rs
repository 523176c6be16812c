//! A stretch of a problem as a problem of its own.

use std::ops::Range;

use crate::base::error::Result;
use crate::warping::Signal;

use super::pieces::{Side, frame_at};
use super::problem::{EdgeCost, NodeCost, Problem};
use super::table::CostTable;
use crate::base::number::Real;

/// Where the end knots of a stretch are held; `None` leaves an end to the bounds of its problem.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Held {
    pub first: Option<f64>,
    pub last: Option<f64>,
}

/// Calls `work` with the problem of the knots `knots`, two or more. Node costs are those of the whole, borrowed where they can be.
pub(super) fn with_part<T: Real, R>(
    problem: &Problem<'_, T>,
    knots: Range<usize>,
    held: Held,
    work: impl FnOnce(&Problem<'_, T>) -> Result<R>,
) -> Result<R> {
    let segments = knots.start..knots.end - 1;
    let mut lower: Vec<f64> = knots.clone().map(|i| problem.limits(i).0).collect();
    let mut upper: Vec<f64> = knots.clone().map(|i| problem.limits(i).1).collect();
    let last = lower.len() - 1;
    for (at, hold) in [(0, held.first), (last, held.last)] {
        if let Some(time) = hold {
            (lower[at], upper[at]) = (time, time);
        }
    }
    let table;
    let nodes = match &problem.nodes {
        NodeCost::Features { x, y, weights, penalty } => {
            // The warp is monotone: what lies before the first knot's earliest time or after the last one's latest is not needed.
            let first = frame_at(y.times(), lower[0], Side::Left).saturating_sub(1);
            let end = (frame_at(y.times(), upper[last], Side::Right) + 3).min(y.frames());
            NodeCost::Features {
                x: frames(x, knots.clone())?,
                y: frames(y, first..end)?,
                weights: weights[knots.clone()].to_vec(),
                penalty: *penalty,
            }
        }
        NodeCost::Table(whole) => {
            table = rows(whole, knots.clone())?;
            NodeCost::Table(&table)
        }
    };
    let of = |values: &[f64]| values[segments.clone()].to_vec();
    let edges = match &problem.edges {
        EdgeCost::Slope { lambda, rho } => EdgeCost::Slope { lambda: of(lambda), rho: of(rho) },
        EdgeCost::LogTempo { weight, reference, epsilon, sigma, delta } => EdgeCost::LogTempo {
            weight: of(weight),
            reference: of(reference),
            epsilon: *epsilon,
            sigma: *sigma,
            delta: *delta,
        },
    };
    work(&Problem {
        knots: problem.knots[knots.clone()].to_vec(),
        nodes,
        edges,
        slope_min: of(&problem.slope_min),
        slope_max: of(&problem.slope_max),
        lower,
        upper,
    })
}

fn frames<'a, T: Real>(signal: &Signal<'a, T>, range: Range<usize>) -> Result<Signal<'a, T>> {
    let values = &signal.values()[range.start * signal.dim()..range.end * signal.dim()];
    Signal::new(&signal.times()[range], values, signal.dim())
}

fn rows<T: Real>(table: &CostTable<T>, range: Range<usize>) -> Result<CostTable<T>> {
    let mut part = CostTable::new(table.origin(), table.step(), table.interpolation())?;
    for row in range {
        part.push_row(table.first(row), table.row(row))?;
    }
    Ok(part)
}
