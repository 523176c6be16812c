//! How work runs: on a thread of its own, without the interpreter's lock, while the calling thread looks out for Ctrl+C.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agogic::{Error, JobContext, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::exception;

/// How long the calling thread sleeps between two looks at signals and progress.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Something to cancel work by, from another thread.
#[pyclass(frozen, module = "agogic._agogic")]
pub struct Job {
    ctx: JobContext,
}

#[pymethods]
impl Job {
    #[new]
    fn new() -> Self {
        Self { ctx: JobContext::new() }
    }

    /// Asks all work that was given this job to stop.
    fn cancel(&self) {
        self.ctx.cancel();
    }
}

/// What a caller may want to know and do while work runs.
#[derive(Default)]
pub struct Watching {
    /// Cancels the work.
    pub job: Option<Py<Job>>,
    /// Called with stage and fraction, on the calling thread.
    pub progress: Option<Py<PyAny>>,
}

/// The last progress that the work reported and that was not told yet.
type Latest = Arc<Mutex<Option<(String, f32)>>>;

/// Runs `work` to its end, or until it is cancelled or Ctrl+C is pressed.
pub fn run<R: Send + 'static>(
    py: Python<'_>,
    watching: &Watching,
    work: impl FnOnce(&JobContext) -> Result<R> + Send + 'static,
) -> PyResult<R> {
    let latest = Latest::default();
    let ctx = match (&watching.job, &watching.progress) {
        (Some(job), _) => job.get().ctx.clone(),
        (None, Some(_)) => reporting_to(Arc::clone(&latest)),
        (None, None) => JobContext::new(),
    };
    let (sender, mut receiver) = mpsc::channel();
    let of_worker = ctx.clone();
    let worker = std::thread::Builder::new().name("agogic".to_owned()).spawn(move || {
        // Nobody waits any more if the caller was interrupted.
        let _ = sender.send(on_threads_of_this_process(|| work(&of_worker)));
    });
    worker.map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))?;
    loop {
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(LOOK_EVERY)) {
            Ok(outcome) => {
                tell(py, &latest, watching.progress.as_ref())?;
                return outcome.map_err(|error| exception(py, &error));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result; please report this"));
            }
        }
        if let Err(interrupt) = py.check_signals().and_then(|()| tell(py, &latest, watching.progress.as_ref())) {
            ctx.cancel();
            // What the work holds, such as half-written files, is gone when it has stopped.
            let _ = py.detach(move || receiver.recv());
            return Err(interrupt);
        }
    }
}

fn reporting_to(latest: Latest) -> JobContext {
    JobContext::with_progress(move |progress| {
        let told = (progress.stage.to_owned(), progress.fraction);
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    })
}

fn tell(py: Python<'_>, latest: &Latest, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let news = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (news, progress) {
        (Some((stage, fraction)), Some(progress)) => progress.call1(py, (stage, fraction)).map(drop),
        _ => Ok(()),
    }
}

/// The process that loaded this module.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// To be called when the module is loaded.
pub fn remember_process() {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
}

/// A process that was forked, as by `multiprocessing`, has none of its parent's threads: it gets threads of its own, or the work
/// would wait for ever.
fn on_threads_of_this_process<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    if std::process::id() == PROCESS.load(Ordering::Relaxed) {
        return work();
    }
    let pool = rayon::ThreadPoolBuilder::new().build();
    let pool = pool.map_err(|error| Error::unsuitable("the process", error.to_string(), "allow it more threads"))?;
    pool.install(work)
}
