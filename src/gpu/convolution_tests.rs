use super::card::Card;
use super::convolution::{convolution, convolution_backward, convolution_within};
use super::matmul::Matrices;
use super::parts::Parts;
use super::test_card;
use crate::base::accelerator::{ConvolutionPass, Outcome};

fn wave(count: usize, pace: f32, size: f32) -> Vec<f32> {
    (0..count).map(|i| size * (pace * i as f32 + 0.3).sin()).collect()
}

/// Owns what a pass borrows.
#[derive(Debug)]
struct Case {
    taps: usize,
    inputs: usize,
    outputs: usize,
    has_bias: bool,
    sequences: usize,
    frames: usize,
    values: Vec<f32>,
    parameters: Vec<f32>,
    /// Of the output.
    gradient: Vec<f32>,
}

impl Case {
    fn new(sequences: usize, frames: usize, (taps, inputs, outputs): (usize, usize, usize), has_bias: bool) -> Self {
        let size = 1.5 / ((taps * inputs) as f32).sqrt();
        let count = taps * inputs * outputs + if has_bias { outputs } else { 0 };
        let values = wave(sequences * frames * inputs, 1.3, 1.0);
        let gradient = wave(sequences * frames * outputs, 0.37, 1.0);
        let parameters = wave(count, 0.7, size);
        Self { taps, inputs, outputs, has_bias, sequences, frames, values, parameters, gradient }
    }

    fn pass(&self) -> ConvolutionPass<'_> {
        let Self { taps, inputs, outputs, has_bias, sequences, frames, .. } = *self;
        let (values, parameters) = (&self.values, &self.parameters);
        ConvolutionPass { taps, inputs, outputs, has_bias, sequences, frames, values, parameters }
    }

    /// Output, gradient of the input, gradient of the parameters.
    fn run(&self, card: &Card, budget: usize) -> Outcome<[Vec<f32>; 3]> {
        let (output, trace) = convolution_within(card, &self.pass(), true, budget)?;
        let (input, parameters) = convolution_backward(card, &self.pass(), trace.unwrap(), &self.gradient, true)?;
        Ok([output, input.unwrap(), parameters])
    }

    /// The same straight from the definition.
    fn oracle(&self) -> [Vec<f64>; 3] {
        let (x, w, g) = (wide(&self.values), wide(&self.parameters), wide(&self.gradient));
        let weights = self.taps * self.inputs * self.outputs;
        let (mut output, mut by_input, mut by_parameters) = (Vec::new(), vec![0.0; x.len()], vec![0.0; w.len()]);
        for (index, flow) in g.iter().enumerate() {
            let (row, out) = (index / self.outputs, index % self.outputs);
            let (sequence, frame) = (row / self.frames, row % self.frames);
            let mut sum = 0.0;
            if self.has_bias {
                sum = w[weights + out];
                by_parameters[weights + out] += flow;
            }
            for tap in 0..self.taps {
                let Some(at) = (frame + tap).checked_sub(self.taps / 2).filter(|&at| at < self.frames) else {
                    continue;
                };
                for input in 0..self.inputs {
                    let value = (sequence * self.frames + at) * self.inputs + input;
                    let weight = (out * self.inputs + input) * self.taps + tap;
                    sum += x[value] * w[weight];
                    by_input[value] += flow * w[weight];
                    by_parameters[weight] += flow * x[value];
                }
            }
            output.push(sum);
        }
        [output, by_input, by_parameters]
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
        Case::new(1, 1, (1, 1, 1), true),
        Case::new(3, 5, (5, 2, 3), false),
        Case::new(9, 70, (5, 40, 64), true),
        Case::new(2, 1, (3, 4, 2), true),
        Case::new(1, 300, (1, 70, 3), false),
        Case::new(3, 600, (3, 1, 2), true),
    ];
    for case in cases {
        let found = case.run(&card, usize::MAX).unwrap();
        for (found, expected) in found.iter().zip(&case.oracle()) {
            let largest = expected.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
            assert!(
                farthest(found, expected) < 1e-5 * largest,
                "{} x {}, {} taps",
                case.inputs,
                case.outputs,
                case.taps
            );
        }
        let (plain, trace) = convolution(&card, &case.pass(), false).unwrap();
        assert!(plain == found[0] && trace.is_none());
        let trace = convolution(&card, &case.pass(), true).unwrap().1.unwrap();
        let (by_input, by_parameters) =
            convolution_backward(&card, &case.pass(), trace, &case.gradient, false).unwrap();
        assert!(by_input.is_none() && by_parameters == found[2]);
    }
}

#[test]
fn cutting_a_batch_or_repeating_it_gives_the_same_bits() {
    let Some(card) = test_card() else { return };
    // Seven sequences make a part, and two are left.
    let case = Case::new(23, 70, (5, 2, 4), true);
    let whole = case.run(&card, usize::MAX).unwrap();
    assert!(whole == case.run(&card, usize::MAX).unwrap());
    for budget in [0, 14 * 74 * 12] {
        assert!(whole == case.run(&card, budget).unwrap());
    }
    let second = ConvolutionPass { sequences: 1, values: &case.values[140..280], ..case.pass() };
    assert_eq!(convolution(&card, &second, false).unwrap().0, whole[0][280..560]);
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
    for case in [Case::new(0, 9, (3, 2, 2), true), Case::new(2, 0, (3, 2, 2), false)] {
        assert_eq!(case.run(&card, usize::MAX).unwrap(), [vec![], vec![], vec![0.0; case.parameters.len()]]);
    }
    let case = Case::new(2, 9, (3, 2, 2), true);
    let pass = case.pass();
    assert!(convolution(&card, &ConvolutionPass { sequences: 3, ..pass }, false).is_err());
    assert!(convolution(&card, &ConvolutionPass { parameters: &pass.parameters[1..], ..pass }, false).is_err());
    assert!(convolution(&card, &ConvolutionPass { taps: 2, ..pass }, false).is_err());
    assert!(convolution_backward(&card, &pass, Box::new(1), &case.gradient, true).is_err());
    let trace = || convolution(&card, &pass, true).unwrap().1.unwrap();
    assert!(convolution_backward(&card, &pass, trace(), &case.gradient[1..], true).is_err());
    let other = Case::new(2, 10, (3, 2, 2), true);
    assert!(convolution_backward(&card, &other.pass(), trace(), &other.gradient, true).is_err());
}
