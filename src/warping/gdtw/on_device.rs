//! The search on a device beside the CPU: node costs go there once, then a small grid goes there and a path comes back for each
//! pass. Bounds, refinement, the objective and the finish are those of the CPU, in double precision.

use std::borrow::Cow;

use rayon::prelude::*;

use super::dp::{Unreachable, raw_window, scales};
use super::grid::KnotGrid;
use super::options::SolveOptions;
use super::problem::{EdgeCost, NodeCost, Problem};
use super::solve::Begun;
use crate::base::accelerator::{GridEdges, GridKnot, GridPass, NodeCosts, Outcome, Work, WorkKind};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::number::Real;

/// All passes of some problems on the device of the context. False if there is none, or it failed: the CPU has to search.
pub(super) fn search<T: Real>(
    ctx: &JobContext,
    problems: &mut [Begun<'_, '_, '_, T>],
    options: &SolveOptions,
) -> Result<bool> {
    if !ctx.has_device() || !problems.iter().all(|begun| begun.workspace.frames.is_regular(begun.problem)) {
        return Ok(false);
    }
    let work = search_work(0, 0).plus(problems.iter().map(work));
    let searched = ctx.accelerate(work, |device| {
        let values: Vec<_> = problems.iter().map(|begun| node_values(begun.problem)).collect();
        let costs: Vec<NodeCosts<'_>> =
            problems.iter().zip(&values).map(|(begun, values)| begun.costs(values)).collect();
        let mut search = device.grid_search(&costs)?;
        for pass in 0..=options.refinements {
            if let Err(cancelled) = ctx.check() {
                return Ok(Err(cancelled));
            }
            let grids: Vec<GridPass> = problems.par_iter_mut().map(|begun| begun.grid(options, pass)).collect();
            let paths = search.cheapest_paths(&grids)?;
            let taken: Result<()> = problems.par_iter_mut().zip(paths).try_for_each(|(begun, path)| begun.take(path));
            if let Err(error) = taken {
                return Ok(Err(error));
            }
        }
        Outcome::Ok(Ok(()))
    });
    searched.transpose().map(|done| done.is_some())
}

/// Whether it is worth looking closer if there is enough work for the device: bands may make it less.
pub(super) fn may_pay<T: Real>(ctx: &JobContext, problems: &[Problem<'_, T>]) -> bool {
    let most = |problem: &Problem<'_, T>| match &problem.nodes {
        NodeCost::Features { y, .. } => search_work(problem.len() * y.values().len(), 2 * problem.len() * y.frames()),
        NodeCost::Table(table) => search_work(table.costs().len(), table.costs().len()),
    };
    ctx.has_device() && ctx.accelerates(search_work(0, 0).plus(problems.iter().map(most)))
}

/// The work of a search: multiplications of the distances, and those of the first pass, roughly.
pub fn search_work(multiplications: usize, nodes: usize) -> Work {
    Work { kind: WorkKind::Search, amount: multiplications as f64 + 16.0 * nodes as f64 }
}

fn work<T: Real>(begun: &Begun<'_, '_, '_, T>) -> Work {
    let dim = match &begun.problem.nodes {
        NodeCost::Features { x, .. } => x.dim(),
        NodeCost::Table(_) => 1,
    };
    let nodes: usize = begun.workspace.grid.iter().map(|knot| knot.count).sum();
    search_work(begun.workspace.frames.cells() * dim, nodes)
}

/// The values that node costs are made of, in single precision.
fn node_values<'p, T: Real>(problem: &'p Problem<'_, T>) -> [Cow<'p, [f32]>; 2] {
    match &problem.nodes {
        NodeCost::Features { x, y, .. } => [T::as_f32(x.values()), T::as_f32(y.values())],
        NodeCost::Table(table) => [T::as_f32(table.costs()), Cow::Borrowed(&[])],
    }
}

impl<T: Real> Begun<'_, '_, '_, T> {
    fn costs<'b>(&'b self, [x, y]: &'b [Cow<'_, [f32]>; 2]) -> NodeCosts<'b> {
        match &self.problem.nodes {
            NodeCost::Features { x: signal, .. } => {
                let (first, offsets) = self.workspace.frames.layout();
                NodeCosts::Distances { x, y, dim: signal.dim(), first, offsets }
            }
            NodeCost::Table(table) => NodeCosts::Table { costs: x, offsets: table.offsets() },
        }
    }

    fn grid(&mut self, options: &SolveOptions, pass: usize) -> GridPass {
        let forbids = self.lay_out(options, pass) == Unreachable::Forbid;
        let (problem, grid) = (self.problem, &self.workspace.grid);
        let edges = match &problem.edges {
            EdgeCost::Slope { .. } => GridEdges::Slope,
            EdgeCost::LogTempo { epsilon, sigma, delta, .. } => {
                GridEdges::LogTempo { epsilon: *epsilon as f32, sigma: *sigma as f32, delta: *delta as f32 }
            }
        };
        let knot = |i: usize| with_edge(problem, i, grid, self.with_position(i, &grid[i]));
        GridPass { knots: (0..grid.len()).map(knot).collect(), edges, forbids }
    }

    /// Where the costs of a knot's grid are read.
    fn with_position(&self, i: usize, grid: &KnotGrid) -> GridKnot {
        let (start, step, weight, width) = match &self.problem.nodes {
            NodeCost::Features { weights, .. } => {
                let (start, step, width) = self.workspace.frames.position(self.problem, i, grid);
                (start, step, weights[i], width)
            }
            NodeCost::Table(table) => ((grid.lo - table.span(i).0) / table.step(), grid.step / table.step(), 1.0, 0),
        };
        // From the frame just before the grid: single precision is then exact enough.
        let skip = (start.max(0.0) as usize).min(width.saturating_sub(2));
        GridKnot {
            count: grid.count as u32,
            skip: skip as u32,
            start: (start - skip as f64) as f32,
            step: step as f32,
            weight: weight as f32,
            ..GridKnot::default()
        }
    }

    /// Takes the path that a pass found.
    fn take(&mut self, path: Option<Vec<u32>>) -> Result<()> {
        let Some(path) = path else {
            let reason = "no grid point of the last knot can be reached".to_owned();
            return Err(Error::Infeasible { reason });
        };
        let mut phi: Vec<f64> =
            path.iter().zip(&self.workspace.grid).map(|(&j, grid)| grid.at((j as usize).min(grid.count - 1))).collect();
        self.offer(&mut phi);
        Ok(())
    }
}

/// The edge from the knot before, and which of its times may come before each of this knot's.
fn with_edge<T: Real>(problem: &Problem<'_, T>, i: usize, grid: &[KnotGrid], knot: GridKnot) -> GridKnot {
    if i == 0 {
        return knot;
    }
    let (shift, from_scale, to_scale, reference) = match &problem.edges {
        EdgeCost::Slope { .. } => {
            let (shift, from_scale, to_scale) = scales(problem, i, grid);
            (shift, from_scale, to_scale, 0.0)
        }
        EdgeCost::LogTempo { weight, reference, epsilon, .. } => {
            let shift = (grid[i].lo - grid[i - 1].lo) as f32;
            let reference = (reference[i - 1] + epsilon).ln();
            (shift, weight[i - 1] as f32, grid[i].step as f32, reference as f32)
        }
    };
    // Far beyond any index.
    const FAR: f64 = 1e9;
    let (first, last) = raw_window(problem, i, grid, 0);
    let parts = |at: f64| {
        let at = at.clamp(-FAR, FAR);
        (at.floor() as i32, (at - at.floor()) as f32)
    };
    let ((first, first_part), (last, last_part)) = (parts(first), parts(last));
    let ratio = (grid[i].step / grid[i - 1].step) as f32;
    GridKnot { shift, from_scale, to_scale, first, first_part, last, last_part, ratio, reference, ..knot }
}
