//! How fast the parts are on this machine, as `agogic bench` reports it.
//!
//! Inputs are generated and the same everywhere. Kernels run on one thread; what is compared takes turns, so that a
//! busy machine slows all of it alike and the ratios stay true.

mod batches;
mod inputs;
mod kernels;
mod long;
mod measure;
mod piece;
pub(crate) mod problems;

use serde::Serialize;

pub use problems::{ProblemResult, run_problems};

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// What was measured, such as "gdtw forward".
    pub name: String,
    /// On how much, such as "n=256 d=128".
    pub size: String,
    /// Threads it could use.
    pub threads: usize,
    /// Timed runs, after the warm-up.
    pub repetitions: usize,
    /// Median of the runs.
    pub median_ms: f64,
    /// Fastest run.
    pub min_ms: f64,
    /// Median, as a multiple of classic DTW's on the same input in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_to_dtw: Option<f64>,
    /// The same of the fastest runs: what a quiet machine would show, when this one is busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fastest_ratio_to_dtw: Option<f64>,
    /// Median per frame of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub us_per_frame: Option<f64>,
    /// Seconds of sound per second of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_real_time: Option<f64>,
    /// How many times as fast as one at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_faster: Option<f64>,
}

impl Measurement {
    /// With the ratios to classic DTW on the same input.
    fn against(self, dtw: &Self) -> Self {
        let ratio_to_dtw = Some(self.median_ms / dtw.median_ms);
        Self { ratio_to_dtw, fastest_ratio_to_dtw: Some(self.min_ms / dtw.min_ms), ..self }
    }
}

/// The group that a device takes part in.
const BATCHES: &str = "batches";

/// A group of measurements, and how it is run.
type Group = (&'static str, fn(&JobContext) -> Result<Vec<Measurement>>);

const GROUPS: [Group; 6] = [
    ("warping", kernels::warping),
    ("soft alignment", kernels::soft),
    (BATCHES, batches::batches),
    ("long pieces", long::long_pieces),
    ("sound", piece::sound),
    ("whole alignment", piece::whole),
];

/// Runs everything, in about a minute; `ctx` tells which group is at work. On a device beside the CPU there are more batches; all else
/// is measured on the CPU.
pub fn run_suite(ctx: &JobContext) -> Result<Vec<Measurement>> {
    let mut results = Vec::new();
    for (index, (name, run)) in GROUPS.iter().enumerate() {
        ctx.report(name, index as f32 / GROUPS.len() as f32)?;
        let quiet = ctx.quiet();
        results.extend(if *name == BATCHES { run(&quiet)? } else { run(&quiet.on(None))? });
    }
    ctx.report("done", 1.0)?;
    Ok(results)
}

/// Runs `work` on one thread, whatever the machine has.
fn on_one_thread<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| {
        Error::unsuitable("benchmark", format!("no thread could be started ({error})"), "close other programs")
    })?;
    pool.install(work)
}
