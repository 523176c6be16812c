//! `agogic bench`: how fast the parts are on this machine.

use std::fmt::Write;

use serde::Serialize;

use super::args::BenchArgs;
use super::summary::{peak_memory_mb, to_json};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::bench::{Measurement, ProblemResult, run_problems, run_suite};
use crate::devices::{DeviceChoice, DeviceInfo, DeviceKind, devices};

/// What `--json` prints for the suite.
#[derive(Serialize)]
struct SuiteReport<'a> {
    program: &'static str,
    processors: usize,
    device: String,
    measurements: &'a [Measurement],
    peak_memory_mb: Option<f64>,
}

pub(super) fn run(ctx: &JobContext, args: &BenchArgs) -> Result<()> {
    let (ctx, _) = &super::devices::open(ctx, measured(args.device)?)?;
    let text = match &args.problems {
        Some(folder) => {
            let results = run_problems(ctx, folder)?;
            if args.json { to_json(&results) + "\n" } else { problems_table(&results) }
        }
        None => {
            let measurements = run_suite(ctx)?;
            let report = SuiteReport {
                program: concat!("agogic ", env!("CARGO_PKG_VERSION")),
                processors: std::thread::available_parallelism().map_or(1, usize::from),
                device: ctx.device_name(),
                measurements: &measurements,
                peak_memory_mb: peak_memory_mb(),
            };
            if args.json { to_json(&report) + "\n" } else { suite_table(&report) }
        }
    };
    super::print(text.as_bytes())
}

/// The device to measure: `auto` is a card that is not made of software, if there is one.
fn measured(choice: DeviceChoice) -> Result<DeviceChoice> {
    match choice {
        DeviceChoice::Cpu | DeviceChoice::Gpu => Ok(choice),
        DeviceChoice::Auto => {
            let is_card = |device: &DeviceInfo| !matches!(device.kind, DeviceKind::Cpu | DeviceKind::Software);
            Ok(if devices().iter().any(is_card) { DeviceChoice::Gpu } else { DeviceChoice::Cpu })
        }
        DeviceChoice::Cuda | DeviceChoice::Metal => {
            let allowed = "auto, cpu or gpu: the kernels that are measured are not those of Candle's devices";
            Err(Error::invalid("--device of bench", choice.name(), allowed))
        }
    }
}

fn suite_table(report: &SuiteReport<'_>) -> String {
    let mut table = format!(
        "{:<30} {:<28} {:>7} {:>4} {:>11} {:>11}  {}\n",
        "work", "size", "threads", "runs", "median ms", "fastest ms", "which is"
    );
    for m in report.measurements {
        let meaning = match (m.ratio_to_dtw.zip(m.fastest_ratio_to_dtw), m.us_per_frame, m.times_real_time) {
            (Some((ratio, fastest)), ..) => format!("{ratio:.2} x classic DTW (fastest runs: {fastest:.2} x)"),
            (_, Some(us), _) => format!("{us:.2} µs per frame"),
            (.., Some(speed)) => format!("{speed:.0} x real time"),
            _ => m.times_faster.map_or_else(String::new, |faster| format!("{faster:.2} x as fast as one at a time")),
        };
        let line = format!(
            "{:<30} {:<28} {:>7} {:>4} {:>11.3} {:>11.3}  {meaning}",
            m.name, m.size, m.threads, m.repetitions, m.median_ms, m.min_ms
        );
        let _ = writeln!(table, "{}", line.trim_end());
    }
    if let Some(peak) = report.peak_memory_mb {
        let SuiteReport { processors, device, .. } = report;
        let _ = writeln!(table, "peak memory of all this: {peak:.0} MB; processors: {processors}; device: {device}");
    }
    table
}

fn problems_table(results: &[ProblemResult]) -> String {
    let mut table = format!(
        "{:<10} {:>5} {:>4} {:>7} {:>20} {:>9} {:>11} {:>13} {:>9}  {}\n",
        "kind", "n", "dim", "lambda", "objective", "residual", "forward ms", "+ backward ms", "dtw ms", "device"
    );
    for r in results {
        let _ = writeln!(
            table,
            "{:<10} {:>5} {:>4} {:>7} {:>20.16} {:>9.1e} {:>11.3} {:>13.3} {:>9.3}  {}",
            r.kind,
            r.n,
            r.dim,
            r.lambda,
            r.objective,
            r.kkt_residual,
            r.forward_ms,
            r.forward_backward_ms,
            r.dtw_ms,
            r.device
        );
    }
    table
}
