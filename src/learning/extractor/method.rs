//! The ways to train an extractor: each turns the learned features of a slice into a loss and its gradient.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::losses::{WarpLoss, warp_loss};
use super::regret::regret;
use super::slices::SliceTruth;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::warping::Signal;
use crate::warping::gdtw::{
    EdgeGradient, NodeGradient, Problem, Solution, SolveOptions, smoothed_gradient, solve_many,
};
use crate::warping::soft_dtw::{DilateParams, Pair, PairLoss, dilate_of_pairs, soft_dtw_of_pairs};

/// A warp whose mean error is above this is lost: it follows other notes.
const LOST_S: f64 = 0.2;

/// How an extractor is trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtractorMethod {
    /// The error of the optimal warp, differentiated through its optimality.
    DecDtw {
        /// The error.
        loss: WarpLoss,
        /// How many frames of the recording wide the kinks are rounded for the gradient; 0 for the exact gradient, by which
        /// long trainings drift away. See [`smoothed_gradient`].
        rounding: f64,
        /// Weight of the regret by which lost slices learn, those further off than [`LOST_S`]: by how much the objective prefers
        /// the warp found to the true one. 0 lets them learn by their error like the others.
        regret: f64,
    },
    /// The soft-DTW discrepancy.
    SoftDtw {
        /// Softness.
        gamma: f64,
    },
    /// The squared distance of the features along the true path.
    AlongTruth,
    /// How far the expected soft-DTW path strays from the true one.
    Dilate {
        /// Weight of the shape term.
        alpha: f64,
        /// Softness.
        gamma: f64,
    },
}

impl ExtractorMethod {
    /// All with their published parameters, in the order of the published tables.
    pub const ALL: [Self; 4] = [
        Self::SoftDtw { gamma: 1.0 },
        Self::AlongTruth,
        Self::Dilate { alpha: 0.0, gamma: 0.1 },
        Self::decdtw(WarpLoss::TimeErr),
    ];

    /// [`DecDtw`](Self::DecDtw) as it trains best.
    pub const fn decdtw(loss: WarpLoss) -> Self {
        Self::DecDtw { loss, rounding: 1.0, regret: 0.1 }
    }

    /// The name, as the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::DecDtw { loss: WarpLoss::TimeErr, .. } => "decdtw",
            Self::DecDtw { loss: WarpLoss::TimeDev, .. } => "decdtw-timedev",
            Self::SoftDtw { .. } => "softdtw",
            Self::AlongTruth => "along-gt",
            Self::Dilate { .. } => "dilate",
        }
    }

    /// The aligner that the method trains for.
    pub fn aligner(self) -> SliceAligner {
        match self {
            Self::DecDtw { .. } => SliceAligner::Gdtw,
            _ => SliceAligner::Dtw,
        }
    }
}

/// Which aligner a slice is tested with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SliceAligner {
    /// Classic, both ends pinned, as in the published comparison.
    Dtw,
    /// Continuous and regularised, both ends free.
    Gdtw,
}

/// The learned features of a slice, and the truth.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedSlice<'a, T> {
    /// Of the score.
    pub score: Signal<'a, T>,
    /// Of the recording.
    pub performance: Signal<'a, T>,
    /// Times from the first frames.
    pub truth: &'a SliceTruth,
}

/// A loss and what it asks of the features.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SliceLoss<T> {
    /// The loss.
    pub value: f64,
    /// Gradient with respect to the score's features.
    pub score: Vec<T>,
    /// Gradient with respect to the recording's features.
    pub performance: Vec<T>,
    /// Derivative with respect to λ; zero for methods without it.
    pub lambda: f64,
}

/// The losses of some slices, on all threads or on the device of the context. They do not depend on the number of threads.
pub(super) fn slice_losses<T: Real>(
    ctx: &JobContext,
    method: ExtractorMethod,
    lambda: f64,
    slices: &[EncodedSlice<'_, T>],
) -> Result<Vec<SliceLoss<T>>> {
    let pairs = || slices.iter().map(|slice| (slice.score, slice.performance)).collect::<Vec<Pair<'_, T>>>();
    match method {
        ExtractorMethod::DecDtw { loss, rounding, regret } => {
            let problems: Vec<Problem<'_, T>> =
                slices.iter().map(|slice| Problem::from_signals(slice.score, slice.performance, lambda)).collect();
            let solutions = solve_many(ctx, &problems, &SolveOptions::default())?;
            let weights = DecDtwWeights { rounding, regret };
            let parts = slices.par_iter().zip(problems.par_iter().zip(&solutions));
            parts.map(|(slice, solved)| decdtw(loss, &weights, lambda, slice, solved)).collect()
        }
        ExtractorMethod::SoftDtw { gamma } => Ok(through_pairs(soft_dtw_of_pairs(ctx, &pairs(), gamma)?)),
        ExtractorMethod::AlongTruth => Ok(slices.par_iter().map(along_truth).collect()),
        ExtractorMethod::Dilate { alpha, gamma } => {
            let truth = |slice: &EncodedSlice<'_, T>| {
                slice.truth.score_s.iter().copied().zip(slice.truth.performance_s.iter().copied()).collect()
            };
            let truths: Vec<Vec<(f64, f64)>> = slices.iter().map(truth).collect();
            Ok(through_pairs(dilate_of_pairs(ctx, &pairs(), &truths, &DilateParams { alpha, gamma })?))
        }
    }
}

fn through_pairs<T>(losses: Vec<PairLoss<T>>) -> Vec<SliceLoss<T>> {
    let loss = |PairLoss { value, gradient }| SliceLoss {
        value,
        score: gradient.score,
        performance: gradient.performance,
        lambda: 0.0,
    };
    losses.into_iter().map(loss).collect()
}

/// How the gradient of a warp's error is made to lead somewhere.
struct DecDtwWeights {
    rounding: f64,
    regret: f64,
}

fn decdtw<T: Real>(
    loss: WarpLoss,
    weights: &DecDtwWeights,
    lambda: f64,
    slice: &EncodedSlice<'_, T>,
    (problem, solution): (&Problem<'_, T>, &Solution),
) -> Result<SliceLoss<T>> {
    let loss = warp_loss(loss, &problem.knots, &solution.phi, slice.truth);
    if weights.regret > 0.0 && loss.value > LOST_S {
        let regret = regret(slice.score, slice.performance, lambda, slice.truth, &solution.phi);
        let weighted = |values: Vec<T>| {
            let weight = |value: T| T::from_f64(weights.regret * value.to_f64());
            values.into_iter().map(weight).collect()
        };
        return Ok(SliceLoss {
            value: loss.value,
            score: weighted(regret.score),
            performance: weighted(regret.performance),
            lambda: weights.regret * regret.lambda,
        });
    }
    let times = slice.performance.times();
    let frame_s = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    let gradient = smoothed_gradient(problem, solution, &loss.gradient, weights.rounding * frame_s)?;
    let NodeGradient::Features { x, y } = gradient.nodes else { unreachable!("the problem was made from features") };
    let EdgeGradient::Slope { lambda, .. } = gradient.edges else {
        unreachable!("the problem was made with a slope cost")
    };
    Ok(SliceLoss { value: loss.value, score: x, performance: y, lambda: lambda.iter().sum() })
}

/// Mean over the truth's rows of the squared distance between the first frames at or after the row's two times.
fn along_truth<T: Real>(slice: &EncodedSlice<'_, T>) -> SliceLoss<T> {
    let (score, performance) = (&slice.score, &slice.performance);
    let dim = score.dim();
    let mut by_score = vec![0.0; score.values().len()];
    let mut by_performance = vec![0.0; performance.values().len()];
    let share = 1.0 / slice.truth.score_s.len() as f64;
    let mut value = 0.0;
    for (&score_s, &performance_s) in slice.truth.score_s.iter().zip(&slice.truth.performance_s) {
        // A row in the last frame's interval has no frame after it: the last frame is the nearest.
        let row = score.times().partition_point(|&t| t < score_s).min(score.frames() - 1);
        let column = performance.times().partition_point(|&t| t < performance_s).min(performance.frames() - 1);
        for c in 0..dim {
            let difference = score.frame(row)[c].to_f64() - performance.frame(column)[c].to_f64();
            value += share * difference * difference;
            by_score[row * dim + c] += 2.0 * share * difference;
            by_performance[column * dim + c] -= 2.0 * share * difference;
        }
    }
    let rounded = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect();
    SliceLoss { value, score: rounded(by_score), performance: rounded(by_performance), lambda: 0.0 }
}

#[cfg(test)]
#[path = "method_tests.rs"]
mod tests;
