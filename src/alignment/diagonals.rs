//! The cells of a band in anti-diagonal order.
//!
//! With the steps (1,1), (1,0) and (0,1) a cell depends only on the two anti-diagonals before its own, so all cells of
//! one anti-diagonal can be computed at once. A band's ranges are non-decreasing, hence each anti-diagonal meets it in
//! one run of rows, and that run's ends move by at most one row from one anti-diagonal to the next.

use std::ops::Range;

use super::cost::{Band, Banded, Real};

/// Where each anti-diagonal of a band starts, in rows and in compact storage.
pub(super) struct Diagonals {
    /// Number (row + column) of the first anti-diagonal that has a cell.
    first: usize,
    /// First row of each anti-diagonal.
    rows: Vec<usize>,
    /// Where each anti-diagonal's cells start when all are stored one after the other; one more for the end.
    offsets: Vec<usize>,
    /// Row-major storage index of a cell minus its anti-diagonal's number, by row, modulo 2^64.
    bases: Vec<usize>,
}

impl Diagonals {
    pub fn new(band: &Band) -> Self {
        let last_row = band.rows() - 1;
        let first = band.row(0).start;
        let count = last_row + band.row(last_row).end - first;
        let mut rows = Vec::with_capacity(count);
        let mut offsets = Vec::with_capacity(count + 1);
        let (mut low, mut high, mut cells) = (0, 0, 0);
        for number in first..first + count {
            while high <= last_row && band.row(high).start + high <= number {
                high += 1;
            }
            while low < high && band.row(low).end + low <= number {
                low += 1;
            }
            rows.push(low);
            offsets.push(cells);
            cells += high - low;
        }
        offsets.push(cells);
        let base = |row: usize| band.storage(row).start.wrapping_sub(band.row(row).start + row);
        Self { first, rows, offsets, bases: (0..band.rows()).map(base).collect() }
    }

    /// How many anti-diagonals there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Rows of the anti-diagonal `index`, counted from the first; may be empty between touching rows.
    pub fn rows(&self, index: usize) -> Range<usize> {
        let first = self.rows[index];
        first..first + self.storage(index).len()
    }

    /// Where the cells of an anti-diagonal lie in anti-diagonal order.
    pub fn storage(&self, index: usize) -> Range<usize> {
        self.offsets[index]..self.offsets[index + 1]
    }

    /// Where a cell lies in anti-diagonal order.
    pub fn cell(&self, row: usize, column: usize) -> usize {
        let index = row + column - self.first;
        self.offsets[index] + row - self.rows[index]
    }

    /// The column in which an anti-diagonal meets a row.
    pub fn column(&self, index: usize, row: usize) -> usize {
        index + self.first - row
    }

    /// The largest number of cells on one anti-diagonal.
    pub fn longest(&self) -> usize {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// Copies the cells of one anti-diagonal, by increasing row, into the front of `out`.
    pub fn gather<T: Real>(&self, index: usize, from: &Banded<T>, out: &mut [f64]) {
        let (number, values) = (index + self.first, from.values());
        for (out, &base) in out.iter_mut().zip(&self.bases[self.rows(index)]) {
            *out = values[base.wrapping_add(number)].into();
        }
    }

    /// The inverse of [`gather`](Self::gather), into row-major storage.
    pub fn scatter(&self, index: usize, cells: &[f64], into: &mut [f64]) {
        let number = index + self.first;
        for (&value, &base) in cells.iter().zip(&self.bases[self.rows(index)]) {
            into[base.wrapping_add(number)] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_a_band_is_met_once_on_its_own_anti_diagonal() {
        let bands = [
            Band::full(3, 5).unwrap(),
            Band::full(1, 1).unwrap(),
            Band::sakoe_chiba(9, 6, 1).unwrap(),
            Band::from_ranges(12, &[2..5, 5..6, 6..12, 6..12]).unwrap(),
        ];
        for band in bands {
            let cells = Banded::dense(1, band.cells(), (0..band.cells()).map(|i| i as f64).collect()).unwrap();
            let cells = Banded::from_parts(band.clone(), cells.into_values());
            let diagonals = Diagonals::new(&band);
            let mut back = vec![-1.0; band.cells()];
            let mut buffer = vec![0.0; diagonals.longest()];
            for index in 0..diagonals.count() {
                let rows = diagonals.rows(index);
                diagonals.gather(index, &cells, &mut buffer);
                for (row, &value) in rows.clone().zip(&buffer) {
                    let column = diagonals.column(index, row);
                    assert_eq!(cells.get(row, column), Some(value));
                    assert_eq!(diagonals.cell(row, column), diagonals.storage(index).start + row - rows.start);
                }
                diagonals.scatter(index, &buffer[..rows.len()], &mut back);
            }
            assert_eq!(back, cells.values());
        }
    }
}
