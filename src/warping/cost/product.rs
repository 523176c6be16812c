//! Matrix products on plain slices: the one place that calls the raw kernels.

use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`: the number types that features and costs may have.
pub trait Real: sealed::Sealed + Copy + Debug + Default + PartialOrd + Into<f64> + Send + Sync + 'static {
    /// Rounds to this type.
    fn from_f64(value: f64) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// `max(self + offset + other, 0)` in this type's own arithmetic; NaN stays NaN.
    fn add_clamped(self, offset: Self, other: Self) -> Self;
    /// The raw matrix product behind [`multiply`].
    ///
    /// # Safety
    /// Every index reached by the sizes and strides must lie inside the three buffers.
    #[doc(hidden)]
    #[allow(clippy::too_many_arguments, reason = "the shape of every BLAS-like product")]
    #[allow(unsafe_code, reason = "declares the raw kernel; `multiply` checks what it needs")]
    unsafe fn raw_gemm(
        size: [usize; 3],
        alpha: Self,
        a: *const Self,
        a_strides: [isize; 2],
        b: *const Self,
        b_strides: [isize; 2],
        beta: Self,
        c: *mut Self,
        c_strides: [isize; 2],
    );
}

macro_rules! impl_real {
    ($type:ty, $gemm:path) => {
        impl Real for $type {
            fn from_f64(value: f64) -> Self {
                value as $type
            }

            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }

            #[inline(always)]
            fn add_clamped(self, offset: Self, other: Self) -> Self {
                let sum = offset + other + self;
                if sum > 0.0 {
                    sum
                } else if sum <= 0.0 {
                    0.0
                } else {
                    sum
                }
            }

            #[allow(unsafe_code, reason = "forwards to the kernel under the same contract")]
            unsafe fn raw_gemm(
                [rows, inner, columns]: [usize; 3],
                alpha: Self,
                a: *const Self,
                [a_row, a_column]: [isize; 2],
                b: *const Self,
                [b_row, b_column]: [isize; 2],
                beta: Self,
                c: *mut Self,
                [c_row, c_column]: [isize; 2],
            ) {
                unsafe {
                    $gemm(rows, inner, columns, alpha, a, a_row, a_column, b, b_row, b_column, beta, c, c_row, c_column)
                }
            }
        }
    };
}

impl_real!(f32, matrixmultiply::sgemm);
impl_real!(f64, matrixmultiply::dgemm);

/// A row-major matrix, or the transpose of one.
#[derive(Debug, Clone, Copy)]
pub(in crate::warping) struct Matrix<'a, T> {
    values: &'a [T],
    rows: usize,
    columns: usize,
    strides: [isize; 2],
}

impl<'a, T> Matrix<'a, T> {
    /// `values` as rows of `columns` values.
    pub fn new(values: &'a [T], columns: usize) -> Self {
        let rows = values.len() / columns;
        Self { values: &values[..rows * columns], rows, columns, strides: [columns as isize, 1] }
    }

    /// The same values read with rows and columns exchanged.
    pub fn transposed(self) -> Self {
        let [row, column] = self.strides;
        Self { values: self.values, rows: self.columns, columns: self.rows, strides: [column, row] }
    }
}

/// `c = alpha a b + beta c`, with `c` row-major.
pub(in crate::warping) fn multiply<T: Real>(alpha: f64, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: f64, c: &mut [T]) {
    assert_eq!(a.columns, b.rows, "inner dimensions agree");
    assert_eq!(c.len(), a.rows * b.columns, "the result fits");
    let size = [a.rows, a.columns, b.columns];
    let c_strides = [b.columns as isize, 1];
    #[allow(unsafe_code, reason = "sizes were asserted; `Matrix` ties strides to the length of its slice")]
    unsafe {
        let (alpha, beta) = (T::from_f64(alpha), T::from_f64(beta));
        T::raw_gemm(
            size,
            alpha,
            a.values.as_ptr(),
            a.strides,
            b.values.as_ptr(),
            b.strides,
            beta,
            c.as_mut_ptr(),
            c_strides,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_plain_and_transposed_matrices_match_hand_arithmetic() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut c = [1.0f64; 4];
        multiply(2.0, Matrix::new(&a, 3), Matrix::new(&a, 3).transposed(), 1.0, &mut c);
        assert_eq!(c, [29.0, 65.0, 65.0, 155.0]);
        let mut c = [0.0f64; 9];
        multiply(1.0, Matrix::new(&a, 3).transposed(), Matrix::new(&a, 3), 0.0, &mut c);
        assert_eq!(c, [17.0, 22.0, 27.0, 22.0, 29.0, 36.0, 27.0, 36.0, 45.0]);
    }
}
