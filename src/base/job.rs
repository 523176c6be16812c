//! Progress, cancellation and the device: [`JobContext`] is the first parameter of every long function.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::accelerator::{Accelerated, Accelerator, Outcome, Work};
use crate::base::error::{Error, Result};

/// What a long function reports while it works.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    /// The stage in plain words, such as "decoding".
    pub stage: &'a str,
    /// Share of the stage that is done, 0 to 1.
    pub fraction: f32,
}

type Sink = dyn Fn(Progress<'_>) + Send + Sync;

/// Carries progress out of, and cancellation into, a long function, and says where it may compute. Cheap to clone; clones share all
/// of it.
#[derive(Clone, Default)]
pub struct JobContext {
    cancelled: Arc<AtomicBool>,
    sink: Option<Arc<Sink>>,
    device: Option<Accelerated>,
}

impl JobContext {
    /// A context that reports to nobody. It can still be cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// A context that reports progress to `sink`, from whichever thread does the work.
    pub fn with_progress(sink: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self { sink: Some(Arc::new(sink)), ..Self::default() }
    }

    /// The same cancellation without the progress reports, for work done inside a stage.
    pub fn quiet(&self) -> Self {
        Self { sink: None, ..self.clone() }
    }

    /// The same with a device beside the CPU, or without any.
    pub fn on(&self, device: Option<Accelerated>) -> Self {
        Self { device, ..self.clone() }
    }

    /// Whether there is a device for so much work.
    pub(crate) fn accelerates(&self, work: Work) -> bool {
        self.device.as_ref().is_some_and(|device| device.takes(work))
    }

    /// What computes: the device beside the CPU if there is one that works, else "cpu".
    pub(crate) fn device_name(&self) -> String {
        self.device.as_ref().and_then(Accelerated::name).unwrap_or("cpu").to_owned()
    }

    /// The device beside the CPU, if it has done anything so far.
    pub(crate) fn device_used(&self) -> Option<String> {
        self.device.as_ref().filter(|device| device.was_used()).and_then(Accelerated::name).map(str::to_owned)
    }

    /// Whether there may be a device beside the CPU.
    pub(crate) fn has_device(&self) -> bool {
        self.device.is_some()
    }

    /// Lets the device do some work, if there is one and it pays. `None`: the CPU has to.
    pub(crate) fn accelerate<R>(
        &self,
        work: Work,
        operation: impl FnOnce(&dyn Accelerator) -> Outcome<R>,
    ) -> Option<R> {
        self.device.as_ref()?.run(work, operation)
    }

    /// Asks the work to stop; it returns [`Error::Cancelled`] at its next check.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns [`Error::Cancelled`] once cancelled.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Reports progress, then checks for cancellation.
    pub fn report(&self, stage: &str, fraction: f32) -> Result<()> {
        if let Some(sink) = &self.sink {
            sink(Progress { stage, fraction: fraction.clamp(0.0, 1.0) });
        }
        self.check()
    }
}

impl std::fmt::Debug for JobContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobContext").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn reports_reach_the_sink_and_cancellation_reaches_every_clone() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let ctx = JobContext::with_progress(move |p| log.lock().unwrap().push((p.stage.to_owned(), p.fraction)));
        ctx.report("decoding", 0.5).unwrap();
        ctx.quiet().report("inner", 0.1).unwrap();
        let clone = ctx.clone();
        ctx.cancel();
        assert!(matches!(clone.report("decoding", 2.0), Err(Error::Cancelled)));
        assert!(ctx.quiet().check().is_err());
        assert_eq!(*seen.lock().unwrap(), [("decoding".to_owned(), 0.5), ("decoding".to_owned(), 1.0)]);
    }
}
