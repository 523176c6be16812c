//! Which devices there are.

use serde::Serialize;

/// What kind of device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// The processors of this machine.
    Cpu,
    /// A graphics card with memory of its own.
    Discrete,
    /// A graphics processor that shares the machine's memory.
    Integrated,
    /// A part of a card that is lent to a virtual machine, or one of an unknown kind.
    Virtual,
    /// A program that plays a graphics card on the CPU.
    Software,
}

/// A device as the user is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceInfo {
    /// The name that its driver gives it.
    pub name: String,
    /// What kind.
    pub kind: DeviceKind,
    /// How it is reached: Vulkan, Metal, Direct3D 12.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// Its own memory, where the driver tells.
    pub memory_mb: Option<u64>,
    /// The largest array that it takes.
    pub largest_array_mb: Option<u64>,
    /// Threads of a workgroup at most.
    pub threads_per_group: Option<u32>,
    /// What a user should know.
    pub remark: String,
}

/// The CPU and every graphics card that a driver answers for, in the order in which `gpu` takes them.
pub fn devices() -> Vec<DeviceInfo> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = DeviceInfo {
        name: format!("{} threads", threads),
        kind: DeviceKind::Cpu,
        backend: std::env::consts::ARCH.to_owned(),
        driver: String::new(),
        memory_mb: None,
        largest_array_mb: None,
        threads_per_group: None,
        remark: "always there".to_owned(),
    };
    std::iter::once(cpu).chain(cards()).collect()
}

#[cfg(feature = "gpu")]
fn cards() -> Vec<DeviceInfo> {
    crate::gpu::Adapter::all().iter().map(card).collect()
}

#[cfg(not(feature = "gpu"))]
fn cards() -> Vec<DeviceInfo> {
    Vec::new()
}

#[cfg(feature = "gpu")]
fn card(adapter: &crate::gpu::Adapter) -> DeviceInfo {
    let kind = match adapter.kind() {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::Cpu => DeviceKind::Software,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => DeviceKind::Virtual,
    };
    let remark = match kind {
        DeviceKind::Software => {
            "no gain: the CPU plays a graphics card, slower than it computes itself; never chosen by auto"
        }
        _ => "auto uses it where a short measurement shows that it pays",
    };
    DeviceInfo {
        name: adapter.name().to_owned(),
        kind,
        backend: adapter.backend().to_owned(),
        driver: adapter.driver(),
        memory_mb: adapter.memory_bytes().map(|bytes| bytes >> 20),
        largest_array_mb: Some(adapter.largest_array_bytes() >> 20),
        threads_per_group: Some(adapter.threads_per_group()),
        remark: remark.to_owned(),
    }
}
