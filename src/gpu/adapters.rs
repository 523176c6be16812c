//! Which graphics cards there are.

use super::card::Card;
use crate::base::accelerator::Failure;

/// A graphics card, or a program that plays one.
#[derive(Debug, Clone)]
pub struct Adapter {
    adapter: wgpu::Adapter,
    info: wgpu::AdapterInfo,
}

impl Adapter {
    /// All that a driver answers for, the fastest kind first.
    pub fn all() -> Vec<Self> {
        let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends,
            flags: wgpu::InstanceFlags::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let found = pollster::block_on(instance.enumerate_adapters(backends));
        let mut adapters: Vec<Self> =
            found.into_iter().map(|adapter| Self { info: adapter.get_info(), adapter }).collect();
        adapters.sort_by_key(|adapter| match adapter.info.device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => 2,
            wgpu::DeviceType::Cpu => 3,
        });
        adapters
    }

    /// The name that its driver gives it.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// What kind of card it is.
    pub fn kind(&self) -> wgpu::DeviceType {
        self.info.device_type
    }

    /// Whether it is a program that plays a card.
    pub fn is_software(&self) -> bool {
        self.kind() == wgpu::DeviceType::Cpu
    }

    /// How it is reached.
    pub fn backend(&self) -> &'static str {
        match self.info.backend {
            wgpu::Backend::Vulkan => "Vulkan",
            wgpu::Backend::Metal => "Metal",
            wgpu::Backend::Dx12 => "Direct3D 12",
            _ => "other",
        }
    }

    /// The driver and its version.
    pub fn driver(&self) -> String {
        format!("{} {}", self.info.driver, self.info.driver_info).trim().to_owned()
    }

    /// The largest array that it takes.
    pub fn largest_array_bytes(&self) -> u64 {
        let limits = self.adapter.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    /// Threads of a workgroup at most.
    pub fn threads_per_group(&self) -> u32 {
        self.adapter.limits().max_compute_invocations_per_workgroup
    }

    /// The memory of the card itself; only Vulkan tells.
    #[cfg(not(target_vendor = "apple"))]
    #[allow(unsafe_code, reason = "wgpu has no other way to ask")]
    pub fn memory_bytes(&self) -> Option<u64> {
        // SAFETY: the adapter outlives what is borrowed from it, and nothing is changed or freed.
        let heaps = unsafe {
            let adapter = self.adapter.as_hal::<wgpu::hal::api::Vulkan>()?;
            let instance = adapter.shared_instance().raw_instance();
            instance.get_physical_device_memory_properties(adapter.raw_physical_device())
        };
        let own =
            heaps.memory_heaps.iter().take(heaps.memory_heap_count as usize).filter(|heap| !heap.flags.is_empty());
        own.map(|heap| heap.size).max()
    }

    /// The memory of the card itself; Metal does not tell.
    #[cfg(target_vendor = "apple")]
    pub fn memory_bytes(&self) -> Option<u64> {
        None
    }

    pub(super) fn open(&self) -> Result<Card, Failure> {
        Card::open(&self.adapter)
    }
}
