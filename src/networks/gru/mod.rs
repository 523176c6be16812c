//! A bidirectional gated recurrent unit of one layer, as a whole-sequence operation with its own backward pass.
//!
//! The equations are PyTorch's, with the state `h` zero before the first frame of either direction:
//!
//! ```text
//! r = sigmoid(W_r x + b_r + U_r h + c_r)        z = sigmoid(W_z x + b_z + U_z h + c_z)
//! n = tanh(W_n x + b_n + r (U_n h + c_n))       h' = (1 - z) n + z h
//! ```
//!
//! Each frame's output is the states of both directions, divided by their common length unless they are wanted as they are.
//!
//! The input is projected for many frames at once by one matrix product; only the product with the state is done frame
//! by frame. Sequences of a batch run in parallel and are independent: results are the same for any number of threads
//! and any company in the batch.

mod backward;
mod fallback;
mod forward;
mod layout;
mod normalise;
mod op;
#[cfg(test)]
mod tests;

pub use backward::{InputGradient, backward};
pub(super) use forward::PackedGru;
pub use forward::{Trace, encode, encode_recording};
pub use layout::{Direction, GruShape};
pub(crate) use op::{encode_tensor, states_tensor};

use crate::base::error::{Error, Result};
use crate::base::number::Real;

/// Sequences of equal length.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a, F> {
    /// `sequences * frames * dim` values; the values of a frame lie together, then the frames of a sequence.
    pub values: &'a [F],
    /// Number of sequences.
    pub sequences: usize,
    /// Frames of each sequence.
    pub frames: usize,
    /// Values per frame.
    pub dim: usize,
}

/// What becomes of the states of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// They are divided by their length.
    Normalised,
    /// They are given as they are.
    States,
}

/// The shape of a network with its parameters, in the order of [`GruShape::tensors`].
#[derive(Debug, Clone, Copy)]
pub struct GruRef<'a, F> {
    shape: GruShape,
    parameters: &'a [F],
    output: Output,
}

impl<'a, F: Real> GruRef<'a, F> {
    /// Checks that the parameters are as many as the shape asks for.
    pub fn new(shape: GruShape, parameters: &'a [F]) -> Result<Self> {
        check_parameters(shape, parameters.len())?;
        Ok(Self { shape, parameters, output: Output::Normalised })
    }

    /// The same network with another output.
    pub(crate) fn with_output(self, output: Output) -> Self {
        Self { output, ..self }
    }

    /// The shape.
    pub fn shape(&self) -> GruShape {
        self.shape
    }

    fn weights(&self, direction: Direction) -> Weights<'a, F> {
        let [input, recurrent, input_bias, recurrent_bias] =
            self.shape.direction_ranges(direction).map(|range| &self.parameters[range]);
        Weights { shape: self.shape, direction, input, recurrent, input_bias, recurrent_bias }
    }
}

/// The parameters of one direction: `input` is 3 hidden x input, `recurrent` 3 hidden x hidden, gates in order r, z, n.
#[derive(Debug, Clone, Copy)]
struct Weights<'a, F> {
    shape: GruShape,
    direction: Direction,
    input: &'a [F],
    recurrent: &'a [F],
    input_bias: &'a [F],
    recurrent_bias: &'a [F],
}

/// Sequences that one task computes together. Fixed, so that sums over tasks do not depend on the number of threads.
const SEQUENCES_PER_TASK: usize = super::panels::ROWS;

fn check_parameters(shape: GruShape, given: usize) -> Result<()> {
    if given == shape.parameter_count() {
        return Ok(());
    }
    let allowed = format!("{}, as {} -> 2 x {} asks", shape.parameter_count(), shape.input, shape.hidden);
    Err(Error::invalid("number of network parameters", given, allowed))
}

fn check_batch<F>(shape: GruShape, batch: &Batch<'_, F>) -> Result<()> {
    check_values(shape, batch.values.len(), (batch.sequences, batch.frames, batch.dim))
}

/// Refuses values and parameters that do not fit the shape.
fn check_sizes(shape: GruShape, values: usize, dims: (usize, usize, usize), parameters: usize) -> Result<()> {
    check_parameters(shape, parameters)?;
    check_values(shape, values, dims)
}

fn check_values(shape: GruShape, values: usize, (sequences, frames, dim): (usize, usize, usize)) -> Result<()> {
    if dim != shape.input {
        let allowed = format!("{}, as the model was trained", shape.input);
        return Err(Error::invalid("values per feature frame", dim, allowed));
    }
    let expected = sequences.checked_mul(frames).and_then(|n| n.checked_mul(dim));
    if expected != Some(values) {
        return Err(Error::invalid("number of feature values", values, format!("{sequences} x {frames} x {dim}")));
    }
    Ok(())
}
