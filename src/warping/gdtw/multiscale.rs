//! Whole pieces: coarse to fine, in time and memory that grow linearly with length.
//!
//! Features are averaged to a coarse rate where the whole plane is small enough to be searched; each finer level is searched only
//! in a band round the coarser warp, which widens itself where the path touches its edge. The finest level is the problem itself: its
//! solution is stationary for the problem as given, and no constraint is lost on the way.

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

use super::band::{WideningBand, solve_in_band};
use super::coarsen::Level;
use super::options::SolveOptions;
use super::problem::{NodeCost, Problem};
use super::solve::{Solution, Workspace, solve};
use crate::base::number::Real;

/// A problem with fewer knots is not made coarser: nothing of its shape would be left.
const FEWEST_KNOTS: usize = 64;

/// Settings of [`solve_multiscale`].
#[derive(Debug, Clone, PartialEq)]
pub struct MultiscaleParams {
    /// Knots and frames of a level are this many times fewer than those of the next finer one.
    pub factor: usize,
    /// The coarsest level has at most this many pairs of knot and frame; it is searched without a band.
    pub coarsest_cells: usize,
    /// Half width of the band round the coarser warp, in frames of the coarser level.
    pub band_frames: f64,
    /// How often the band of a level may widen.
    pub widenings: usize,
    /// How the finest level is solved; its grid serves all levels.
    pub options: SolveOptions,
}

impl Default for MultiscaleParams {
    fn default() -> Self {
        Self { factor: 4, coarsest_cells: 100_000, band_frames: 8.0, widenings: 4, options: SolveOptions::default() }
    }
}

impl MultiscaleParams {
    /// Checks every setting's range.
    pub fn validate(&self) -> Result<()> {
        if self.factor < 2 {
            return Err(Error::invalid("coarsening factor", self.factor, "two or more"));
        }
        if !(self.band_frames.is_finite() && self.band_frames >= 1.0) {
            return Err(Error::invalid("band in coarse frames", self.band_frames, "finite and at least 1"));
        }
        self.options.validate()
    }
}

/// Solves a problem of two feature signals from coarse to fine. Reports progress as "aligning".
///
/// The result is the optimum within the band of the finest level; what the coarse levels lead astray by more than the band, and
/// without touching its edge, stays astray.
pub fn solve_multiscale<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    params: &MultiscaleParams,
) -> Result<Solution> {
    problem.validate()?;
    params.validate()?;
    let levels = coarser_levels(ctx, problem, params)?;
    let mut workspace = Workspace::default();
    // Coarse levels only steer the band: one refinement is exact enough.
    let steering = SolveOptions { refinements: 1, newton_steps: 0, ..params.options.clone() };
    let total = (problem.len() + levels.iter().map(|l| l.knots().len()).sum::<usize>()) as f32;
    let (mut coarser, mut done) = (None, 0.0);
    for level in levels.iter().rev() {
        ctx.report("aligning", done / total)?;
        let found = search(ctx, &level.problem()?, coarser, params, &steering, &mut workspace)?;
        coarser = Some((level, found.phi));
        done += level.knots().len() as f32;
    }
    ctx.report("aligning", done / total)?;
    let solution = search(ctx, problem, coarser, params, &params.options, &mut workspace)?;
    ctx.report("aligning", 1.0)?;
    Ok(solution)
}

/// Solves one level: in a band round the coarser warp, or without a band if there is none.
fn search<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    coarser: Option<(&Level, Vec<f64>)>,
    params: &MultiscaleParams,
    options: &SolveOptions,
    workspace: &mut Workspace,
) -> Result<Solution> {
    let Some((level, phi)) = coarser else { return solve(ctx, problem, options, workspace) };
    let band = WideningBand { radius_s: params.band_frames * level.frame_s(), widenings: params.widenings };
    let centre = interpolated(level.knots(), &phi, &problem.knots);
    solve_in_band(ctx, problem, &centre, band, options, workspace)
}

/// The coarser versions, finest first.
fn coarser_levels<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    params: &MultiscaleParams,
) -> Result<Vec<Level>> {
    let frames = |nodes: &NodeCost<'_, T>| match nodes {
        NodeCost::Features { y, .. } => y.frames(),
        NodeCost::Table(_) => 0,
    };
    let mut levels: Vec<Level> = Vec::new();
    let (mut knots, mut columns) = (problem.len(), frames(&problem.nodes));
    while knots > FEWEST_KNOTS && knots.saturating_mul(columns) > params.coarsest_cells {
        ctx.check()?;
        let next = match levels.last() {
            None => Level::of(problem, params.factor)?,
            Some(level) => Level::of(&level.problem()?, params.factor)?,
        };
        if next.knots().len() >= knots {
            break;
        }
        (knots, columns) = (next.knots().len(), next.frames());
        levels.push(next);
    }
    Ok(levels)
}

/// Values of a piecewise linear function at the increasing times `at`, within the span of `knots`.
fn interpolated(knots: &[f64], values: &[f64], at: &[f64]) -> Vec<f64> {
    let mut k = 0;
    at.iter()
        .map(|&time| {
            while k + 2 < knots.len() && knots[k + 1] <= time {
                k += 1;
            }
            let share = (time - knots[k]) / (knots[k + 1] - knots[k]);
            values[k] + share * (values[k + 1] - values[k])
        })
        .collect()
}

#[cfg(test)]
#[path = "multiscale_tests.rs"]
mod tests;
