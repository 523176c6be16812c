//! Work of the networks that devices are measured by.

use candle_core::{Device, Tensor};

use super::ear::{self, CHANNELS, Ear};
use super::extractor::Gru;
use super::gru::GruShape;
use super::ops::failed;
use super::{EarSpec, ModelCard};
use crate::base::accelerator::{Work, WorkKind};
use crate::base::error::Result;
use crate::base::job::JobContext;

/// Encodes sequences of so many frames with a network of the usual size.
pub(crate) fn recurrence(ctx: &JobContext, sequences: usize, frames: usize) -> Result<Work> {
    let shape = GruShape { input: 48, hidden: 64 };
    let values: Vec<f32> = (0..sequences * frames * shape.input).map(|i| (0.37 * i as f32).sin()).collect();
    let parameters = Gru::random_parameters(shape, 1);
    let amount = (sequences * frames * parameters.len()) as f64;
    let count = parameters.len();
    Tensor::from_vec(values, (sequences, frames, shape.input), &Device::Cpu)
        .and_then(|input| Gru::new(shape, Tensor::from_vec(parameters, count, &Device::Cpu)?).encode(ctx, &input))
        .map_err(|e| failed(ctx, &e))?;
    Ok(Work { kind: WorkKind::Recurrence, amount })
}

/// Hears sequences of so many frames with an ear.
pub(crate) fn convolutions(ctx: &JobContext, sequences: usize, frames: usize) -> Result<Work> {
    let ear = Ear::untrained(ModelCard::new("ear", EarSpec::default()), 1, &Device::Cpu)?;
    let inputs = (0..sequences * frames * CHANNELS).map(|i| (0.37 * i as f32).sin()).collect();
    ear.logits(ctx, sequences, inputs)?;
    Ok(ear::work(sequences * frames))
}
