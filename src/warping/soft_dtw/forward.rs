//! The forward pass: path sums cell by cell, and the step probabilities that the backward passes need.

use std::cell::Cell;

use super::scaled::{ZERO_EXPONENT, exp2_parts, greater, power_of_two, split};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::base::simd::vectorised;
use crate::warping::cost::Banded;
use crate::warping::diagonals::{DiagonalReader, Diagonals};

/// What a forward pass leaves for a backward one, in anti-diagonal order.
///
/// The probability of the diagonal step into a cell is what the other two leave of one; in the first cell, which no step
/// enters, both are zero and the rest is not used.
#[derive(Debug, Default)]
pub(super) struct Tape {
    /// Probability that a path in this cell came by (1,0).
    pub score: Vec<f64>,
    /// Probability that a path in this cell came by (0,1).
    pub performance: Vec<f64>,
    /// Directional derivative of soft-DTW up to this cell; only [`record_tangent`] writes it.
    pub tangent: Vec<f64>,
}

impl Tape {
    fn resize(&mut self, cells: usize, with_tangent: bool) {
        self.score.resize(cells, 0.0);
        self.performance.resize(cells, 0.0);
        if with_tangent {
            self.tangent.resize(cells, 0.0);
        }
    }
}

/// Up to this many cells (24 MB) a thread keeps its tape: in training the same size comes again and again, and fresh
/// pages from the system cost more time than the arithmetic.
const KEPT_CELLS: usize = 1 << 20;

/// Lends this thread's tape to `work`.
pub(super) fn with_tape<R>(work: impl FnOnce(&mut Tape) -> R) -> R {
    thread_local!(static TAPE: Cell<Tape> = Cell::default());
    let mut tape = TAPE.take();
    let result = work(&mut tape);
    if tape.score.len() <= KEPT_CELLS {
        TAPE.set(tape);
    }
    result
}

/// The value, with step probabilities written to `tape`.
pub(super) fn record<T: Real>(
    ctx: &JobContext,
    cost: &Banded<T>,
    gamma: f64,
    diagonals: &Diagonals,
    tape: &mut Tape,
) -> Result<f64> {
    tape.resize(cost.band().cells(), false);
    run(ctx, cost, gamma, diagonals, |index, _, relax| {
        let storage = diagonals.storage(index);
        relax(&mut tape.score[storage.clone()], &mut tape.performance[storage]);
    })
}

/// As [`record`], with the directional derivative along `direction` too; its last value is `Σ E∘direction`.
pub(super) fn record_tangent<T: Real>(
    ctx: &JobContext,
    cost: &Banded<T>,
    direction: &Banded<f64>,
    gamma: f64,
    diagonals: &Diagonals,
    tape: &mut Tape,
) -> Result<f64> {
    tape.resize(cost.band().cells(), true);
    let guarded = cost.band().rows() + 2;
    let (mut before, mut before_that, mut current) = (vec![0.0; guarded], vec![0.0; guarded], vec![0.0; guarded]);
    let mut directions = DiagonalReader::new(diagonals, direction);
    run(ctx, cost, gamma, diagonals, |index, _, relax| {
        let (rows, storage) = (diagonals.rows(index), diagonals.storage(index));
        let (score, performance) = (&mut tape.score[storage.clone()], &mut tape.performance[storage.clone()]);
        relax(score, performance);
        current[rows.start] = 0.0;
        current[rows.end + 1] = 0.0;
        let tangent = &mut current[rows.start + 1..rows.end + 1];
        let from =
            [&before_that[rows.start..rows.end], &before[rows.start..rows.end], &before[rows.start + 1..rows.end + 1]];
        relax_tangent(directions.read(index), from, score, performance, tangent);
        tape.tangent[storage].copy_from_slice(tangent);
        std::mem::swap(&mut before_that, &mut before);
        std::mem::swap(&mut before, &mut current);
    })
}

/// Three consecutive anti-diagonals of path sums; row r lies at r + 1, with a zero beyond each end of the run.
struct Sums {
    mantissas: Vec<f64>,
    exponents: Vec<f64>,
}

impl Sums {
    fn new(rows: usize) -> Self {
        Self { mantissas: vec![0.0; rows + 2], exponents: vec![ZERO_EXPONENT; rows + 2] }
    }
}

/// Calls `visit` once per anti-diagonal with a function that fills its step probabilities; returns the value.
fn run<T: Real>(
    ctx: &JobContext,
    cost: &Banded<T>,
    gamma: f64,
    diagonals: &Diagonals,
    mut visit: impl FnMut(usize, usize, &mut dyn FnMut(&mut [f64], &mut [f64])),
) -> Result<f64> {
    let rows = cost.band().rows();
    let to_log2 = -1.0 / (gamma * std::f64::consts::LN_2);
    let (mut current, mut before, mut before_that) = (Sums::new(rows), Sums::new(rows), Sums::new(rows));
    // A path sum of one before the first cell: its only way in is the diagonal.
    (before_that.mantissas[0], before_that.exponents[0]) = (1.0, 0.0);
    let mut costs = DiagonalReader::new(diagonals, cost);
    for index in 0..diagonals.count() {
        if index % 64 == 0 {
            ctx.check()?;
        }
        let rows = diagonals.rows(index);
        let local = costs.read(index);
        for guard in [rows.start, rows.end + 1] {
            (current.mantissas[guard], current.exponents[guard]) = (0.0, ZERO_EXPONENT);
        }
        let (above, here) = (rows.start..rows.end, rows.start + 1..rows.end + 1);
        visit(index, rows.len(), &mut |score, performance| {
            let from = Predecessors {
                diagonal: (&before_that.mantissas[above.clone()], &before_that.exponents[above.clone()]),
                score: (&before.mantissas[above.clone()], &before.exponents[above.clone()]),
                performance: (&before.mantissas[here.clone()], &before.exponents[here.clone()]),
            };
            let to = (&mut current.mantissas[here.clone()], &mut current.exponents[here.clone()]);
            relax(local, to_log2, from, to, score, performance);
        });
        std::mem::swap(&mut before_that, &mut before);
        std::mem::swap(&mut before, &mut current);
        if index == 0 {
            // The seed has been used; from here on the guard above the first row means "no path".
            (current.mantissas[0], current.exponents[0]) = (0.0, ZERO_EXPONENT);
        }
    }
    let log2 = before.exponents[rows] + before.mantissas[rows].log2();
    Ok(log2 / to_log2)
}

/// Path sums, as mantissas and exponents, at the cells from which each cell of an anti-diagonal can be reached.
#[derive(Clone, Copy)]
struct Predecessors<'a> {
    diagonal: (&'a [f64], &'a [f64]),
    score: (&'a [f64], &'a [f64]),
    performance: (&'a [f64], &'a [f64]),
}

vectorised! {
    /// `sum = (diagonal + score + performance) * 2^(cost * to_log2)`, and the shares of the latter two in the bracket.
    fn relax(
        cost: &[f64],
        to_log2: f64,
        from: Predecessors<'_>,
        to: (&mut [f64], &mut [f64]),
        score_share: &mut [f64],
        performance_share: &mut [f64],
    ) {
        let n = cost.len();
        let (dm, de) = (&from.diagonal.0[..n], &from.diagonal.1[..n]);
        let (sm, se) = (&from.score.0[..n], &from.score.1[..n]);
        let (pm, pe) = (&from.performance.0[..n], &from.performance.1[..n]);
        let (mantissas, exponents) = (&mut to.0[..n], &mut to.1[..n]);
        let (score_share, performance_share) = (&mut score_share[..n], &mut performance_share[..n]);
        for i in 0..n {
            let (factor, factor_exponent) = exp2_parts(cost[i] * to_log2);
            let top = greater(greater(de[i], se[i]), pe[i]);
            let diagonal = dm[i] * power_of_two(de[i] - top);
            let score = sm[i] * power_of_two(se[i] - top);
            let performance = pm[i] * power_of_two(pe[i] - top);
            let sum = diagonal + score + performance;
            let inverse = 1.0 / sum;
            score_share[i] = score * inverse;
            performance_share[i] = performance * inverse;
            let (mantissa, shift) = split(sum * factor);
            mantissas[i] = mantissa;
            exponents[i] = top + factor_exponent + shift;
        }
    }
}

vectorised! {
    /// Derivative of each cell: its own direction plus the mean of its predecessors' derivatives.
    fn relax_tangent(
        direction: &[f64],
        from: [&[f64]; 3],
        score_share: &[f64],
        performance_share: &[f64],
        tangent: &mut [f64],
    ) {
        let n = direction.len();
        let [diagonal, score, performance] = from.map(|slice| &slice[..n]);
        let (score_share, performance_share) = (&score_share[..n], &performance_share[..n]);
        let tangent = &mut tangent[..n];
        for i in 0..n {
            let (s, p) = (score_share[i], performance_share[i]);
            let d = greater(1.0 - s - p, 0.0);
            tangent[i] = direction[i] + d * diagonal[i] + s * score[i] + p * performance[i];
        }
    }
}
