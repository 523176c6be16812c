//! The Adam optimiser on plain slices, with a state that can be stored and taken up again.

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};

/// The constants of the optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AdamParams {
    /// Step size.
    pub learning_rate: f64,
    /// Memory of the mean gradient.
    pub beta1: f64,
    /// Memory of the mean squared gradient.
    pub beta2: f64,
    /// Keeps the step finite where gradients vanish.
    pub epsilon: f64,
}

impl Default for AdamParams {
    fn default() -> Self {
        Self { learning_rate: 5e-4, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

impl AdamParams {
    fn validate(&self) -> Result<()> {
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0) {
            return Err(Error::invalid("learning rate", self.learning_rate, "a number above zero"));
        }
        for (name, beta) in [("beta1", self.beta1), ("beta2", self.beta2)] {
            if !(0.0..1.0).contains(&beta) {
                return Err(Error::invalid(name, beta, "at least 0 and below 1"));
            }
        }
        if !(self.epsilon.is_finite() && self.epsilon > 0.0) {
            return Err(Error::invalid("epsilon", self.epsilon, "a number above zero"));
        }
        Ok(())
    }
}

/// The optimiser's constants and memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    params: AdamParams,
    steps: u64,
    means: Vec<f32>,
    squares: Vec<f32>,
}

impl Adam {
    /// An optimiser for this many parameters, without memory yet.
    pub fn new(params: AdamParams, parameter_count: usize) -> Result<Self> {
        params.validate()?;
        Ok(Self { params, steps: 0, means: vec![0.0; parameter_count], squares: vec![0.0; parameter_count] })
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Goes on with another step size.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.params.learning_rate = learning_rate;
    }

    /// What it remembers: mean gradients and mean squared gradients.
    pub(super) fn memory(&self) -> (&[f32], &[f32]) {
        (&self.means, &self.squares)
    }

    /// An optimiser that goes on from what another remembered.
    pub(super) fn resume(params: AdamParams, steps: u64, means: Vec<f32>, squares: Vec<f32>) -> Result<Self> {
        params.validate()?;
        Ok(Self { params, steps, means, squares })
    }

    /// How long gradients usually are, by the memory of their squares; `None` before there were enough of them.
    pub(super) fn usual_length(&self) -> Option<f64> {
        const ENOUGH: u64 = 10;
        let exponent = self.steps.min(i32::MAX as u64) as i32;
        let square = self.squares.iter().map(|&s| f64::from(s)).sum::<f64>() / (1.0 - self.params.beta2.powi(exponent));
        (self.steps >= ENOUGH).then(|| square.sqrt())
    }

    /// Moves the parameters one step against the gradient. On an error nothing has changed.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32]) -> Result<()> {
        let count = self.means.len();
        if parameters.len() != count || gradient.len() != count || self.squares.len() != count {
            let given = format!("{} with {} gradients", parameters.len(), gradient.len());
            return Err(Error::invalid("number of trained parameters", given, count.to_string()));
        }
        if gradient.iter().any(|g| !g.is_finite()) {
            let cause = "the gradient is not a number";
            return Err(Error::unsuitable("training", cause, "lower the learning rate or check the training data"));
        }
        self.steps += 1;
        let AdamParams { learning_rate, beta1, beta2, epsilon } = self.params;
        let exponent = self.steps.min(i32::MAX as u64) as i32;
        // Both memories start at zero: dividing by these takes that bias away.
        let mean_weight = 1.0 - beta1.powi(exponent);
        let square_weight = 1.0 - beta2.powi(exponent);
        let state = self.means.iter_mut().zip(&mut self.squares);
        for ((parameter, &gradient), (mean, square)) in parameters.iter_mut().zip(gradient).zip(state) {
            let gradient = f64::from(gradient);
            let new_mean = beta1 * f64::from(*mean) + (1.0 - beta1) * gradient;
            let new_square = beta2 * f64::from(*square) + (1.0 - beta2) * gradient * gradient;
            *mean = new_mean as f32;
            *square = new_square as f32;
            let step = new_mean / mean_weight / ((new_square / square_weight).sqrt() + epsilon);
            *parameter = (f64::from(*parameter) - learning_rate * step) as f32;
        }
        Ok(())
    }
}

/// Scales a gradient down to a length, if it is longer.
pub(super) fn shorten(gradient: &mut [f32], longest: f64) {
    let length = gradient.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt();
    if length > longest {
        let factor = (longest / length) as f32;
        gradient.iter_mut().for_each(|g| *g *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adam(learning_rate: f64, count: usize) -> Adam {
        Adam::new(AdamParams { learning_rate, ..AdamParams::default() }, count).unwrap()
    }

    #[test]
    fn the_first_steps_follow_the_published_equations() {
        // By hand: m1 = 0.05, v1 = 0.00025, so the corrected ratio is 0.5 / 0.5 and the step is the learning rate.
        let mut parameters = [1.0_f32];
        let mut adam = adam(0.1, 1);
        adam.step(&mut parameters, &[0.5]).unwrap();
        assert!((parameters[0] - 0.9).abs() < 1e-6);
        // m2 = 0.9 * 0.05 - 0.1 * 1 = -0.055, v2 = 0.999 * 0.00025 + 0.001 = 0.00124975.
        adam.step(&mut parameters, &[-1.0]).unwrap();
        let step = (-0.055 / 0.19) / (0.001_249_75_f64 / 0.001_999).sqrt();
        assert!((f64::from(parameters[0]) - (0.9 - 0.1 * step)).abs() < 1e-6);
    }

    #[test]
    fn a_quadratic_bowl_is_descended() {
        let target = [0.3_f32, -1.2, 2.0];
        let mut parameters = [0.0_f32; 3];
        let mut adam = adam(0.02, 3);
        for _ in 0..1500 {
            let gradient: Vec<f32> = parameters.iter().zip(target).map(|(p, t)| 2.0 * (p - t)).collect();
            adam.step(&mut parameters, &gradient).unwrap();
        }
        assert!(parameters.iter().zip(target).all(|(p, t)| (p - t).abs() < 1e-3), "{parameters:?}");
    }

    #[test]
    fn the_usual_length_is_that_of_the_gradients_so_far() {
        let (mut adam, mut parameters) = (adam(1e-3, 2), [0.0_f32; 2]);
        for _ in 0..9 {
            adam.step(&mut parameters, &[3.0, -4.0]).unwrap();
        }
        assert_eq!(adam.usual_length(), None);
        adam.step(&mut parameters, &[3.0, -4.0]).unwrap();
        assert!((adam.usual_length().unwrap() - 5.0).abs() < 1e-4);
    }

    #[test]
    fn a_bad_gradient_changes_nothing() {
        let mut adam = adam(1e-3, 2);
        let (before, mut parameters) = (adam.clone(), [1.0_f32, 2.0]);
        assert!(adam.step(&mut parameters, &[0.1, f32::NAN]).is_err());
        assert!(adam.step(&mut parameters, &[0.1]).is_err());
        assert_eq!((adam, parameters), (before, [1.0, 2.0]));
    }

    #[test]
    fn constants_out_of_range_are_refused() {
        for params in [
            AdamParams { learning_rate: 0.0, ..AdamParams::default() },
            AdamParams { beta2: 1.0, ..AdamParams::default() },
            AdamParams { epsilon: f64::NAN, ..AdamParams::default() },
        ] {
            assert!(Adam::new(params, 1).is_err(), "{params:?}");
        }
    }

    #[test]
    fn a_long_gradient_is_shortened_and_a_short_one_is_not() {
        let mut gradient = [3.0, 4.0];
        shorten(&mut gradient, 10.0);
        assert_eq!(gradient, [3.0, 4.0]);
        shorten(&mut gradient, 1.0);
        assert!((gradient[0] - 0.6).abs() < 1e-6 && (gradient[1] - 0.8).abs() < 1e-6);
    }
}
