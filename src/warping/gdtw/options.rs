//! How hard to search.

use crate::base::error::{Error, Result};

/// How fine the first pass looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FirstGrid {
    /// This many equidistant times per knot, over its whole reachable interval: `M` of the literature.
    Points(usize),
    /// Steps per frame of `y` (or per step of a cost table): memory follows the width of the band.
    StepsPerFrame(f64),
}

/// Settings of [`solve`](super::solve()).
#[derive(Debug, Clone, PartialEq)]
pub struct SolveOptions {
    /// The grid of the first pass.
    pub first_grid: FirstGrid,
    /// Later passes, each on a finer grid round the last warp.
    pub refinements: usize,
    /// Ratio of successive grid steps, η. The finish supplies the last digits, so a gentle ratio with wide reach pays more than a
    /// fine last grid.
    pub shrink: f64,
    /// How far the first refinement looks to either side of the warp, in steps of the grid before it; each later one looks half
    /// as many steps far, but at least two.
    pub refine_reach: f64,
    /// Newton steps on the continuous problem at most; 0 returns the best grid solution.
    pub newton_steps: usize,
    /// Most grid nodes of a pass: each takes four bytes.
    pub max_nodes: usize,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            first_grid: FirstGrid::StepsPerFrame(2.0),
            refinements: 3,
            shrink: 0.25,
            refine_reach: 12.0,
            newton_steps: 300,
            max_nodes: 150_000_000,
        }
    }
}

impl SolveOptions {
    /// Grid steps to either side of the last warp in refinement `pass`, counted from one.
    pub(super) fn reach_steps(&self, pass: usize) -> usize {
        let old_steps = (self.refine_reach / 2.0_f64.powi(pass as i32 - 1)).max(self.refine_reach.min(2.0));
        (old_steps / self.shrink).ceil().clamp(1.0, 1e6) as usize
    }

    /// Checks every setting's range.
    pub fn validate(&self) -> Result<()> {
        match self.first_grid {
            FirstGrid::Points(points) if points < 2 => {
                return Err(Error::invalid("grid points per knot", points, "two or more"));
            }
            FirstGrid::StepsPerFrame(steps) if !(steps.is_finite() && steps > 0.0) => {
                return Err(Error::invalid("grid steps per frame", steps, "finite and above 0"));
            }
            _ => {}
        }
        if !(self.shrink > 0.0 && self.shrink < 1.0) {
            return Err(Error::invalid("refinement factor", self.shrink, "above 0 and below 1"));
        }
        if !(self.refine_reach.is_finite() && self.refine_reach > 0.0) {
            return Err(Error::invalid("reach of the refinement", self.refine_reach, "finite and above 0"));
        }
        Ok(())
    }
}
