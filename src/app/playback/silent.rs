//! The output of a machine without sound: pulls in real time and plays nothing, so that the playhead still moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{ListDevices, Output, OutputDevice, SharedEngine, Started, lock};
use crate::base::error::{Error, Result};

const RATE: u32 = 22_050;

/// A thread that pulls samples and drops them.
pub struct SilentOutput {
    begun: Instant,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Default for SilentOutput {
    fn default() -> Self {
        Self { begun: Instant::now(), stop: Arc::default(), thread: None }
    }
}

impl Output for SilentOutput {
    fn start(&mut self, engine: &SharedEngine) -> Result<Started> {
        self.stop();
        self.stop = Arc::default();
        let (stop, begun, engine) = (Arc::clone(&self.stop), self.begun, Arc::clone(engine));
        let pull = move || {
            let mut told_s = begun.elapsed().as_secs_f64();
            while !stop.load(Ordering::Relaxed) {
                let behind = begun.elapsed().as_secs_f64() - told_s;
                let mut block = vec![[0.0; 2]; (behind * f64::from(RATE)) as usize];
                lock(&engine).fill(&mut block, RATE, told_s);
                told_s += block.len() as f64 / f64::from(RATE);
                std::thread::sleep(Duration::from_millis(15));
            }
        };
        let thread = std::thread::Builder::new().name("agogic-silence".to_owned()).spawn(pull);
        self.thread = Some(thread.map_err(|source| Error::io("start", "the playback thread", source))?);
        Ok(Started::AsChosen)
    }

    fn choose(&mut self, _: Option<OutputDevice>) {}

    fn lister(&self) -> ListDevices {
        Vec::new
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It holds nothing that could be lost.
            let _ = thread.join();
        }
    }

    fn now_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn is_lost(&self) -> bool {
        false
    }
}

impl Drop for SilentOutput {
    fn drop(&mut self) {
        self.stop();
    }
}
