//! Pausing a training from another thread. (Stopping is the job context's cancellation.)

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::base::error::Result;
use crate::base::job::JobContext;

/// Whether a training may go on.
#[derive(Debug, Default)]
pub struct Control {
    paused: Mutex<bool>,
    changed: Condvar,
}

/// How often a paused training looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

impl Control {
    /// Pauses before the next step, or goes on.
    pub fn set_paused(&self, paused: bool) {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = paused;
        self.changed.notify_all();
    }

    /// Returns when not paused, or fails when cancelled.
    pub(super) fn wait(&self, ctx: &JobContext) -> Result<()> {
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        while *paused {
            ctx.check()?;
            paused = self.changed.wait_timeout(paused, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        ctx.check()
    }
}
