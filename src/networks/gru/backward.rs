//! The backward pass: from the gradient of the output to those of the parameters and the input.

use rayon::prelude::*;

use super::{Batch, Direction, GruRef, GruShape, SEQUENCES_PER_TASK, Trace, Weights, check_batch, normalise};
use crate::base::error::{Error, Result};
use crate::base::matrix::{MatrixRef, multiply};
use crate::base::number::Real;
use crate::base::simd::vectorised;
use crate::networks::panels::Panels;

/// Whether the gradient of the input is wanted. Training on fixed features does not need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputGradient {
    /// Compute it.
    Wanted,
    /// Leave it out: a quarter of the work.
    Skipped,
}

/// The gradients of a scalar, given its gradient with respect to the output.
#[derive(Debug)]
pub struct Gradients<F> {
    /// In the order of the parameters.
    pub parameters: Vec<F>,
    /// In the order of the input, if wanted.
    pub input: Option<Vec<F>>,
}

/// The gradients for a batch whose forward pass left `trace`; `output_gradient` has the shape of the output.
pub fn backward<F: Real>(
    gru: GruRef<'_, F>,
    batch: &Batch<'_, F>,
    trace: Trace<F>,
    output_gradient: &[F],
    input_gradient: InputGradient,
) -> Result<Gradients<F>> {
    let shape = gru.shape;
    check_batch(shape, batch)?;
    let frames = batch.sequences * batch.frames;
    for (name, length, allowed) in [
        ("number of output gradients", output_gradient.len(), frames * shape.output()),
        ("number of recorded states", trace.states[0].len(), frames * shape.hidden),
    ] {
        if length != allowed {
            return Err(Error::invalid(name, length, allowed.to_string()));
        }
    }
    let [mut forward_gradient, mut reverse_gradient] =
        normalise::split_gradient(&trace.states, output_gradient, shape.hidden, gru.output);
    let Trace { states: [forward_states, reverse_states], gates: [mut forward_gates, mut reverse_gates] } = trace;
    let (forward, reverse) = rayon::join(
        || {
            let (states, gates, gradient) = (&forward_states, &mut forward_gates, &mut forward_gradient);
            run_direction(&gru.weights(Direction::Forward), batch, states, gates, gradient, input_gradient)
        },
        || {
            let (states, gates, gradient) = (&reverse_states, &mut reverse_gates, &mut reverse_gradient);
            run_direction(&gru.weights(Direction::Reverse), batch, states, gates, gradient, input_gradient)
        },
    );
    let mut parameters = forward.parameters;
    parameters.extend(reverse.parameters);
    let input = forward.input.zip(reverse.input).map(|(mut forward, reverse)| {
        add(&mut forward, &reverse);
        forward
    });
    Ok(Gradients { parameters, input })
}

fn add<F: Real>(sum: &mut [F], terms: &[F]) {
    for (sum, &term) in sum.iter_mut().zip(terms) {
        *sum += term;
    }
}

/// One direction. Overwrites `gates` with their gradients; `state_gradient` is scratch afterwards.
fn run_direction<F: Real>(
    weights: &Weights<'_, F>,
    batch: &Batch<'_, F>,
    states: &[F],
    gates: &mut [F],
    state_gradient: &mut [F],
    input_gradient: InputGradient,
) -> Gradients<F> {
    let shape = weights.shape;
    let (hidden, frames) = (shape.hidden, batch.frames);
    let mut parameters = vec![F::ZERO; shape.parameter_count() / 2];
    let mut input = match input_gradient {
        InputGradient::Wanted => Some(vec![F::ZERO; batch.values.len()]),
        InputGradient::Skipped => None,
    };
    if batch.values.is_empty() || hidden == 0 {
        return Gradients { parameters, input };
    }
    let panels = Panels::pack(3 * hidden, hidden, |row, column| weights.recurrent[row * hidden + column]);
    let per_task = SEQUENCES_PER_TASK * frames;
    let tasks = batch.values.len().div_ceil(per_task * batch.dim);
    let input_chunks: Vec<Option<&mut [F]>> = match &mut input {
        Some(input) => input.chunks_mut(per_task * batch.dim).map(Some).collect(),
        None => (0..tasks).map(|_| None).collect(),
    };
    let sums: Vec<Vec<F>> = batch
        .values
        .par_chunks(per_task * batch.dim)
        .zip(states.par_chunks(per_task * hidden))
        .zip(gates.par_chunks_mut(per_task * 4 * hidden))
        .zip(state_gradient.par_chunks_mut(per_task * hidden))
        .zip(input_chunks)
        .map(|((((values, states), gates), state_gradient), input_gradient)| {
            let sequences = values.len() / (frames * batch.dim);
            run_recurrence(Recurrence {
                panels: &panels,
                direction: weights.direction,
                hidden,
                frames,
                sequences,
                states,
                gates,
                state_gradient,
            });
            if let Some(input_gradient) = input_gradient {
                add_input_gradient(weights, gates, input_gradient);
            }
            parameter_gradient(shape, weights.direction, frames, values, states, gates)
        })
        .collect();
    for task in &sums {
        add(&mut parameters, task);
    }
    Gradients { parameters, input }
}

/// From the gradients of the states to those of the gates' arguments, last frame read first.
struct Recurrence<'a, F> {
    panels: &'a Panels<F>,
    direction: Direction,
    hidden: usize,
    frames: usize,
    sequences: usize,
    states: &'a [F],
    gates: &'a mut [F],
    state_gradient: &'a mut [F],
}

vectorised! {
    fn run_recurrence<F: Real>(recurrence: Recurrence<'_, F>) {
        recurrence.run::<FMA>()
    }
}

impl<F: Real> Recurrence<'_, F> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (hidden, frames) = (self.hidden, self.frames);
        let zeros = vec![F::ZERO; hidden];
        // The gradient of the state that comes back from the later frame.
        let mut carried = vec![F::ZERO; self.sequences * hidden];
        for count in (0..frames).rev() {
            let frame = self.direction.frame(count, frames);
            for sequence in 0..self.sequences {
                let at = sequence * frames + frame;
                let previous = if count == 0 {
                    &zeros
                } else {
                    &self.states[(sequence * frames + self.direction.frame(count - 1, frames)) * hidden..][..hidden]
                };
                differentiate_update(
                    previous,
                    &self.state_gradient[at * hidden..][..hidden],
                    &mut self.gates[at * 4 * hidden..][..4 * hidden],
                    &mut carried[sequence * hidden..][..hidden],
                );
            }
            let gates = &self.gates[frame * 4 * hidden..];
            self.panels.add_product::<FMA>(self.sequences, gates, frames * 4 * hidden, &mut carried);
        }
    }
}

/// One frame of one sequence: replaces r, z, U_n h + c_n, n by the gradients of the arguments of r and z, of
/// U_n h + c_n, and of the argument of n; leaves in `carried` the part of the previous state's gradient that does not
/// pass through the weights.
#[inline(always)]
fn differentiate_update<F: Real>(previous: &[F], state_gradient: &[F], gates: &mut [F], carried: &mut [F]) {
    let hidden = carried.len();
    let (r_gate, rest) = gates.split_at_mut(hidden);
    let (z_gate, rest) = rest.split_at_mut(hidden);
    let (hn_gate, n_gate) = rest.split_at_mut(hidden);
    let (n_gate, previous, state_gradient) = (&mut n_gate[..hidden], &previous[..hidden], &state_gradient[..hidden]);
    for i in 0..hidden {
        let (r, z, hn, n) = (r_gate[i], z_gate[i], hn_gate[i], n_gate[i]);
        let dh = state_gradient[i] + carried[i];
        let dn = dh * (F::ONE - z) * (F::ONE - n * n);
        r_gate[i] = dn * hn * r * (F::ONE - r);
        z_gate[i] = dh * (previous[i] - n) * z * (F::ONE - z);
        hn_gate[i] = dn * r;
        n_gate[i] = dn;
        carried[i] = dh * z;
    }
}

/// Rows of the input weights, and where their gates' gradients lie within a frame: r and z, then n.
fn input_parts(hidden: usize) -> [(usize, usize, usize); 2] {
    [(0, 0, 2 * hidden), (2 * hidden, 3 * hidden, hidden)]
}

fn add_input_gradient<F: Real>(weights: &Weights<'_, F>, gates: &[F], input_gradient: &mut [F]) {
    let (dim, hidden) = (weights.shape.input, weights.shape.hidden);
    let frames = input_gradient.len() / dim;
    for (row, offset, length) in input_parts(hidden) {
        let gates = MatrixRef::new(&gates[offset..], frames, length, 4 * hidden);
        let weights = MatrixRef::new(&weights.input[row * dim..], length, dim, dim);
        multiply(F::ONE, gates, weights, F::ONE, input_gradient, dim);
    }
}

/// The sum over the frames of a few sequences.
fn parameter_gradient<F: Real>(
    shape: GruShape,
    direction: Direction,
    frames: usize,
    values: &[F],
    states: &[F],
    gates: &[F],
) -> Vec<F> {
    let (dim, hidden) = (shape.input, shape.hidden);
    let mut gradient = vec![F::ZERO; shape.parameter_count() / 2];
    let (input_weights, rest) = gradient.split_at_mut(3 * hidden * dim);
    let (recurrent_weights, rest) = rest.split_at_mut(3 * hidden * hidden);
    let (input_bias, recurrent_bias) = rest.split_at_mut(3 * hidden);

    let all_frames = values.len() / dim;
    let values = MatrixRef::new(values, all_frames, dim, dim);
    for (row, offset, length) in input_parts(hidden) {
        let gates = MatrixRef::new(&gates[offset..], all_frames, length, 4 * hidden).transposed();
        multiply(F::ONE, gates, values, F::ZERO, &mut input_weights[row * dim..], dim);
    }
    for (gates, states) in gates.chunks_exact(frames * 4 * hidden).zip(states.chunks_exact(frames * hidden)) {
        // The frame read first has no previous state.
        let (gates, states) = match direction {
            Direction::Forward => (gates.get(4 * hidden..).unwrap_or_default(), states),
            Direction::Reverse => (gates, states.get(hidden..).unwrap_or_default()),
        };
        let gates = MatrixRef::new(gates, frames - 1, 3 * hidden, 4 * hidden).transposed();
        let states = MatrixRef::new(states, frames - 1, hidden, hidden);
        multiply(F::ONE, gates, states, F::ONE, recurrent_weights, hidden);
    }
    for frame in gates.chunks_exact(4 * hidden) {
        let (shared, n) = frame.split_at(3 * hidden);
        add(recurrent_bias, shared);
        add(&mut input_bias[..2 * hidden], shared);
        add(&mut input_bias[2 * hidden..], n);
    }
    gradient
}
