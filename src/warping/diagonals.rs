//! The cells of a band in anti-diagonal order.
//!
//! With the steps (1,1), (1,0) and (0,1) a cell depends only on the two anti-diagonals before its own, so all cells of
//! one anti-diagonal can be computed at once. A band's ranges are non-decreasing, hence each anti-diagonal meets it in
//! one run of rows, and that run's ends move by at most one row from one anti-diagonal to the next.

use std::ops::Range;

use super::cost::{Band, Banded};
use crate::base::number::Real;

/// Where each anti-diagonal of a band starts, in rows and in compact storage.
pub(super) struct Diagonals {
    /// Number (row + column) of the first anti-diagonal that has a cell.
    first: usize,
    /// First row of each anti-diagonal.
    rows: Vec<usize>,
    /// Where each anti-diagonal's cells start when all are stored one after the other; one more for the end.
    offsets: Vec<usize>,
    /// Where row 0 would lie in anti-diagonal order, by anti-diagonal, modulo 2^64.
    origins: Vec<usize>,
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
        let origins = offsets.iter().zip(&rows).map(|(offset, row)| offset.wrapping_sub(*row)).collect();
        Self { first, rows, offsets, origins }
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
        self.origins[row + column - self.first].wrapping_add(row)
    }

    /// The column in which an anti-diagonal meets a row.
    pub fn column(&self, index: usize, row: usize) -> usize {
        index + self.first - row
    }

    /// The largest number of cells on one anti-diagonal.
    pub fn longest(&self) -> usize {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// The panel that an anti-diagonal belongs to.
    fn panel(&self, index: usize) -> Range<usize> {
        let start = index / PANEL * PANEL;
        start..(start + PANEL).min(self.count())
    }

    /// Calls `visit` for each row of a panel with the row's place in row-major storage and, cell by cell, the origins in
    /// anti-diagonal order.
    fn visit_panel(&self, panel: Range<usize>, band: &Band, mut visit: impl FnMut(usize, Range<usize>, &[usize])) {
        for row in self.rows[panel.start]..self.rows(panel.end - 1).end {
            let columns = band.row(row);
            let begin = (columns.start + row - self.first).max(panel.start);
            let end = (columns.end + row - self.first).min(panel.end);
            let place = band.storage(row).start + self.first + begin - row - columns.start;
            visit(row, place..place + end.saturating_sub(begin), &self.origins[begin..end.max(begin)]);
        }
    }
}

/// How many anti-diagonals are rearranged at a time.
///
/// Neighbours on an anti-diagonal lie a whole row apart in memory. Taken one anti-diagonal at a time, each access would
/// touch another cache line and, in large matrices, another page, and every line would be fetched again for each of its
/// values. A panel takes a few lines from each row instead; more would no longer fit the cache once rearranged.
const PANEL: usize = 64;

/// Reads a banded matrix anti-diagonal by anti-diagonal, in either order.
pub(super) struct DiagonalReader<'a, T> {
    diagonals: &'a Diagonals,
    from: &'a Banded<T>,
    panel: Range<usize>,
    cells: Vec<f64>,
}

impl<'a, T: Real> DiagonalReader<'a, T> {
    pub fn new(diagonals: &'a Diagonals, from: &'a Banded<T>) -> Self {
        Self { diagonals, from, panel: 0..0, cells: Vec::new() }
    }

    /// The cells of one anti-diagonal, by increasing row.
    pub fn read(&mut self, index: usize) -> &[f64] {
        if !self.panel.contains(&index) {
            self.load(index);
        }
        let base = self.diagonals.offsets[self.panel.start];
        let storage = self.diagonals.storage(index);
        &self.cells[storage.start - base..storage.end - base]
    }

    fn load(&mut self, index: usize) {
        let diagonals = self.diagonals;
        self.panel = diagonals.panel(index);
        let base = diagonals.offsets[self.panel.start];
        self.cells.resize(diagonals.offsets[self.panel.end] - base, 0.0);
        let (values, cells) = (self.from.values(), self.cells.as_mut_slice());
        diagonals.visit_panel(self.panel.clone(), self.from.band(), |row, place, origins| {
            for (value, origin) in values[place].iter().zip(origins) {
                cells[origin.wrapping_add(row).wrapping_sub(base)] = (*value).to_f64();
            }
        });
    }
}

/// Writes a banded matrix anti-diagonal by anti-diagonal, from the last to the first.
pub(super) struct DiagonalWriter<'a> {
    diagonals: &'a Diagonals,
    band: &'a Band,
    cells: Vec<f64>,
    values: Vec<f64>,
}

impl<'a> DiagonalWriter<'a> {
    pub fn new(diagonals: &'a Diagonals, band: &'a Band) -> Self {
        Self { diagonals, band, cells: Vec::new(), values: vec![0.0; band.cells()] }
    }

    /// Takes the cells of one anti-diagonal, filled by `fill`.
    pub fn write(&mut self, index: usize, fill: impl FnOnce(&mut [f64])) {
        let diagonals = self.diagonals;
        let panel = diagonals.panel(index);
        let base = diagonals.offsets[panel.start];
        if index + 1 == panel.end {
            self.cells.resize(diagonals.offsets[panel.end] - base, 0.0);
        }
        let storage = diagonals.storage(index);
        fill(&mut self.cells[storage.start - base..storage.end - base]);
        if index == panel.start {
            let (values, cells) = (self.values.as_mut_slice(), self.cells.as_slice());
            diagonals.visit_panel(panel, self.band, |row, place, origins| {
                for (value, origin) in values[place].iter_mut().zip(origins) {
                    *value = cells[origin.wrapping_add(row).wrapping_sub(base)];
                }
            });
        }
    }

    /// The matrix, once every anti-diagonal is written.
    pub fn finish(self) -> Banded<f64> {
        Banded::from_parts(self.band.clone(), self.values)
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
            Band::full(50, 37).unwrap(),
            Band::sakoe_chiba(70, 90, 5).unwrap(),
            Band::from_ranges(12, &[2..5, 5..6, 6..12, 6..12]).unwrap(),
        ];
        for band in bands {
            let cells = Banded::dense(1, band.cells(), (0..band.cells()).map(|i| i as f64).collect()).unwrap();
            let cells = Banded::from_parts(band.clone(), cells.into_values());
            let diagonals = Diagonals::new(&band);
            let mut reader = DiagonalReader::new(&diagonals, &cells);
            let mut writer = DiagonalWriter::new(&diagonals, &band);
            for index in (0..diagonals.count()).rev() {
                let rows = diagonals.rows(index);
                let read = reader.read(index);
                for (row, &value) in rows.clone().zip(read) {
                    let column = diagonals.column(index, row);
                    assert_eq!(cells.get(row, column), Some(value));
                    assert_eq!(diagonals.cell(row, column), diagonals.storage(index).start + row - rows.start);
                }
                writer.write(index, |out| out.copy_from_slice(read));
            }
            assert_eq!(writer.finish(), cells);
        }
    }
}
