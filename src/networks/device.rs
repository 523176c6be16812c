//! Where networks run.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};

/// The device that the user asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceChoice {
    /// A graphics card if this build supports one and it is there, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The first NVIDIA card.
    Cuda,
    /// The graphics processor of a Mac.
    Metal,
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda),
            "metal" => Ok(Self::Metal),
            _ => Err(Error::invalid("device", text, "auto, cpu, cuda or metal")),
        }
    }
}

impl DeviceChoice {
    /// Opens the device.
    pub fn open(self) -> Result<candle_core::Device> {
        match self {
            Self::Cpu => Ok(candle_core::Device::Cpu),
            Self::Cuda => open_cuda(),
            Self::Metal => open_metal(),
            Self::Auto => Ok(open_cuda().or_else(|_| open_metal()).unwrap_or(candle_core::Device::Cpu)),
        }
    }
}

fn open_cuda() -> Result<candle_core::Device> {
    if !cfg!(feature = "cuda") {
        return Err(not_compiled_in("cuda"));
    }
    candle_core::Device::new_cuda(0).map_err(|e| not_available("cuda", &e))
}

fn open_metal() -> Result<candle_core::Device> {
    if !cfg!(feature = "metal") {
        return Err(not_compiled_in("metal"));
    }
    candle_core::Device::new_metal(0).map_err(|e| not_available("metal", &e))
}

fn not_compiled_in(name: &str) -> Error {
    let cause = "this build does not support it";
    Error::unsuitable(format!("device {name}"), cause, format!("use cpu, or build with `--features {name}`"))
}

fn not_available(name: &str, cause: &candle_core::Error) -> Error {
    Error::unsuitable(format!("device {name}"), cause.to_string(), "check the driver, or use cpu")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_others_refused_with_the_list() {
        assert_eq!("metal".parse::<DeviceChoice>().unwrap(), DeviceChoice::Metal);
        let message = "gpu".parse::<DeviceChoice>().unwrap_err().to_string();
        assert_eq!(message, "device is gpu, but must be auto, cpu, cuda or metal");
    }

    #[test]
    fn the_cpu_is_always_there() {
        assert!(DeviceChoice::Cpu.open().unwrap().is_cpu());
        assert!(DeviceChoice::Auto.open().is_ok());
    }

    #[test]
    #[cfg(not(feature = "cuda"))]
    fn a_device_that_was_not_compiled_in_says_how_to_get_it() {
        let message = DeviceChoice::Cuda.open().unwrap_err().to_string();
        assert!(message.contains("--features cuda"), "{message}");
    }
}
