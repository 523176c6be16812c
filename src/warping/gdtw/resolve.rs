//! Local re-solve: an anchor was set, moved or removed, and only its surroundings are solved again.
//!
//! The objective is a chain, so a knot that is fixed separates what is before it from what is after it: between the anchors on either
//! side (or the ends) the result is that of the full solve. Where anchors are far, the influence of one knot still dies away with
//! distance, and a window of a few seconds is enough. Its outer knots are then held where they were, and whether that was right is
//! checked, not hoped: if the warp is not stationary at the seams, the window doubles, up to the anchors.

use std::ops::Range;

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

use super::band::{WideningBand, solve_in_band};
use super::bounds::Reach;
use super::newton::{self, NewtonScratch};
use super::options::SolveOptions;
use super::part::{Held, with_part};
use super::problem::Problem;
use super::solve::{Solution, Workspace, solve};
use crate::base::number::Real;

/// Settings of [`resolve`].
#[derive(Debug, Clone, PartialEq)]
pub struct ResolveParams {
    /// Knot seconds before and after the change that are solved at first; `None` solves from anchor to anchor at once.
    pub window_s: Option<f64>,
    /// The window is wide enough when at its seams the objective falls at no more than this share of the largest single derivative.
    pub seam_tolerance: f64,
    /// Band round the warp as it was, bent through the anchors; `None` searches everything that the problem allows.
    pub band: Option<WideningBand>,
    /// How the window is solved.
    pub options: SolveOptions,
}

impl Default for ResolveParams {
    fn default() -> Self {
        Self {
            window_s: Some(6.0),
            seam_tolerance: 1e-6,
            band: Some(WideningBand { radius_s: 1.5, widenings: 3 }),
            options: SolveOptions::default(),
        }
    }
}

/// What [`resolve`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The warp of all knots.
    pub phi: Vec<f64>,
    /// The knots that were solved again; the others stayed where they were.
    pub window: Range<usize>,
    /// How far the window is from stationary inside, as in [`Solution::kkt_residual`].
    pub kkt_residual: f64,
    /// The same across the seams; 0 where the window ends at anchors or ends.
    pub seam_residual: f64,
}

/// Solves again round the knots `changed`, whose bounds in `problem` are new, given the optimal warp `previous` under the old bounds.
pub fn resolve<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    previous: &[f64],
    changed: Range<usize>,
    params: &ResolveParams,
    workspace: &mut Workspace,
) -> Result<Resolved> {
    problem.validate()?;
    check(problem, previous, &changed, params)?;
    let widest = between_anchors(problem, &changed);
    let mut window_s = params.window_s.unwrap_or(f64::INFINITY);
    loop {
        let window = around(problem, &changed, &widest, window_s);
        let held = Held {
            first: (window.start > widest.start).then(|| previous[window.start]),
            last: (window.end < widest.end).then(|| previous[window.end - 1]),
        };
        window_s *= 2.0;
        let whole = held == Held::default();
        let centre = bent(problem, previous, &window);
        let solved = with_part(problem, window.clone(), held, |part| match params.band {
            Some(band) => solve_in_band(ctx, part, &centre, band, &params.options, workspace),
            None => solve(ctx, part, &params.options, workspace),
        });
        let Solution { phi: inner, kkt_residual, .. } = match solved {
            // The knots held at the seams may leave too little room; the anchors may not.
            Err(Error::Infeasible { .. }) if !whole => continue,
            other => other?,
        };
        let mut phi = previous.to_vec();
        phi[window.clone()].copy_from_slice(&inner);
        let seam_residual = if whole { 0.0 } else { seam_residual(ctx, problem, &phi, &window, &widest)? };
        if seam_residual <= params.seam_tolerance.max(kkt_residual) {
            return Ok(Resolved { phi, window, kkt_residual, seam_residual });
        }
    }
}

fn check<T: Real>(
    problem: &Problem<'_, T>,
    previous: &[f64],
    changed: &Range<usize>,
    params: &ResolveParams,
) -> Result<()> {
    if previous.len() != problem.len() {
        let allowed = format!("one time per knot: {}", problem.len());
        return Err(Error::invalid("length of the warp to start from", previous.len(), allowed));
    }
    if let Some(i) = previous.iter().position(|t| !t.is_finite()) {
        return Err(Error::invalid(format!("time of knot {i} in the warp to start from"), previous[i], "finite"));
    }
    if changed.is_empty() || changed.end > problem.len() {
        let allowed = format!("a stretch within 0..{}", problem.len());
        return Err(Error::invalid("changed knots", format!("{changed:?}"), allowed));
    }
    if params.window_s.is_some_and(|s| s.is_nan() || s <= 0.0) {
        return Err(Error::invalid("window of the local solve", "not positive", "above 0 seconds"));
    }
    if params.seam_tolerance.is_nan() || params.seam_tolerance <= 0.0 {
        return Err(Error::invalid("tolerance at the seams", params.seam_tolerance, "above 0"));
    }
    Ok(())
}

fn is_fixed<T: Real>(problem: &Problem<'_, T>, knot: usize) -> bool {
    let (lo, hi) = problem.limits(knot);
    lo >= hi
}

/// The knots from the last anchor before the change to the first after it, or to the ends.
fn between_anchors<T: Real>(problem: &Problem<'_, T>, changed: &Range<usize>) -> Range<usize> {
    let first = (0..changed.start).rev().find(|&i| is_fixed(problem, i)).unwrap_or(0);
    let last = (changed.end..problem.len()).find(|&i| is_fixed(problem, i)).unwrap_or(problem.len() - 1);
    first..last + 1
}

/// The knots within `reach_s` of the change, one more on either side at least.
fn around<T: Real>(
    problem: &Problem<'_, T>,
    changed: &Range<usize>,
    widest: &Range<usize>,
    reach_s: f64,
) -> Range<usize> {
    let knots = &problem.knots;
    let start = knots.partition_point(|&t| t < knots[changed.start] - reach_s).min(changed.start.saturating_sub(1));
    let end = knots.partition_point(|&t| t <= knots[changed.end - 1] + reach_s).max(changed.end + 1);
    start.max(widest.start)..end.min(widest.end)
}

/// The warp as it was, shifted so that it meets every fixed knot of the window, by an amount that runs linearly in between.
fn bent<T: Real>(problem: &Problem<'_, T>, previous: &[f64], window: &Range<usize>) -> Vec<f64> {
    let knots = &problem.knots;
    let (first, last) = (window.start, window.end - 1);
    let mut posts: Vec<(f64, f64)> = window
        .clone()
        .filter(|&i| is_fixed(problem, i))
        .map(|i| (knots[i], problem.limits(i).0 - previous[i]))
        .collect();
    if posts.first().is_none_or(|p| p.0 > knots[first]) {
        posts.insert(0, (knots[first], 0.0));
    }
    if posts.last().is_none_or(|p| p.0 < knots[last]) {
        posts.push((knots[last], 0.0));
    }
    let mut k = 0;
    let shift = |i: usize| {
        while k + 2 < posts.len() && posts[k + 1].0 <= knots[i] {
            k += 1;
        }
        let ((t0, s0), (t1, s1)) = (posts[k], posts[(k + 1).min(posts.len() - 1)]);
        let share = if t1 > t0 { (knots[i] - t0) / (t1 - t0) } else { 0.0 };
        previous[i] + s0 + share * (s1 - s0)
    };
    window.clone().map(shift).collect()
}

/// How far the warp is from stationary when the knots at the seams may move too. Knots tied to them by active slope limits
/// may move with them.
fn seam_residual<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    phi: &[f64],
    window: &Range<usize>,
    widest: &Range<usize>,
) -> Result<f64> {
    let tolerance = 1e-9 * (1.0 + phi[phi.len() - 1].abs());
    let tied = |i: usize| {
        let (min, max) = problem.steps(i);
        let advance = phi[i + 1] - phi[i];
        advance <= min + tolerance || advance >= max - tolerance
    };
    let mut start = window.start;
    while start > widest.start && tied(start - 1) {
        start -= 1;
    }
    let mut end = window.end;
    while end < widest.end && tied(end - 1) {
        end += 1;
    }
    let range = start.saturating_sub(1).max(widest.start)..(end + 1).min(widest.end);
    let held = Held {
        first: (range.start > widest.start).then(|| phi[range.start]),
        last: (range.end < widest.end).then(|| phi[range.end - 1]),
    };
    with_part(problem, range.clone(), held, |part| {
        let reach = Reach::of(part)?;
        let mut warp = phi[range.clone()].to_vec();
        Ok(newton::finish(ctx, part, &reach, 0, &mut NewtonScratch::default(), &mut warp)?.kkt_residual)
    })
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
