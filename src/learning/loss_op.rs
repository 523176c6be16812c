//! A loss as one operation of Candle's: its value forwards, its gradient backwards.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Shape, Tensor, bail};

use crate::base::error::Result;
use crate::networks::ops::{Element, values};

/// A function of many values whose gradient is worked out together with its value.
pub(super) trait Loss: Send + Sync + 'static {
    /// The value, and the derivative with respect to each of `values`.
    fn value_and_gradient<F: Element>(&self, values: &[F]) -> Result<(f64, Vec<F>)>;
}

/// The loss of a tensor as a scalar on the CPU, whatever device the tensor is on. Gradients flow back to it.
pub(super) fn loss_of(tensor: &Tensor, loss: impl Loss) -> candle_core::Result<Tensor> {
    let tensor = tensor.to_device(&Device::Cpu)?.contiguous()?;
    tensor.apply_op1(LossOp { loss, gradient: Mutex::new(None) })
}

struct LossOp<L> {
    loss: L,
    /// Left by the forward pass.
    gradient: Mutex<Option<Tensor>>,
}

impl<L: Loss> LossOp<L> {
    fn forward<F: Element>(&self, storage: &CpuStorage, layout: &Layout) -> candle_core::Result<F> {
        let (value, gradient) =
            self.loss.value_and_gradient::<F>(values(storage, layout)?).map_err(candle_core::Error::wrap)?;
        let gradient = Tensor::from_vec(gradient, layout.shape(), &Device::Cpu)?;
        *self.gradient.lock().unwrap_or_else(PoisonError::into_inner) = Some(gradient);
        Ok(<F as crate::base::number::Real>::from_f64(value))
    }
}

impl<L: Loss> CustomOp1 for LossOp<L> {
    fn name(&self) -> &'static str {
        "loss"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        let value = match storage {
            CpuStorage::F32(_) => CpuStorage::F32(vec![self.forward(storage, layout)?]),
            CpuStorage::F64(_) => CpuStorage::F64(vec![self.forward(storage, layout)?]),
            _ => bail!("losses are computed from f32 or f64 only"),
        };
        Ok((value, Shape::from(())))
    }

    fn bwd(&self, _input: &Tensor, _value: &Tensor, gradient: &Tensor) -> candle_core::Result<Option<Tensor>> {
        match &*self.gradient.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(own) => own.broadcast_mul(gradient).map(Some),
            None => bail!("the forward pass of the loss left no gradient"),
        }
    }
}
