//! A band round an expected warp that widens itself where the best path touches its edge.

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

use super::bounds::Reach;
use super::options::SolveOptions;
use super::problem::Problem;
use super::solve::{Solution, Workspace, solve};
use crate::base::number::Real;

/// A path nearer to the edge than this share of the radius touches it.
const TOUCHING: f64 = 0.9;
/// Where the path touches, the band widens for this many radii before and after.
const NEIGHBOURHOOD: f64 = 4.0;

/// How far a warp may stray from the expected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WideningBand {
    /// Distance to either side at first, in seconds.
    pub radius_s: f64,
    /// How often the band may double where the path touches its edge; 0 for a band that is a constraint.
    pub widenings: usize,
}

/// Solves a problem within a band round the expected warp `centre`, one time per knot.
///
/// The problem's own constraints hold as they are. An edge of the band is not one of them, unless `band.widenings` is 0:
/// the band doubles round every knot that touches it, and everywhere if it leaves no feasible warp, and the problem is solved again.
pub fn solve_in_band<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    centre: &[f64],
    band: WideningBand,
    options: &SolveOptions,
    workspace: &mut Workspace,
) -> Result<Solution> {
    if centre.len() != problem.len() {
        let allowed = format!("one per knot: {}", problem.len());
        return Err(Error::invalid("number of expected times", centre.len(), allowed));
    }
    if band.radius_s.is_nan() || band.radius_s <= 0.0 {
        return Err(Error::invalid("radius of the band", band.radius_s, "above 0"));
    }
    problem.validate()?;
    let reach = Reach::of(problem)?;
    let mut radius = vec![band.radius_s; centre.len()];
    let mut banded = problem.clone();
    let mut left = band.widenings;
    loop {
        banded.lower.clone_from(&problem.lower);
        banded.upper.clone_from(&problem.upper);
        banded = banded.with_band(centre, &radius)?;
        match solve(ctx, &banded, options, workspace) {
            Err(Error::Infeasible { .. }) if left > 0 && still_narrow(&reach, centre, &radius) => {
                radius.iter_mut().for_each(|r| *r *= 2.0);
            }
            Err(error) => return Err(error),
            Ok(solution) => {
                if left == 0 || !widen_where_touched(&reach, centre, &solution.phi, &mut radius) {
                    return Ok(solution);
                }
                left -= 1;
            }
        }
    }
}

/// Whether the band still excludes anything that the problem allows.
fn still_narrow(reach: &Reach, centre: &[f64], radius: &[f64]) -> bool {
    let spans = reach.lo.iter().zip(&reach.hi);
    spans.zip(centre.iter().zip(radius)).any(|((lo, hi), (c, r))| *lo < c - r || *hi > c + r)
}

/// Doubles the band round the places where the path touches an edge that is the band's own; false if it does so nowhere.
fn widen_where_touched(reach: &Reach, centre: &[f64], phi: &[f64], radius: &mut [f64]) -> bool {
    let touches = |i: usize| {
        let (off, edge) = (phi[i] - centre[i], TOUCHING * radius[i]);
        (off > edge && reach.hi[i] > centre[i] + radius[i]) || (off < -edge && reach.lo[i] < centre[i] - radius[i])
    };
    let touched: Vec<usize> = (0..phi.len()).filter(|&i| touches(i)).collect();
    let old = radius.to_vec();
    for &at in &touched {
        let near = |i: &usize| (centre[*i] - centre[at]).abs() <= NEIGHBOURHOOD * old[at];
        for i in (0..at).rev().take_while(near).chain((at..centre.len()).take_while(near)) {
            radius[i] = radius[i].max(2.0 * old[at]);
        }
    }
    !touched.is_empty()
}

#[cfg(test)]
#[path = "band_tests.rs"]
mod tests;
