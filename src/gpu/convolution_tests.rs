use super::card::Card;
use super::convolution::{convolutions, convolutions_backward, convolutions_within};
use super::matmul::Matrices;
use super::parts::Parts;
use super::test_card;
use crate::base::accelerator::{ConvolutionPass, ConvolutionShape, Outcome};

fn wave(count: usize, pace: f32, size: f32) -> Vec<f32> {
    (0..count).map(|i| size * (pace * i as f32 + 0.3).sin()).collect()
}

/// Owns what a pass borrows.
struct Case {
    layers: Vec<ConvolutionShape>,
    sequences: usize,
    frames: usize,
    values: Vec<f32>,
    parameters: Vec<f32>,
    /// Of the output.
    gradient: Vec<f32>,
}

impl Case {
    /// The layers as (taps, outputs).
    fn new(sequences: usize, frames: usize, mut inputs: usize, layers: &[(usize, usize)]) -> Self {
        let values = wave(sequences * frames * inputs, 1.3, 1.0);
        let (mut parameters, mut valid, mut shapes) = (Vec::new(), frames, Vec::new());
        for &(taps, outputs) in layers {
            let size = 1.5 / ((taps * inputs) as f32).sqrt();
            parameters.extend(wave((taps * inputs + 1) * outputs, 0.7 + 0.1 * shapes.len() as f32, size));
            shapes.push(ConvolutionShape { taps, inputs, outputs });
            (inputs, valid) = (outputs, (valid + 1).saturating_sub(taps));
        }
        let gradient = wave(sequences * valid * inputs, 0.37, 1.0);
        Self { layers: shapes, sequences, frames, values, parameters, gradient }
    }

    fn pass(&self) -> ConvolutionPass<'_> {
        let Self { sequences, frames, .. } = *self;
        ConvolutionPass { layers: &self.layers, sequences, frames, values: &self.values, parameters: &self.parameters }
    }

    fn run(&self, card: &Card, budget: usize) -> Outcome<(Vec<f32>, Vec<f32>)> {
        let (output, trace) = convolutions_within(card, &self.pass(), true, budget)?;
        Ok((output, convolutions_backward(card, &self.pass(), trace.unwrap(), &self.gradient)?))
    }

    /// Output and gradient, one sequence after the other, straight from the definition.
    fn oracle(&self) -> (Vec<f64>, Vec<f64>) {
        let parameters = wide(&self.parameters);
        let (mut output, mut sums) = (Vec::new(), vec![0.0; parameters.len()]);
        let of_sequence = self.frames * self.layers[0].inputs;
        let flows = self.gradient.chunks_exact(self.gradient.len() / self.sequences);
        for (values, flow) in self.values.chunks_exact(of_sequence).zip(flows) {
            let (mut inputs, mut start) = (vec![wide(values)], 0);
            let mut starts = Vec::new();
            for (index, layer) in self.layers.iter().enumerate() {
                let (input, biases) = (&inputs[index], start + layer.taps * layer.inputs * layer.outputs);
                let frames = input.len() / layer.inputs + 1 - layer.taps;
                let mut result = vec![0.0; frames * layer.outputs];
                for (i, result) in result.iter_mut().enumerate() {
                    let (frame, output) = (i / layer.outputs, i % layer.outputs);
                    let terms = (0..layer.taps * layer.inputs)
                        .map(|k| input[frame * layer.inputs + k] * parameters[start + k * layer.outputs + output]);
                    *result = parameters[biases + output] + terms.sum::<f64>();
                    if index + 1 < self.layers.len() {
                        *result = result.max(0.0);
                    }
                }
                inputs.push(result);
                starts.push(start);
                start = biases + layer.outputs;
            }
            output.extend(inputs.pop().unwrap());
            let mut flow = wide(flow);
            for (index, layer) in self.layers.iter().enumerate().rev() {
                let (input, start) = (&inputs[index], starts[index]);
                let mut below = vec![0.0; input.len()];
                for (i, flow) in flow.iter().enumerate() {
                    let (frame, output) = (i / layer.outputs, i % layer.outputs);
                    for k in 0..layer.taps * layer.inputs {
                        let (at, weight) = (frame * layer.inputs + k, start + k * layer.outputs + output);
                        sums[weight] += flow * input[at];
                        below[at] += flow * parameters[weight];
                    }
                    sums[start + layer.taps * layer.inputs * layer.outputs + output] += flow;
                }
                below.iter_mut().zip(input).filter(|(_, input)| **input <= 0.0).for_each(|(below, _)| *below = 0.0);
                flow = below;
            }
        }
        (output, sums)
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn farthest(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().all(|value| value.is_finite()));
    found.iter().zip(expected).fold(0.0, |most, (&a, b)| (f64::from(a) - b).abs().max(most))
}

#[test]
fn outputs_and_gradients_of_all_shapes_agree_with_the_definition() {
    let Some(card) = test_card() else { return };
    let cases = [
        Case::new(1, 1, 1, &[(1, 1)]),
        Case::new(3, 5, 2, &[(5, 3)]),
        Case::new(9, 70, 3, &[(7, 32), (5, 32), (3, 1)]),
        Case::new(2, 13, 3, &[(7, 32), (5, 32), (3, 2)]),
        Case::new(1, 300, 5, &[(1, 70), (4, 3)]),
        Case::new(3, 600, 1, &[(2, 3), (3, 2)]),
    ];
    for case in cases {
        let (values, gradient) = case.oracle();
        let (output, found) = case.run(&card, usize::MAX).unwrap();
        let error = farthest(&output, &values);
        let largest = gradient.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let gradient_error = farthest(&found, &gradient) / largest;
        assert!(error < 1e-5 && gradient_error < 1e-4, "{:?}: {error} {gradient_error}", case.layers);
        let (plain, trace) = convolutions(&card, &case.pass(), false).unwrap();
        assert!(plain == output && trace.is_none());
    }
}

#[test]
fn cutting_a_batch_or_repeating_it_gives_the_same_bits() {
    let Some(card) = test_card() else { return };
    // Seven sequences make a part, and two are left.
    let case = Case::new(23, 70, 2, &[(7, 5), (5, 4), (3, 1)]);
    let whole = case.run(&card, usize::MAX).unwrap();
    assert!(whole == case.run(&card, usize::MAX).unwrap());
    for budget in [0, 14 * 70 * 30] {
        assert!(whole == case.run(&card, budget).unwrap());
    }
    let second = ConvolutionPass { sequences: 1, values: &case.values[140..280], ..case.pass() };
    assert_eq!(convolutions(&card, &second, false).unwrap().0, whole.0[58..116]);
}

/// Mesa's software card would not finish this in one dispatch.
#[test]
fn sums_over_a_long_sequence_are_complete() {
    let Some(card) = test_card() else { return };
    let values: Vec<f32> = wave(1_100_000, 0.37, 1.0).into_iter().map(|value| 1.0 + value).collect();
    let (array, sums) = (card.upload(&values), card.array(1));
    let parts = Parts::new(&card, 1, values.len(), 1);
    let mut commands = card.commands();
    parts.add_rows(&mut commands, 1, Matrices { array: &array, start: 0, batch: 0, row: 1, column: 1 }, 0);
    parts.add_to(&mut commands, &sums);
    let found = f32::from_bits(commands.read(&[&sums]).unwrap()[0][0]);
    let expected: f64 = wide(&values).iter().sum();
    assert!((f64::from(found) / expected - 1.0).abs() < 1e-4, "{found} {expected}");
}

#[test]
fn nothing_to_do_is_done_and_what_does_not_fit_is_a_failure() {
    let Some(card) = test_card() else { return };
    for case in [Case::new(0, 9, 2, &[(3, 2)]), Case::new(2, 0, 2, &[(3, 2)]), Case::new(2, 5, 2, &[(3, 2), (4, 1)])] {
        assert_eq!(case.run(&card, usize::MAX).unwrap(), (vec![], vec![0.0; case.parameters.len()]));
    }
    let case = Case::new(2, 9, 2, &[(3, 2), (2, 1)]);
    let pass = case.pass();
    assert!(convolutions(&card, &ConvolutionPass { sequences: 3, ..pass }, false).is_err());
    assert!(convolutions(&card, &ConvolutionPass { parameters: &pass.parameters[1..], ..pass }, false).is_err());
    let swapped = [case.layers[1], case.layers[0]];
    assert!(convolutions(&card, &ConvolutionPass { layers: &swapped, ..pass }, false).is_err());
    assert!(convolutions_backward(&card, &pass, Box::new(1), &case.gradient).is_err());
    let trace = || convolutions(&card, &pass, true).unwrap().1.unwrap();
    assert!(convolutions_backward(&card, &pass, trace(), &case.gradient[1..]).is_err());
    let other = Case::new(2, 10, 2, &[(3, 2), (2, 1)]);
    assert!(convolutions_backward(&card, &other.pass(), trace(), &other.gradient).is_err());
}
