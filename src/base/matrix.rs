//! Checked matrix products on slices: the one place that calls the raw kernels.

use super::number::Real;

/// A read-only matrix: a slice with strides.
#[derive(Debug, Clone, Copy)]
pub struct MatrixRef<'a, F> {
    data: &'a [F],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, F: Real> MatrixRef<'a, F> {
    /// A row-major matrix whose rows start `row_stride` values apart.
    ///
    /// # Panics
    /// If `data` is too short for the shape.
    pub fn new(data: &'a [F], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert_fits(data.len(), rows, columns, row_stride);
        Self { data, rows, columns, row_stride, column_stride: 1 }
    }

    /// The same values with rows and columns exchanged.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

fn assert_fits(length: usize, rows: usize, columns: usize, row_stride: usize) {
    assert!(
        rows == 0 || columns == 0 || (rows - 1) * row_stride + columns <= length,
        "{rows} x {columns} values with stride {row_stride} do not fit in {length}"
    );
}

/// The signature of matrixmultiply's `sgemm` and `dgemm`.
pub type Gemm<F> =
    unsafe fn(usize, usize, usize, F, *const F, isize, isize, *const F, isize, isize, F, *mut F, isize, isize);

/// `c = alpha * a * b + beta * c`, where row `i` of `c` starts at `i * c_stride`.
///
/// # Panics
/// If the shapes do not fit together.
pub fn multiply<F: Real>(alpha: F, a: MatrixRef<'_, F>, b: MatrixRef<'_, F>, beta: F, c: &mut [F], c_stride: usize) {
    assert_eq!(a.columns, b.rows, "the inner dimensions differ");
    assert!(c_stride >= b.columns, "the rows of the result overlap");
    assert_fits(c.len(), a.rows, b.columns, c_stride);
    #[allow(unsafe_code, reason = "every index is within its slice: asserted above and in MatrixRef::new")]
    unsafe {
        (F::GEMM)(
            a.rows,
            a.columns,
            b.columns,
            alpha,
            a.data.as_ptr(),
            a.row_stride as isize,
            a.column_stride as isize,
            b.data.as_ptr(),
            b.row_stride as isize,
            b.column_stride as isize,
            beta,
            c.as_mut_ptr(),
            c_stride as isize,
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_strided_and_transposed_matrices_are_exact() {
        // a = [1 2; 3 4; 5 6] with a stride of 3, b = [1 -1; 2 0].
        let a = [1.0, 2.0, 9.0, 3.0, 4.0, 9.0, 5.0, 6.0];
        let b = [1.0, -1.0, 2.0, 0.0];
        let mut c = vec![100.0_f32; 9];
        multiply(1.0, MatrixRef::new(&a, 3, 2, 3), MatrixRef::new(&b, 2, 2, 2), 0.0, &mut c, 3);
        assert_eq!(c, [5.0, -1.0, 100.0, 11.0, -3.0, 100.0, 17.0, -5.0, 100.0]);
        let mut d = vec![1.0_f32; 4];
        let a = MatrixRef::new(&a, 3, 2, 3);
        multiply(2.0, a.transposed(), a, 1.0, &mut d, 2);
        assert_eq!(d, [71.0, 89.0, 89.0, 113.0]);
    }

    #[test]
    #[should_panic(expected = "do not fit")]
    fn a_short_slice_is_refused() {
        MatrixRef::new(&[0.0_f32; 5], 2, 3, 3);
    }
}
