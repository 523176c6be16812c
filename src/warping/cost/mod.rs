//! Local costs: how unlike each score frame and each performance frame are.
//!
//! Rows are score frames, columns are performance frames, here and in every method built on these matrices. A
//! [`Band`] says which cells exist; only those are computed and stored.

mod band;
mod banded;

use std::ops::Range;

use rayon::prelude::*;

pub use band::Band;
pub use banded::Banded;

use self::banded::first_non_finite;
use super::Signal;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::matrix::{MatrixRef, multiply};
use crate::base::number::Real;

/// Largest number of cells that one matrix may have: 2 GiB of `f32`.
const MAX_CELLS: usize = 1 << 29;

/// Below this many multiplications starting other threads costs more than it saves.
const PARALLEL_WORK: usize = 1 << 24;

/// How the distance of two feature vectors is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LocalCost {
    /// `‖x − y‖²`.
    #[default]
    SquaredEuclidean,
    /// `1 − x·y / (‖x‖ ‖y‖)`, between 0 and 2; a zero vector is at distance 1 from everything.
    Cosine,
}

/// The local cost of every cell of `band`, by blocked matrix products, in parallel when it is worth it.
///
/// Squared distances are taken as `‖x‖² + ‖y‖² − 2 x·y` after the common mean of both signals is subtracted from both:
/// distances stay the same and the cancellation that the formula suffers far from the origin goes away. Rounding below
/// zero is clamped. Results do not depend on the number of threads.
pub fn local_cost<T: Real>(
    ctx: &JobContext,
    score: &Signal<'_, T>,
    performance: &Signal<'_, T>,
    kind: LocalCost,
    band: &Band,
) -> Result<Banded<T>> {
    if score.dim() != performance.dim() {
        let allowed = format!("{}, as in the score", score.dim());
        return Err(Error::invalid("values per performance frame", performance.dim(), allowed));
    }
    if (band.rows(), band.columns()) != (score.frames(), performance.frames()) {
        let size = format!("{} x {}", band.rows(), band.columns());
        let allowed = format!("{} x {}, as the signals", score.frames(), performance.frames());
        return Err(Error::invalid("band size", size, allowed));
    }
    if band.cells() > MAX_CELLS {
        let allowed = format!("at most {MAX_CELLS}; use a narrower band or a longer hop");
        return Err(Error::invalid("number of cost cells", band.cells(), allowed));
    }

    let [score, performance] = prepare(score, performance, kind);
    let mut values = vec![T::default(); band.cells()];
    let mut blocks = Vec::new();
    let mut rest = values.as_mut_slice();
    for rows in row_blocks(band) {
        let cells = band.storage(rows.end - 1).end - band.storage(rows.start).start;
        let (block, tail) = rest.split_at_mut(cells);
        blocks.push((rows, block));
        rest = tail;
    }
    let fill = |(rows, block): (Range<usize>, &mut [T])| {
        ctx.check()?;
        fill_block(&score, &performance, kind, band, rows, block);
        match first_non_finite(block) {
            None => Ok(()),
            Some(_) => Err(Error::invalid("size of the feature values", "too large", "small enough to be squared")),
        }
    };
    if band.cells().saturating_mul(score.dim) < PARALLEL_WORK {
        blocks.into_iter().try_for_each(fill)?;
    } else {
        blocks.into_par_iter().try_for_each(fill)?;
    }
    Ok(Banded::from_parts(band.clone(), values))
}

/// Consecutive rows that share one matrix product.
///
/// A block computes the union of its rows' columns: blocks are low where the band is narrow, so that little is wasted,
/// and hold few enough cells to stay in the cache until they are finished.
pub(super) fn row_blocks(band: &Band) -> impl Iterator<Item = Range<usize>> {
    let width = band.cells().div_ceil(band.rows());
    let cached = (1 << 16) / width;
    let height = if band.is_full() { cached.clamp(16, 256) } else { cached.min(width / 4).clamp(8, 128) };
    let rows = band.rows();
    (0..rows).step_by(height).map(move |first| first..(first + height).min(rows))
}

/// All columns that the given rows of a band use.
pub(super) fn union_columns(band: &Band, rows: &Range<usize>) -> Range<usize> {
    band.row(rows.start).start..band.row(rows.end - 1).end
}

/// Features shifted or scaled so that the cost is a product plus an offset per row and per column.
struct Prepared<T> {
    values: Vec<T>,
    dim: usize,
    offsets: Vec<T>,
}

impl<T: Real> Prepared<T> {
    fn rows(&self, rows: &Range<usize>) -> MatrixRef<'_, T> {
        MatrixRef::new(&self.values[rows.start * self.dim..], rows.len(), self.dim, self.dim)
    }
}

fn prepare<T: Real>(score: &Signal<'_, T>, performance: &Signal<'_, T>, kind: LocalCost) -> [Prepared<T>; 2] {
    let dim = score.dim();
    match kind {
        LocalCost::SquaredEuclidean => {
            let mut mean = vec![0.0f64; dim];
            for frame in score.values().chunks_exact(dim).chain(performance.values().chunks_exact(dim)) {
                mean.iter_mut().zip(frame).for_each(|(sum, &value)| *sum += value.to_f64());
            }
            let frames = (score.frames() + performance.frames()) as f64;
            mean.iter_mut().for_each(|sum| *sum /= frames);
            [score, performance].map(|signal| {
                let mut values = Vec::with_capacity(signal.values().len());
                let mut offsets = Vec::with_capacity(signal.frames());
                for frame in signal.values().chunks_exact(dim) {
                    let first = values.len();
                    values.extend(frame.iter().zip(&mean).map(|(&value, mean)| T::from_f64(value.to_f64() - mean)));
                    offsets.push(T::from_f64(squared_norm(&values[first..])));
                }
                Prepared { values, dim, offsets }
            })
        }
        LocalCost::Cosine => [(score, 1.0), (performance, 0.0)].map(|(signal, offset)| {
            let mut values = Vec::with_capacity(signal.values().len());
            for frame in signal.values().chunks_exact(dim) {
                let norm = squared_norm(frame).sqrt();
                let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
                values.extend(frame.iter().map(|&value| T::from_f64(value.to_f64() * scale)));
            }
            Prepared { values, dim, offsets: vec![T::from_f64(offset); signal.frames()] }
        }),
    }
}

fn squared_norm<T: Real>(frame: &[T]) -> f64 {
    let square = |value: &T| -> f64 {
        let value: f64 = (*value).to_f64();
        value * value
    };
    // Four partial sums let the additions overlap.
    let mut sums = [0.0; 4];
    let chunks = frame.chunks_exact(4);
    let rest: f64 = chunks.remainder().iter().map(square).sum();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += square(value));
    }
    sums.iter().sum::<f64>() + rest
}

fn fill_block<T: Real>(
    score: &Prepared<T>,
    performance: &Prepared<T>,
    kind: LocalCost,
    band: &Band,
    rows: Range<usize>,
    block: &mut [T],
) {
    let scale = match kind {
        LocalCost::SquaredEuclidean => T::from_f64(-2.0),
        LocalCost::Cosine => T::from_f64(-1.0),
    };
    let union = union_columns(band, &rows);
    let finish = |row: usize, columns: Range<usize>, products: &mut [T]| {
        let offset = score.offsets[row];
        for (product, &other) in products.iter_mut().zip(&performance.offsets[columns]) {
            *product = at_least_zero(offset + other + *product);
        }
    };
    let (a, b) = (score.rows(&rows), performance.rows(&union).transposed());
    if block.len() == rows.len() * union.len() {
        multiply(scale, a, b, T::ZERO, block, union.len());
        for (row, products) in rows.zip(block.chunks_exact_mut(union.len())) {
            finish(row, union.clone(), products);
        }
        return;
    }
    let mut products = vec![T::default(); rows.len() * union.len()];
    multiply(scale, a, b, T::ZERO, &mut products, union.len());
    let mut rest = block;
    for (row, products) in rows.zip(products.chunks_exact(union.len())) {
        let columns = band.row(row);
        let (cells, tail) = rest.split_at_mut(columns.len());
        cells.copy_from_slice(&products[columns.start - union.start..columns.end - union.start]);
        finish(row, columns, cells);
        rest = tail;
    }
}

/// `max(value, 0)`; NaN stays NaN, to be refused.
#[inline(always)]
fn at_least_zero<T: Real>(value: T) -> T {
    if value <= T::ZERO { T::ZERO } else { value }
}

#[cfg(test)]
mod tests;
