//! The network against stored values, against finite differences, and its symmetries.

use std::f64::consts::TAU;

use serde::Deserialize;

use super::*;
use crate::base::job::JobContext;

#[derive(Deserialize)]
struct Case {
    input: usize,
    hidden: usize,
    frames: usize,
    output: Vec<f64>,
}

/// The formula of `tests/golden/gru/make.py`.
fn wave(count: usize, step: f64, scale: f64) -> Vec<f64> {
    (1..=count).map(|i| scale * (step * i as f64).sin()).collect()
}

fn run<F: Real>(shape: GruShape, parameters: &[f64], values: &[f64], sequences: usize) -> Vec<f64> {
    let parameters: Vec<F> = parameters.iter().map(|&p| F::from_f64(p)).collect();
    let values: Vec<F> = values.iter().map(|&p| F::from_f64(p)).collect();
    let frames = values.len() / sequences / shape.input;
    let batch = Batch { values: &values, sequences, frames, dim: shape.input };
    let gru = GruRef::new(shape, &parameters).unwrap();
    encode(&JobContext::new(), gru, &batch).unwrap().into_iter().map(F::to_f64).collect()
}

fn worst(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn outputs_agree_with_the_stored_reference_values() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../../tests/golden/gru/values.json")).unwrap();
    for case in cases {
        let shape = GruShape { input: case.input, hidden: case.hidden };
        let parameters = wave(shape.parameter_count(), 0.7, 0.6);
        let values = wave(case.frames * case.input, 1.3, 2.0);
        let double = worst(&run::<f64>(shape, &parameters, &values, 1), &case.output);
        let single = worst(&run::<f32>(shape, &parameters, &values, 1), &case.output);
        assert!(double < 1e-9 && single < 3e-6, "{} -> {}: {double:e}, {single:e}", case.input, case.hidden);
    }
}

#[test]
fn a_sequence_gives_the_same_bits_alone_and_in_any_batch() {
    let shape = GruShape { input: 12, hidden: 20 };
    let parameters = wave(shape.parameter_count(), 0.7, 0.4);
    // More frames than one block, more sequences than one task, a remainder of both.
    let (sequences, frames) = (8, 150);
    let values = wave(sequences * frames * shape.input, 1.3, 1.0);
    let together = run::<f32>(shape, &parameters, &values, sequences);
    for (i, alone) in values.chunks(frames * shape.input).enumerate() {
        let size = frames * shape.output();
        assert_eq!(run::<f32>(shape, &parameters, alone, 1), together[i * size..(i + 1) * size], "sequence {i}");
    }
}

#[test]
fn reversed_input_with_exchanged_directions_gives_the_reversed_output() {
    let shape = GruShape { input: 4, hidden: 6 };
    let parameters = wave(shape.parameter_count(), 0.9, 0.5);
    let half = parameters.len() / 2;
    let exchanged = [&parameters[half..], &parameters[..half]].concat();
    let values = wave(200 * shape.input, 1.7, 1.0);
    let reversed: Vec<f64> = values.chunks(shape.input).rev().flatten().copied().collect();
    let expected: Vec<f64> = run::<f64>(shape, &parameters, &values, 1)
        .chunks(shape.output())
        .rev()
        .flat_map(|frame| [&frame[shape.hidden..], &frame[..shape.hidden]].concat())
        .collect();
    assert!(worst(&run::<f64>(shape, &exchanged, &reversed, 1), &expected) < 1e-14);
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let shape = GruShape { input: 7, hidden: 16 };
    let parameters: Vec<f32> = wave(shape.parameter_count(), 0.7, 0.4).iter().map(|&v| v as f32).collect();
    let values: Vec<f32> = wave(12 * 30 * 7, 1.3, 1.0).iter().map(|&v| v as f32).collect();
    let batch = Batch { values: &values, sequences: 12, frames: 30, dim: 7 };
    let step = || {
        let gru = GruRef::new(shape, &parameters).unwrap();
        let (output, trace) = encode_recording(&JobContext::new(), gru, &batch).unwrap();
        let gradients = backward(gru, &batch, trace, &output, InputGradient::Wanted).unwrap();
        (output, gradients.parameters, gradients.input)
    };
    let results = [1, 2, 5].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(step));
    assert!(results[0] == results[1] && results[1] == results[2]);
}

/// A scalar of the output that weighs every value differently.
fn scalar(output: &[f64]) -> f64 {
    output.iter().enumerate().map(|(i, v)| v * (i as f64 * TAU / 7.3).cos() + v * v * v).sum()
}

fn scalar_gradient(output: &[f64]) -> Vec<f64> {
    output.iter().enumerate().map(|(i, v)| (i as f64 * TAU / 7.3).cos() + 3.0 * v * v).collect()
}

fn check_gradients(shape: GruShape, sequences: usize, frames: usize) {
    let parameters = wave(shape.parameter_count(), 0.7, 0.8);
    let values = wave(sequences * frames * shape.input, 1.3, 1.5);
    let batch = Batch { values: &values, sequences, frames, dim: shape.input };
    let gru = GruRef::new(shape, &parameters).unwrap();
    let (output, trace) = encode_recording(&JobContext::new(), gru, &batch).unwrap();
    let gradients = backward(gru, &batch, trace, &scalar_gradient(&output), InputGradient::Wanted).unwrap();
    let difference = |original: &[f64], index: usize, evaluate: &dyn Fn(&[f64]) -> Vec<f64>| {
        let step = 1e-5;
        let at = |offset: f64| {
            let mut moved = original.to_vec();
            moved[index] += offset;
            scalar(&evaluate(&moved))
        };
        (at(step) - at(-step)) / (2.0 * step)
    };
    for (i, &gradient) in gradients.parameters.iter().enumerate() {
        let expected = difference(&parameters, i, &|p| run::<f64>(shape, p, &values, sequences));
        assert!((gradient - expected).abs() < 1e-8 * (1.0 + expected.abs()), "parameter {i}: {gradient} {expected}");
    }
    for (i, &gradient) in gradients.input.unwrap().iter().enumerate() {
        let expected = difference(&values, i, &|v| run::<f64>(shape, &parameters, v, sequences));
        assert!((gradient - expected).abs() < 1e-8 * (1.0 + expected.abs()), "input {i}: {gradient} {expected}");
    }
}

#[test]
fn gradients_agree_with_finite_differences() {
    check_gradients(GruShape { input: 3, hidden: 2 }, 7, 6);
    check_gradients(GruShape { input: 2, hidden: 5 }, 1, 11);
    check_gradients(GruShape { input: 4, hidden: 1 }, 2, 1);
}

#[test]
fn single_precision_gradients_agree_with_double_precision() {
    let shape = GruShape { input: 12, hidden: 64 };
    fn gradients<F: Real>(shape: GruShape) -> Vec<f64> {
        let cast = |values: Vec<f64>| -> Vec<F> { values.into_iter().map(F::from_f64).collect() };
        let parameters = cast(wave(shape.parameter_count(), 0.7, 0.12));
        let values = cast(wave(2 * 256 * shape.input, 1.3, 1.0));
        let batch = Batch { values: &values, sequences: 2, frames: 256, dim: shape.input };
        let gru = GruRef::new(shape, &parameters).unwrap();
        let (output, trace) = encode_recording(&JobContext::new(), gru, &batch).unwrap();
        let weights = cast(wave(output.len(), 0.37, 1.0));
        let gradients = backward(gru, &batch, trace, &weights, InputGradient::Skipped).unwrap();
        assert!(gradients.input.is_none());
        gradients.parameters.into_iter().map(F::to_f64).collect()
    }
    let (single, double) = (gradients::<f32>(shape), gradients::<f64>(shape));
    let largest = double.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    assert!(worst(&single, &double) < 1e-4 * largest, "{:e} of {largest:e}", worst(&single, &double));
}

#[test]
fn empty_batches_and_sequences_are_no_problem() {
    let shape = GruShape { input: 3, hidden: 2 };
    let parameters = vec![0.1_f32; shape.parameter_count()];
    let gru = GruRef::new(shape, &parameters).unwrap();
    for (sequences, frames) in [(0, 5), (5, 0), (0, 0)] {
        let batch = Batch { values: &[], sequences, frames, dim: 3 };
        let (output, trace) = encode_recording(&JobContext::new(), gru, &batch).unwrap();
        assert!(output.is_empty());
        let gradients = backward(gru, &batch, trace, &[], InputGradient::Wanted).unwrap();
        assert!(gradients.parameters.iter().all(|&g| g == 0.0));
    }
}

#[test]
fn wrong_shapes_are_errors_that_name_the_expected_size() {
    let shape = GruShape { input: 48, hidden: 2 };
    let parameters = vec![0.1_f32; shape.parameter_count()];
    assert!(GruRef::new(shape, &parameters[1..]).is_err());
    let gru = GruRef::new(shape, &parameters).unwrap();
    let values = [0.0; 24];
    let wrong_dim = Batch { values: &values, sequences: 1, frames: 2, dim: 12 };
    let message = encode(&JobContext::new(), gru, &wrong_dim).unwrap_err().to_string();
    assert_eq!(message, "values per feature frame is 12, but must be 48, as the model was trained");
    let wrong_length = Batch { values: &values, sequences: 1, frames: 1, dim: 48 };
    assert!(encode(&JobContext::new(), gru, &wrong_length).is_err());
}

#[test]
fn cancelling_stops_the_forward_pass() {
    let shape = GruShape { input: 2, hidden: 2 };
    let parameters = vec![0.1_f32; shape.parameter_count()];
    let ctx = JobContext::new();
    ctx.cancel();
    let batch = Batch { values: &[0.0; 20], sequences: 1, frames: 10, dim: 2 };
    let result = encode(&ctx, GruRef::new(shape, &parameters).unwrap(), &batch);
    assert!(matches!(result, Err(Error::Cancelled)));
}
