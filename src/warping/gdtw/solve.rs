//! The forward pass: search on a grid, refine, finish on the continuous problem.

use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

use super::bounds::Reach;
use super::dp::{self, DpScratch, Unreachable};
use super::frames::FrameTable;
use super::grid::{self, KnotGrid};
use super::newton::{self, NewtonScratch};
use super::on_device;
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
    pub(super) frames: FrameTable,
    dp: DpScratch,
    pub(super) grid: Vec<KnotGrid>,
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
    let mut begun = Begun::new(problem, options, workspace)?;
    if !on_device::search(ctx, std::slice::from_mut(&mut begun), options)? {
        begun.search(ctx, options)?;
    }
    begun.finish(ctx, options)
}

/// Solves many problems at once, on all threads or on the device of the context. The first error is that of the whole.
pub fn solve_many<T: Real>(
    ctx: &JobContext,
    problems: &[Problem<'_, T>],
    options: &SolveOptions,
) -> Result<Vec<Solution>> {
    if on_device::may_pay(ctx, problems) {
        let mut workspaces: Vec<Workspace> = problems.iter().map(|_| Workspace::default()).collect();
        let begun = problems.par_iter().zip(&mut workspaces).map(|(problem, at)| Begun::new(problem, options, at));
        let mut begun = begun.collect::<Result<Vec<_>>>()?;
        if on_device::search(ctx, &mut begun, options)? {
            return begun.into_par_iter().map(|begun| begun.finish(ctx, options)).collect();
        }
    }
    let ctx = ctx.on(None);
    let alone = |workspace: &mut Workspace, problem| solve(&ctx, problem, options, workspace);
    problems.par_iter().map_init(Workspace::default, alone).collect()
}

/// A problem under way.
pub(super) struct Begun<'p, 'a, 'w, T: Real> {
    pub problem: &'p Problem<'a, T>,
    pub reach: Reach,
    pub workspace: &'w mut Workspace,
    best_phi: Vec<f64>,
    best_objective: f64,
    passes: Vec<Pass>,
}

impl<'p, 'a, 'w, T: Real> Begun<'p, 'a, 'w, T> {
    /// Checks the problem and lays out the first grid.
    fn new(problem: &'p Problem<'a, T>, options: &SolveOptions, workspace: &'w mut Workspace) -> Result<Self> {
        problem.validate()?;
        options.validate()?;
        let reach = Reach::of(problem)?;
        grid::first(problem, &reach, options.first_grid, &mut workspace.grid);
        let nodes = grid::total(&workspace.grid).max(workspace.frames.lay_out(problem, &reach));
        if nodes > options.max_nodes {
            let allowed = format!("at most {}: narrow the band or coarsen the grid", options.max_nodes);
            return Err(Error::invalid("number of grid nodes", nodes, allowed));
        }
        Ok(Self { problem, reach, workspace, best_phi: Vec::new(), best_objective: f64::INFINITY, passes: Vec::new() })
    }

    /// All passes on this thread.
    fn search(&mut self, ctx: &JobContext, options: &SolveOptions) -> Result<()> {
        self.restart(options);
        self.workspace.frames.fill(ctx, self.problem)?;
        let mut phi = vec![0.0; self.problem.len()];
        for pass in 0..=options.refinements {
            ctx.check()?;
            let unreachable = self.lay_out(options, pass);
            let Workspace { frames, dp, grid, .. } = &mut *self.workspace;
            dp::cheapest_path(ctx, self.problem, frames, grid, unreachable, dp, &mut phi)?;
            self.offer(&mut phi);
        }
        Ok(())
    }

    /// Forgets what another device found before it failed.
    fn restart(&mut self, options: &SolveOptions) {
        if !self.passes.is_empty() {
            self.passes.clear();
            self.best_objective = f64::INFINITY;
            grid::first(self.problem, &self.reach, options.first_grid, &mut self.workspace.grid);
        }
    }

    /// The grid of a pass.
    pub fn lay_out(&mut self, options: &SolveOptions, pass: usize) -> Unreachable {
        if pass == 0 {
            return Unreachable::Relax;
        }
        let reach_steps = options.reach_steps(pass);
        let grid = &mut self.workspace.grid;
        grid::refined(self.problem, &self.reach, &self.best_phi, options.shrink, reach_steps, grid);
        Unreachable::Forbid
    }

    /// Takes what a pass found, if it is the best so far. Limits finer than the grid are mended.
    pub fn offer(&mut self, phi: &mut [f64]) {
        self.reach.project(self.problem, phi);
        let objective = self.problem.objective(phi);
        self.passes.push(Pass { nodes: grid::total(&self.workspace.grid), objective });
        if objective < self.best_objective {
            self.best_objective = objective;
            self.best_phi.clear();
            self.best_phi.extend_from_slice(phi);
        }
    }

    fn finish(mut self, ctx: &JobContext, options: &SolveOptions) -> Result<Solution> {
        let newton = &mut self.workspace.newton;
        let phi = &mut self.best_phi;
        let finish = newton::finish(ctx, self.problem, &self.reach, options.newton_steps, newton, phi)?;
        Ok(Solution {
            phi: self.best_phi,
            objective: finish.objective,
            kkt_residual: finish.kkt_residual,
            knots: finish.knots,
            segments: finish.segments,
            newton_steps: finish.steps,
            passes: self.passes,
        })
    }
}
