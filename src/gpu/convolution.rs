//! A convolution over time: products of matrices whose rows overlap, one for each sequence. Row `i` starts at frame `i` and spans all
//! taps; frames of zeros before and after every sequence make as many results as there are frames.
//!
//! Biases, a term of every result, are added and summed up by the CPU, which has both at hand.

use super::MOST_VALUES;
use super::card::{Array, Card};
use super::matmul::{Matrices, Product, multiply};
use super::parts::{Load, Parts, share};
use crate::base::accelerator::{ConvolutionPass, DevicePassed, DeviceTrace, Failure, Outcome};

/// What a forward pass leaves on the card: one for each piece of the batch.
struct ConvolutionTrace(Vec<Recorded>);

struct Recorded {
    sequences: usize,
    /// The input with its zeros.
    values: Array,
}

/// The output, and what [`convolution_backward`] needs if the network learns.
pub(super) fn convolution(card: &Card, pass: &ConvolutionPass<'_>, learns: bool) -> Outcome<DevicePassed> {
    convolution_within(card, pass, learns, MOST_VALUES)
}

/// Like [`convolution`], with a limit on the values that are on the card for one piece of the batch.
pub(super) fn convolution_within(
    card: &Card,
    pass: &ConvolutionPass<'_>,
    learns: bool,
    budget: usize,
) -> Outcome<DevicePassed> {
    let shape = Shape::of(pass)?;
    let (mut output, mut trace) = (Vec::with_capacity(pass.sequences * pass.frames * shape.outputs), Vec::new());
    if !pass.values.is_empty() {
        let weights = card.upload(&shape.weights(pass.parameters));
        for sequences in shape.load(pass.sequences, learns).pieces(card, budget)? {
            let own = share(pass.values, &sequences, shape.frames * shape.inputs);
            let values = card.upload(&shape.padded(own, shape.inputs));
            output.extend(shape.run(card, sequences.len(), &values, &weights)?);
            if learns {
                trace.push(Recorded { sequences: sequences.len(), values });
            }
        }
        let biases = &pass.parameters[shape.weight_count()..];
        if pass.has_bias {
            let frames = output.chunks_exact_mut(shape.outputs);
            frames.for_each(|frame| frame.iter_mut().zip(biases).for_each(|(value, bias)| *value += bias));
        }
    }
    Ok((output, learns.then(|| Box::new(ConvolutionTrace(trace)) as DeviceTrace)))
}

/// The gradients with respect to the input, if that is wanted, and the parameters, given that of the output.
pub(super) fn convolution_backward(
    card: &Card,
    pass: &ConvolutionPass<'_>,
    trace: DeviceTrace,
    gradient: &[f32],
    for_input: bool,
) -> Outcome<(Option<Vec<f32>>, Vec<f32>)> {
    let shape = Shape::of(pass)?;
    let ConvolutionTrace(trace) =
        *trace.downcast().map_err(|_| Failure::new("the trace is not that of a convolution"))?;
    shape.check(pass, &trace, gradient)?;
    let back = shape.back();
    let weights = for_input.then(|| card.upload(&shape.flipped(pass.parameters)));
    let sums = card.array(shape.weight_count());
    let mut by_input = for_input.then(|| Vec::with_capacity(pass.values.len()));
    let mut sum = vec![0.0; shape.weight_count()];
    let mut rest = gradient;
    for piece in trace {
        let (own, others) = rest.split_at(piece.sequences * shape.frames * shape.outputs);
        rest = others;
        let flow = card.upload(&shape.padded(own, shape.outputs));
        let mut commands = card.commands();
        let parts = Parts::new(card, piece.sequences, shape.padded_frames(), shape.weight_count());
        let taps = Matrices { array: &piece.values, start: 0, batch: 0, row: shape.inputs, column: 1 };
        // The gradient of frame i stands where the input of frame i does, behind the zeros; those at the end of a sequence meet the
        // rows that span two of them.
        let start = shape.margin() * shape.outputs;
        let flows = Matrices { array: &flow, start, batch: 0, row: shape.outputs, column: 1 };
        parts.add_products(&mut commands, (shape.width(), shape.outputs), taps, flows, 0, shape.taps - 1);
        parts.add_to(&mut commands, &sums);
        sum = commands.read(&[&sums])?.into_iter().flatten().map(f32::from_bits).collect();
        if let (Some(by_input), Some(weights)) = (&mut by_input, &weights) {
            by_input.extend(back.run(card, piece.sequences, &flow, weights)?);
        }
    }
    let mut by_parameters = shape.unpacked(&sum);
    if pass.has_bias {
        let mut biases = vec![0.0_f64; shape.outputs];
        for frame in gradient.chunks_exact(shape.outputs) {
            biases.iter_mut().zip(frame).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        by_parameters.extend(biases.into_iter().map(|sum| sum as f32));
    }
    Ok((by_input, by_parameters))
}

#[derive(Clone, Copy)]
struct Shape {
    taps: usize,
    inputs: usize,
    outputs: usize,
    frames: usize,
}

impl Shape {
    fn of(pass: &ConvolutionPass<'_>) -> Outcome<Self> {
        let ConvolutionPass { taps, inputs, outputs, frames, sequences, .. } = *pass;
        let shape = Self { taps, inputs, outputs, frames };
        let values = sequences.checked_mul(frames).and_then(|rows| rows.checked_mul(inputs));
        let parameters = shape.weight_count() + if pass.has_bias { outputs } else { 0 };
        let is_sound = !taps.is_multiple_of(2) && inputs > 0 && outputs > 0;
        if !is_sound || values != Some(pass.values.len()) || pass.parameters.len() != parameters {
            return Err(Failure::unsuited("the number of values or parameters does not fit the convolution"));
        }
        Ok(shape)
    }

    /// The convolution that takes the gradient of the output to that of the input.
    fn back(self) -> Self {
        Self { inputs: self.outputs, outputs: self.inputs, ..self }
    }

    fn margin(self) -> usize {
        self.taps / 2
    }

    /// Frames of a sequence with the zeros before and after it.
    fn padded_frames(self) -> usize {
        self.frames + self.taps - 1
    }

    /// Values that one frame of the result is made of.
    fn width(self) -> usize {
        self.taps * self.inputs
    }

    fn weight_count(self) -> usize {
        self.width() * self.outputs
    }

    /// Where a weight is in the parameters.
    fn place(self, tap: usize, input: usize, output: usize) -> usize {
        (output * self.inputs + input) * self.taps + tap
    }

    /// Weights with a row per input of each tap and a column per output.
    fn weights(self, parameters: &[f32]) -> Vec<f32> {
        let rows = (0..self.taps).flat_map(|tap| (0..self.inputs).map(move |input| (tap, input)));
        rows.flat_map(|(tap, input)| (0..self.outputs).map(move |output| parameters[self.place(tap, input, output)]))
            .collect()
    }

    /// The weights for the way back, with the taps in reverse order: a row per output of each tap, a column per input.
    fn flipped(self, parameters: &[f32]) -> Vec<f32> {
        let rows = (0..self.taps).rev().flat_map(|tap| (0..self.outputs).map(move |output| (tap, output)));
        rows.flat_map(|(tap, output)| (0..self.inputs).map(move |input| parameters[self.place(tap, input, output)]))
            .collect()
    }

    /// The reverse of [`weights`](Self::weights).
    fn unpacked(self, weights: &[f32]) -> Vec<f32> {
        let mut parameters = vec![0.0; weights.len()];
        for (row, values) in weights.chunks_exact(self.outputs).enumerate() {
            for (output, &value) in values.iter().enumerate() {
                parameters[self.place(row / self.inputs, row % self.inputs, output)] = value;
            }
        }
        parameters
    }

    /// Sequences of so many values per frame with zeros before and after each.
    fn padded(self, values: &[f32], width: usize) -> Vec<f32> {
        let (before, length) = (self.margin() * width, self.frames * width);
        let mut padded = vec![0.0; values.len() / length.max(1) * self.padded_frames() * width];
        let places = padded.chunks_exact_mut(self.padded_frames() * width);
        for (place, values) in places.zip(values.chunks_exact(length.max(1))) {
            place[before..before + length].copy_from_slice(values);
        }
        padded
    }

    fn load(self, sequences: usize, learns: bool) -> Load {
        let widest = self.inputs.max(self.outputs);
        // Input, output, and for learning the gradients of both.
        let width = (self.inputs + self.outputs) * if learns { 2 } else { 1 };
        let parameters = if learns { self.weight_count() } else { 0 };
        Load { sequences, frames: self.padded_frames(), widest, width, parameters }
    }

    /// The products of padded sequences with weights.
    fn run(self, card: &Card, sequences: usize, values: &Array, weights: &Array) -> Outcome<Vec<f32>> {
        let result = card.array(sequences * self.frames * self.outputs);
        let mut commands = card.commands();
        let product = Product {
            count: sequences,
            rows: self.frames,
            columns: self.outputs,
            inner: self.width(),
            scale: 1.0,
            adds: false,
        };
        let batch = self.padded_frames() * self.inputs;
        let rows = Matrices { array: values, start: 0, batch, row: self.inputs, column: 1 };
        let weights = Matrices { array: weights, start: 0, batch: 0, row: self.outputs, column: 1 };
        let out =
            Matrices { array: &result, start: 0, batch: self.frames * self.outputs, row: self.outputs, column: 1 };
        multiply(&mut commands, product, rows, weights, out);
        Ok(commands.read(&[&result])?.into_iter().flatten().map(f32::from_bits).collect())
    }

    /// Whether a trace and a gradient of the output belong to this pass.
    fn check(self, pass: &ConvolutionPass<'_>, trace: &[Recorded], gradient: &[f32]) -> Outcome<()> {
        let sequences: usize = trace.iter().map(|piece| piece.sequences).sum();
        let expected = if pass.values.is_empty() { 0 } else { pass.sequences };
        let of_piece = |piece: &Recorded| piece.sequences * self.padded_frames() * self.inputs;
        let fits = trace.iter().all(|piece| piece.values.len == of_piece(piece));
        if !fits || sequences != expected || gradient.len() != pass.sequences * self.frames * self.outputs {
            return Err(Failure::unsuited("the trace or the gradient does not fit the pass of the convolution"));
        }
        Ok(())
    }
}
