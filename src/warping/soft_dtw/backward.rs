//! The backward passes: probabilities flow from the last cell to the first along the recorded steps.

use std::ops::Range;

use super::forward::Tape;
use super::scaled::greater;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::simd::vectorised;
use crate::warping::cost::{Band, Banded};
use crate::warping::diagonals::{DiagonalReader, DiagonalWriter, Diagonals};

/// The expected path: how probable it is that a path visits each cell.
pub(super) fn expected_path(ctx: &JobContext, band: &Band, diagonals: &Diagonals, tape: &Tape) -> Result<Banded<f64>> {
    let mut probabilities = DiagonalWriter::new(diagonals, band);
    let mut flow = Flow::new(band.rows(), 1.0);
    for index in (0..diagonals.count()).rev() {
        if index % 64 == 0 {
            ctx.check()?;
        }
        let (rows, storage) = (diagonals.rows(index), diagonals.storage(index));
        let steps = [&tape.score[storage.clone()], &tape.performance[storage]];
        let (arriving, leaving) = flow.at(rows);
        probabilities.write(index, |cells| pass_on(arriving, steps, cells, leaving));
        flow.advance();
    }
    Ok(probabilities.finish())
}

/// Weights of the two things whose gradients one pass can give.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blend {
    /// Weight of the soft-DTW value, whose gradient is the expected path `E`.
    pub value: f64,
    /// Weight of its derivative along the direction, whose gradient is the Hessian times the direction.
    pub tangent: f64,
}

/// The gradient of a blend of the value and of its derivative along `direction`, with which the tape was recorded.
///
/// Let `T` be the derivative, along the direction `Ω`, of the value up to a cell. A step probability `p` into a cell `s`
/// changes by `p (mean_s − T)/γ`, where `mean_s` is the mean of `T` over the predecessors of `s`. Hence the change of the
/// expected path is, over successors, `dE = Σ p (dE_s + E_s mean_s/γ) − E T/γ`. The bracket `A = dE + E mean/γ` obeys
/// `A = Σ p A_s − E Ω/γ`, because `T = mean + Ω`: it flows back exactly as `E` does, and a cell needs only its own `T`
/// and `Ω`.
pub(super) fn blended_gradient(
    ctx: &JobContext,
    direction: &Banded<f64>,
    gamma: f64,
    blend: Blend,
    diagonals: &Diagonals,
    tape: &Tape,
) -> Result<Banded<f64>> {
    let band = direction.band();
    let mut directions = DiagonalReader::new(diagonals, direction);
    let mut gradient = DiagonalWriter::new(diagonals, band);
    // The last cell is always visited: E = 1 and dE = 0, so what arrives there is T/γ.
    let arriving_at_end = tape.tangent[band.cells() - 1] / gamma;
    let (mut flow, mut bracket_flow) = (Flow::new(band.rows(), 1.0), Flow::new(band.rows(), arriving_at_end));
    let longest = diagonals.longest();
    let (mut probabilities, mut brackets) = (vec![0.0; longest], vec![0.0; longest]);
    for index in (0..diagonals.count()).rev() {
        if index % 64 == 0 {
            ctx.check()?;
        }
        let (rows, storage) = (diagonals.rows(index), diagonals.storage(index));
        let (probabilities, brackets) = (&mut probabilities[..rows.len()], &mut brackets[..rows.len()]);
        let steps = [&tape.score[storage.clone()], &tape.performance[storage.clone()]];
        let tangent_and_direction = [&tape.tangent[storage], directions.read(index)];

        let (arriving, leaving) = flow.at(rows.clone());
        pass_on(arriving, steps, probabilities, leaving);
        let (arriving, leaving) = bracket_flow.at(rows);
        gradient.write(index, |gradient| {
            settle(arriving, probabilities, tangent_and_direction, 1.0 / gamma, blend, gradient, brackets);
        });
        share_out(brackets, steps, leaving);

        flow.advance();
        bracket_flow.advance();
    }
    Ok(gradient.finish())
}

/// What the cells of the last anti-diagonals send back by each step. Row r lies at r + 1; beyond the ends of a run,
/// which move by at most one row, there are zeros.
struct Flow {
    score: [Vec<f64>; 2],
    performance: [Vec<f64>; 2],
    diagonal: [Vec<f64>; 3],
}

impl Flow {
    /// Nothing flows yet except `seed`, into the last cell.
    fn new(rows: usize, seed: f64) -> Self {
        let empty = vec![0.0; rows + 2];
        let mut seeded = empty.clone();
        seeded[rows + 1] = seed;
        Self {
            score: [empty.clone(), empty.clone()],
            performance: [empty.clone(), empty.clone()],
            diagonal: [empty.clone(), empty, seeded],
        }
    }

    /// For the cells in `rows` of the current anti-diagonal: what arrives by (1,1), (1,0) and (0,1), and where to put what
    /// they send on by the same steps.
    fn at(&mut self, rows: Range<usize>) -> ([&[f64]; 3], [&mut [f64]; 3]) {
        let (here, below) = (rows.start + 1..rows.end + 1, rows.start + 2..rows.end + 2);
        let [score, score_before] = &mut self.score;
        let [performance, performance_before] = &mut self.performance;
        let [diagonal, _, diagonal_before] = &mut self.diagonal;
        for leaving in [&mut *score, performance, diagonal] {
            leaving[rows.start] = 0.0;
            leaving[rows.end + 1] = 0.0;
        }
        let arriving = [&diagonal_before[below.clone()], &score_before[below], &performance_before[here.clone()]];
        (arriving, [&mut diagonal[here.clone()], &mut score[here.clone()], &mut performance[here]])
    }

    /// Moves on to the anti-diagonal before.
    fn advance(&mut self) {
        self.score.swap(0, 1);
        self.performance.swap(0, 1);
        self.diagonal.rotate_right(1);
    }
}

vectorised! {
    /// Each cell holds what arrives, and sends it on in proportion to the probabilities of the steps into it.
    fn pass_on(arriving: [&[f64]; 3], steps: [&[f64]; 2], cells: &mut [f64], leaving: [&mut [f64]; 3]) {
        let n = cells.len();
        let [from_diagonal, from_score, from_performance] = arriving.map(|slice| &slice[..n]);
        let [score, performance] = steps.map(|slice| &slice[..n]);
        let [to_diagonal, to_score, to_performance] = leaving.map(|slice| &mut slice[..n]);
        for i in 0..n {
            let (s, p) = (score[i], performance[i]);
            let cell = from_diagonal[i] + from_score[i] + from_performance[i];
            cells[i] = cell;
            to_diagonal[i] = cell * greater(1.0 - s - p, 0.0);
            to_score[i] = cell * s;
            to_performance[i] = cell * p;
        }
    }
}

vectorised! {
    /// The gradient in each cell, and the bracket that flows on, from what arrives.
    fn settle(
        arriving: [&[f64]; 3],
        probabilities: &[f64],
        tangent_and_direction: [&[f64]; 2],
        inverse_gamma: f64,
        blend: Blend,
        gradient: &mut [f64],
        brackets: &mut [f64],
    ) {
        let n = gradient.len();
        let [from_diagonal, from_score, from_performance] = arriving.map(|slice| &slice[..n]);
        let [tangent, direction] = tangent_and_direction.map(|slice| &slice[..n]);
        let (probabilities, brackets) = (&probabilities[..n], &mut brackets[..n]);
        for i in 0..n {
            let arrived = from_diagonal[i] + from_score[i] + from_performance[i];
            let scaled = probabilities[i] * inverse_gamma;
            gradient[i] = blend.tangent * (arrived - scaled * tangent[i]) + blend.value * probabilities[i];
            brackets[i] = arrived - scaled * direction[i];
        }
    }
}

vectorised! {
    /// Sends each cell's bracket on in proportion to the probabilities of the steps into it.
    fn share_out(cells: &[f64], steps: [&[f64]; 2], leaving: [&mut [f64]; 3]) {
        let n = cells.len();
        let [score, performance] = steps.map(|slice| &slice[..n]);
        let [to_diagonal, to_score, to_performance] = leaving.map(|slice| &mut slice[..n]);
        for i in 0..n {
            let (s, p) = (score[i], performance[i]);
            to_diagonal[i] = cells[i] * greater(1.0 - s - p, 0.0);
            to_score[i] = cells[i] * s;
            to_performance[i] = cells[i] * p;
        }
    }
}
