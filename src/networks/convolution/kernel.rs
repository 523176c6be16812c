//! Both passes as products of matrices whose rows overlap: row `i` starts at frame `i` and spans all taps.

use rayon::prelude::*;

use super::Convolution;
use crate::base::matrix::{MatrixRef, multiply};
use crate::base::number::Real;
use crate::networks::panels::{Panels, add_product};

/// Sequences that one task takes. Fixed, so that sums over tasks do not depend on the number of threads.
const SEQUENCES_PER_TASK: usize = 16;

/// A sequence with zeros before and after.
fn padded<F: Real>(values: &[F], zeros: usize) -> Vec<F> {
    let mut padded = vec![F::ZERO; values.len() + 2 * zeros];
    padded[zeros..zeros + values.len()].copy_from_slice(values);
    padded
}

/// The output of sequences of `frames` frames each.
pub(super) fn forward<F: Real>(of: Convolution, parameters: &[F], frames: usize, input: &[F]) -> Vec<F> {
    let (weights, bias) = parameters.split_at(of.weights());
    let element = |row: usize, output: usize| weights[of.place(output, row % of.inputs, row / of.inputs)];
    let panels = Panels::pack(of.width(), of.outputs, element);
    let start = if of.has_bias { bias.to_vec() } else { vec![F::ZERO; of.outputs] };
    run(&panels, of, frames, input, &start)
}

/// The product of every sequence with packed weights, on top of `start` in each frame.
fn run<F: Real>(panels: &Panels<F>, of: Convolution, frames: usize, input: &[F], start: &[F]) -> Vec<F> {
    let mut output = vec![F::ZERO; input.len() / of.inputs * of.outputs];
    if output.is_empty() {
        return output;
    }
    let sequences = input.par_chunks(frames * of.inputs).zip(output.par_chunks_mut(frames * of.outputs));
    sequences.with_min_len(SEQUENCES_PER_TASK).for_each(|(input, output)| {
        output.chunks_exact_mut(of.outputs).for_each(|frame| frame.copy_from_slice(start));
        add_product(panels, frames, &padded(input, of.margin() * of.inputs), of.inputs, output);
    });
    output
}

/// The gradient with respect to the input, given that of the output: the same with the taps in reverse.
pub(super) fn input_gradient<F: Real>(of: Convolution, parameters: &[F], frames: usize, gradient: &[F]) -> Vec<F> {
    let back = Convolution { inputs: of.outputs, outputs: of.inputs, has_bias: false, ..of };
    let element = |row: usize, input: usize| {
        let (tap, output) = (of.taps - 1 - row / of.outputs, row % of.outputs);
        parameters[of.place(output, input, tap)]
    };
    let panels = Panels::pack(back.width(), back.outputs, element);
    run(&panels, back, frames, gradient, &vec![F::ZERO; back.outputs])
}

/// The gradient with respect to the parameters, given that of the output.
pub(super) fn parameter_gradient<F: Real>(of: Convolution, frames: usize, input: &[F], gradient: &[F]) -> Vec<F> {
    let mut total = vec![F::ZERO; of.parameter_count()];
    if gradient.is_empty() {
        return total;
    }
    let per_task = SEQUENCES_PER_TASK * frames;
    let tasks = input.par_chunks(per_task * of.inputs).zip(gradient.par_chunks(per_task * of.outputs));
    let parts: Vec<Vec<F>> = tasks
        .map(|(input, gradient)| {
            let mut sum = vec![F::ZERO; of.weights() + of.outputs];
            let (weights, bias) = sum.split_at_mut(of.weights());
            let sequences = input.chunks_exact(frames * of.inputs).zip(gradient.chunks_exact(frames * of.outputs));
            for (input, gradient) in sequences {
                let input = padded(input, of.margin() * of.inputs);
                let taps = MatrixRef::new(&input, frames, of.width(), of.inputs).transposed();
                let flow = MatrixRef::new(gradient, frames, of.outputs, of.outputs);
                multiply(F::ONE, taps, flow, F::ONE, weights, of.outputs);
            }
            for frame in gradient.chunks_exact(of.outputs) {
                bias.iter_mut().zip(frame).for_each(|(sum, &value)| *sum += value);
            }
            sum
        })
        .collect();
    for part in &parts {
        let (weights, bias) = part.split_at(of.weights());
        for (row, values) in weights.chunks_exact(of.outputs).enumerate() {
            for (output, &value) in values.iter().enumerate() {
                total[of.place(output, row % of.inputs, row / of.inputs)] += value;
            }
        }
        total[of.weights()..].iter_mut().zip(bias).for_each(|(sum, &value)| *sum += value);
    }
    total
}
