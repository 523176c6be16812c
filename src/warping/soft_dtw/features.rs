//! From a gradient on local costs to a gradient on the features behind them.

use crate::base::error::{Error, Result};
use crate::base::matrix::{MatrixRef, multiply};
use crate::base::number::Real;
use crate::warping::Signal;
use crate::warping::cost::{Banded, row_blocks, union_columns};

/// Gradients with respect to both signals' values, row-major as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureGradient<T = f32> {
    /// One row per score frame.
    pub score: Vec<T>,
    /// One row per performance frame.
    pub performance: Vec<T>,
}

/// Gradients of a cost that are smaller count for nothing.
const NOTHING: f64 = 1e-30;

/// Chains a gradient `G` on the costs `‖x_i − y_j‖²` to the features: `dx_i = 2 Σ_j G_ij (x_i − y_j)`, and likewise for y.
pub fn squared_euclidean_gradient<T: Real>(
    score: &Signal<'_, T>,
    performance: &Signal<'_, T>,
    cost_gradient: &Banded<f64>,
) -> Result<FeatureGradient<T>> {
    let (band, dim) = (cost_gradient.band(), score.dim());
    if (band.rows(), band.columns()) != (score.frames(), performance.frames()) || dim != performance.dim() {
        let size = format!("{} x {}", band.rows(), band.columns());
        let allowed = format!("{} x {}, with frames of equal size", score.frames(), performance.frames());
        return Err(Error::invalid("size of the cost gradient", size, allowed));
    }
    let mut score_gradient = vec![T::default(); score.values().len()];
    let mut performance_gradient = vec![T::default(); performance.values().len()];
    let mut column_sums = vec![0.0; band.columns()];
    let mut block = Vec::new();
    for rows in row_blocks(band) {
        let columns = union_columns(band, &rows);
        block.clear();
        block.resize(rows.len() * columns.len(), T::default());
        for (row, cells) in rows.clone().zip(block.chunks_exact_mut(columns.len())) {
            let range = band.row(row);
            let inside = &mut cells[range.start - columns.start..range.end - columns.start];
            for ((cell, sum), &value) in inside.iter_mut().zip(&mut column_sums[range]).zip(cost_gradient.row(row)) {
                // What is next to nothing would be denormal in single precision, and slow to multiply.
                *cell = if value.abs() > NOTHING { T::from_f64(value) } else { T::ZERO };
                *sum += value;
            }
        }
        let gradients = MatrixRef::new(&block, rows.len(), columns.len(), columns.len());
        let row_values = rows.start * dim..rows.end * dim;
        let column_values = columns.start * dim..columns.end * dim;
        let x = MatrixRef::new(&score.values()[row_values.clone()], rows.len(), dim, dim);
        let y = MatrixRef::new(&performance.values()[column_values.clone()], columns.len(), dim, dim);
        let factor = T::from_f64(-2.0);
        multiply(factor, gradients, y, T::ZERO, &mut score_gradient[row_values], dim);
        multiply(factor, gradients.transposed(), x, T::ONE, &mut performance_gradient[column_values], dim);
    }
    let row_sums: Vec<f64> = (0..band.rows()).map(|row| cost_gradient.row(row).iter().sum()).collect();
    add_own_share(&mut score_gradient, score, &row_sums);
    add_own_share(&mut performance_gradient, performance, &column_sums);
    Ok(FeatureGradient { score: score_gradient, performance: performance_gradient })
}

/// Adds `2 sum_i x_i` to each frame.
fn add_own_share<T: Real>(gradient: &mut [T], signal: &Signal<'_, T>, sums: &[f64]) {
    let dim = signal.dim();
    let frames = gradient.chunks_exact_mut(dim).zip(signal.values().chunks_exact(dim));
    for ((gradient, values), sum) in frames.zip(sums) {
        for (gradient, &value) in gradient.iter_mut().zip(values) {
            *gradient = T::from_f64((*gradient).to_f64() + 2.0 * sum * value.to_f64());
        }
    }
}
