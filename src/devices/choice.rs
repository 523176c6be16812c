//! Where the work runs: the one place that chooses.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::accelerator::Accelerated;
use crate::base::error::{Error, Result};
use crate::networks::Device;

/// The device that the user asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceChoice {
    /// A graphics card where a measurement has shown that it pays, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The first graphics card, of any vendor.
    Gpu,
    /// The first NVIDIA card, through Candle.
    Cuda,
    /// The graphics processor of a Mac, through Candle.
    Metal,
}

impl DeviceChoice {
    /// All, in the order in which they are offered.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Cpu, Self::Gpu, Self::Cuda, Self::Metal];

    /// The name, as the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Cuda => "cuda",
            Self::Metal => "metal",
        }
    }

    /// Whether this build can do it at all.
    pub fn is_built_in(self) -> bool {
        match self {
            Self::Auto | Self::Cpu => true,
            Self::Gpu => cfg!(feature = "gpu"),
            Self::Cuda => cfg!(feature = "cuda"),
            Self::Metal => cfg!(feature = "metal"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
        found.ok_or_else(|| Error::invalid("device", text, "auto, cpu, gpu, cuda or metal"))
    }
}

/// What was chosen: where Candle's tensors are, and a device that the operations send their work to.
#[derive(Debug, Clone)]
pub struct ChosenDevice {
    /// Where Candle's tensors are.
    pub candle: Device,
    /// For [`JobContext::on`](crate::base::job::JobContext::on).
    pub accelerated: Option<Accelerated>,
}

/// Is told, once, that a device is not there or failed, and that the CPU does its work.
pub type Notify = Box<dyn Fn(&str) + Send + Sync>;

impl DeviceChoice {
    /// Opens the device. A build that cannot do it at all is an error; a card that is not there is told, and the CPU does the work.
    pub fn open(self, notify: Notify) -> Result<ChosenDevice> {
        let on_cpu = |accelerated| ChosenDevice { candle: Device::Cpu, accelerated };
        let in_candle = |candle| ChosenDevice { candle, accelerated: None };
        match self {
            Self::Cpu => Ok(on_cpu(None)),
            Self::Gpu => Ok(on_cpu(open_gpu(notify)?)),
            Self::Cuda => open_cuda().map(in_candle),
            Self::Metal => open_metal().map(in_candle),
            Self::Auto => match open_cuda().or_else(|_| open_metal()) {
                Ok(candle) => Ok(in_candle(candle)),
                Err(_) => Ok(on_cpu(gpu_if_it_pays(notify))),
            },
        }
    }
}

#[cfg(feature = "gpu")]
fn open_gpu(notify: Notify) -> Result<Option<Accelerated>> {
    use crate::base::accelerator::{Failure, Opened, WorkKind};
    use crate::gpu::{Adapter, GpuDevice};
    let found = Adapter::all().into_iter().next();
    let opened = found.ok_or_else(|| Failure::new("no driver answers")).and_then(|adapter| GpuDevice::open(&adapter));
    match opened {
        Ok(device) => {
            let device = std::sync::Mutex::new(Some(device));
            let open = move || {
                let device = device.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()?;
                Some(Opened { device: Box::new(device), thresholds: [0.0; WorkKind::COUNT] })
            };
            Ok(Some(Accelerated::new(open, 0.0, notify)))
        }
        Err(failure) => {
            notify(&format!("no graphics card can be used ({failure}); the CPU does the work"));
            Ok(None)
        }
    }
}

#[cfg(not(feature = "gpu"))]
fn open_gpu(_: Notify) -> Result<Option<Accelerated>> {
    Err(not_compiled_in("gpu"))
}

/// Opened when there is enough work to wait for it.
#[cfg(feature = "gpu")]
fn gpu_if_it_pays(notify: Notify) -> Option<Accelerated> {
    use super::measurement::{LEAST_WORK, measured};
    use crate::base::accelerator::Opened;
    use crate::gpu::{Adapter, GpuDevice};
    let open = move || {
        let adapter = Adapter::all().into_iter().find(|adapter| !adapter.is_software())?;
        let thresholds = measured(&adapter)?;
        Some(Opened { device: Box::new(GpuDevice::open(&adapter).ok()?), thresholds })
    };
    Some(Accelerated::new(open, LEAST_WORK, notify))
}

#[cfg(not(feature = "gpu"))]
fn gpu_if_it_pays(_: Notify) -> Option<Accelerated> {
    None
}

fn open_cuda() -> Result<Device> {
    if !DeviceChoice::Cuda.is_built_in() {
        return Err(not_compiled_in("cuda"));
    }
    Device::new_cuda(0).map_err(|e| not_available("cuda", &e.to_string()))
}

fn open_metal() -> Result<Device> {
    if !DeviceChoice::Metal.is_built_in() {
        return Err(not_compiled_in("metal"));
    }
    Device::new_metal(0).map_err(|e| not_available("metal", &e.to_string()))
}

fn not_compiled_in(name: &str) -> Error {
    let cause = "this build does not support it";
    Error::unsuitable(format!("device {name}"), cause, format!("use cpu, or build with `--features {name}`"))
}

fn not_available(name: &str, cause: &str) -> Error {
    Error::unsuitable(format!("device {name}"), cause.to_owned(), "check the driver, or use cpu")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nobody() -> Notify {
        Box::new(|_| {})
    }

    #[test]
    fn names_are_parsed_and_others_refused_with_the_list() {
        for choice in DeviceChoice::ALL {
            assert_eq!(choice.name().parse::<DeviceChoice>().unwrap(), choice);
        }
        let message = "abacus".parse::<DeviceChoice>().unwrap_err().to_string();
        assert_eq!(message, "device is abacus, but must be auto, cpu, gpu, cuda or metal");
    }

    #[test]
    fn the_cpu_is_always_there() {
        let opened = DeviceChoice::Cpu.open(nobody()).unwrap();
        assert!(opened.candle.is_cpu() && opened.accelerated.is_none());
        assert!(DeviceChoice::Auto.open(nobody()).is_ok());
    }

    #[test]
    #[cfg(not(feature = "cuda"))]
    fn a_device_that_was_not_compiled_in_says_how_to_get_it() {
        let message = DeviceChoice::Cuda.open(nobody()).unwrap_err().to_string();
        assert!(message.contains("--features cuda"), "{message}");
    }
}
