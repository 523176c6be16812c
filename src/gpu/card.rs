//! A graphics card: buffers, kernels, and a queue of work whose results come back together.
//!
//! Nothing here panics or waits forever: whatever the driver reports (out of memory, a lost device, a shader it refuses) is kept and
//! returned by the next [`Commands::read`], after which the card is not used any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use bytemuck::Pod;

use crate::base::accelerator::Failure;

/// A driver that has not answered for so long will not: the system resets a card that hangs much earlier.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// Threads of a workgroup in every kernel that is written for one workgroup a problem.
pub(super) const THREADS: u32 = 256;

/// Loop iterations of a thread in one dispatch. Mesa's software card ends all loops of a thread, silently, after 65,535 iterations in
/// total, and drivers reset cards that are busy with one dispatch for seconds: long recurrences are cut into several dispatches.
pub(super) const MOST_ITERATIONS: usize = 60_000;

/// WGSL source and entry point of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kernel {
    pub source: &'static str,
    pub entry: &'static str,
}

/// An array on the card. Dropping it frees the memory as soon as the card is done with it.
#[derive(Debug, Clone)]
pub(super) struct Array {
    buffer: wgpu::Buffer,
    /// Values of four bytes.
    pub len: usize,
}

/// An open card.
pub(super) struct Card {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipelines: Mutex<HashMap<Kernel, wgpu::ComputePipeline>>,
    failure: Arc<Mutex<Option<String>>>,
    /// Whether it is a program that plays a card.
    pub is_software: bool,
}

impl Card {
    /// Opens an adapter with all that it has.
    pub fn open(adapter: &wgpu::Adapter) -> Result<Self, Failure> {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("agogic"),
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&descriptor)).map_err(|e| Failure::new(e.to_string()))?;
        let failure = Arc::new(Mutex::new(None));
        let keep = |failure: &Arc<Mutex<Option<String>>>| {
            let failure = Arc::clone(failure);
            move |message: String| {
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
            }
        };
        let (on_error, on_loss) = (keep(&failure), keep(&failure));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| on_error(one_line(&error.to_string()))));
        device.set_device_lost_callback(move |reason, message| {
            // A device that the program itself lets go is no failure.
            if reason != wgpu::DeviceLostReason::Destroyed {
                on_loss(format!("the device was lost: {}", one_line(&message)));
            }
        });
        let is_software = adapter.get_info().device_type == wgpu::DeviceType::Cpu;
        Ok(Self { device, queue, pipelines: Mutex::default(), failure, is_software })
    }

    /// The most values that one array may have.
    pub fn longest_array(&self) -> usize {
        let limits = self.device.limits();
        (limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) / 4) as usize
    }

    /// An array with these values.
    pub fn upload<T: Pod>(&self, values: &[T]) -> Array {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        if bytes.is_empty() {
            return self.array(1);
        }
        Array { buffer: self.buffer(bytes, USAGE), len: bytes.len() / 4 }
    }

    /// Written through the queue: unlike a buffer that is mapped when it is made, that is no panic if the device is lost.
    fn buffer(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// An array of zeros.
    pub fn array(&self, len: usize) -> Array {
        let len = len.max(1);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4 * len as u64,
            usage: USAGE,
            mapped_at_creation: false,
        });
        Array { buffer, len }
    }

    /// Work to be queued.
    pub fn commands(&self) -> Commands<'_> {
        Commands { card: self, encoder: self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()) }
    }

    fn pipeline(&self, kernel: Kernel) -> wgpu::ComputePipeline {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(kernel.entry),
                source: wgpu::ShaderSource::Wgsl(kernel.source.into()),
            });
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(kernel.entry),
                layout: None,
                module: &module,
                entry_point: Some(kernel.entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    // The kernels write what they read.
                    zero_initialize_workgroup_memory: false,
                    ..wgpu::PipelineCompilationOptions::default()
                },
                cache: None,
            })
        };
        pipelines.entry(kernel).or_insert_with(make).clone()
    }

    /// As if the driver had reset it.
    #[cfg(test)]
    pub fn lose(&self) {
        self.device.destroy();
    }

    fn failed(&self) -> Result<(), Failure> {
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(message) => Err(Failure::new(message.clone())),
            None => Ok(()),
        }
    }
}

const USAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// Kernels in the order in which they are to run.
pub(super) struct Commands<'a> {
    card: &'a Card,
    encoder: wgpu::CommandEncoder,
}

impl Commands<'_> {
    /// Adds a kernel: `settings` are its binding 0 (uniform), the arrays those from 1 on. Each kernel sees what those before it wrote.
    pub fn run<S: Pod>(&mut self, kernel: Kernel, groups: [u32; 3], settings: &S, arrays: &[&Array]) {
        if groups.contains(&0) {
            return;
        }
        let pipeline = self.card.pipeline(kernel);
        let settings = self.card.buffer(bytemuck::bytes_of(settings), wgpu::BufferUsages::UNIFORM);
        let bindings: Vec<wgpu::BindGroupEntry<'_>> = std::iter::once(&settings)
            .chain(arrays.iter().map(|array| &array.buffer))
            .zip(0..)
            .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let bindings = self.card.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &bindings,
        });
        let mut pass = self.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
    }

    /// Queues the work without waiting for it.
    pub fn submit(self) {
        self.card.queue.submit([self.encoder.finish()]);
    }

    /// Queues the work, waits for it, and returns the values of some arrays. All that failed since the last read is reported here.
    pub fn read(mut self, arrays: &[&Array]) -> Result<Vec<Vec<u32>>, Failure> {
        let sizes: Vec<u64> = arrays.iter().map(|array| 4 * array.len as u64).collect();
        let total = sizes.iter().sum::<u64>().max(4);
        let card = self.card;
        card.failed()?;
        let staging = card.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: total,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut offset = 0;
        for (array, size) in arrays.iter().zip(&sizes) {
            self.encoder.copy_buffer_to_buffer(&array.buffer, 0, &staging, offset, *size);
            offset += size;
        }
        let submission = card.queue.submit([self.encoder.finish()]);
        card.failed()?;
        let (tell, told) = mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |result| drop(tell.send(result)));
        let waited =
            card.device.poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout: Some(LONGEST_WAIT) });
        card.failed()?;
        waited.map_err(|e| Failure::new(e.to_string()))?;
        let mapped = told.recv_timeout(LONGEST_WAIT).map_err(|_| Failure::new("the driver does not answer"))?;
        mapped.map_err(|e| Failure::new(e.to_string()))?;
        let view = staging.get_mapped_range(..).map_err(|e| Failure::new(e.to_string()))?;
        let mut rest = &view[..];
        let mut values = Vec::with_capacity(arrays.len());
        for size in sizes {
            let (bytes, tail) = rest.split_at(size as usize);
            values.push(bytes.as_chunks::<4>().0.iter().map(|four| u32::from_ne_bytes(*four)).collect());
            rest = tail;
        }
        Ok(values)
    }
}

/// Drivers explain themselves at length and over many lines.
fn one_line(message: &str) -> String {
    const MOST: usize = 300;
    let words: Vec<&str> = message.split_whitespace().collect();
    words.join(" ").chars().take(MOST).collect()
}
