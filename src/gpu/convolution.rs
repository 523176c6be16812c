//! Convolutions over time, with rectifiers between them.
//!
//! The frames of all sequences lie one after the other and are treated as one sequence. A convolution is then a single
//! product of matrices whose rows overlap: row `i` starts at frame `i` and spans all taps. Every layer keeps as many
//! frames as there are in the input; the last ones of each sequence, made of taps from two sequences, are set to zero,
//! and so are their gradients.

use bytemuck::{Pod, Zeroable};

use super::MOST_VALUES;
use super::card::{Array, Card, Commands, Kernel};
use super::matmul::{Matrices, Product, multiply};
use super::parts::{Load, Parts, groups, share};
use crate::base::accelerator::{ConvolutionPass, ConvolutionShape, DevicePassed, DeviceTrace, Failure, Outcome};

const SOURCE: &str = include_str!("convolution.wgsl");
const RECTIFY: Kernel = Kernel { source: SOURCE, entry: "rectify" };
const FINISH: Kernel = Kernel { source: SOURCE, entry: "finish" };
const SPREAD: Kernel = Kernel { source: SOURCE, entry: "spread" };
const MASK: Kernel = Kernel { source: SOURCE, entry: "mask" };

/// What a forward pass leaves on the card: one for each piece of the batch.
struct ConvolutionTrace(Vec<Recorded>);

struct Recorded {
    sequences: usize,
    /// The input of every layer.
    inputs: Vec<Array>,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Settings {
    rows: u32,
    frames: u32,
    valid: u32,
    width: u32,
    start: u32,
}

/// The output of the last layer, and what [`convolutions_backward`] needs if the network learns.
pub(super) fn convolutions(card: &Card, pass: &ConvolutionPass<'_>, learns: bool) -> Outcome<DevicePassed> {
    convolutions_within(card, pass, learns, MOST_VALUES)
}

/// Like [`convolutions`], with a limit on the values that are on the card for one piece of the batch.
pub(super) fn convolutions_within(
    card: &Card,
    pass: &ConvolutionPass<'_>,
    learns: bool,
    budget: usize,
) -> Outcome<DevicePassed> {
    let stack = Stack::of(pass)?;
    let (mut output, mut trace) = (Vec::with_capacity(stack.output(pass.sequences)), Vec::new());
    if !pass.values.is_empty() && stack.output(1) > 0 {
        let parameters = card.upload(pass.parameters);
        for sequences in stack.load(pass, learns).pieces(card, budget)? {
            let values = card.upload(share(pass.values, &sequences, stack.frames * stack.inputs()));
            let result = card.array(stack.output(sequences.len()));
            let mut commands = card.commands();
            let inputs = stack.forward(card, &mut commands, sequences.len(), &parameters, values, &result);
            output.extend(commands.read(&[&result])?.into_iter().flatten().map(f32::from_bits));
            if learns {
                trace.push(Recorded { sequences: sequences.len(), inputs });
            }
        }
    }
    Ok((output, learns.then(|| Box::new(ConvolutionTrace(trace)) as DeviceTrace)))
}

/// The gradient with respect to the parameters, given that of the output.
pub(super) fn convolutions_backward(
    card: &Card,
    pass: &ConvolutionPass<'_>,
    trace: DeviceTrace,
    gradient: &[f32],
) -> Outcome<Vec<f32>> {
    let stack = Stack::of(pass)?;
    let ConvolutionTrace(trace) =
        *trace.downcast().map_err(|_| Failure::new("the trace is not that of convolutions"))?;
    stack.check(pass, &trace, gradient)?;
    let upper = stack.layers.iter().skip(1);
    let weights: Vec<Array> = upper.map(|layer| card.upload(&layer.flipped(pass.parameters))).collect();
    let sums = card.array(pass.parameters.len());
    let mut sum = vec![0.0; pass.parameters.len()];
    let mut rest = gradient;
    for piece in trace {
        let (own, others) = rest.split_at(stack.output(piece.sequences));
        rest = others;
        let mut commands = card.commands();
        let parts = Parts::new(card, piece.sequences, stack.frames, pass.parameters.len());
        stack.backward(card, &mut commands, &piece, &weights, &card.upload(own), &parts);
        parts.add_to(&mut commands, &sums);
        sum = commands.read(&[&sums])?.into_iter().flatten().map(f32::from_bits).collect();
    }
    Ok(sum)
}

/// One convolution of a stack.
#[derive(Clone, Copy)]
struct Layer {
    shape: ConvolutionShape,
    /// Where its parameters begin.
    start: usize,
    /// Frames that each sequence has after it.
    valid: usize,
}

impl Layer {
    /// Values that one frame of the result is made of.
    fn width(self) -> usize {
        self.shape.taps * self.shape.inputs
    }

    /// Where its biases begin.
    fn biases(self) -> usize {
        self.start + self.width() * self.shape.outputs
    }

    /// Frames that a result needs besides its own. The gradients have as many frames of zeros before the first.
    fn lead(self) -> usize {
        self.shape.taps - 1
    }

    /// The weights for the way back, with the taps in reverse order: a row per output of each tap, a column per input.
    fn flipped(self, parameters: &[f32]) -> Vec<f32> {
        let ConvolutionShape { taps, inputs, outputs } = self.shape;
        let mut flipped = Vec::with_capacity(taps * inputs * outputs);
        for tap in (0..taps).rev() {
            let weights = &parameters[self.start + tap * inputs * outputs..];
            for output in 0..outputs {
                flipped.extend((0..inputs).map(|input| weights[input * outputs + output]));
            }
        }
        flipped
    }
}

/// The layers, and the frames of each sequence.
struct Stack {
    layers: Vec<Layer>,
    frames: usize,
}

impl Stack {
    fn of(pass: &ConvolutionPass<'_>) -> Outcome<Self> {
        let mut layers: Vec<Layer> = Vec::with_capacity(pass.layers.len());
        let (mut start, mut valid) = (0, pass.frames);
        for &shape in pass.layers {
            valid = (valid + 1).saturating_sub(shape.taps);
            let fits = layers.last().is_none_or(|below| below.shape.outputs == shape.inputs);
            if !fits || [shape.taps, shape.inputs, shape.outputs].contains(&0) {
                return Err(Failure::unsuited("the convolutions do not fit each other"));
            }
            let layer = Layer { shape, start, valid };
            start = layer.biases() + shape.outputs;
            layers.push(layer);
        }
        let stack = Self { layers, frames: pass.frames };
        let values = pass.sequences.checked_mul(pass.frames).and_then(|rows| rows.checked_mul(stack.inputs()));
        if values != Some(pass.values.len()) || pass.parameters.len() != start {
            return Err(Failure::unsuited("the number of values or parameters does not fit the convolutions"));
        }
        Ok(stack)
    }

    /// Values per frame of the input.
    fn inputs(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.shape.inputs)
    }

    /// Output values of some sequences.
    fn output(&self, sequences: usize) -> usize {
        self.layers.last().map_or(0, |layer| sequences * layer.valid * layer.shape.outputs)
    }

    fn load(&self, pass: &ConvolutionPass<'_>, learns: bool) -> Load {
        let outputs = || self.layers.iter().map(|layer| layer.shape.outputs);
        // One more, since gradients have some frames of zeros before the first.
        let widest = outputs().max().unwrap_or(0).max(self.inputs()) + 1;
        // What leaves the last layer is there twice: with the ends of the sequences and without.
        let once = outputs().sum::<usize>() + outputs().next_back().unwrap_or(0);
        let width = self.inputs() + if learns { 2 * once } else { once };
        let parameters = if learns { pass.parameters.len() } else { 0 };
        Load { sequences: pass.sequences, frames: self.frames, widest, width, parameters }
    }

    fn settings(&self, sequences: usize, valid: usize, width: usize, start: usize) -> Settings {
        let [rows, frames, valid, width, start] =
            [sequences * self.frames, self.frames, valid, width, start].map(|value| value as u32);
        Settings { rows, frames, valid, width, start }
    }

    /// Runs all layers and returns the input of each.
    fn forward(
        &self,
        card: &Card,
        commands: &mut Commands<'_>,
        sequences: usize,
        parameters: &Array,
        values: Array,
        result: &Array,
    ) -> Vec<Array> {
        let rows = sequences * self.frames;
        let (mut inputs, mut input) = (Vec::with_capacity(self.layers.len()), values);
        for (index, layer) in self.layers.iter().enumerate() {
            let ConvolutionShape { inputs: row, outputs, .. } = layer.shape;
            let output = card.array(rows * outputs);
            let (columns, inner) = (outputs, layer.width());
            let product = Product { count: 1, rows: rows - layer.lead(), columns, inner, scale: 1.0, adds: false };
            let taps = Matrices { array: &input, start: 0, batch: 0, row, column: 1 };
            let weights = Matrices { array: parameters, start: layer.start, batch: 0, row: outputs, column: 1 };
            let out = Matrices { array: &output, start: 0, batch: 0, row: outputs, column: 1 };
            multiply(commands, product, taps, weights, out);
            let (settings, groups) =
                (self.settings(sequences, layer.valid, outputs, layer.biases()), groups(rows * outputs, 256));
            if index + 1 < self.layers.len() {
                commands.run(RECTIFY, groups, &settings, &[parameters, &output]);
            } else {
                commands.run(FINISH, groups, &settings, &[parameters, &output, result]);
            }
            inputs.push(std::mem::replace(&mut input, output));
        }
        inputs
    }

    /// Adds the gradients of all layers to `parts`, the last layer first. `weights` are those of all layers but the
    /// first, flipped.
    fn backward(
        &self,
        card: &Card,
        commands: &mut Commands<'_>,
        piece: &Recorded,
        weights: &[Array],
        gradient: &Array,
        parts: &Parts,
    ) {
        let (sequences, rows) = (piece.sequences, piece.sequences * self.frames);
        let mut flow = self.spread(card, commands, sequences, gradient);
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let ConvolutionShape { inputs, outputs, .. } = layer.shape;
            let taps = Matrices { array: &piece.inputs[index], start: 0, batch: 0, row: inputs, column: 1 };
            let before = Matrices { array: &flow, start: 0, batch: 0, row: outputs, column: 1 };
            let flows = Matrices { start: layer.lead() * outputs, ..before };
            parts.add_products(commands, (layer.width(), outputs), taps, flows, layer.start, layer.lead());
            parts.add_rows(commands, outputs, flows, layer.biases());
            let Some(below) = index.checked_sub(1) else { break };
            // A frame of the input is in the results of this frame and of those before: rows that overlap again.
            let start = self.layers[below].lead() * inputs;
            let next = card.array(start + rows * inputs);
            let (columns, inner) = (inputs, layer.shape.taps * outputs);
            let product = Product { count: 1, rows, columns, inner, scale: 1.0, adds: false };
            let flipped = Matrices { array: &weights[below], start: 0, batch: 0, row: inputs, column: 1 };
            let out = Matrices { array: &next, start, batch: 0, row: inputs, column: 1 };
            multiply(commands, product, before, flipped, out);
            let settings = self.settings(sequences, self.layers[below].valid, inputs, start);
            commands.run(MASK, groups(rows * inputs, 256), &settings, &[&piece.inputs[index], &next]);
            flow = next;
        }
    }

    /// The gradient of the output with a place for every frame.
    fn spread(&self, card: &Card, commands: &mut Commands<'_>, sequences: usize, gradient: &Array) -> Array {
        let Some(last) = self.layers.last() else { return card.array(1) };
        let outputs = last.shape.outputs;
        let (start, values) = (last.lead() * outputs, sequences * self.frames * outputs);
        let flow = card.array(start + values);
        let settings = self.settings(sequences, last.valid, outputs, start);
        commands.run(SPREAD, groups(values, 256), &settings, &[gradient, &flow]);
        flow
    }

    /// Whether a trace and a gradient of the output belong to this pass.
    fn check(&self, pass: &ConvolutionPass<'_>, trace: &[Recorded], gradient: &[f32]) -> Outcome<()> {
        let sequences: usize = trace.iter().map(|piece| piece.sequences).sum();
        let expected = if self.output(pass.sequences) == 0 { 0 } else { pass.sequences };
        let fits = trace.iter().all(|piece| {
            let rows = piece.sequences * self.frames;
            let lengths = self.layers.iter().map(|layer| rows * layer.shape.inputs);
            piece.inputs.iter().map(|array| array.len).eq(lengths)
        });
        if !fits || sequences != expected || gradient.len() != self.output(pass.sequences) {
            return Err(Failure::unsuited("the trace or the gradient does not fit the pass of the convolutions"));
        }
        Ok(())
    }
}
