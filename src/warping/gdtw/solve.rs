//! The forward pass: search on a grid, refine, finish on the continuous problem.

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

use super::bounds::Reach;
use super::dp::{self, DpScratch, Unreachable};
use super::frames::FrameTable;
use super::grid::{self, KnotGrid};
use super::newton::{self, NewtonScratch};
use super::options::SolveOptions;
use super::problem::Problem;
use super::stationarity::{KnotState, SegmentState};
use crate::base::number::Real;

/// What a pass of the search looked at and found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pass {
    /// Grid nodes of all knots.
    pub nodes: usize,
    /// Objective of the warp this pass found, which is kept only if it is the best so far.
    pub objective: f64,
}

/// An optimal warp.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Performance time of each knot.
    pub phi: Vec<f64>,
    /// Objective of `phi`, in f64.
    pub objective: f64,
    /// How far `phi` is from stationary: the rate at which the best feasible move lowers the objective, as a share of the largest
    /// single derivative. At most [`KKT_TOLERANCE`](super::newton::KKT_TOLERANCE) when the finish converged.
    pub kkt_residual: f64,
    /// What holds each knot.
    pub knots: Vec<KnotState>,
    /// What holds each segment.
    pub segments: Vec<SegmentState>,
    /// Newton steps taken.
    pub newton_steps: usize,
    /// The grid passes in order.
    pub passes: Vec<Pass>,
}

/// Buffers of [`solve`], to be reused from problem to problem. Holds no state that a result depends on.
#[derive(Debug, Default)]
pub struct Workspace {
    frames: FrameTable,
    dp: DpScratch,
    grid: Vec<KnotGrid>,
    newton: NewtonScratch,
}

/// Solves a problem. Errors: a malformed problem, contradicting constraints, a problem too large for `options.max_nodes`, or
/// cancellation.
pub fn solve<T: Real>(
    ctx: &JobContext,
    problem: &Problem<'_, T>,
    options: &SolveOptions,
    workspace: &mut Workspace,
) -> Result<Solution> {
    problem.validate()?;
    options.validate()?;
    let reach = Reach::of(problem)?;
    let Workspace { frames, dp, grid, newton } = workspace;
    grid::first(problem, &reach, options.first_grid, grid);
    let nodes = grid::total(grid).max(frames.lay_out(problem, &reach));
    if nodes > options.max_nodes {
        let allowed = format!("at most {}: narrow the band or coarsen the grid", options.max_nodes);
        return Err(Error::invalid("number of grid nodes", nodes, allowed));
    }
    frames.fill(ctx, problem)?;
    let (mut best_phi, mut best_objective, mut passes) = (Vec::new(), f64::INFINITY, Vec::new());
    let mut phi = vec![0.0; problem.len()];
    for pass in 0..=options.refinements {
        ctx.check()?;
        let mut unreachable = Unreachable::Relax;
        if pass > 0 {
            let reach_steps = options.reach_steps(pass);
            grid::refined(problem, &reach, &best_phi, options.shrink, reach_steps, grid);
            unreachable = Unreachable::Forbid;
        }
        dp::cheapest_path(ctx, problem, frames, grid, unreachable, dp, &mut phi)?;
        reach.project(problem, &mut phi);
        let objective = problem.objective(&phi);
        passes.push(Pass { nodes: grid::total(grid), objective });
        if objective < best_objective {
            best_objective = objective;
            best_phi.clone_from(&phi);
        }
    }
    let finish = newton::finish(ctx, problem, &reach, options.newton_steps, newton, &mut best_phi)?;
    Ok(Solution {
        phi: best_phi,
        objective: finish.objective,
        kkt_residual: finish.kkt_residual,
        knots: finish.knots,
        segments: finish.segments,
        newton_steps: finish.steps,
        passes,
    })
}
