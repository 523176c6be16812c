//! `agogic devices`, and the device that a command runs on.

use std::fmt::Write as _;

use super::args::DevicesArgs;
use super::summary::to_json;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::devices::{DeviceChoice, DeviceInfo, devices};
use crate::networks::Device;

/// Opens the device that was chosen: the context for the work, and where Candle's tensors are.
pub(super) fn open(ctx: &JobContext, choice: DeviceChoice) -> Result<(JobContext, Device)> {
    let chosen = choice.open(Box::new(|notice| super::print_note(&format!("agogic: {notice}"))))?;
    Ok((ctx.on(chosen.accelerated), chosen.candle))
}

pub(super) fn run(args: &DevicesArgs) -> Result<()> {
    let devices = devices();
    let text = if args.json { to_json(&devices) + "\n" } else { devices.iter().map(lines).collect() };
    super::print(text.as_bytes())
}

fn lines(device: &DeviceInfo) -> String {
    let mut text = format!("{}: {}", format!("{:?}", device.kind).to_lowercase(), device.name);
    let _ = write!(text, ", {}", device.backend);
    if !device.driver.is_empty() {
        let _ = write!(text, ", driver {}", device.driver);
    }
    if let Some(memory) = device.memory_mb {
        let _ = write!(text, ", {memory} MB");
    }
    if let (Some(array), Some(threads)) = (device.largest_array_mb, device.threads_per_group) {
        let _ = write!(text, ", arrays up to {array} MB, {threads} threads a group");
    }
    format!("{text}\n    {}\n", device.remark)
}
