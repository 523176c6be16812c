//! Work of the networks that devices are measured by.

use candle_core::{Device, Tensor};

use super::ear::{self, Ear, PITCHES, Scene};
use super::extractor::Gru;
use super::gru::GruShape;
use super::ops::failed;
use super::{EarSpec, ModelCard};
use crate::base::accelerator::{Work, WorkKind};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::features::EAR_ROW;

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

/// Hears so many frames of 88 pitches with an ear.
pub(crate) fn hearing(ctx: &JobContext, frames: usize) -> Result<Work> {
    let ear = Ear::untrained(ModelCard::new("ear", EarSpec::default()), 1, &Device::Cpu)?;
    let rows = (0..frames * EAR_ROW).map(|i| 3.0 + 3.0 * (0.37 * i as f32).sin()).collect();
    ear.answers(ctx, &[Scene { rows, asked: (0..PITCHES).collect() }])?;
    Ok(ear::work(&ear.card.spec, frames * PITCHES))
}
