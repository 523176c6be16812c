//! The settings of a training.

use serde::{Deserialize, Serialize};

use super::adam::AdamParams;
use super::augmentation::Augmentation;
use super::losses::WarpLoss;
use super::method::Method;
use super::slices::SliceParams;
use crate::base::error::{Error, Result};

/// What is trained, and how.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrainParams {
    /// The loss.
    pub method: Method,
    /// How slices are cut.
    pub slices: SliceParams,
    /// Slices per step.
    pub batch_size: usize,
    /// Most passes through the data.
    pub epochs: usize,
    /// Epochs without a better validation after which training ends.
    pub patience: usize,
    /// The optimiser.
    pub optimiser: AdamParams,
    /// Gradients this many times longer than usual are shortened to it: one wild slice must not undo an epoch.
    pub longest_gradient: f64,
    /// Steps over which the parameters are averaged; the average is what is validated and kept, because single steps
    /// are noisy. 1 keeps the parameters themselves.
    pub averaged_steps: f64,
    /// Whether λ is learned, too.
    pub learns_lambda: bool,
    /// What is redrawn every epoch; `None` trains on the recordings as they are.
    pub augmentation: Option<Augmentation>,
    /// Decides everything that is drawn.
    pub seed: u64,
}

impl Default for TrainParams {
    fn default() -> Self {
        Self {
            method: Method::decdtw(WarpLoss::TimeErr),
            slices: SliceParams::default(),
            batch_size: 5,
            epochs: 20,
            patience: 8,
            optimiser: AdamParams::default(),
            longest_gradient: 2.0,
            averaged_steps: 100.0,
            learns_lambda: false,
            augmentation: Some(Augmentation::default()),
            seed: 1,
        }
    }
}

impl TrainParams {
    /// Checks every setting against its legal range.
    pub(super) fn validate(&self) -> Result<()> {
        self.slices.validate()?;
        if !(1..=4096).contains(&self.batch_size) {
            return Err(Error::invalid("batch size", self.batch_size, "between 1 and 4096"));
        }
        if !(self.longest_gradient.is_finite() && self.longest_gradient > 0.0) {
            return Err(Error::invalid("longest gradient", self.longest_gradient, "a number above zero"));
        }
        if !(self.averaged_steps.is_finite() && self.averaged_steps >= 1.0) {
            return Err(Error::invalid("averaged steps", self.averaged_steps, "a number, 1 or above"));
        }
        Ok(())
    }
}
