//! A small learned ear: the odds that a note of a given pitch begins, from the semitone levels round the moment.
//!
//! Three convolutions over time with about 10,000 weights, the same for every pitch, see the pitch's partials, the octave
//! below, its neighbours and the attack as a whole, 70 ms to either side. On its own it is no better than the rises of the
//! spectrum; added to them it tells the played pitch from the octave and the resonance.

mod kernel;
mod levels;
mod op;

use std::path::Path;

use candle_core::{Device, Tensor};

use super::card::{EarSpec, ModelCard, Spec};
use super::model_file;
use super::ops::failed;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;

pub use kernel::CONTEXT;
pub(super) use kernel::layout;
pub(crate) use kernel::parameter_count;
pub use levels::{CHANNELS, Levels, NETWORK_HOP};
pub(crate) use op::{logits, work};

/// An ear with its weights on a device.
#[derive(Debug, Clone)]
pub struct Ear {
    /// How and on what it was trained.
    pub card: ModelCard<EarSpec>,
    parameters: Tensor,
}

impl Ear {
    /// An ear with these weights, in the order of the file.
    pub fn new(card: ModelCard<EarSpec>, parameters: Vec<f32>, device: &Device) -> Result<Self> {
        let (given, count) = (parameters.len(), kernel::parameter_count());
        if given != count {
            return Err(Error::invalid("number of weights", given, count.to_string()));
        }
        let parameters = Tensor::from_vec(parameters, count, device).map_err(|e| failed(&JobContext::new(), &e))?;
        Ok(Self { card, parameters })
    }

    /// An ear to be trained: weights drawn at random, as large as keeps the spread of values from layer to layer.
    pub fn untrained(card: ModelCard<EarSpec>, seed: u64, device: &Device) -> Result<Self> {
        let mut random = Random::at(seed, &[0]);
        let mut parameters = Vec::with_capacity(kernel::parameter_count());
        for layer in kernel::LAYERS {
            let limit = (6.0 / layer.width() as f64).sqrt();
            parameters.extend((0..layer.width() * layer.outputs).map(|_| random.between(-limit, limit) as f32));
            parameters.extend(std::iter::repeat_n(0.0, layer.outputs));
        }
        Self::new(card, parameters, device)
    }

    /// Where its weights are.
    pub fn device(&self) -> &Device {
        self.parameters.device()
    }

    /// All weights, in the order of the file.
    pub fn parameters(&self) -> Result<Vec<f32>> {
        self.parameters.to_vec1().map_err(|e| failed(&JobContext::new(), &e))
    }

    /// Writes it, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        model_file::write(path, &self.card.clone().with_spec(Spec::Ear(self.card.spec)), &self.parameters()?)
    }

    /// Logits of equally long sequences of inputs, [`CHANNELS`] values per frame: the first one of each is that of frame [`CONTEXT`].
    pub fn logits(&self, ctx: &JobContext, sequences: usize, inputs: Vec<f32>) -> Result<Vec<f32>> {
        let dims = (sequences, inputs.len() / (sequences * CHANNELS), CHANNELS);
        Tensor::from_vec(inputs, dims, self.parameters.device())
            .and_then(|inputs| logits(ctx, &inputs, &self.parameters)?.flatten_all()?.to_vec1())
            .map_err(|e| failed(ctx, &e))
    }

    /// The same if the device of the context gives them; `None` if the CPU would have to, on all its threads.
    pub fn logits_on_device(&self, ctx: &JobContext, sequences: usize, inputs: &[f32]) -> Option<Vec<f32>> {
        op::logits_on_device(ctx, sequences, inputs, &self.parameters().ok()?)
    }
}

#[cfg(test)]
mod tests;
