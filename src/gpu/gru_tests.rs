use super::card::Card;
use super::gru::{Limits, gru, gru_backward, gru_backward_within, gru_within};
use super::test_card;
use crate::base::accelerator::{GruPass, Outcome};

fn wave(count: usize, pace: f32, size: f32) -> Vec<f32> {
    (0..count).map(|i| size * (pace * i as f32 + 0.3).sin()).collect()
}

/// Owns what a pass borrows.
struct Case {
    input: usize,
    hidden: usize,
    sequences: usize,
    frames: usize,
    values: Vec<f32>,
    parameters: Vec<f32>,
    /// Of the output: the loss is their scalar product.
    gradient: Vec<f32>,
}

impl Case {
    fn new((input, hidden, sequences, frames): (usize, usize, usize, usize)) -> Self {
        let values = wave(sequences * frames * input, 1.3, 1.0);
        // Sums over many units should not saturate the gates.
        let parameters = wave(6 * hidden * (input + hidden + 2), 0.7, 1.5 / (hidden as f32).sqrt());
        let gradient = wave(sequences * frames * 2 * hidden, 0.37, 1.0);
        Self { input, hidden, sequences, frames, values, parameters, gradient }
    }

    fn pass(&self) -> GruPass<'_> {
        let Self { input, hidden, sequences, frames, .. } = *self;
        let (values, parameters) = (&self.values, &self.parameters);
        GruPass { input, hidden, sequences, frames, normalised: true, values, parameters }
    }

    fn gradients(&self, card: &Card, limits: Limits) -> Outcome<(Vec<f32>, Vec<f32>, Vec<f32>)> {
        let (output, trace) = gru_within(card, &self.pass(), true, limits)?;
        let (input, parameters) =
            gru_backward_within(card, &self.pass(), trace.unwrap(), &self.gradient, true, limits)?;
        Ok((output, input.unwrap(), parameters))
    }

    /// For every frame and direction the gates of all units (U_n h + c_n, r, z, n) and the states, straight from the
    /// equations.
    fn recurrence(&self, values: &[f64], parameters: &[f64]) -> (Vec<[f64; 4]>, Vec<f64>) {
        let (input, hidden) = (self.input, self.hidden);
        let (mut gates, mut states) = (vec![[0.0; 4]; self.gradient.len()], vec![0.0; self.gradient.len()]);
        for (direction, [w, u, b, c]) in self.directions(parameters).into_iter().enumerate() {
            for sequence in 0..self.sequences {
                let mut state = vec![0.0; hidden];
                for frame in self.frames_of(sequence, direction) {
                    let x = &values[frame * input..][..input];
                    let of_input = |row: usize| b[row] + dot(&w[row * input..][..input], x);
                    let of_state = |row: usize| c[row] + dot(&u[row * hidden..][..hidden], &state);
                    let gates_of = |i: usize| {
                        let gate = |row: usize| 1.0 / (1.0 + (-of_input(row) - of_state(row)).exp());
                        let (recurrent, r, z) = (of_state(2 * hidden + i), gate(i), gate(hidden + i));
                        [recurrent, r, z, (of_input(2 * hidden + i) + r * recurrent).tanh()]
                    };
                    let own = (2 * frame + direction) * hidden..(2 * frame + direction + 1) * hidden;
                    gates[own.clone()].iter_mut().enumerate().for_each(|(i, gates)| *gates = gates_of(i));
                    for (state, [_, _, z, n]) in state.iter_mut().zip(&gates[own.clone()]) {
                        *state = (1.0 - z) * n + z * *state;
                    }
                    states[own].copy_from_slice(&state);
                }
            }
        }
        (gates, states)
    }

    /// Input weights, recurrent weights and biases of both directions.
    fn directions<'a>(&self, parameters: &'a [f64]) -> [[&'a [f64]; 4]; 2] {
        let halves = parameters.split_at(parameters.len() / 2);
        [halves.0, halves.1].map(|own| {
            let (w, rest) = own.split_at(3 * self.hidden * self.input);
            let (u, rest) = rest.split_at(3 * self.hidden * self.hidden);
            let (b, c) = rest.split_at(3 * self.hidden);
            [w, u, b, c]
        })
    }

    /// The frames of a sequence in the order of a direction.
    fn frames_of(&self, sequence: usize, direction: usize) -> Vec<usize> {
        let frames = sequence * self.frames..(sequence + 1) * self.frames;
        if direction == 0 { frames.collect() } else { frames.rev().collect() }
    }

    fn oracle(&self, values: &[f64], parameters: &[f64]) -> Vec<f64> {
        let (_, mut output) = self.recurrence(values, parameters);
        for frame in output.chunks_exact_mut(2 * self.hidden) {
            let length = dot(frame, frame).sqrt().max(1e-12);
            frame.iter_mut().for_each(|value| *value /= length);
        }
        output
    }

    /// The gradients of the values and of the parameters, for one sequence: the equations in reverse.
    fn oracle_gradients(&self) -> (Vec<f64>, Vec<f64>) {
        let (input, hidden) = (self.input, self.hidden);
        let (values, parameters) = (wide(&self.values), wide(&self.parameters));
        let (gates, states) = self.recurrence(&values, &parameters);
        let mut flow = wide(&self.gradient);
        for (frame, flow) in states.chunks_exact(2 * hidden).zip(flow.chunks_exact_mut(2 * hidden)) {
            let (square, along) = (dot(frame, frame), dot(frame, flow));
            flow.iter_mut()
                .zip(frame)
                .for_each(|(flow, value)| *flow = (*flow - along / square * value) / square.sqrt());
        }
        let (mut of_values, mut of_parameters) = (vec![0.0; values.len()], Vec::new());
        for (direction, [w, u, ..]) in self.directions(&parameters).into_iter().enumerate() {
            let [mut of_w, mut of_u] = [w, u].map(|weights| vec![0.0; weights.len()]);
            let [mut of_b, mut of_c] = [(); 2].map(|()| vec![0.0; 3 * hidden]);
            let (frames, mut later) = (self.frames_of(0, direction), vec![0.0; hidden]);
            for (count, &frame) in frames.iter().enumerate().rev() {
                let at = (2 * frame + direction) * hidden;
                let nothing = vec![0.0; hidden];
                let before = match count {
                    0 => &nothing,
                    _ => &states[(2 * frames[count - 1] + direction) * hidden..][..hidden],
                };
                let (x, of_x) = (&values[frame * input..][..input], &mut of_values[frame * input..][..input]);
                let mut earlier = vec![0.0; hidden];
                for i in 0..hidden {
                    let ([recurrent, r, z, n], gradient) = (gates[at + i], flow[at + i] + later[i]);
                    let for_n = gradient * (1.0 - z) * (1.0 - n * n);
                    let for_r = for_n * recurrent * r * (1.0 - r);
                    let for_z = gradient * (before[i] - n) * z * (1.0 - z);
                    earlier[i] += gradient * z;
                    let rows = [(i, for_r, for_r), (hidden + i, for_z, for_z), (2 * hidden + i, for_n, for_n * r)];
                    for (row, for_input, for_state) in rows {
                        of_b[row] += for_input;
                        of_c[row] += for_state;
                        add(&mut of_w[row * input..][..input], for_input, x);
                        add(of_x, for_input, &w[row * input..][..input]);
                        add(&mut of_u[row * hidden..][..hidden], for_state, before);
                        add(&mut earlier, for_state, &u[row * hidden..][..hidden]);
                    }
                }
                later = earlier;
            }
            of_parameters.extend([of_w, of_u, of_b, of_c].concat());
        }
        (of_values, of_parameters)
    }

    fn loss(&self, values: &[f64], parameters: &[f64]) -> f64 {
        dot(&self.oracle(values, parameters), &wide(&self.gradient))
    }

    /// Every `step`-th entry of the gradients of the values and of the parameters, by differences.
    fn differences(&self, step: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut values, mut parameters) = (wide(&self.values), wide(&self.parameters));
        let nudge = 1e-5;
        let mut of_values = Vec::new();
        for i in (0..values.len()).step_by(step) {
            let mut loss_at = |value: f64| {
                let before = std::mem::replace(&mut values[i], value);
                let loss = self.loss(&values, &parameters);
                values[i] = before;
                loss
            };
            let value = f64::from(self.values[i]);
            of_values.push((loss_at(value + nudge) - loss_at(value - nudge)) / (2.0 * nudge));
        }
        let mut of_parameters = Vec::new();
        for i in (0..parameters.len()).step_by(step) {
            let mut loss_at = |value: f64| {
                let before = std::mem::replace(&mut parameters[i], value);
                let loss = self.loss(&values, &parameters);
                parameters[i] = before;
                loss
            };
            let value = f64::from(self.parameters[i]);
            of_parameters.push((loss_at(value + nudge) - loss_at(value - nudge)) / (2.0 * nudge));
        }
        (of_values, of_parameters)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], scale: f64, values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += scale * value);
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn farthest(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().all(|value| value.is_finite()));
    found.iter().zip(expected).fold(0.0, |most, (a, b)| (a - b).abs().max(most))
}

#[test]
fn outputs_of_all_shapes_agree_with_the_equations() {
    let Some(card) = test_card() else { return };
    let shapes =
        [(1, 1, 1, 1), (3, 5, 2, 7), (12, 64, 3, 20), (70, 65, 1, 9), (2, 128, 2, 5), (5, 257, 1, 4), (4, 600, 1, 2)];
    for shape in shapes {
        let case = Case::new(shape);
        let expected = case.oracle(&wide(&case.values), &wide(&case.parameters));
        for learns in [false, true] {
            let (output, trace) = gru(&card, &case.pass(), learns).unwrap();
            assert_eq!(trace.is_some(), learns);
            let error = farthest(&wide(&output), &expected);
            assert!(error < 1e-5, "{shape:?}: {error}");
        }
    }
}

#[test]
fn gradients_agree_with_differences() {
    let Some(card) = test_card() else { return };
    let shapes = [
        ((1, 1, 1, 1), 1),
        ((3, 5, 2, 7), 1),
        ((2, 6, 3, 1), 1),
        ((12, 64, 2, 5), 1471),
        ((5, 65, 2, 5), 1471),
        ((3, 260, 1, 3), 40_001),
    ];
    for (shape, step) in shapes {
        let case = Case::new(shape);
        let (_, of_values, of_parameters) = case.gradients(&card, Limits::USUAL).unwrap();
        let (values_expected, parameters_expected) = case.differences(step);
        for (found, expected) in [(of_values, values_expected), (of_parameters, parameters_expected)] {
            let largest = found.iter().fold(0.0_f64, |most, &value| most.max(f64::from(value).abs()));
            let some: Vec<f32> = found.into_iter().step_by(step).collect();
            let error = farthest(&wide(&some), &expected) / largest.max(1e-30);
            assert!(error < 1e-4, "{shape:?}: {error}");
        }
    }
}

/// Mesa's software card would not finish any of these in one dispatch.
#[test]
fn long_sequences_agree_with_the_equations() {
    let Some(card) = test_card() else { return };
    for shape in [(3, 8, 1, 9000), (2, 65, 1, 3700)] {
        let case = Case::new(shape);
        let (output, _) = gru(&card, &case.pass(), false).unwrap();
        let error = farthest(&wide(&output), &case.oracle(&wide(&case.values), &wide(&case.parameters)));
        assert!(error < 1e-5, "{shape:?}: {error}");
    }
    // The way back takes more iterations.
    let case = Case::new((2, 257, 1, 180));
    let (_, of_values, of_parameters) = case.gradients(&card, Limits::USUAL).unwrap();
    let (values_expected, parameters_expected) = case.oracle_gradients();
    for (found, expected) in [(of_values, values_expected), (of_parameters, parameters_expected)] {
        let largest = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let error = farthest(&wide(&found), &expected) / largest;
        assert!(error < 1e-4, "{error}");
    }
}

#[test]
fn cutting_a_batch_or_repeating_it_gives_the_same_bits() {
    let Some(card) = test_card() else { return };
    // Three sequences make a part, two parts a piece, and one sequence is left.
    let case = Case::new((3, 4, 7, 130));
    let whole = case.gradients(&card, Limits::USUAL).unwrap();
    assert!(whole == case.gradients(&card, Limits::USUAL).unwrap());
    for values in [0, 6 * 130 * 60] {
        assert!(whole == case.gradients(&card, Limits { values, ..Limits::USUAL }).unwrap());
    }
    let least = Limits { values: 0, ..Limits::USUAL };
    assert!(whole.0 == gru_within(&card, &case.pass(), false, least).unwrap().0);
}

#[test]
fn cutting_the_frames_gives_the_same_bits() {
    let Some(card) = test_card() else { return };
    for shape in [(3, 4, 3, 23), (5, 64, 2, 9), (2, 65, 2, 9), (2, 300, 1, 3)] {
        let case = Case::new(shape);
        let whole = case.gradients(&card, Limits::USUAL).unwrap();
        // One frame a dispatch, or a few.
        for iterations in [0, 100] {
            assert!(whole == case.gradients(&card, Limits { iterations, ..Limits::USUAL }).unwrap(), "{shape:?}");
        }
    }
}

#[test]
fn a_sequence_does_not_depend_on_its_company() {
    let Some(card) = test_card() else { return };
    let case = Case::new((3, 7, 3, 9));
    let (all, _) = gru(&card, &case.pass(), false).unwrap();
    let second = GruPass { sequences: 1, values: &case.values[27..54], ..case.pass() };
    assert_eq!(gru(&card, &second, false).unwrap().0, all[126..252]);
}

#[test]
fn saturated_gates_and_a_silent_network_give_finite_results() {
    let Some(card) = test_card() else { return };
    let mut case = Case::new((3, 5, 1, 6));
    case.values.iter_mut().for_each(|value| *value *= 1e6);
    let (output, input, parameters) = case.gradients(&card, Limits::USUAL).unwrap();
    let expected = case.oracle(&wide(&case.values), &wide(&case.parameters));
    assert!(farthest(&wide(&output), &expected) < 1e-5);
    assert!(input.iter().chain(&parameters).all(|value| value.is_finite()));
    case.parameters.fill(0.0);
    let (output, input, parameters) = case.gradients(&card, Limits::USUAL).unwrap();
    assert!(output.iter().all(|&value| value == 0.0));
    assert!(input.iter().chain(&parameters).all(|value| value.is_finite()));
}

#[test]
fn nothing_to_do_is_done_and_what_does_not_fit_is_a_failure() {
    let Some(card) = test_card() else { return };
    for shape in [(3, 5, 0, 4), (3, 5, 2, 0), (3, 0, 2, 4), (0, 5, 2, 4)] {
        let case = Case::new(shape);
        let (output, input, parameters) = case.gradients(&card, Limits::USUAL).unwrap();
        assert_eq!(output, vec![0.0; case.gradient.len()]);
        assert_eq!(input, vec![0.0; case.values.len()]);
        assert_eq!(parameters, vec![0.0; case.parameters.len()]);
    }
    let case = Case::new((3, 5, 2, 4));
    let pass = case.pass();
    assert!(gru(&card, &GruPass { sequences: 3, ..pass }, false).is_err());
    assert!(gru(&card, &GruPass { parameters: &pass.parameters[1..], ..pass }, false).is_err());
    assert!(gru(&card, &Case::new((1, 769, 1, 1)).pass(), false).is_err());
    assert!(gru_backward(&card, &pass, Box::new(1), &case.gradient, false).is_err());
    let trace = || gru(&card, &pass, true).unwrap().1.unwrap();
    assert!(gru_backward(&card, &pass, trace(), &case.gradient[1..], false).is_err());
    let other = Case::new((3, 5, 2, 5));
    assert!(gru_backward(&card, &other.pass(), trace(), &other.gradient, false).is_err());
    assert!(gru_backward(&card, &pass, trace(), &case.gradient, false).unwrap().0.is_none());
}
