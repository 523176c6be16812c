//! How long each stage takes.

use std::time::Instant;

use serde::Serialize;

/// Wall time of one stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTime {
    /// The stage in plain words.
    pub stage: &'static str,
    /// Seconds.
    pub seconds: f64,
}

/// Collects the times of the stages in the order they run.
#[derive(Debug, Default)]
pub struct Stopwatch {
    times: Vec<StageTime>,
}

impl Stopwatch {
    /// Runs `work` and notes how long it took.
    pub fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = work();
        self.times.push(StageTime { stage, seconds: begun.elapsed().as_secs_f64() });
        result
    }

    /// The times noted.
    pub fn into_times(self) -> Vec<StageTime> {
        self.times
    }
}
