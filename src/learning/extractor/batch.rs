//! The loss of a batch of slices, as an operation on their learned features.

use candle_core::Tensor;

use super::super::loss_op::{Loss, loss_of_three};
use super::method::{EncodedSlice, ExtractorMethod, SliceLoss, slice_losses};
use super::slices::SliceTruth;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::networks::ops::Element;
use crate::warping::Signal;

/// What is known of slices of equal size.
#[derive(Debug, Clone)]
pub struct SliceBatch {
    /// Frame times of the score, from 0.
    pub score_s: Vec<f64>,
    /// Frame times of the recording, from 0.
    pub performance_s: Vec<f64>,
    /// The truth of each slice.
    pub truths: Vec<SliceTruth>,
}

/// The mean loss of a batch, from the learned features of both sides (slices x frames x values) and λ (one value).
/// Gradients flow to all three. The result does not depend on the number of threads.
pub fn extractor_loss(
    ctx: &JobContext,
    method: ExtractorMethod,
    batch: SliceBatch,
    score: &Tensor,
    performance: &Tensor,
    lambda: &Tensor,
) -> candle_core::Result<Tensor> {
    let dim = score.dim(2)?;
    loss_of_three([score, performance, lambda], BatchLoss { ctx: ctx.quiet(), method, batch, dim })
}

/// The inputs are the features of the score, those of the performance, and λ.
struct BatchLoss {
    ctx: JobContext,
    method: ExtractorMethod,
    batch: SliceBatch,
    dim: usize,
}

impl Loss for BatchLoss {
    fn value_and_gradient<F: Element>(&self, inputs: &[&[F]]) -> Result<(f64, Vec<Vec<F>>)> {
        let &[score, performance, lambda] = inputs else { unreachable!("the loss has three inputs") };
        let SliceBatch { score_s, performance_s, truths } = &self.batch;
        let (score_length, performance_length) = (score_s.len() * self.dim, performance_s.len() * self.dim);
        let lambda = Real::to_f64(lambda[0]);
        let slices = truths
            .iter()
            .zip(score.chunks_exact(score_length).zip(performance.chunks_exact(performance_length)))
            .map(|(truth, (score, performance))| {
                let score = Signal::new(score_s, score, self.dim)?;
                Ok(EncodedSlice { score, performance: Signal::new(performance_s, performance, self.dim)?, truth })
            })
            .collect::<Result<Vec<_>>>()?;
        let losses = slice_losses(&self.ctx, self.method, lambda, &slices)?;
        let share = 1.0 / truths.len().max(1) as f64;
        let weight = <F as Real>::from_f64(share);
        let weighted = |pick: fn(&SliceLoss<F>) -> &Vec<F>| losses.iter().flat_map(pick).map(|&g| g * weight).collect();
        let by_lambda = losses.iter().map(|loss| loss.lambda).sum::<f64>() * share;
        let value = losses.iter().map(|loss| loss.value).sum::<f64>() * share;
        let gradients = vec![
            weighted(|loss| &loss.score),
            weighted(|loss| &loss.performance),
            vec![<F as Real>::from_f64(by_lambda)],
        ];
        Ok((value, gradients))
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
