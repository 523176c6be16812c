//! From how much work on a graphics card pays: measured once for each card, driver and version of the program, and kept.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::base::accelerator::{Accelerated, Accelerator, Opened, Thresholds, Work, WorkKind};
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::Result;
use crate::base::folders::cache_folder;
use crate::base::job::JobContext;
use crate::gpu::{Adapter, GpuDevice};
use crate::networks::examples;
use crate::warping::Signal;
use crate::warping::gdtw::{Problem, SolveOptions, search_work, solve_many};
use crate::warping::soft_dtw::{Pair, pair_work, soft_dtw_of_pairs};

/// Less work than this, about a tenth of a second of a CPU, does not wait for a card to be opened.
pub(super) const LEAST_WORK: f64 = 1e9;
/// Examples of each kind of work that are timed: the few tell what it costs to ask the card at all.
const FEW: usize = 1;
const MANY: usize = 16;
/// Runs of each, of which the fastest counts.
const RUNS: usize = 3;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    program: String,
    adapter: String,
    driver: String,
    /// `None` where the card never pays: JSON has no infinity.
    least_work: [Option<f64>; WorkKind::COUNT],
}

/// From how much work on a card pays; `None` if it cannot be used.
pub(super) fn measured(adapter: &Adapter) -> Option<Thresholds> {
    let path = kept_at(adapter);
    let known = path.as_deref().and_then(read).filter(|kept| kept.is_of(adapter));
    let least_work = match known {
        Some(kept) => kept.least_work,
        None => {
            let device = GpuDevice::open(adapter).ok()?;
            let least_work = measure_apart(Box::new(device))?.map(|least| least.is_finite().then_some(least));
            if let Some(path) = path {
                keep(&path, &Kept::new(adapter, least_work));
            }
            least_work
        }
    };
    Some(least_work.map(|least| least.unwrap_or(f64::INFINITY)))
}

impl Kept {
    fn new(adapter: &Adapter, least_work: [Option<f64>; WorkKind::COUNT]) -> Self {
        let program = concat!("agogic ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { program, adapter: adapter.name().to_owned(), driver: adapter.driver(), least_work }
    }

    fn is_of(&self, adapter: &Adapter) -> bool {
        *self == Self::new(adapter, self.least_work)
    }
}

fn kept_at(adapter: &Adapter) -> Option<PathBuf> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = format!("{} {}", adapter.name(), adapter.backend()).chars().map(plain).collect();
    Some(cache_folder()?.join("devices").join(format!("{name}.json")))
}

fn read(path: &Path) -> Option<Kept> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Where it cannot be kept, it is measured again next time.
fn keep(path: &Path, kept: &Kept) {
    let made = path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
    if let (true, Ok(json)) = (made, serde_json::to_vec_pretty(kept)) {
        let _ = write_bytes_atomically(path, &json);
    }
}

/// Measures on threads of its own. Whoever asks for a device may be a thread of the common pool, and others of them may wait for the
/// answer: neither could help with the work of a measurement without asking for the device again.
pub(super) fn measure_apart(device: Box<dyn Accelerator>) -> Option<Thresholds> {
    let pool = rayon::ThreadPoolBuilder::new().build().ok()?;
    // Where no thread can be started, the work stays on the CPU.
    let thread = std::thread::Builder::new().spawn(move || pool.install(|| measure(device))).ok()?;
    thread.join().ok()?
}

/// Times the CPU and the device with every kind of work; `None` if the device fails.
fn measure(device: Box<dyn Accelerator>) -> Option<Thresholds> {
    let device = std::sync::Mutex::new(Some(device));
    let open = move || {
        let device = device.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()?;
        Some(Opened { device, thresholds: [0.0; WorkKind::COUNT] })
    };
    let failed = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let on_failure = std::sync::Arc::clone(&failed);
    let notify = move |_: &str| on_failure.store(true, std::sync::atomic::Ordering::Relaxed);
    let on_device = JobContext::new().on(Some(Accelerated::new(open, 0.0, notify)));
    let examples: [&Example; WorkKind::COUNT] =
        [&search_example, &wavefront_example, &recurrence_example, &convolution_example];
    let mut thresholds = [f64::INFINITY; WorkKind::COUNT];
    for example in examples {
        let (few, many) = (fastest(&on_device, example, FEW)?, fastest(&on_device, example, MANY)?);
        let cpu = fastest(&JobContext::new(), example, MANY)?;
        thresholds[many.0.kind as usize] = break_even(few, many, cpu);
    }
    (!failed.load(std::sync::atomic::Ordering::Relaxed)).then_some(thresholds)
}

/// Does so many examples of a kind of work, and says how much that is.
type Example = dyn Fn(&JobContext, usize) -> Result<Work>;

fn fastest(ctx: &JobContext, example: &Example, count: usize) -> Option<(Work, f64)> {
    // Kernels are compiled when they are first used.
    let work = example(ctx, count).ok()?;
    let time = || {
        let begun = Instant::now();
        example(ctx, count).ok().map(|_| begun.elapsed().as_secs_f64())
    };
    let times: Option<Vec<f64>> = (0..RUNS).map(|_| time()).collect();
    Some((work, times?.into_iter().fold(f64::INFINITY, f64::min)))
}

/// The amount of work for which the device, `a + b·amount`, takes as long as the CPU, `c·amount`.
fn break_even(few: (Work, f64), many: (Work, f64), cpu: (Work, f64)) -> f64 {
    let per_amount = ((many.1 - few.1) / (many.0.amount - few.0.amount)).max(0.0);
    let before = (few.1 - per_amount * few.0.amount).max(0.0);
    let gained = cpu.1 / cpu.0.amount - per_amount;
    if gained > 0.0 { before / gained } else { f64::INFINITY }
}

/// Frames of a score and of a performance, and values per frame, as in training.
const FRAMES: [usize; 2] = [256, 282];
const DIM: usize = 64;

fn signals() -> [(Vec<f64>, Vec<f32>); 2] {
    FRAMES.map(|frames| {
        let times = (0..frames).map(|i| 0.046 * i as f64).collect();
        let value = |i: usize| ((0.05 + 0.001 * (i % DIM) as f32) * (i / DIM) as f32).sin() / 8.0;
        (times, (0..frames * DIM).map(value).collect())
    })
}

fn search_example(ctx: &JobContext, count: usize) -> Result<Work> {
    let [x, y] = signals();
    let problem = Problem::from_signals(Signal::new(&x.0, &x.1, DIM)?, Signal::new(&y.0, &y.1, DIM)?, 0.1);
    solve_many(ctx, &vec![problem; count], &SolveOptions::default())?;
    let cells = count * FRAMES[0] * FRAMES[1];
    Ok(search_work(cells * DIM, 2 * cells))
}

fn wavefront_example(ctx: &JobContext, count: usize) -> Result<Work> {
    let [x, y] = signals();
    let pair: Pair<'_, f32> = (Signal::new(&x.0, &x.1, DIM)?, Signal::new(&y.0, &y.1, DIM)?);
    soft_dtw_of_pairs(ctx, &vec![pair; count], 1.0)?;
    Ok(pair_work(count * FRAMES[0] * FRAMES[1], DIM))
}

fn recurrence_example(ctx: &JobContext, count: usize) -> Result<Work> {
    examples::recurrence(ctx, 2 * count, FRAMES[0])
}

fn convolution_example(ctx: &JobContext, count: usize) -> Result<Work> {
    examples::hearing(ctx, 8 * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_pays_from_where_its_line_crosses_that_of_the_cpu() {
        let at = |amount: f64, seconds: f64| (Work { kind: WorkKind::Search, amount }, seconds);
        // 1 ms before anything happens, then 1 us a unit, against 3 us a unit of the CPU.
        let found = break_even(at(100.0, 1.1e-3), at(1000.0, 2e-3), at(1000.0, 3e-3));
        assert!((found - 500.0).abs() < 1e-6, "{found}");
        assert_eq!(break_even(at(1.0, 1.0), at(2.0, 5.0), at(2.0, 4.0)), f64::INFINITY, "never");
        assert_eq!(break_even(at(1.0, 1.0), at(2.0, 2.0), at(2.0, 40.0)), 0.0, "always");
    }

    #[test]
    fn a_measurement_is_of_one_card_driver_and_version() {
        let Some(adapter) = Adapter::all().into_iter().next() else { return };
        let kept = Kept::new(&adapter, [Some(1.0), None, Some(2.0), None]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("devices").join("card.json");
        assert!(read(&path).is_none());
        keep(&path, &kept);
        assert_eq!(read(&path).as_ref(), Some(&kept));
        assert!(kept.is_of(&adapter));
        assert!(!Kept { program: "agogic 0.0.1".to_owned(), ..kept }.is_of(&adapter));
    }
}
