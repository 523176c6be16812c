//! What the custom operations share: values in and out of Candle's tensors, and its errors as ours.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, Layout, Storage, Tensor, WithDType, bail};

use crate::base::error::Error;
use crate::base::job::JobContext;
use crate::base::number::Real;

/// The number types of the kernels that are also Candle's.
pub(crate) trait Element: Real + WithDType {}

impl Element for f32 {}
impl Element for f64 {}

/// The part of the storage that the (contiguous) layout shows.
pub(crate) fn values<'a, F: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> candle_core::Result<&'a [F]> {
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&storage.as_slice::<F>()?[start..end]),
        None => bail!("the operation needs contiguous tensors"),
    }
}

/// Reads the values of a contiguous tensor on the CPU where they are.
pub(crate) fn with_values<F: WithDType, R>(
    tensor: &Tensor,
    read: impl FnOnce(&[F]) -> candle_core::Result<R>,
) -> candle_core::Result<R> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) => read(values(storage, layout)?),
        _ => bail!("the operation runs on the CPU only"),
    }
}

/// What a forward pass leaves for the backward pass.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Option<Box<dyn Any + Send>>>);

impl Kept {
    pub fn put<T: Send + 'static>(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(value));
    }

    /// Takes it, if it is there and of this type.
    pub fn take<T: 'static>(&self) -> Option<T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.and_then(|kept| kept.downcast().ok()).map(|kept| *kept)
    }
}

/// A failure inside Candle as an error of ours; a cancellation stays one.
pub(crate) fn failed(ctx: &JobContext, error: &candle_core::Error) -> Error {
    match ctx.check() {
        Err(cancelled) => cancelled,
        Ok(()) => Error::unsuitable("the network", error.to_string(), "choose another device, or report this"),
    }
}
