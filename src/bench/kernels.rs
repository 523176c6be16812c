//! The alignment kernels on one thread: GDTW beside classic DTW, soft-DTW and DILATE.

use super::inputs::{OwnedSignal, pair, warp};
use super::measure::{Contestant, take_turns};
use super::{Measurement, on_one_thread};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::warping::Signal;
use crate::warping::cost::{Band, LocalCost, local_cost};
use crate::warping::dtw::{DtwPath, Ends, dtw_of_pairs};
use crate::warping::gdtw::{FirstGrid, Gradient, Problem, Solution, SolveOptions, Workspace, gradient, solve};
use crate::warping::soft_dtw::{DilateParams, dilate, soft_dtw, squared_euclidean_gradient, temporal_penalty};

/// The weight of the tempo regulariser, about that of CQT features.
const LAMBDA: f64 = 0.1;
const GAMMA: f64 = 0.1;

/// Classic DTW for several sizes, with GDTW in turn where its figures are promised.
pub(super) fn warping(ctx: &JobContext) -> Result<Vec<Measurement>> {
    on_one_thread(|| {
        let mut results = Vec::new();
        for dim in [12, 48, 128] {
            for n in [256, 512, 1024] {
                results.extend(against_dtw(ctx, n, dim)?);
            }
        }
        Ok(results)
    })
}

fn against_dtw(ctx: &JobContext, n: usize, dim: usize) -> Result<Vec<Measurement>> {
    let (score, performance) = pair(n, n, dim, 1.0);
    let (x, y) = (score.signal()?, performance.signal()?);
    let problem = Problem::from_signals(x, y, LAMBDA).with_pinned_ends();
    let grid = 2 * n;
    let options = SolveOptions { first_grid: FirstGrid::Points(grid), refinements: 3, ..SolveOptions::default() };
    let (mut forward, mut both) = (Workspace::default(), Workspace::default());
    let mut contestants = vec![
        Contestant::new("dtw (cost + path)", || classic(ctx, &x, &y)),
        Contestant::new("gdtw forward", || solve(ctx, &problem, &options, &mut forward)),
        Contestant::new("gdtw forward + backward", || solve_and_differentiate(ctx, &problem, &options, &mut both)),
    ];
    let results = take_turns(ctx, &format!("n=m={n} M={grid} d={dim}"), 1, &mut contestants)?;
    let dtw = results[..1].to_vec();
    Ok(dtw.into_iter().chain(against_first(&results)).collect())
}

/// Classic DTW as it is used: the local costs and the cheapest path through them.
pub(super) fn classic(ctx: &JobContext, score: &Signal<'_>, performance: &Signal<'_>) -> Result<DtwPath> {
    let band = Band::full(score.frames(), performance.frames())?;
    Ok(dtw_of_pairs(ctx, &[(*score, *performance, band)], Ends::Pinned)?.remove(0))
}

/// A training step's share of the solver: the warp, and the gradient of its squared distance from the identity.
pub(super) fn solve_and_differentiate(
    ctx: &JobContext,
    problem: &Problem<'_>,
    options: &SolveOptions,
    workspace: &mut Workspace,
) -> Result<(Solution, Gradient)> {
    let solution = solve(ctx, problem, options, workspace)?;
    let loss: Vec<f64> = solution.phi.iter().zip(&problem.knots).map(|(phi, t)| 2.0 * (phi - t)).collect();
    let gradient = gradient(problem, &solution, &loss)?;
    Ok((solution, gradient))
}

/// Soft-DTW and DILATE from features to the gradient on features.
pub(super) fn soft(ctx: &JobContext) -> Result<Vec<Measurement>> {
    on_one_thread(|| {
        let mut results = Vec::new();
        for dim in [12, 48, 128] {
            results.extend(soft_step(ctx, dim)?);
        }
        results.extend(dilate_step(ctx)?);
        Ok(results)
    })
}

fn soft_step(ctx: &JobContext, dim: usize) -> Result<Vec<Measurement>> {
    const N: usize = 512;
    let (score, performance) = pair(N, N, dim, 1.0);
    let (x, y) = (score.signal()?, performance.signal()?);
    let band = Band::full(N, N)?;
    let mut contestants = [
        Contestant::new("dtw (cost + path)", || classic(ctx, &x, &y)),
        Contestant::new("soft-dtw forward + backward", || {
            let cost = local_cost(ctx, &x, &y, LocalCost::SquaredEuclidean, &band)?;
            squared_euclidean_gradient(&x, &y, &soft_dtw(ctx, &cost, GAMMA)?.expected_path)
        }),
    ];
    Ok(against_first(&take_turns(ctx, &format!("n=m={N} d={dim}"), 1, &mut contestants)?))
}

fn dilate_step(ctx: &JobContext) -> Result<Vec<Measurement>> {
    const ROWS: usize = 256;
    const COLUMNS: usize = 282;
    const DIM: usize = 128;
    let (score, performance) = pair(ROWS, COLUMNS, DIM, 1.0);
    let (x, y) = (score.signal()?, performance.signal()?);
    let band = Band::full(ROWS, COLUMNS)?;
    let penalty = temporal_penalty(&band, &score.times, &performance.times, &truth(&score))?;
    let params = DilateParams { gamma: GAMMA, ..DilateParams::default() };
    let mut contestants = [
        Contestant::new("dtw (cost + path)", || classic(ctx, &x, &y)),
        Contestant::new("dilate step", || {
            let cost = local_cost(ctx, &x, &y, LocalCost::SquaredEuclidean, &band)?;
            squared_euclidean_gradient(&x, &y, &dilate(ctx, &cost, &penalty, &params)?.gradient)
        }),
    ];
    Ok(against_first(&take_turns(ctx, &format!("{ROWS}x{COLUMNS} d={DIM}"), 1, &mut contestants)?))
}

/// The known alignment of a generated score.
fn truth(score: &OwnedSignal) -> Vec<(f64, f64)> {
    score.times.iter().map(|&t| (t, warp(t, 1.0))).collect()
}

/// All but the first result, with their ratios to it.
fn against_first(results: &[Measurement]) -> Vec<Measurement> {
    results.iter().skip(1).map(|result| result.clone().against(&results[0])).collect()
}
