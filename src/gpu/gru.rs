//! A bidirectional GRU: all sequences at once, in either direction, with a workgroup for each.
//!
//! Products of matrices project the input of all frames; one kernel runs over the frames; another joins the directions
//! and divides every frame by its length. The way back is the same in reverse, with products of matrices again for the
//! sums over all frames.

use bytemuck::{Pod, Zeroable};

use super::MOST_VALUES;
use super::card::{Array, Card, Commands, Kernel, MOST_ITERATIONS, THREADS};
use super::matmul::{Matrices, Product, multiply};
use super::parts::{Load, Parts, groups, share};
use crate::base::accelerator::{DevicePassed, DeviceTrace, Failure, GruPass, Outcome};

const SOURCE: &str = include_str!("gru.wgsl");
const ADVANCE: Kernel = Kernel { source: SOURCE, entry: "advance" };
const RETREAT: Kernel = Kernel { source: SOURCE, entry: "retreat" };
const LENGTH: &str = include_str!("gru_length.wgsl");
const DIVIDE: Kernel = Kernel { source: LENGTH, entry: "divide" };
const DIVIDE_BACK: Kernel = Kernel { source: LENGTH, entry: "divide_back" };

/// The most units for which the workgroup memory suffices.
const MOST_HIDDEN: usize = 768;
/// Frames that a workgroup divides by their lengths at a time.
const FRAMES_PER_GROUP: usize = 8;

/// What a forward pass leaves on the card: one for each piece of the batch.
struct GruTrace(Vec<Recorded>);

struct Recorded {
    sequences: usize,
    /// The input.
    values: Array,
    /// Per frame and direction: U_n h + c_n, r, z, n.
    gates: Array,
    /// Per frame and direction, before the division.
    states: Array,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Settings {
    frames: u32,
    hidden: u32,
    quads: u32,
    splits: u32,
    share: u32,
    row: u32,
    biases: u32,
    parameters: u32,
    begin: u32,
    end: u32,
}

/// What one piece of a batch and one dispatch may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Values on the card.
    pub values: usize,
    /// Loop iterations of a thread in a recurrence.
    pub iterations: usize,
}

impl Limits {
    pub const USUAL: Self = Self { values: MOST_VALUES, iterations: MOST_ITERATIONS };
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct LengthSettings {
    frames: u32,
    width: u32,
}

/// The output of all frames, and what [`gru_backward`] needs if the network learns.
pub(super) fn gru(card: &Card, pass: &GruPass<'_>, learns: bool) -> Outcome<DevicePassed> {
    gru_within(card, pass, learns, Limits::USUAL)
}

/// Like [`gru`], within other limits.
pub(super) fn gru_within(card: &Card, pass: &GruPass<'_>, learns: bool, limits: Limits) -> Outcome<DevicePassed> {
    let shape = Shape::of(pass)?;
    let mut output = Vec::with_capacity(shape.output(pass.sequences));
    let mut trace = Vec::new();
    if pass.values.is_empty() || shape.hidden == 0 {
        output.resize(shape.output(pass.sequences), 0.0);
        return Ok((output, learns.then(|| Box::new(GruTrace(trace)) as DeviceTrace)));
    }
    let pieces = shape.load(pass.sequences, learns).pieces(card, limits.values)?;
    let parameters = card.upload(pass.parameters);
    let weights = card.upload(&shape.recurrent_weights(pass.parameters));
    let row = if learns { 4 * shape.hidden } else { 3 * shape.hidden };
    for sequences in pieces {
        let rows = sequences.len() * shape.frames;
        let values = card.upload(share(pass.values, &sequences, shape.frames * shape.input));
        let gates = card.array(rows * 2 * row);
        let [states, result] = [(); 2].map(|()| card.array(rows * 2 * shape.hidden));
        let mut commands = card.commands();
        shape.project(&mut commands, rows, row, &parameters, &values, &gates);
        let arrays = [&parameters, &weights, &gates, &states];
        for settings in shape.stretches(shape.hidden, row, limits.iterations) {
            commands.run(ADVANCE, [sequences.len() as u32, 2, 1], &settings, &arrays);
        }
        let found = if pass.normalised {
            commands.run(DIVIDE, groups(rows, FRAMES_PER_GROUP), &shape.lengths(rows), &[&states, &result]);
            &result
        } else {
            &states
        };
        output.extend(commands.read(&[found])?.into_iter().flatten().map(f32::from_bits));
        if learns {
            trace.push(Recorded { sequences: sequences.len(), values, gates, states });
        }
    }
    Ok((output, learns.then(|| Box::new(GruTrace(trace)) as DeviceTrace)))
}

/// The gradients with respect to the input, if that is wanted, and the parameters, given that of the output.
pub(super) fn gru_backward(
    card: &Card,
    pass: &GruPass<'_>,
    trace: DeviceTrace,
    gradient: &[f32],
    for_input: bool,
) -> Outcome<(Option<Vec<f32>>, Vec<f32>)> {
    gru_backward_within(card, pass, trace, gradient, for_input, Limits::USUAL)
}

/// Like [`gru_backward`], within other limits; the pieces of the batch are those of the forward pass.
pub(super) fn gru_backward_within(
    card: &Card,
    pass: &GruPass<'_>,
    trace: DeviceTrace,
    gradient: &[f32],
    for_input: bool,
    limits: Limits,
) -> Outcome<(Option<Vec<f32>>, Vec<f32>)> {
    let shape = Shape::of(pass)?;
    let GruTrace(trace) = *trace.downcast().map_err(|_| Failure::new("the trace is not that of a GRU"))?;
    shape.check(pass, &trace, gradient)?;
    if trace.is_empty() {
        return Ok((for_input.then(|| vec![0.0; pass.values.len()]), vec![0.0; pass.parameters.len()]));
    }
    let parameters = card.upload(pass.parameters);
    let weights = card.upload(&shape.recurrent_weights_transposed(pass.parameters));
    let sums = card.array(pass.parameters.len());
    let mut parameter_gradient = Vec::new();
    let mut input_gradient = for_input.then(|| Vec::with_capacity(pass.values.len()));
    let mut rest = gradient;
    for piece in trace {
        let rows = piece.sequences * shape.frames;
        let (own, others) = rest.split_at(shape.output(piece.sequences));
        rest = others;
        let flow = card.upload(own);
        let mut commands = card.commands();
        if pass.normalised {
            commands.run(DIVIDE_BACK, groups(rows, FRAMES_PER_GROUP), &shape.lengths(rows), &[&piece.states, &flow]);
        }
        let arrays = [&flow, &weights, &piece.gates, &piece.states];
        for settings in shape.stretches(3 * shape.hidden, 4 * shape.hidden, limits.iterations).rev() {
            commands.run(RETREAT, [piece.sequences as u32, 2, 1], &settings, &arrays);
        }
        shape.add_parameter_gradient(card, &mut commands, &piece, &sums);
        let mut wanted = vec![&sums];
        let of_input = card.array(if for_input { piece.values.len } else { 1 });
        if for_input {
            shape.find_input_gradient(&mut commands, &piece, &parameters, &of_input);
            wanted.push(&of_input);
        }
        let mut found = commands.read(&wanted)?.into_iter().map(|values| values.into_iter().map(f32::from_bits));
        if let Some(found) = found.next() {
            parameter_gradient = found.collect();
        }
        if let (Some(gradient), Some(found)) = (&mut input_gradient, found.next()) {
            gradient.extend(found);
        }
    }
    Ok((input_gradient, parameter_gradient))
}

#[derive(Clone, Copy)]
struct Shape {
    input: usize,
    hidden: usize,
    frames: usize,
}

impl Shape {
    fn of(pass: &GruPass<'_>) -> Outcome<Self> {
        let shape = Self { input: pass.input, hidden: pass.hidden, frames: pass.frames };
        if shape.hidden > MOST_HIDDEN {
            return Err(Failure::unsuited(format!("more than {MOST_HIDDEN} units do not fit into a workgroup")));
        }
        let values = pass.sequences.checked_mul(pass.frames).and_then(|rows| rows.checked_mul(pass.input));
        if values != Some(pass.values.len()) || pass.parameters.len() != 2 * shape.parameters() {
            return Err(Failure::unsuited("the number of values or parameters does not fit the shape of the GRU"));
        }
        Ok(shape)
    }

    /// Parameters of one direction.
    fn parameters(self) -> usize {
        3 * self.hidden * (self.input + self.hidden + 2)
    }

    /// Where the recurrent weights begin in the parameters of a direction.
    fn recurrent(self) -> usize {
        3 * self.hidden * self.input
    }

    /// Where the biases of the input, followed by the others, begin in the parameters of a direction.
    fn biases(self) -> usize {
        3 * self.hidden * (self.input + self.hidden)
    }

    /// Output values of some sequences.
    fn output(self, sequences: usize) -> usize {
        sequences * self.frames * 2 * self.hidden
    }

    fn load(self, sequences: usize, learns: bool) -> Load {
        let gates = if learns { 8 * self.hidden } else { 6 * self.hidden };
        // With states and output there; the way back has gradients of input and output in place of the output.
        let width = 2 * self.input + gates + 4 * self.hidden;
        let (frames, parameters) = (self.frames, if learns { 2 * self.parameters() } else { 0 });
        Load { sequences, frames, widest: self.input.max(gates), width, parameters }
    }

    /// The dispatches of a recurrence in which the sum of each unit has so many terms, with as many frames in each as
    /// a thread may have loop iterations.
    fn stretches(self, terms: usize, row: usize, iterations: usize) -> impl DoubleEndedIterator<Item = Settings> {
        let quads = terms.div_ceil(4);
        let share = quads.div_ceil((THREADS as usize / self.hidden).max(1));
        let splits = quads.div_ceil(share);
        let turns = |count: usize| count.div_ceil(THREADS as usize);
        // Products and units, with one more at the end of each loop.
        let products = turns(splits * self.hidden) * (share + 2) + 1;
        let units = turns(self.hidden) * (splits + 2) + 1;
        // Half of them are left: for the beginning of a stretch, and since Mesa's software card passes through inner
        // loops once more when an outer one ends.
        let frames = (iterations / (2 * (1 + products + units))).max(1);
        (0..self.frames).step_by(frames).map(move |begin| {
            let of = |value: usize| value as u32;
            Settings {
                frames: of(self.frames),
                hidden: of(self.hidden),
                quads: of(quads),
                splits: of(splits),
                share: of(share),
                row: of(row),
                biases: of(self.biases()),
                parameters: of(self.parameters()),
                begin: of(begin),
                end: of((begin + frames).min(self.frames)),
            }
        })
    }

    fn lengths(self, rows: usize) -> LengthSettings {
        LengthSettings { frames: rows as u32, width: 2 * self.hidden as u32 }
    }

    /// The recurrent weights of both directions for the product with the state.
    fn recurrent_weights(self, parameters: &[f32]) -> Vec<f32> {
        let hidden = self.hidden;
        let of_direction = |own: &[f32]| {
            let weights = &own[self.recurrent()..];
            in_fours(hidden, 3 * hidden, |row, column| weights[column * hidden + row])
        };
        parameters.chunks_exact(self.parameters()).flat_map(of_direction).collect()
    }

    /// The same for the product with the gradients of the gates, of which n comes first.
    fn recurrent_weights_transposed(self, parameters: &[f32]) -> Vec<f32> {
        let hidden = self.hidden;
        let of_direction = |own: &[f32]| {
            let weights = &own[self.recurrent()..];
            in_fours(3 * hidden, hidden, |row, column| weights[(row + 2 * hidden) % (3 * hidden) * hidden + column])
        };
        parameters.chunks_exact(self.parameters()).flat_map(of_direction).collect()
    }

    /// The products of the input weights with all frames, at the ends of the rows of `gates`.
    fn project(
        self,
        commands: &mut Commands<'_>,
        rows: usize,
        row: usize,
        parameters: &Array,
        values: &Array,
        gates: &Array,
    ) {
        let (input, columns) = (self.input, 3 * self.hidden);
        let values = Matrices { array: values, start: 0, batch: 0, row: input, column: 1 };
        let product = Product { count: 1, rows, columns, inner: input, scale: 1.0, adds: false };
        for direction in 0..2 {
            let start = direction * self.parameters();
            let weights = Matrices { array: parameters, start, batch: 0, row: input, column: 1 };
            let start = (direction + 1) * row - columns;
            let out = Matrices { array: gates, start, batch: 0, row: 2 * row, column: 1 };
            multiply(commands, product, values, weights.transposed(), out);
        }
    }

    /// Adds the sums over the frames of a piece, whose gates and states [`RETREAT`] has replaced, to `sums`.
    fn add_parameter_gradient(self, card: &Card, commands: &mut Commands<'_>, piece: &Recorded, sums: &Array) {
        let (input, hidden) = (self.input, self.hidden);
        let parts = Parts::new(card, piece.sequences, self.frames, 2 * self.parameters());
        let values = Matrices { array: &piece.values, start: 0, batch: 0, row: input, column: 1 };
        for direction in 0..2 {
            let first = direction * self.parameters();
            let (recurrent, biases) = (first + self.recurrent(), first + self.biases());
            let gates = |start: usize| {
                let start = direction * 4 * hidden + start;
                Matrices { array: &piece.gates, start, batch: 0, row: 8 * hidden, column: 1 }
            };
            let start = direction * hidden;
            let states = Matrices { array: &piece.states, start, batch: 0, row: 2 * hidden, column: 1 };
            parts.add_products(commands, (3 * hidden, input), gates(hidden), values, first, 0);
            parts.add_products(commands, (2 * hidden, hidden), gates(hidden), states, recurrent, 0);
            parts.add_products(commands, (hidden, hidden), gates(0), states, recurrent + 2 * hidden * hidden, 0);
            parts.add_rows(commands, 3 * hidden, gates(hidden), biases);
            parts.add_rows(commands, 2 * hidden, gates(hidden), biases + 3 * hidden);
            parts.add_rows(commands, hidden, gates(0), biases + 5 * hidden);
        }
        parts.add_to(commands, sums);
    }

    /// The gradient of the input of a piece, from those of the gates.
    fn find_input_gradient(self, commands: &mut Commands<'_>, piece: &Recorded, parameters: &Array, out: &Array) {
        let (input, hidden) = (self.input, self.hidden);
        let out = Matrices { array: out, start: 0, batch: 0, row: input, column: 1 };
        let rows = piece.sequences * self.frames;
        for direction in 0..2 {
            let start = (4 * direction + 1) * hidden;
            let gates = Matrices { array: &piece.gates, start, batch: 0, row: 8 * hidden, column: 1 };
            let start = direction * self.parameters();
            let weights = Matrices { array: parameters, start, batch: 0, row: input, column: 1 };
            let product =
                Product { count: 1, rows, columns: input, inner: 3 * hidden, scale: 1.0, adds: direction == 1 };
            multiply(commands, product, gates, weights, out);
        }
    }

    /// Whether a trace and a gradient of the output belong to this pass.
    fn check(self, pass: &GruPass<'_>, trace: &[Recorded], gradient: &[f32]) -> Outcome<()> {
        let empty = pass.values.is_empty() || self.hidden == 0;
        let sequences: usize = trace.iter().map(|piece| piece.sequences).sum();
        let fits = trace.iter().all(|piece| {
            let rows = piece.sequences * self.frames;
            piece.values.len == rows * self.input && piece.gates.len == rows * 8 * self.hidden
        });
        if !fits || gradient.len() != self.output(pass.sequences) || (!empty && sequences != pass.sequences) {
            return Err(Failure::unsuited("the trace or the gradient does not fit the pass of the GRU"));
        }
        Ok(())
    }
}

/// A matrix with four rows of a column together, then the columns, then the fours; zeros fill up the last four.
fn in_fours(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    let mut packed = Vec::with_capacity(rows.next_multiple_of(4) * columns);
    for first in (0..rows).step_by(4) {
        for column in 0..columns {
            packed.extend((first..first + 4).map(|row| if row < rows { value(row, column) } else { 0.0 }));
        }
    }
    packed
}
