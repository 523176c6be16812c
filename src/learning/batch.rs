//! One batch through the whole chain: both networks, the loss of every slice, and all the way back.

use rayon::prelude::*;

use super::method::{EncodedSlice, Method, slice_loss};
use super::slices::SliceTruth;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::networks::gru::{self, Batch, GruRef, InputGradient};
use crate::warping::Signal;
use crate::warping::gdtw::Workspace;

/// Both networks.
#[derive(Debug, Clone, Copy)]
pub struct Networks<'a, T> {
    /// For the score.
    pub score: GruRef<'a, T>,
    /// For the recording.
    pub performance: GruRef<'a, T>,
}

/// Slices of equal size, with their rescaled base features.
#[derive(Debug, Clone, Copy)]
pub struct SliceBatch<'a, T> {
    /// Frame times of the score, from 0.
    pub score_s: &'a [f64],
    /// Frame times of the recording, from 0.
    pub performance_s: &'a [f64],
    /// Values per frame.
    pub dim: usize,
    /// Score features, slice after slice.
    pub score: &'a [T],
    /// Recording features, slice after slice.
    pub performance: &'a [T],
    /// The truth of each slice.
    pub truths: &'a [SliceTruth],
}

/// The mean loss of a batch and its gradient.
#[derive(Debug)]
pub struct BatchLoss<T> {
    /// Mean over the slices.
    pub value: f64,
    /// With respect to the parameters of the score's network.
    pub score: Vec<T>,
    /// With respect to the parameters of the recording's network.
    pub performance: Vec<T>,
    /// With respect to λ.
    pub lambda: f64,
    /// With respect to the base features of both sides, if asked for.
    pub inputs: Option<(Vec<T>, Vec<T>)>,
}

/// Runs a batch. The result does not depend on the number of threads.
pub fn batch_loss<T: Real>(
    ctx: &JobContext,
    method: Method,
    lambda: f64,
    networks: Networks<'_, T>,
    batch: &SliceBatch<'_, T>,
    inputs: InputGradient,
) -> Result<BatchLoss<T>> {
    let sequences = batch.truths.len();
    let score_input = Batch { values: batch.score, sequences, frames: batch.score_s.len(), dim: batch.dim };
    let performance_input =
        Batch { values: batch.performance, sequences, frames: batch.performance_s.len(), dim: batch.dim };
    let (score, score_trace) = gru::encode_recording(ctx, networks.score, &score_input)?;
    let (performance, performance_trace) = gru::encode_recording(ctx, networks.performance, &performance_input)?;

    let (score_dim, performance_dim) = (networks.score.shape().output(), networks.performance.shape().output());
    let score_length = batch.score_s.len() * score_dim;
    let performance_length = batch.performance_s.len() * performance_dim;
    let losses = (0..sequences)
        .into_par_iter()
        .map_init(Workspace::default, |workspace, i| {
            let slice = EncodedSlice {
                score: Signal::new(batch.score_s, &score[i * score_length..(i + 1) * score_length], score_dim)?,
                performance: Signal::new(
                    batch.performance_s,
                    &performance[i * performance_length..(i + 1) * performance_length],
                    performance_dim,
                )?,
                truth: &batch.truths[i],
            };
            slice_loss(ctx, method, lambda, &slice, workspace)
        })
        .collect::<Result<Vec<_>>>()?;

    let share = 1.0 / sequences.max(1) as f64;
    let weight = T::from_f64(share);
    let mut by_score = Vec::with_capacity(score.len());
    let mut by_performance = Vec::with_capacity(performance.len());
    for loss in &losses {
        by_score.extend(loss.score.iter().map(|&g| g * weight));
        by_performance.extend(loss.performance.iter().map(|&g| g * weight));
    }
    let score_gradients = gru::backward(networks.score, &score_input, score_trace, &by_score, inputs)?;
    let performance_gradients =
        gru::backward(networks.performance, &performance_input, performance_trace, &by_performance, inputs)?;
    Ok(BatchLoss {
        value: losses.iter().map(|loss| loss.value).sum::<f64>() * share,
        score: score_gradients.parameters,
        performance: performance_gradients.parameters,
        lambda: losses.iter().map(|loss| loss.lambda).sum::<f64>() * share,
        inputs: score_gradients.input.zip(performance_gradients.input),
    })
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
