//! The settings of a training.

use serde::{Deserialize, Serialize};

use super::extractor::SliceParams;
use super::method::{EarMethod, TrainingMethod};
use super::optimiser::AdamParams;
use crate::base::error::{Error, Result};

/// How the step size changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Steps are halved after every epoch that is no better, and training goes on from the best.
    HalvedWhenWorse,
    /// Steps fall to zero along a cosine over all epochs.
    Cosine,
}

/// What is trained, and how.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrainParams {
    /// The loss.
    pub method: TrainingMethod,
    /// How slices are cut. For extractors.
    pub slices: SliceParams,
    /// Examples per step: slices, chunks of a recording, or stretches of the score.
    pub batch_size: usize,
    /// Most passes through the data.
    pub epochs: usize,
    /// Epochs without a better validation after which training ends.
    pub patience: usize,
    /// The optimiser.
    pub optimiser: AdamParams,
    /// How the step size changes.
    pub schedule: Schedule,
    /// Gradients this many times longer than usual are shortened to it: one wild example must not undo an epoch.
    pub longest_gradient: Option<f64>,
    /// Steps over which the parameters are averaged; the average is what is validated and kept, because single steps
    /// are noisy. 1 keeps the parameters themselves.
    pub averaged_steps: f64,
    /// Whether λ is learned, too. For extractors.
    pub learns_lambda: bool,
    /// Whether other levels, tone, noise and rooms are drawn every epoch.
    pub augmented: bool,
    /// Decides everything that is drawn.
    pub seed: u64,
}

impl TrainParams {
    /// What suits a method.
    pub fn of(method: TrainingMethod) -> Self {
        let ear = Self {
            method,
            slices: SliceParams::default(),
            batch_size: 10,
            epochs: 8,
            patience: 8,
            optimiser: AdamParams { learning_rate: 2e-3, ..AdamParams::default() },
            schedule: Schedule::Cosine,
            longest_gradient: Some(2.0),
            averaged_steps: 1.0,
            learns_lambda: false,
            augmented: true,
            seed: 1,
        };
        match method {
            TrainingMethod::Ear(EarMethod::Notes) => ear,
            TrainingMethod::Ear(EarMethod::Alignment) => Self {
                batch_size: 4,
                optimiser: AdamParams { learning_rate: 2e-4, ..AdamParams::default() },
                augmented: false,
                ..ear
            },
            TrainingMethod::Extractor(_) => Self {
                batch_size: 5,
                epochs: 20,
                optimiser: AdamParams::default(),
                schedule: Schedule::HalvedWhenWorse,
                averaged_steps: 100.0,
                ..ear
            },
        }
    }

    /// What suits adapting a model to a few pieces: fewer and shorter steps.
    pub fn fine_tuning(method: TrainingMethod) -> Self {
        let learning_rate = match method {
            TrainingMethod::Ear(_) => 2e-4,
            TrainingMethod::Extractor(_) => 1e-4,
        };
        let suitable = Self::of(method);
        Self { epochs: 10, patience: 10, optimiser: AdamParams { learning_rate, ..suitable.optimiser }, ..suitable }
    }

    /// Checks every setting against its legal range.
    pub(super) fn validate(&self) -> Result<()> {
        self.slices.validate()?;
        if !(1..=4096).contains(&self.batch_size) {
            return Err(Error::invalid("batch size", self.batch_size, "between 1 and 4096"));
        }
        if let Some(longest) = self.longest_gradient.filter(|longest| !(longest.is_finite() && *longest > 0.0)) {
            return Err(Error::invalid("longest gradient", longest, "a number above zero"));
        }
        if !(self.averaged_steps.is_finite() && self.averaged_steps >= 1.0) {
            return Err(Error::invalid("averaged steps", self.averaged_steps, "a number, 1 or above"));
        }
        Ok(())
    }
}
