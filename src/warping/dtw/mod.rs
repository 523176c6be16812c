//! Classic dynamic time warping: the cheapest monotone path through a matrix of local costs.
//!
//! Rows are score frames, columns are performance frames. A path starts in the first row, ends in the last, and moves by
//! the steps (1,1), (1,0) and (0,1). Its cost is the local cost of its first cell plus, for each later cell, the local
//! cost times the step's factor plus the step's penalty. Sums are kept in `f64`, so an hour of frames loses nothing.
//!
//! Ties are broken the same way everywhere: a cell prefers to start a path, then the diagonal step, then (1,0), then
//! (0,1); a free end prefers the earliest column.
//!
//! The recursion runs over anti-diagonals, whose cells are independent of each other; one byte per cell of the band is
//! all that is kept for the way back.

mod pairs;
mod path;
mod recursion;

pub use pairs::dtw_of_pairs;
pub use path::{DtwPath, PathReading};

use self::recursion::{Direction, Forward};
use super::cost::Banded;
use super::diagonals::Diagonals;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::number::Real;

/// What a path must do with the two ends of the performance. The score is always used from end to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ends {
    /// First frame on first frame, last on last.
    #[default]
    Pinned,
    /// The path may start and end at any performance frame.
    Subsequence,
}

/// What a step adds to the cost of a path: `factor * local cost + penalty`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepWeight {
    /// Multiplies the local cost of the cell that the step enters; not negative.
    pub factor: f64,
    /// Added for each step; not negative.
    pub penalty: f64,
}

impl Default for StepWeight {
    fn default() -> Self {
        Self { factor: 1.0, penalty: 0.0 }
    }
}

/// The weights of the three steps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepWeights {
    /// (1,1): both go on.
    pub diagonal: StepWeight,
    /// (1,0): the score goes on, the performance stays.
    pub score: StepWeight,
    /// (0,1): the performance goes on, the score stays.
    pub performance: StepWeight,
}

/// Parameters of [`dtw`]. The band, if any, is that of the cost matrix.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DtwParams {
    /// Pinned ends or subsequence.
    pub ends: Ends,
    /// Step weights.
    pub steps: StepWeights,
}

impl DtwParams {
    fn validate(&self) -> Result<()> {
        let steps = [("diagonal", self.steps.diagonal), ("score", self.steps.score)];
        for (name, weight) in steps.into_iter().chain([("performance", self.steps.performance)]) {
            for (kind, value) in [("factor", weight.factor), ("penalty", weight.penalty)] {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(Error::invalid(format!("{kind} of the {name} step"), value, "finite and not negative"));
                }
            }
        }
        Ok(())
    }
}

/// The cheapest path through `cost`.
pub fn dtw<T: Real>(ctx: &JobContext, cost: &Banded<T>, params: &DtwParams) -> Result<DtwPath> {
    params.validate()?;
    let band = cost.band();
    if params.ends == Ends::Pinned {
        band.check_pinned()?;
    }
    let diagonals = Diagonals::new(band);
    let Forward { directions, end_column, cost } = recursion::forward(ctx, cost, params, &diagonals)?;

    let (mut row, mut column) = (band.rows() - 1, end_column);
    let mut cells = Vec::with_capacity(2 * band.rows().max(band.columns()));
    loop {
        cells.push((row, column));
        match directions[diagonals.cell(row, column)] {
            Direction::DIAGONAL => (row, column) = (row - 1, column - 1),
            Direction::SCORE => row -= 1,
            Direction::PERFORMANCE => column -= 1,
            _ => break,
        }
    }
    cells.reverse();
    Ok(DtwPath::from_cells(cells, cost))
}

#[cfg(test)]
mod tests;
