//! The bridge between Candle and the kernels: networks as operations with their own backward passes.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp2, DType, Layout, Shape, Storage, Tensor, WithDType, bail};

use crate::base::accelerator::{Accelerator, DevicePassed, DeviceTrace, Outcome, Work};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::number::Real;

/// The number types of the kernels that are also Candle's. Devices beside the CPU compute in `f32` only.
pub(crate) trait Element: Real + WithDType {
    /// The values, if they are in single precision.
    fn singles(values: &[Self]) -> Option<&[f32]>;

    /// Values in single precision as values of this type.
    fn from_singles(values: Vec<f32>) -> Vec<Self>;
}

impl Element for f32 {
    fn singles(values: &[Self]) -> Option<&[f32]> {
        Some(values)
    }

    fn from_singles(values: Vec<f32>) -> Vec<Self> {
        values
    }
}

impl Element for f64 {
    fn singles(_: &[Self]) -> Option<&[f32]> {
        None
    }

    fn from_singles(values: Vec<f32>) -> Vec<Self> {
        values.into_iter().map(Self::from).collect()
    }
}

/// The part of the storage that the (contiguous) layout shows.
pub(crate) fn values<'a, F: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> candle_core::Result<&'a [F]> {
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&storage.as_slice::<F>()?[start..end]),
        None => bail!("the operation needs contiguous tensors"),
    }
}

/// Reads the values of a contiguous tensor on the CPU where they are.
fn with_values<F: WithDType, R>(
    tensor: &Tensor,
    read: impl FnOnce(&[F]) -> candle_core::Result<R>,
) -> candle_core::Result<R> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) => read(values(storage, layout)?),
        _ => bail!("the operation runs on the CPU only"),
    }
}

/// The output of a forward pass, and what it leaves for the backward pass.
pub(crate) type Passed<F, T> = (Vec<F>, Option<T>);

/// The gradients with respect to the input, if that is wanted, and to the parameters.
pub(crate) type Gradients<F> = (Option<Vec<F>>, Vec<F>);

/// A network with its own fast code for the CPU and for devices beside it.
pub(crate) trait Kernel: Send + Sync + 'static {
    /// What a forward pass leaves for the backward pass.
    type Trace<F: Element>: Send + 'static;

    /// The name of the operation.
    const NAME: &'static str;

    /// The output of `input`, which has these dimensions; a trace if there will be a backward pass.
    fn forward<F: Element>(
        &self,
        input: &[F],
        dims: Dims,
        parameters: &[F],
        learns: bool,
    ) -> Result<Passed<F, Self::Trace<F>>>;

    /// The gradients with respect to the input, if that is wanted, and to the parameters, given that of the output.
    fn backward<F: Element>(
        &self,
        input: &[F],
        dims: Dims,
        parameters: &[F],
        trace: Self::Trace<F>,
        gradient: &[F],
        for_input: bool,
    ) -> Result<Gradients<F>>;

    /// The dimensions of the output.
    fn output(&self, dims: Dims) -> Shape;

    /// Where it may run.
    fn context(&self) -> &JobContext;

    /// How much work a forward pass is.
    fn work(&self, dims: Dims) -> Work;

    /// [`forward`](Self::forward) on a device. What does not fit is an error of the CPU's, which is asked first.
    fn device_forward(
        &self,
        device: &dyn Accelerator,
        input: &[f32],
        dims: Dims,
        parameters: &[f32],
        learns: bool,
    ) -> Outcome<DevicePassed>;

    /// [`backward`](Self::backward) on a device.
    fn device_backward(
        &self,
        device: &dyn Accelerator,
        pass: (&[f32], Dims, &[f32]),
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<Gradients<f32>>;

    /// Refuses what does not fit, on any device.
    fn check(&self, values: usize, dims: Dims, parameters: usize) -> Result<()>;
}

/// Sequences, frames of each, values per frame.
pub(crate) type Dims = (usize, usize, usize);

/// A kernel as one operation of Candle's, on contiguous tensors: `input` of three dimensions and the flat parameters.
pub(crate) fn apply<K: Kernel>(kernel: K, input: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
    let (input, parameters) = (input.contiguous()?, parameters.contiguous()?);
    let learns = input.track_op() || parameters.track_op();
    input.apply_op2(&parameters, KernelOp { kernel, learns, trace: Mutex::new(Trace::None) })
}

struct KernelOp<K> {
    kernel: K,
    /// Whether there will be a backward pass.
    learns: bool,
    /// Left by the forward pass, taken by the backward pass.
    trace: Mutex<Trace>,
}

#[derive(Default)]
enum Trace {
    #[default]
    None,
    OnCpu(Box<dyn Any + Send>),
    OnDevice(DeviceTrace),
}

impl<K: Kernel> KernelOp<K> {
    fn forward<F: Element>(&self, input: &[F], dims: Dims, parameters: &[F]) -> candle_core::Result<Vec<F>> {
        self.kernel.check(input.len(), dims, parameters.len()).map_err(candle_core::Error::wrap)?;
        if let (Some(values), Some(weights)) = (F::singles(input), F::singles(parameters)) {
            let (kernel, learns) = (&self.kernel, self.learns);
            let passed = kernel
                .context()
                .accelerate(kernel.work(dims), |device| kernel.device_forward(device, values, dims, weights, learns));
            if let Some((output, trace)) = passed {
                self.keep(trace.map_or(Trace::None, Trace::OnDevice));
                return Ok(F::from_singles(output));
            }
        }
        self.forward_on_cpu(input, dims, parameters)
    }

    fn forward_on_cpu<F: Element>(&self, input: &[F], dims: Dims, parameters: &[F]) -> candle_core::Result<Vec<F>> {
        let forward = self.kernel.forward(input, dims, parameters, self.learns);
        let (output, trace) = forward.map_err(candle_core::Error::wrap)?;
        self.keep(trace.map_or(Trace::None, |trace| Trace::OnCpu(Box::new(trace))));
        Ok(output)
    }

    fn keep(&self, trace: Trace) {
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) = trace;
    }

    fn kept(&self) -> Trace {
        std::mem::take(&mut *self.trace.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn gradients<F: Element>(
        &self,
        pass: (&[F], Dims, &[F]),
        gradient: &[F],
        for_input: bool,
    ) -> candle_core::Result<Gradients<F>> {
        let (values, dims, weights) = pass;
        let mut kept = self.kept();
        if let Trace::OnDevice(trace) = kept {
            if let (Some(x), Some(w), Some(g)) = (F::singles(values), F::singles(weights), F::singles(gradient)) {
                let kernel = &self.kernel;
                let found = kernel.context().accelerate(kernel.work(dims), |device| {
                    kernel.device_backward(device, (x, dims, w), trace, g, for_input)
                });
                if let Some((by_input, by_parameters)) = found {
                    return Ok((by_input.map(F::from_singles), F::from_singles(by_parameters)));
                }
            }
            kept = Trace::None;
        }
        // A second backward pass through the same graph, or a device that failed between the passes: there is no trace.
        if matches!(kept, Trace::None) {
            self.forward_on_cpu(values, dims, weights)?;
            kept = self.kept();
        }
        let Trace::OnCpu(kept) = kept else { bail!("the forward pass of the network left no trace") };
        let Ok(trace) = kept.downcast() else { bail!("the forward pass of the network was of another type") };
        let gradients = self.kernel.backward(values, dims, weights, *trace, gradient, for_input);
        gradients.map_err(candle_core::Error::wrap)
    }

    fn backward<F: Element>(
        &self,
        input: &Tensor,
        parameters: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let (dims, for_input) = (input.dims3()?, input.track_op());
        let (by_input, by_parameters) = with_values::<F, _>(input, |values| {
            with_values::<F, _>(parameters, |weights| {
                with_values::<F, _>(&gradient.contiguous()?, |gradient| {
                    self.gradients((values, dims, weights), gradient, for_input)
                })
            })
        })?;
        let by_input = by_input.map(|g| Tensor::from_vec(g, input.shape(), input.device())).transpose()?;
        Ok((by_input, Some(Tensor::from_vec(by_parameters, parameters.shape(), parameters.device())?)))
    }
}

impl<K: Kernel> CustomOp2 for KernelOp<K> {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn cpu_fwd(
        &self,
        input: &CpuStorage,
        at: &Layout,
        parameters: &CpuStorage,
        parameters_at: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let dims = at.shape().dims3()?;
        let output = match input {
            CpuStorage::F32(_) => {
                CpuStorage::F32(self.forward(values(input, at)?, dims, values(parameters, parameters_at)?)?)
            }
            CpuStorage::F64(_) => {
                CpuStorage::F64(self.forward(values(input, at)?, dims, values(parameters, parameters_at)?)?)
            }
            _ => bail!("networks compute in f32 or f64 only"),
        };
        Ok((output, self.kernel.output(dims)))
    }

    fn bwd(
        &self,
        input: &Tensor,
        parameters: &Tensor,
        _output: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        match input.dtype() {
            DType::F64 => self.backward::<f64>(input, parameters, gradient),
            _ => self.backward::<f32>(input, parameters, gradient),
        }
    }
}

/// A failure inside Candle as an error of ours; a cancellation stays one.
pub(crate) fn failed(ctx: &JobContext, error: &candle_core::Error) -> Error {
    match ctx.check() {
        Err(cancelled) => cancelled,
        Ok(()) => Error::unsuitable("the network", error.to_string(), "choose another device, or report this"),
    }
}
