//! The forward recursion of classic DTW, one anti-diagonal at a time.

use super::{DtwParams, Ends, StepWeights};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::base::simd::vectorised;
use crate::warping::cost::Banded;
use crate::warping::diagonals::{DiagonalReader, Diagonals};

/// How the best path reaches a cell, in one byte.
pub(super) struct Direction;

impl Direction {
    pub const DIAGONAL: u8 = 0;
    pub const SCORE: u8 = 1;
    pub const PERFORMANCE: u8 = 2;
    pub const START: u8 = 3;
}

/// What the way back needs.
pub(super) struct Forward {
    /// One direction per cell, in anti-diagonal order.
    pub directions: Vec<u8>,
    /// Column of the last cell.
    pub end_column: usize,
    /// Cost of the whole path.
    pub cost: f64,
}

pub(super) fn forward<T: Real>(
    ctx: &JobContext,
    cost: &Banded<T>,
    params: &DtwParams,
    diagonals: &Diagonals,
) -> Result<Forward> {
    let band = cost.band();
    let last_row = band.rows() - 1;
    let unit = params.steps == StepWeights::default();
    let performance_step = params.steps.performance;

    // Accumulated costs of three consecutive anti-diagonals. Row r lies at r + 1, with a guard on either side: run ends
    // move by at most one row, so one infinite value beyond each end is all that later anti-diagonals can see.
    let mut current = vec![f64::INFINITY; band.rows() + 2];
    let (mut before, mut before_that) = (current.clone(), current.clone());
    let mut costs = DiagonalReader::new(diagonals, cost);
    let mut directions = vec![Direction::DIAGONAL; band.cells()];
    let (mut end_column, mut end_cost) = (band.columns() - 1, f64::INFINITY);

    for index in 0..diagonals.count() {
        if index % 256 == 0 {
            ctx.report("aligning", index as f32 / diagonals.count() as f32)?;
        }
        let rows = diagonals.rows(index);
        let local = costs.read(index);
        let directions = &mut directions[diagonals.storage(index)];
        let from = Predecessors {
            diagonal: &before_that[rows.start..rows.end],
            score: &before[rows.start..rows.end],
            performance: &before[rows.start + 1..rows.end + 1],
        };
        current[rows.start] = f64::INFINITY;
        current[rows.end + 1] = f64::INFINITY;
        let reached = &mut current[rows.start + 1..rows.end + 1];
        if unit {
            relax_unit(local, from, reached, directions);
        } else {
            relax_weighted(local, from, &params.steps, reached, directions);
        }
        if rows.start == 0 && !rows.is_empty() {
            // The first row has no row above: a path starts here, or has come along the row.
            let free = params.ends == Ends::Subsequence || diagonals.column(index, 0) == 0;
            let start = if free { local[0] } else { f64::INFINITY };
            let along = before[1] + performance_step.factor * local[0] + performance_step.penalty;
            (reached[0], directions[0]) =
                if along < start { (along, Direction::PERFORMANCE) } else { (start, Direction::START) };
        }
        if rows.end == last_row + 1 && !rows.is_empty() {
            let value = reached[reached.len() - 1];
            let column = diagonals.column(index, last_row);
            let candidate = params.ends == Ends::Subsequence || column + 1 == band.columns();
            if candidate && value < end_cost {
                (end_column, end_cost) = (column, value);
            }
        }
        std::mem::swap(&mut before_that, &mut before);
        std::mem::swap(&mut before, &mut current);
    }
    Ok(Forward { directions, end_column, cost: end_cost })
}

/// Accumulated costs at the three cells from which each cell of an anti-diagonal can be reached.
#[derive(Clone, Copy)]
struct Predecessors<'a> {
    diagonal: &'a [f64],
    score: &'a [f64],
    performance: &'a [f64],
}

vectorised! {
    /// Steps that add the local cost and nothing else.
    fn relax_unit(local: &[f64], from: Predecessors<'_>, reached: &mut [f64], directions: &mut [u8]) {
        let cells = local.len();
        let (diagonal, score, performance) =
            (&from.diagonal[..cells], &from.score[..cells], &from.performance[..cells]);
        let (reached, directions) = (&mut reached[..cells], &mut directions[..cells]);
        for i in 0..cells {
            let (best, direction) = cheapest(diagonal[i], score[i], performance[i]);
            reached[i] = best + local[i];
            directions[i] = direction;
        }
    }
}

vectorised! {
    /// Steps with factors and penalties.
    fn relax_weighted(
        local: &[f64],
        from: Predecessors<'_>,
        steps: &StepWeights,
        reached: &mut [f64],
        directions: &mut [u8],
    ) {
        let cells = local.len();
        let (diagonal, score, performance) =
            (&from.diagonal[..cells], &from.score[..cells], &from.performance[..cells]);
        let (reached, directions) = (&mut reached[..cells], &mut directions[..cells]);
        for i in 0..cells {
            let diagonal = diagonal[i] + steps.diagonal.factor * local[i] + steps.diagonal.penalty;
            let score = score[i] + steps.score.factor * local[i] + steps.score.penalty;
            let performance = performance[i] + steps.performance.factor * local[i] + steps.performance.penalty;
            (reached[i], directions[i]) = cheapest(diagonal, score, performance);
        }
    }
}

/// The least of three, the earlier on ties.
#[inline(always)]
fn cheapest(diagonal: f64, score: f64, performance: f64) -> (f64, u8) {
    let (best, direction) = if score < diagonal { (score, Direction::SCORE) } else { (diagonal, Direction::DIAGONAL) };
    if performance < best { (performance, Direction::PERFORMANCE) } else { (best, direction) }
}
