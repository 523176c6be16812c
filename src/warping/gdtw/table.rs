//! Node costs given directly: one row of costs per knot on a shared uniform time grid, stored as a band.

use crate::base::error::{Error, Result};
use crate::base::number::Real;

/// Banded node costs: knot `i` may lie at `origin + k·step` for `k` in `first[i] .. first[i] + row length`.
///
/// Between grid points a row is a smooth curve whose derivative is that of the parabola through the three nearest costs (a
/// quadratic spline with the costs as control points): the best time of a knot is the vertex of the parabola round a dip.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable<T: Real = f32> {
    origin: f64,
    step: f64,
    first: Vec<usize>,
    offsets: Vec<usize>,
    costs: Vec<T>,
}

impl<T: Real> CostTable<T> {
    /// An empty table; add one row per knot.
    pub fn new(origin: f64, step: f64) -> Result<Self> {
        if !origin.is_finite() {
            return Err(Error::invalid("origin of the cost grid", origin, "finite"));
        }
        if !(step.is_finite() && step > 0.0) {
            return Err(Error::invalid("step of the cost grid", step, "finite and above 0"));
        }
        Ok(Self { origin, step, first: Vec::new(), offsets: vec![0], costs: Vec::new() })
    }

    /// Adds the row of the next knot, starting at grid index `first`.
    pub fn push_row(&mut self, first: usize, costs: &[T]) -> Result<()> {
        if costs.is_empty() {
            return Err(Error::invalid(format!("cost row {}", self.rows()), "empty", "one cost or more"));
        }
        if let Some(k) = costs.iter().position(|&c| !c.to_f64().is_finite()) {
            return Err(Error::invalid(format!("cost {k} of row {}", self.rows()), costs[k].to_f64(), "finite"));
        }
        self.first.push(first);
        self.costs.extend_from_slice(costs);
        self.offsets.push(self.costs.len());
        Ok(())
    }

    /// Adds `∫ c(t) dt` between the knots of `segment` to the rows of both, given `cumulative(k)`, the integral of `c`
    /// up to grid index `k`.
    ///
    /// A cost of everything between two neighbouring knots is the difference of one cumulative sum at both knots, so it needs no
    /// term of its own: it is a node cost of each.
    pub fn add_segment_integral(&mut self, segment: usize, cumulative: impl Fn(usize) -> f64) {
        for (row, sign) in [(segment, -1.0), (segment + 1, 1.0)] {
            let first = self.first[row];
            let range = self.offsets[row]..self.offsets[row + 1];
            for (k, cost) in self.costs[range].iter_mut().enumerate() {
                *cost = T::from_f64((*cost).to_f64() + sign * cumulative(first + k));
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.first.len()
    }

    /// Time of grid index 0.
    pub fn origin(&self) -> f64 {
        self.origin
    }

    /// Distance of grid points.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Grid index of the first cost of a row.
    pub fn first(&self, row: usize) -> usize {
        self.first[row]
    }

    /// The costs of a row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.costs[self.offsets[row]..self.offsets[row + 1]]
    }

    /// Where the row starts in the flat array of [`costs`](Self::costs).
    pub fn offset(&self, row: usize) -> usize {
        self.offsets[row]
    }

    /// Where each row starts, and the number of costs.
    pub(super) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// All costs, row after row.
    pub fn costs(&self) -> &[T] {
        &self.costs
    }

    /// First and last time of a row.
    pub fn span(&self, row: usize) -> (f64, f64) {
        let first = self.first[row];
        let last = first + self.row(row).len() - 1;
        (self.origin + first as f64 * self.step, self.origin + last as f64 * self.step)
    }

    pub(super) fn validate(&self, knots: usize) -> Result<()> {
        if self.rows() != knots {
            return Err(Error::invalid("number of cost rows", self.rows(), format!("one per knot: {knots}")));
        }
        match self.costs.iter().position(|&c| !c.to_f64().is_finite()) {
            Some(k) => Err(Error::invalid(format!("node cost {k}"), self.costs[k].to_f64(), "finite")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_checked_and_found_again() {
        let mut table = CostTable::<f32>::new(1.0, 0.5).unwrap();
        table.push_row(2, &[1.0, 2.0, 3.0]).unwrap();
        table.push_row(4, &[5.0]).unwrap();
        assert_eq!(table.span(0), (2.0, 3.0));
        assert_eq!(table.span(1), (3.0, 3.0));
        assert_eq!(table.row(1), [5.0]);
        assert!(table.push_row(0, &[]).is_err());
        assert!(table.push_row(0, &[f32::NAN]).is_err());
        assert!(table.validate(3).is_err());
        assert!(CostTable::<f32>::new(0.0, 0.0).is_err());
    }

    #[test]
    fn a_segment_integral_is_the_difference_of_cumulative_sums() {
        let mut table = CostTable::<f64>::new(0.0, 1.0).unwrap();
        table.push_row(0, &[0.0; 4]).unwrap();
        table.push_row(2, &[0.0; 4]).unwrap();
        table.add_segment_integral(0, |k| (k * k) as f64);
        // The integral of 2t from 1 to 4 is 15.
        assert_eq!(table.row(1)[2] + table.row(0)[1], 15.0);
    }
}
