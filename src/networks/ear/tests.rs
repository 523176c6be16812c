use super::kernel::{Convolution, LAYERS, backward, forward, parameter_count};
use super::*;

fn parameters64(seed: u64) -> Vec<f64> {
    let mut random = Random::at(seed, &[]);
    (0..parameter_count()).map(|_| random.between(-0.2, 0.2)).collect()
}

fn inputs64(frames: usize) -> Vec<f64> {
    let mut random = Random::at(9, &[]);
    (0..frames * CHANNELS).map(|_| random.between(0.0, 1.5)).collect()
}

/// The convolutions written out.
fn naive(parameters: &[f64], inputs: &[f64]) -> Vec<f64> {
    let mut values = inputs.to_vec();
    for (index, layer) in LAYERS.into_iter().enumerate() {
        let parameters = &parameters[Convolution::range(index)];
        let frames = values.len() / layer.inputs + 1 - layer.taps;
        let mut next = Vec::new();
        for frame in 0..frames {
            for output in 0..layer.outputs {
                let mut sum = parameters[layer.width() * layer.outputs + output];
                for tap in 0..layer.taps {
                    for input in 0..layer.inputs {
                        let weight = parameters[(tap * layer.inputs + input) * layer.outputs + output];
                        sum += weight * values[(frame + tap) * layer.inputs + input];
                    }
                }
                next.push(if index + 1 < LAYERS.len() { sum.max(0.0) } else { sum });
            }
        }
        values = next;
    }
    values
}

#[test]
fn the_forward_pass_is_three_convolutions() {
    let (parameters, inputs) = (parameters64(3), inputs64(2 * CONTEXT + 5));
    let activations = forward(&parameters, &inputs);
    let expected = naive(&parameters, &inputs);
    assert_eq!((activations[2].len(), expected.len()), (5, 5));
    assert!(activations[2].iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn the_backward_pass_agrees_with_finite_differences() {
    let (parameters, inputs) = (parameters64(4), inputs64(2 * CONTEXT + 4));
    let weights = [0.3, -1.0, 0.7, 0.2];
    let loss =
        |parameters: &[f64]| -> f64 { forward(parameters, &inputs)[2].iter().zip(weights).map(|(l, w)| l * w).sum() };
    let mut gradient = vec![0.0; parameters.len()];
    backward(&parameters, &inputs, &forward(&parameters, &inputs), &weights, &mut gradient);
    for index in (0..parameters.len()).step_by(97) {
        let moved = |step: f64| {
            let mut other = parameters.clone();
            other[index] += step;
            loss(&other)
        };
        let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((gradient[index] - expected).abs() < 1e-6 * (1.0 + expected.abs()), "parameter {index}");
    }
}
