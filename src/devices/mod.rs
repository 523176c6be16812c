//! Devices: which there are, which one is used, and from how much work on it pays.

mod choice;
mod list;
#[cfg(feature = "gpu")]
mod measurement;

pub use choice::{ChosenDevice, DeviceChoice, Notify};
pub use list::{DeviceInfo, DeviceKind, devices};

#[cfg(test)]
#[cfg(feature = "gpu")]
pub(crate) mod devices_for_tests;
#[cfg(test)]
#[cfg(feature = "gpu")]
mod failure_tests;
#[cfg(test)]
#[cfg(feature = "gpu")]
mod sameness_tests;
