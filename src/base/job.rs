//! Progress and cancellation: [`JobContext`] is the first parameter of every long function.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Carries progress out of, and cancellation into, a long function. Cheap to clone; clones share both.
#[derive(Clone, Default)]
pub struct JobContext {
    cancelled: Arc<AtomicBool>,
    sink: Option<Arc<Sink>>,
}

impl JobContext {
    /// A context that reports to nobody. It can still be cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// A context that reports progress to `sink`, from whichever thread does the work.
    pub fn with_progress(sink: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self { cancelled: Arc::default(), sink: Some(Arc::new(sink)) }
    }

    /// The same cancellation without the progress reports, for work done inside a stage.
    pub fn quiet(&self) -> Self {
        Self { cancelled: Arc::clone(&self.cancelled), sink: None }
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
