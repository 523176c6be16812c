//! Joining the two directions and dividing each frame by its length, if that is wanted.

use super::Output;
use crate::base::number::Real;

/// Shorter frames are divided by this instead, as PyTorch does, so that a silent network gives zeros and not NaN.
const SHORTEST: f64 = 1e-12;

/// The concatenated states, normalised if wanted. `hidden` values per frame in each of `states`.
pub(super) fn join<F: Real>(states: &[Vec<F>; 2], hidden: usize, wanted: Output) -> Vec<F> {
    let mut output = vec![F::ZERO; states[0].len() * 2];
    for (i, frame) in output.chunks_exact_mut(2 * hidden).enumerate() {
        let (first, second) = frame.split_at_mut(hidden);
        let of_frame = i * hidden..(i + 1) * hidden;
        first.copy_from_slice(&states[0][of_frame.clone()]);
        second.copy_from_slice(&states[1][of_frame]);
        if wanted == Output::States {
            continue;
        }
        let inverse = F::from_f64(1.0 / length(frame).max(SHORTEST));
        for value in frame {
            *value = *value * inverse;
        }
    }
    output
}

/// The gradient with respect to each direction's states, from that with respect to the output of [`join`].
pub(super) fn split_gradient<F: Real>(
    states: &[Vec<F>; 2],
    gradient: &[F],
    hidden: usize,
    wanted: Output,
) -> [Vec<F>; 2] {
    let mut result = [vec![F::ZERO; states[0].len()], vec![F::ZERO; states[1].len()]];
    let mut frame = vec![F::ZERO; 2 * hidden];
    for (i, gradient) in gradient.chunks_exact(2 * hidden).enumerate() {
        let of_frame = i * hidden..(i + 1) * hidden;
        if wanted == Output::States {
            result[0][of_frame.clone()].copy_from_slice(&gradient[..hidden]);
            result[1][of_frame].copy_from_slice(&gradient[hidden..]);
            continue;
        }
        frame[..hidden].copy_from_slice(&states[0][of_frame.clone()]);
        frame[hidden..].copy_from_slice(&states[1][of_frame.clone()]);
        let length = length(&frame);
        let inverse = F::from_f64(1.0 / length.max(SHORTEST));
        // The part along the frame changes only its length, which the division takes away.
        let along = if length > SHORTEST { dot(&frame, gradient) / (length * length) } else { 0.0 };
        let along = F::from_f64(along);
        for (half, result) in result.iter_mut().enumerate() {
            let half = half * hidden..(half + 1) * hidden;
            for ((result, &g), &x) in result[of_frame.clone()].iter_mut().zip(&gradient[half.clone()]).zip(&frame[half])
            {
                *result = (g - along * x) * inverse;
            }
        }
    }
    result
}

fn length<F: Real>(frame: &[F]) -> f64 {
    dot(frame, frame).sqrt()
}

fn dot<F: Real>(a: &[F], b: &[F]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| a.to_f64() * b.to_f64()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_length_one_and_a_zero_frame_stays_zero() {
        let states = [vec![3.0_f32, 0.0], vec![4.0, 0.0]];
        assert_eq!(join(&states, 1, Output::Normalised), [0.6, 0.8, 0.0, 0.0]);
    }

    #[test]
    fn a_gradient_along_the_frame_vanishes_and_one_across_is_divided_by_the_length() {
        let states = [vec![3.0_f64], vec![4.0]];
        let along = split_gradient(&states, &[6.0, 8.0], 1, Output::Normalised);
        assert!(along[0][0].abs() < 1e-12 && along[1][0].abs() < 1e-12);
        let across = split_gradient(&states, &[-4.0, 3.0], 1, Output::Normalised);
        assert!((across[0][0] + 0.8).abs() < 1e-12 && (across[1][0] - 0.6).abs() < 1e-12);
    }

    #[test]
    fn a_zero_frame_has_a_finite_gradient() {
        let gradient = split_gradient(&[vec![0.0_f64], vec![0.0]], &[1e-12, 0.0], 1, Output::Normalised);
        assert!((gradient[0][0] - 1.0).abs() < 1e-9 && gradient[1][0] == 0.0);
    }
}
