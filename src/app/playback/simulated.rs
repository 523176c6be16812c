//! An output for tests: time passes when it is told to.

use std::sync::{Arc, Mutex, PoisonError};

use super::{ListDevices, Output, OutputDevice, SharedEngine, Started, lock};
use crate::base::error::Result;

const RATE: u32 = 44_100;
const BLOCK: usize = 441;

#[derive(Default)]
struct Inner {
    now_s: f64,
    engine: Option<SharedEngine>,
    peak: f32,
}

/// The hands of the clock.
#[derive(Clone, Default)]
pub struct SimulatedClock(Arc<Mutex<Inner>>);

impl SimulatedClock {
    /// Lets time pass; an output that was started pulls its samples.
    pub fn advance(&self, seconds: f64) {
        let mut inner = self.inner();
        let mut block = [[0.0; 2]; BLOCK];
        for _ in 0..(seconds * f64::from(RATE) / BLOCK as f64).round() as usize {
            if let Some(engine) = &inner.engine {
                lock(engine).fill(&mut block, RATE, inner.now_s);
                let peak = block.iter().flatten().fold(0.0, |peak: f32, sample| peak.max(sample.abs()));
                inner.peak = inner.peak.max(peak);
            }
            inner.now_s += BLOCK as f64 / f64::from(RATE);
        }
    }

    /// The loudest sample so far.
    pub fn peak(&self) -> f32 {
        self.inner().peak
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pulls samples when its clock is advanced.
pub struct SimulatedOutput {
    clock: SimulatedClock,
    chosen: Option<OutputDevice>,
}

impl SimulatedOutput {
    /// An output that goes by `clock`.
    pub fn new(clock: SimulatedClock) -> Self {
        Self { clock, chosen: None }
    }
}

fn devices() -> Vec<OutputDevice> {
    let device = |id: &str, name: &str| OutputDevice { id: id.to_owned(), name: name.to_owned() };
    vec![device("simulated:left", "Left loudspeaker"), device("simulated:right", "Right loudspeaker")]
}

impl Output for SimulatedOutput {
    fn start(&mut self, engine: &SharedEngine) -> Result<Started> {
        self.clock.inner().engine = Some(Arc::clone(engine));
        let gone = self.chosen.as_ref().filter(|chosen| !devices().contains(chosen));
        Ok(gone.map_or(Started::AsChosen, |gone| Started::Without(gone.name.clone())))
    }

    fn choose(&mut self, device: Option<OutputDevice>) {
        self.chosen = device;
    }

    fn lister(&self) -> ListDevices {
        devices
    }

    fn stop(&mut self) {
        self.clock.inner().engine = None;
    }

    fn now_s(&self) -> f64 {
        self.clock.inner().now_s
    }

    fn is_lost(&self) -> bool {
        false
    }
}
