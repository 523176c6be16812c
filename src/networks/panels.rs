//! The product of rows with a weight matrix: the inner loop of the recurrence, called once per frame, and of the convolutions.
//!
//! A general matrix product would repack both sides every time; here the weights are packed once, and the rows are read where
//! they lie.

use crate::base::number::Real;
use crate::base::simd::vectorised;

/// Columns that are computed together.
const WIDTH: usize = 16;
/// Rows that are computed together, so that each weight is loaded once for all of them. With [`WIDTH`] columns the
/// sums just fit in the registers of AVX2.
pub(super) const ROWS: usize = 5;
/// Panels that are computed together when there is a single row.
const PANELS: usize = 4;

/// A matrix cut into panels of [`WIDTH`] columns, each row-major, the last padded with zeros.
#[derive(Debug)]
pub(super) struct Panels<F> {
    rows: usize,
    columns: usize,
    data: Vec<[F; WIDTH]>,
}

impl<F: Real> Panels<F> {
    /// Packs the `rows` x `columns` matrix whose elements `element(row, column)` gives.
    pub fn pack(rows: usize, columns: usize, element: impl Fn(usize, usize) -> F) -> Self {
        let mut data = Vec::with_capacity(columns.div_ceil(WIDTH) * rows);
        for first in (0..columns).step_by(WIDTH) {
            for row in 0..rows {
                data.push(std::array::from_fn(|i| if first + i < columns { element(row, first + i) } else { F::ZERO }));
            }
        }
        Self { rows, columns, data }
    }

    /// Adds `a * self` to `out`, for `count` rows of `a`. Row `i` of `a` starts at `i * a_stride`, that of `out` at
    /// `i * columns`. A row's result does not depend on how many rows are computed with it.
    #[inline(always)]
    pub fn add_product<const FMA: bool>(&self, count: usize, a: &[F], a_stride: usize, out: &mut [F]) {
        let mut row = 0;
        while count - row >= ROWS {
            let a_rows = std::array::from_fn(|i| &a[(row + i) * a_stride..][..self.rows]);
            for panel in 0..self.columns.div_ceil(WIDTH) {
                self.add_tile::<FMA, ROWS, 1>(a_rows, panel, row, out);
            }
            row += ROWS;
        }
        while row < count {
            let a_row = [&a[row * a_stride..][..self.rows]];
            let panels = self.columns.div_ceil(WIDTH);
            let mut panel = 0;
            while panels - panel >= PANELS {
                self.add_tile::<FMA, 1, PANELS>(a_row, panel, row, out);
                panel += PANELS;
            }
            while panel < panels {
                self.add_tile::<FMA, 1, 1>(a_row, panel, row, out);
                panel += 1;
            }
            row += 1;
        }
    }

    /// `R` rows by `P` panels.
    #[inline(always)]
    fn add_tile<const FMA: bool, const R: usize, const P: usize>(
        &self,
        a: [&[F]; R],
        first_panel: usize,
        first_row: usize,
        out: &mut [F],
    ) {
        let weights: [&[[F; WIDTH]]; P] =
            std::array::from_fn(|p| &self.data[(first_panel + p) * self.rows..][..self.rows]);
        let mut sums = [[[F::ZERO; WIDTH]; P]; R];
        for k in 0..self.rows {
            for p in 0..P {
                let weights = weights[p][k];
                for r in 0..R {
                    let factor = a[r][k];
                    for (sum, weight) in sums[r][p].iter_mut().zip(weights) {
                        *sum = factor.multiply_add::<FMA>(weight, *sum);
                    }
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (p, sums) in sums.iter().enumerate() {
                let column = (first_panel + p) * WIDTH;
                let width = WIDTH.min(self.columns - column);
                let out = &mut out[(first_row + r) * self.columns + column..][..width];
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out += *sum;
                }
            }
        }
    }
}

vectorised! {
    /// [`Panels::add_product`] with the widest instructions that there are.
    pub(super) fn add_product<F: Real>(panels: &Panels<F>, count: usize, a: &[F], a_stride: usize, out: &mut [F]) {
        panels.add_product::<FMA>(count, a, a_stride, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_agrees_with_the_triple_loop() {
        for (count, rows, columns, stride) in [(1, 3, 9, 3), (2, 64, 192, 70), (5, 7, 16, 7), (11, 5, 100, 6)] {
            let a: Vec<f64> = (0..count * stride).map(|i| ((i * 37) % 11) as f64 - 5.0).collect();
            let b: Vec<f64> = (0..rows * columns).map(|i| ((i * 53) % 13) as f64 - 6.0).collect();
            let mut out: Vec<f64> = (0..count * columns).map(|i| i as f64).collect();
            let mut expected = out.clone();
            for i in 0..count {
                for j in 0..columns {
                    expected[i * columns + j] += (0..rows).map(|k| a[i * stride + k] * b[k * columns + j]).sum::<f64>();
                }
            }
            let panels = Panels::pack(rows, columns, |row, column| b[row * columns + column]);
            panels.add_product::<false>(count, &a, stride, &mut out);
            // Whole numbers: the sums are exact in any order.
            assert_eq!(out, expected, "{count} rows, {rows} x {columns}");
        }
    }
}
