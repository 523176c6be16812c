//! Three convolutions over time, the same for every pitch: from levels to the odds that a note begins.

use std::ops::Range;

use super::levels::CHANNELS;
use crate::base::matrix::{MatrixRef, multiply};
use crate::base::number::Real;

/// One convolution: `outputs` values per frame from `taps` frames of `inputs` values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Convolution {
    pub name: &'static str,
    pub taps: usize,
    pub inputs: usize,
    pub outputs: usize,
}

const HIDDEN: usize = 32;
pub(super) const LAYERS: [Convolution; 3] = [
    Convolution { name: "conv1", taps: 7, inputs: CHANNELS, outputs: HIDDEN },
    Convolution { name: "conv2", taps: 5, inputs: HIDDEN, outputs: HIDDEN },
    Convolution { name: "conv3", taps: 3, inputs: HIDDEN, outputs: 1 },
];

/// Frames before and after a moment that its odds depend on.
pub const CONTEXT: usize = (LAYERS[0].taps + LAYERS[1].taps + LAYERS[2].taps - LAYERS.len()) / 2;

impl Convolution {
    /// Values that one frame of the result is made of.
    pub fn width(self) -> usize {
        self.taps * self.inputs
    }

    /// Weights (a row per input of each tap, a column per output), then biases.
    pub fn parameter_count(self) -> usize {
        (self.width() + 1) * self.outputs
    }

    /// Where the parameters of a layer lie among all.
    pub fn range(layer: usize) -> Range<usize> {
        let start = LAYERS[..layer].iter().map(|l| l.parameter_count()).sum();
        start..start + LAYERS[layer].parameter_count()
    }
}

/// Number of weights and biases.
pub(crate) fn parameter_count() -> usize {
    LAYERS.iter().map(|layer| layer.parameter_count()).sum()
}

/// Name and dimensions of each array of weights, in the order of the flat parameters.
pub(in crate::networks) fn layout() -> Vec<(String, Vec<usize>)> {
    let of_layer = |layer: Convolution| {
        let dims = vec![layer.taps, layer.inputs, layer.outputs];
        [(format!("{}.weight", layer.name), dims), (format!("{}.bias", layer.name), vec![layer.outputs])]
    };
    LAYERS.into_iter().flat_map(of_layer).collect()
}

/// What every layer put out, for the way back. The last one's are the logits.
pub(super) type Activations<F> = [Vec<F>; LAYERS.len()];

/// The weights and the biases of a layer.
fn weights<F>(parameters: &[F], layer: usize) -> (&[F], &[F]) {
    let shape = LAYERS[layer];
    parameters[Convolution::range(layer)].split_at(shape.width() * shape.outputs)
}

/// The activations of a sequence. There are `frames - 2 * CONTEXT` logits: the first is that of frame [`CONTEXT`].
pub(super) fn forward<F: Real>(parameters: &[F], inputs: &[F]) -> Activations<F> {
    let mut activations = Activations::default();
    for (layer, shape) in LAYERS.into_iter().enumerate() {
        let (before, rest) = activations.split_at_mut(layer);
        let input = before.last().map_or(inputs, |values| values.as_slice());
        let frames = (input.len() / shape.inputs + 1).saturating_sub(shape.taps);
        let (weights, biases) = weights(parameters, layer);
        let output = &mut rest[0];
        output.reserve(frames * shape.outputs);
        (0..frames).for_each(|_| output.extend_from_slice(biases));
        // Rows that overlap are the taps: row i starts at frame i and spans all of them.
        let taps = MatrixRef::new(input, frames, shape.width(), shape.inputs);
        let weights = MatrixRef::new(weights, shape.width(), shape.outputs, shape.outputs);
        multiply(F::ONE, taps, weights, F::ONE, output, shape.outputs);
        if layer + 1 < LAYERS.len() {
            output.iter_mut().for_each(|value| *value = if *value > F::ZERO { *value } else { F::ZERO });
        }
    }
    activations
}

/// Adds to `gradient` that of the loss in the parameters, given that in the logits. `activations` are those of the
/// same inputs.
pub(super) fn backward<F: Real>(
    parameters: &[F],
    inputs: &[F],
    activations: &Activations<F>,
    logit_gradient: &[F],
    gradient: &mut [F],
) {
    let mut above = logit_gradient.to_vec();
    for (layer, shape) in LAYERS.into_iter().enumerate().rev() {
        let input = layer.checked_sub(1).map_or(inputs, |below| &activations[below]);
        let frames = above.len() / shape.outputs;
        let own = &mut gradient[Convolution::range(layer)];
        let (weight_gradient, bias_gradient) = own.split_at_mut(shape.width() * shape.outputs);
        for row in above.chunks_exact(shape.outputs) {
            bias_gradient.iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
        }
        let taps = MatrixRef::new(input, frames, shape.width(), shape.inputs).transposed();
        let flow = MatrixRef::new(&above, frames, shape.outputs, shape.outputs);
        multiply(F::ONE, taps, flow, F::ONE, weight_gradient, shape.outputs);
        if layer == 0 {
            break;
        }
        above = below(parameters, layer, flow, frames, input);
    }
}

/// The gradient in a layer's inputs, which are zero where the layer below was cut off.
fn below<F: Real>(parameters: &[F], layer: usize, flow: MatrixRef<'_, F>, frames: usize, input: &[F]) -> Vec<F> {
    let shape = LAYERS[layer];
    let (weights, _) = weights(parameters, layer);
    let weights = MatrixRef::new(weights, shape.width(), shape.outputs, shape.outputs).transposed();
    let mut spread = vec![F::ZERO; frames * shape.width()];
    multiply(F::ONE, flow, weights, F::ZERO, &mut spread, shape.width());
    let mut below = vec![F::ZERO; input.len()];
    for (frame, row) in spread.chunks_exact(shape.width()).enumerate() {
        let there = &mut below[frame * shape.inputs..frame * shape.inputs + shape.width()];
        there.iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
    }
    below.iter_mut().zip(input).for_each(|(value, &active)| {
        if active <= F::ZERO {
            *value = F::ZERO;
        }
    });
    below
}
