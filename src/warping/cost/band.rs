//! Which cells of the score x performance plane an alignment may visit.

use std::ops::Range;

use crate::base::error::{Error, Result};

/// One range of columns (performance frames) per row (score frame).
///
/// Ranges are stored tightened: a path visits every row and never goes back, so columns before an earlier row's start or
/// after a later row's end cannot be visited and are dropped. Starts and ends are therefore non-decreasing, consecutive
/// rows are connected, and each anti-diagonal cuts the band in one unbroken run of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    columns: usize,
    starts: Vec<usize>,
    ends: Vec<usize>,
    offsets: Vec<usize>,
}

impl Band {
    /// Every cell.
    pub fn full(rows: usize, columns: usize) -> Result<Self> {
        Self::from_ranges(columns, &vec![0..columns; rows])
    }

    /// The cells within `radius` columns of the straight line from the first to the last cell.
    ///
    /// When the line climbs faster than the band is wide, the radius grows until consecutive rows meet.
    pub fn sakoe_chiba(rows: usize, columns: usize, radius: usize) -> Result<Self> {
        if rows < 2 || columns == 0 {
            return Self::full(rows, columns);
        }
        let (last_row, last_column) = ((rows - 1) as f64, (columns - 1) as f64);
        // Half a column keeps every row occupied; the little more keeps rounding from opening a gap.
        let radius = (radius as f64).max((last_column / last_row).max(1.0) / 2.0 + 1e-6);
        let ranges: Vec<_> = (0..rows)
            .map(|row| {
                let centre = row as f64 * last_column / last_row;
                let start = (centre - radius).ceil().max(0.0) as usize;
                start..((centre + radius).floor() as usize + 1).min(columns)
            })
            .collect();
        Self::from_ranges(columns, &ranges)
    }

    /// Any ranges of columns, one per row. Fails if no path can pass through all rows.
    pub fn from_ranges(columns: usize, ranges: &[Range<usize>]) -> Result<Self> {
        if columns == 0 || ranges.is_empty() {
            let size = format!("{} x {columns}", ranges.len());
            return Err(Error::invalid("band size", size, "at least one row and one column"));
        }
        if let Some((row, range)) = ranges.iter().enumerate().find(|(_, range)| range.end > columns) {
            return Err(Error::invalid(format!("end of band row {row}"), range.end, format!("at most {columns}")));
        }
        let mut starts: Vec<_> = ranges.iter().map(|range| range.start).collect();
        let mut ends: Vec<_> = ranges.iter().map(|range| range.end).collect();
        for row in 1..starts.len() {
            starts[row] = starts[row].max(starts[row - 1]);
        }
        for row in (0..ends.len() - 1).rev() {
            ends[row] = ends[row].min(ends[row + 1]);
        }
        if let Some(row) = (0..starts.len()).find(|&row| starts[row] >= ends[row]) {
            let reason = format!("the band leaves no column for score frame {row}");
            return Err(Error::Infeasible { reason });
        }
        if let Some(row) = (1..starts.len()).find(|&row| starts[row] > ends[row - 1]) {
            let reason = format!("the band has a gap between score frames {} and {row}", row - 1);
            return Err(Error::Infeasible { reason });
        }
        let mut offsets = Vec::with_capacity(starts.len() + 1);
        offsets.push(0);
        let mut cells = 0usize;
        for (start, end) in starts.iter().zip(&ends) {
            cells = cells.saturating_add(end - start);
            offsets.push(cells);
        }
        Ok(Self { columns, starts, ends, offsets })
    }

    /// Number of rows: score frames.
    pub fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Number of columns: performance frames.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of cells inside.
    pub fn cells(&self) -> usize {
        self.offsets[self.rows()]
    }

    /// The columns of one row.
    pub fn row(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.ends[row]
    }

    /// The first column of each row, and one past its last.
    pub fn limits(&self) -> (&[usize], &[usize]) {
        (&self.starts, &self.ends)
    }

    /// Where the cells of one row lie when all rows are stored one after the other.
    pub fn storage(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// Whether every cell is inside.
    pub fn is_full(&self) -> bool {
        self.cells() == self.rows().saturating_mul(self.columns)
    }

    /// Fails unless the band holds the first and the last cell, which a path with pinned ends needs.
    pub fn check_pinned(&self) -> Result<()> {
        if self.starts[0] != 0 {
            let reason = "the ends are pinned, but the band excludes the first frames of both recordings".to_owned();
            return Err(Error::Infeasible { reason });
        }
        if self.ends[self.rows() - 1] != self.columns {
            let reason = "the ends are pinned, but the band excludes the last frames of both recordings".to_owned();
            return Err(Error::Infeasible { reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_tightened_to_what_a_path_through_all_rows_can_visit() {
        let band = Band::from_ranges(10, &[2..10, 0..6, 3..9]).unwrap();
        assert_eq!([band.row(0), band.row(1), band.row(2)], [2..6, 2..6, 3..9]);
        assert_eq!(band.cells(), 14);
        assert_eq!(band.storage(2), 8..14);
    }

    #[test]
    fn impossible_bands_name_the_row() {
        let message = |ranges: &[Range<usize>]| Band::from_ranges(10, ranges).unwrap_err().to_string();
        assert!(message(&[5..9, 0..4]).contains("score frame 0"));
        assert!(message(&[0..3, 4..9]).contains("between score frames 0 and 1"));
        assert!(message(&[0..3, 0..11]).contains("band row 1"));
        assert!(Band::from_ranges(10, &[0..3, 3..9]).is_ok(), "a diagonal step joins touching ranges");
        assert!(Band::full(0, 4).is_err());
    }

    #[test]
    fn sakoe_chiba_always_joins_both_corners() {
        for (rows, columns, radius) in
            [(1, 1, 0), (1, 9, 0), (9, 1, 0), (5, 50, 0), (50, 5, 0), (7, 7, 0), (8, 11, 2), (50, 99, 0)]
        {
            let band = Band::sakoe_chiba(rows, columns, radius).unwrap();
            band.check_pinned().unwrap_or_else(|e| panic!("{rows} {columns} {radius}: {e}"));
        }
        assert_eq!(Band::sakoe_chiba(7, 7, 0).unwrap().cells(), 7);
        assert!(Band::sakoe_chiba(7, 7, 100).unwrap().is_full());
    }
}
