//! The one bridge between Candle's autograd and the alignment engine: the optimal warp as a node of the graph.

use std::sync::Mutex;

use candle_core::{CpuStorage, CustomOp3, DType, Layout, Shape, Tensor, WithDType, bail};
use rayon::prelude::*;

use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::warping::Signal;
use crate::warping::gdtw::{
    EdgeGradient, NodeGradient, Problem, Solution, SolveOptions, smoothed_gradient, solve_batch,
};

/// The optimal warps (sequences x score frames, in seconds) of a batch of feature pairs.
///
/// `score` is sequences x score frames x values, `performance` sequences x performance frames x values, at the given
/// frame times; both ends of the performance are free. `limits` holds λ, or λ with the least and the greatest slope.
/// Gradients flow to all three. Everything must be on the CPU, in `f32` or `f64`.
pub fn decdtw_layer(
    score: &Tensor,
    performance: &Tensor,
    limits: &Tensor,
    times: FrameTimes<'_>,
    params: &LayerParams,
) -> candle_core::Result<Tensor> {
    let op = DecDtwOp {
        score_s: times.score_s.to_vec(),
        performance_s: times.performance_s.to_vec(),
        params: params.clone(),
        solutions: Mutex::new(Vec::new()),
    };
    score.contiguous()?.apply_op3(&performance.contiguous()?, &limits.contiguous()?, op)
}

/// The times of the frames of both sides, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct FrameTimes<'a> {
    /// Of the score.
    pub score_s: &'a [f64],
    /// Of the recording.
    pub performance_s: &'a [f64],
}

/// How the layer solves and learns.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerParams {
    /// Of the forward pass.
    pub solve: SolveOptions,
    /// Seconds over which kinks are rounded for the backward pass; see [`smoothed_gradient`].
    pub rounding_s: f64,
}

struct DecDtwOp {
    score_s: Vec<f64>,
    performance_s: Vec<f64>,
    params: LayerParams,
    /// Left by the forward pass for the backward pass.
    solutions: Mutex<Vec<Solution>>,
}

/// λ and the slope limits.
#[derive(Clone, Copy)]
struct Limits {
    lambda: f64,
    slopes: Option<(f64, f64)>,
}

impl Limits {
    fn read<T: Real>(values: &[T]) -> candle_core::Result<Self> {
        let value = |i: usize| -> f64 { values[i].to_f64() };
        match values.len() {
            1 => Ok(Self { lambda: value(0), slopes: None }),
            3 => Ok(Self { lambda: value(0), slopes: Some((value(1), value(2))) }),
            other => bail!("expected λ, or λ with the least and the greatest slope, but got {other} values"),
        }
    }
}

impl DecDtwOp {
    fn problems<'a, T: Real>(
        &'a self,
        score: &'a [T],
        performance: &'a [T],
        dim: usize,
        limits: Limits,
    ) -> Result<Vec<Problem<'a, T>>> {
        let (m, n) = (self.score_s.len(), self.performance_s.len());
        let pairs = score.chunks_exact(m * dim).zip(performance.chunks_exact(n * dim));
        pairs
            .map(|(x, y)| {
                let (x, y) = (Signal::new(&self.score_s, x, dim)?, Signal::new(&self.performance_s, y, dim)?);
                let problem = Problem::from_signals(x, y, limits.lambda);
                Ok(match limits.slopes {
                    Some((min, max)) => problem.with_slope_limits(min, max),
                    None => problem,
                })
            })
            .collect()
    }

    fn check(&self, score: &[usize], performance: &[usize]) -> candle_core::Result<usize> {
        match (score, performance) {
            (&[sequences, m, dim], &[others, n, other_dim])
                if sequences == others
                    && dim == other_dim
                    && dim > 0
                    && m == self.score_s.len()
                    && n == self.performance_s.len()
                    && m > 0
                    && n > 0 =>
            {
                Ok(dim)
            }
            _ => bail!("features of {score:?} and {performance:?} do not fit each other or their frame times"),
        }
    }

    fn forward<T: Real>(
        &self,
        score: &[T],
        performance: &[T],
        limits: &[T],
        dim: usize,
    ) -> candle_core::Result<Vec<T>> {
        let wrap = candle_core::Error::wrap;
        let problems = self.problems(score, performance, dim, Limits::read(limits)?).map_err(wrap)?;
        let solved: Result<Vec<Solution>> =
            solve_batch(&JobContext::new(), &problems, &self.params.solve).into_iter().collect();
        let solved = solved.map_err(wrap)?;
        let warps = solved.iter().flat_map(|s| &s.phi).map(|&t| <T as Real>::from_f64(t)).collect();
        if let Ok(mut kept) = self.solutions.lock() {
            *kept = solved;
        }
        Ok(warps)
    }

    fn backward<T: Real + WithDType>(
        &self,
        tensors: [&Tensor; 3],
        gradient_: &Tensor,
    ) -> candle_core::Result<[Tensor; 3]> {
        let [score, performance, limits] = tensors;
        let dim = self.check(score.dims(), performance.dims())?;
        let flat = |tensor: &Tensor| tensor.flatten_all()?.to_vec1::<T>();
        let (x, y, edge) = (flat(score)?, flat(performance)?, flat(limits)?);
        let by_warp: Vec<f64> = flat(gradient_)?.into_iter().map(Real::to_f64).collect();
        let problems = self.problems(&x, &y, dim, Limits::read(&edge)?).map_err(candle_core::Error::wrap)?;
        let Ok(solutions) = self.solutions.lock() else { bail!("the forward pass of the warp failed") };
        if solutions.len() != problems.len() {
            bail!("the forward pass of the warp left no solution");
        }
        let of_each = problems
            .par_iter()
            .zip(solutions.as_slice())
            .zip(by_warp.par_chunks_exact(self.score_s.len()))
            .map(|((problem, solution), by_warp)| smoothed_gradient(problem, solution, by_warp, self.params.rounding_s))
            .collect::<Result<Vec<_>>>()
            .map_err(candle_core::Error::wrap)?;
        let (mut by_score, mut by_performance) = (Vec::with_capacity(x.len()), Vec::with_capacity(y.len()));
        let mut by_limits = [0.0; 3];
        for found in of_each {
            let (NodeGradient::Features { x, y }, EdgeGradient::Slope { lambda, .. }) = (found.nodes, found.edges)
            else {
                bail!("the warp was not made from features")
            };
            by_score.extend(x);
            by_performance.extend(y);
            by_limits[0] += lambda.iter().sum::<f64>();
            by_limits[1] += found.slope_min.iter().sum::<f64>();
            by_limits[2] += found.slope_max.iter().sum::<f64>();
        }
        let by_limits: Vec<T> = by_limits[..edge.len()].iter().map(|&g| <T as Real>::from_f64(g)).collect();
        Ok([
            Tensor::from_vec(by_score, score.shape(), score.device())?,
            Tensor::from_vec(by_performance, performance.shape(), performance.device())?,
            Tensor::from_vec(by_limits, limits.shape(), limits.device())?,
        ])
    }
}

/// The values of a contiguous tensor.
fn values<'a, T: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> candle_core::Result<&'a [T]> {
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&storage.as_slice::<T>()?[start..end]),
        None => bail!("the features must be contiguous"),
    }
}

impl CustomOp3 for DecDtwOp {
    fn name(&self) -> &'static str {
        "decdtw"
    }

    fn cpu_fwd(
        &self,
        score: &CpuStorage,
        score_layout: &Layout,
        performance: &CpuStorage,
        performance_layout: &Layout,
        limits: &CpuStorage,
        limits_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let dim = self.check(score_layout.dims(), performance_layout.dims())?;
        let shape = Shape::from((score_layout.dims()[0], self.score_s.len()));
        let warps = match score {
            CpuStorage::F32(_) => CpuStorage::F32(self.forward(
                values(score, score_layout)?,
                values(performance, performance_layout)?,
                values(limits, limits_layout)?,
                dim,
            )?),
            CpuStorage::F64(_) => CpuStorage::F64(self.forward(
                values(score, score_layout)?,
                values(performance, performance_layout)?,
                values(limits, limits_layout)?,
                dim,
            )?),
            _ => bail!("warps are computed from f32 or f64 only"),
        };
        Ok((warps, shape))
    }

    fn bwd(
        &self,
        score: &Tensor,
        performance: &Tensor,
        limits: &Tensor,
        _warps: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let tensors = [score, performance, limits];
        let [by_score, by_performance, by_limits] = match score.dtype() {
            DType::F64 => self.backward::<f64>(tensors, gradient)?,
            _ => self.backward::<f32>(tensors, gradient)?,
        };
        Ok((Some(by_score), Some(by_performance), Some(by_limits)))
    }
}

#[cfg(test)]
#[path = "decdtw_layer_tests.rs"]
mod tests;
