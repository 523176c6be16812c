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
pub(super) const ROWS: usize = 6;
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
        let panels = || self.data.chunks_exact(self.rows.max(1)).enumerate();
        let mut row = 0;
        while count - row >= ROWS {
            let rows: [&[F]; ROWS] = std::array::from_fn(|i| &a[(row + i) * a_stride..][..self.rows]);
            for (panel, weights) in panels() {
                for (r, sums) in tile::<F, FMA>(rows, weights).iter().enumerate() {
                    self.add_sums(sums, row + r, panel, out);
                }
            }
            row += ROWS;
        }
        while row < count {
            let a = &a[row * a_stride..][..self.rows];
            for (group, weights) in self.data.chunks((PANELS * self.rows).max(1)).enumerate() {
                let first = group * PANELS;
                if weights.len() == PANELS * self.rows {
                    let panels = std::array::from_fn(|p| &weights[p * self.rows..][..self.rows]);
                    let sums = strip::<F, FMA>(a, panels);
                    sums.iter().enumerate().for_each(|(p, sums)| self.add_sums(sums, row, first + p, out));
                    continue;
                }
                for (p, weights) in weights.chunks_exact(self.rows).enumerate() {
                    let terms = a.iter().zip(weights);
                    let add = |sums, (&factor, weights)| add_scaled::<F, FMA>(factor, weights, sums);
                    self.add_sums(&terms.fold([F::ZERO; WIDTH], add), row, first + p, out);
                }
            }
            row += 1;
        }
    }

    /// Adds the sums of a row and a panel, but for the columns that only pad the panel.
    #[inline(always)]
    fn add_sums(&self, sums: &[F; WIDTH], row: usize, panel: usize, out: &mut [F]) {
        let column = panel * WIDTH;
        let width = WIDTH.min(self.columns - column);
        let out = &mut out[row * self.columns + column..][..width];
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out += *sum);
    }
}

/// [`ROWS`] rows by one panel. Written out, for then the compiler keeps the sums in registers and checks nothing in the loop.
#[inline(always)]
fn tile<F: Real, const FMA: bool>([a, b, c, d, e, f]: [&[F]; ROWS], weights: &[[F; WIDTH]]) -> [[F; WIDTH]; ROWS] {
    let mut sums = [[F::ZERO; WIDTH]; ROWS];
    for ((((((weights, &a), &b), &c), &d), &e), &f) in weights.iter().zip(a).zip(b).zip(c).zip(d).zip(e).zip(f) {
        for (sums, factor) in sums.iter_mut().zip([a, b, c, d, e, f]) {
            *sums = add_scaled::<F, FMA>(factor, weights, *sums);
        }
    }
    sums
}

/// One row by [`PANELS`] panels.
#[inline(always)]
fn strip<F: Real, const FMA: bool>(a: &[F], [p, q, r, s]: [&[[F; WIDTH]]; PANELS]) -> [[F; WIDTH]; PANELS] {
    let mut sums = [[F::ZERO; WIDTH]; PANELS];
    for ((((&factor, p), q), r), s) in a.iter().zip(p).zip(q).zip(r).zip(s) {
        for (sums, weights) in sums.iter_mut().zip([p, q, r, s]) {
            *sums = add_scaled::<F, FMA>(factor, weights, *sums);
        }
    }
    sums
}

/// By value, so that the sums stay in registers.
#[inline(always)]
fn add_scaled<F: Real, const FMA: bool>(factor: F, weights: &[F; WIDTH], sums: [F; WIDTH]) -> [F; WIDTH] {
    std::array::from_fn(|i| factor.multiply_add::<FMA>(weights[i], sums[i]))
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
        for (count, rows, columns, stride) in [(1, 3, 9, 3), (2, 64, 192, 70), (6, 7, 16, 7), (13, 21, 100, 22)] {
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
