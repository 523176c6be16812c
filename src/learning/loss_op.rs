//! A loss as one operation of Candle's: its value forwards, its gradient backwards.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp1, CustomOp3, DType, Device, Layout, Shape, Tensor, bail};

use crate::base::error::Result;
use crate::base::number::Real;
use crate::networks::ops::{Element, values};

/// A function of many values whose gradient is worked out together with its value.
pub(super) trait Loss: Send + Sync + 'static {
    /// The value, and the derivatives with respect to the values of each input.
    fn value_and_gradient<F: Element>(&self, inputs: &[&[F]]) -> Result<(f64, Vec<Vec<F>>)>;
}

/// The loss of a tensor as a scalar on the CPU, whatever device the tensor is on. Gradients flow back to it.
pub(super) fn loss_of(input: &Tensor, loss: impl Loss) -> candle_core::Result<Tensor> {
    on_cpu(input)?.apply_op1(LossOp { loss, gradients: Mutex::default() })
}

/// The same of three tensors.
pub(super) fn loss_of_three(inputs: [&Tensor; 3], loss: impl Loss) -> candle_core::Result<Tensor> {
    let [first, second, third] = inputs.map(on_cpu);
    first?.apply_op3(&second?, &third?, LossOp { loss, gradients: Mutex::default() })
}

fn on_cpu(tensor: &Tensor) -> candle_core::Result<Tensor> {
    tensor.to_device(&Device::Cpu)?.contiguous()
}

struct LossOp<L> {
    loss: L,
    /// Left by the forward pass, for each input.
    gradients: Mutex<Vec<Tensor>>,
}

impl<L: Loss> LossOp<L> {
    fn forward(&self, inputs: &[(&CpuStorage, &Layout)]) -> candle_core::Result<(CpuStorage, Shape)> {
        let value = match inputs[0].0 {
            CpuStorage::F32(_) => CpuStorage::F32(vec![self.value(inputs)?]),
            CpuStorage::F64(_) => CpuStorage::F64(vec![self.value(inputs)?]),
            _ => bail!("losses are computed from f32 or f64 only"),
        };
        Ok((value, Shape::from(())))
    }

    fn value<F: Element>(&self, inputs: &[(&CpuStorage, &Layout)]) -> candle_core::Result<F> {
        let slices: candle_core::Result<Vec<&[F]>> = inputs.iter().map(|(storage, at)| values(storage, at)).collect();
        let (value, gradients) = self.loss.value_and_gradient(&slices?).map_err(candle_core::Error::wrap)?;
        let tensors = gradients.into_iter().zip(inputs);
        let tensors = tensors.map(|(gradient, (_, at))| Tensor::from_vec(gradient, at.shape(), &Device::Cpu));
        *self.gradients.lock().unwrap_or_else(PoisonError::into_inner) = tensors.collect::<candle_core::Result<_>>()?;
        Ok(<F as Real>::from_f64(value))
    }

    /// The gradient for each input, given that for the value.
    fn backward(&self, gradient: &Tensor) -> candle_core::Result<std::vec::IntoIter<Tensor>> {
        let factor = gradient.to_dtype(DType::F64)?.to_scalar::<f64>()?;
        let own = self.gradients.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Mostly the loss is the end of the graph, and there is nothing to multiply.
        let scaled = own.into_iter().map(|own| if factor == 1.0 { Ok(own) } else { own.affine(factor, 0.0) });
        Ok(scaled.collect::<candle_core::Result<Vec<_>>>()?.into_iter())
    }
}

impl<L: Loss> CustomOp1 for LossOp<L> {
    fn name(&self) -> &'static str {
        "loss"
    }

    fn cpu_fwd(&self, input: &CpuStorage, at: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        self.forward(&[(input, at)])
    }

    fn bwd(&self, _input: &Tensor, _value: &Tensor, gradient: &Tensor) -> candle_core::Result<Option<Tensor>> {
        Ok(self.backward(gradient)?.next())
    }
}

impl<L: Loss> CustomOp3 for LossOp<L> {
    fn name(&self) -> &'static str {
        "loss"
    }

    fn cpu_fwd(
        &self,
        first: &CpuStorage,
        first_at: &Layout,
        second: &CpuStorage,
        second_at: &Layout,
        third: &CpuStorage,
        third_at: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        self.forward(&[(first, first_at), (second, second_at), (third, third_at)])
    }

    fn bwd(
        &self,
        _first: &Tensor,
        _second: &Tensor,
        _third: &Tensor,
        _value: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let mut gradients = self.backward(gradient)?;
        Ok((gradients.next(), gradients.next(), gradients.next()))
    }
}
