//! Soft-DTW and DILATE of many pairs of signals at once, from features to the gradient on features.

use std::borrow::Cow;

use rayon::prelude::*;

use super::dilate::{DilateParams, dilate, row_truths, temporal_penalty};
use super::features::{FeatureGradient, squared_euclidean_gradient};
use super::{check_gamma, soft_dtw};
use crate::base::accelerator::{PairGradient, SignalPair, TruePair, Work, WorkKind};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::warping::Signal;
use crate::warping::cost::{Band, Banded, LocalCost, local_cost};

/// Multiplications that the recursions take per cell, roughly.
const PER_CELL: usize = 32;

/// A score and a performance.
pub type Pair<'a, T> = (Signal<'a, T>, Signal<'a, T>);

/// A loss of a pair and its gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct PairLoss<T = f32> {
    /// The loss.
    pub value: f64,
    /// Its gradient.
    pub gradient: FeatureGradient<T>,
}

/// The soft-DTW discrepancy of each pair, with squared distances as local costs, on all threads or on the device of the context.
pub fn soft_dtw_of_pairs<T: Real>(ctx: &JobContext, pairs: &[Pair<'_, T>], gamma: f64) -> Result<Vec<PairLoss<T>>> {
    check_gamma(gamma)?;
    let on_device =
        singles(pairs).and_then(|pairs| finite(ctx.accelerate(work(&pairs), |device| device.soft_dtw(&pairs, gamma))?));
    if let Some(found) = on_device {
        return Ok(found);
    }
    let of_one = |pair: &Pair<'_, T>| {
        let soft = soft_dtw(ctx, &costs(ctx, pair)?, gamma)?;
        Ok(PairLoss { value: soft.value, gradient: squared_euclidean_gradient(&pair.0, &pair.1, &soft.expected_path)? })
    };
    pairs.par_iter().map(of_one).collect()
}

/// The DILATE loss of each pair against its known alignment, given as pairs (score time, performance time).
pub fn dilate_of_pairs<T: Real>(
    ctx: &JobContext,
    pairs: &[Pair<'_, T>],
    truths: &[Vec<(f64, f64)>],
    params: &DilateParams,
) -> Result<Vec<PairLoss<T>>> {
    params.validate()?;
    let on_device = singles(pairs).and_then(|signals| {
        let rows: Vec<Vec<Option<f32>>> = pairs
            .iter()
            .zip(truths)
            .map(|((score, _), truth)| {
                row_truths(score.times(), truth).into_iter().map(|time| time.map(|time| time as f32)).collect()
            })
            .collect();
        let times: Vec<Vec<f32>> =
            pairs.iter().map(|pair| pair.1.times().iter().map(|&t| t as f32).collect()).collect();
        let with_truth: Vec<TruePair<'_>> = signals
            .iter()
            .zip(rows.iter().zip(&times))
            .map(|(&signals, (truth, times))| TruePair { signals, truth, times })
            .collect();
        finite(ctx.accelerate(work(&signals), |device| device.dilate(&with_truth, params.alpha, params.gamma))?)
    });
    if let Some(found) = on_device {
        return Ok(found);
    }
    let of_one = |(pair, truth): (&Pair<'_, T>, &Vec<(f64, f64)>)| {
        let costs = costs(ctx, pair)?;
        let penalty = temporal_penalty(costs.band(), pair.0.times(), pair.1.times(), truth)?;
        let found = dilate(ctx, &costs, &penalty, params)?;
        Ok(PairLoss { value: found.loss, gradient: squared_euclidean_gradient(&pair.0, &pair.1, &found.gradient)? })
    };
    pairs.par_iter().zip(truths).map(of_one).collect()
}

fn costs<T: Real>(ctx: &JobContext, (score, performance): &Pair<'_, T>) -> Result<Banded<T>> {
    let band = Band::full(score.frames(), performance.frames())?;
    local_cost(ctx, score, performance, LocalCost::SquaredEuclidean, &band)
}

/// The pairs for a device: those in double precision stay on the CPU.
fn singles<'a, T: Real>(pairs: &[Pair<'a, T>]) -> Option<Vec<SignalPair<'a>>> {
    let single = |signal: &Signal<'a, T>| match T::as_f32(signal.values()) {
        Cow::Borrowed(values) => Some(values),
        Cow::Owned(_) => None,
    };
    let of_one = |pair: &Pair<'a, T>| Some(SignalPair { x: single(&pair.0)?, y: single(&pair.1)?, dim: pair.0.dim() });
    pairs.iter().map(of_one).collect()
}

/// The work of so many cells.
pub fn pair_work(cells: usize, dim: usize) -> Work {
    Work { kind: WorkKind::Wavefront, amount: (cells * (3 * dim + PER_CELL)) as f64 }
}

fn work(pairs: &[SignalPair<'_>]) -> Work {
    let of_one =
        |pair: &SignalPair<'_>| pair_work((pair.x.len() / pair.dim) * (pair.y.len() / pair.dim), pair.dim).amount;
    Work { kind: WorkKind::Wavefront, amount: pairs.iter().map(of_one).sum() }
}

/// What a device found, unless the features were out of its range: the CPU then says what is wrong with them.
fn finite<T: Real>(found: Vec<PairGradient>) -> Option<Vec<PairLoss<T>>> {
    let is_finite = |pair: &PairGradient| {
        pair.value.is_finite() && pair.x.iter().chain(&pair.y).fold(true, |all, value| all & value.is_finite())
    };
    found.iter().all(is_finite).then(|| found.into_iter().map(loss).collect())
}

fn loss<T: Real>(found: PairGradient) -> PairLoss<T> {
    let values = |values: Vec<f32>| values.into_iter().map(|value| T::from_f64(value.into())).collect();
    let gradient = FeatureGradient { score: values(found.x), performance: values(found.y) };
    PairLoss { value: found.value, gradient }
}
