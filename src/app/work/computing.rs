//! The device that jobs compute on: opened by the first that needs it, on its own thread.

use std::sync::OnceLock;

use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::devices::{ChosenDevice, DeviceChoice, Notify};
use crate::networks::Device;

/// A choice, and what came of it.
#[derive(Debug, Default)]
pub struct Computing {
    choice: DeviceChoice,
    opened: OnceLock<ChosenDevice>,
}

impl Computing {
    /// A device that was not opened yet.
    pub fn on(choice: DeviceChoice) -> Self {
        Self { choice, opened: OnceLock::new() }
    }

    /// What was chosen.
    pub fn choice(&self) -> DeviceChoice {
        self.choice
    }

    /// The context of a job that computes, and where Candle's tensors are.
    pub fn open(&self, ctx: &JobContext, notify: Notify) -> Result<(JobContext, Device)> {
        let chosen = match self.opened.get() {
            Some(chosen) => chosen,
            None => {
                let chosen = self.choice.open(notify)?;
                self.opened.get_or_init(|| chosen)
            }
        };
        Ok((ctx.on(chosen.accelerated.clone()), chosen.candle.clone()))
    }
}
