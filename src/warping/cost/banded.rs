//! Values on the cells of a band, in one flat row-major vector.

use super::band::Band;
use crate::base::error::{Error, Result};
use crate::base::number::Real;

/// A value for every cell of a [`Band`]; with the full band this is a plain row-major matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Banded<T = f32> {
    band: Band,
    values: Vec<T>,
}

impl<T: Real> Banded<T> {
    /// Checks that there is one finite value per cell.
    pub fn new(band: Band, values: Vec<T>) -> Result<Self> {
        if values.len() != band.cells() {
            return Err(Error::invalid("number of banded values", values.len(), band.cells().to_string()));
        }
        if let Some(cell) = first_non_finite(&values) {
            return Err(Error::invalid(format!("banded value {cell}"), values[cell].to_f64(), "finite"));
        }
        Ok(Self { band, values })
    }

    /// A full matrix from its rows.
    #[cfg(test)]
    pub fn dense(rows: usize, columns: usize, values: Vec<T>) -> Result<Self> {
        Self::new(Band::full(rows, columns)?, values)
    }

    /// For kernels that computed the values themselves and know that they fit the band.
    pub(in crate::warping) fn from_parts(band: Band, values: Vec<T>) -> Self {
        debug_assert_eq!(values.len(), band.cells());
        Self { band, values }
    }

    /// Which cells there are.
    pub fn band(&self) -> &Band {
        &self.band
    }

    /// All values, row after row.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The values, for callers that are done with the band.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }

    /// The values of one row; the first belongs to column `band().row(row).start`.
    pub fn row(&self, row: usize) -> &[T] {
        &self.values[self.band.storage(row)]
    }

    /// One cell, `None` outside the band.
    pub fn get(&self, row: usize, column: usize) -> Option<T> {
        let columns = if row < self.band.rows() { self.band.row(row) } else { return None };
        columns.contains(&column).then(|| self.row(row)[column - columns.start])
    }
}

/// Index of the first value that is not finite.
pub(super) fn first_non_finite<T: Real>(values: &[T]) -> Option<usize> {
    // Chunks without an early exit vectorise; the exact place is looked for only in the chunk that has one.
    let bad = |chunk: &[T]| !chunk.iter().fold(true, |all, value| all & value.is_finite());
    let chunk = values.chunks(256).position(bad)?;
    values[chunk * 256..].iter().position(|value| !value.is_finite()).map(|at| chunk * 256 + at)
}
