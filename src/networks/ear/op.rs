//! The ear as one operation of Candle's, with its own backward pass.

use candle_core::{CpuStorage, CustomOp2, DType, Layout, Shape, Tensor, bail};
use rayon::prelude::*;

use super::kernel::{self, Activations, CONTEXT, Convolution, LAYERS};
use super::levels::CHANNELS;
use crate::networks::ops::{Element, Kept, values, with_values};

/// Sequences that one thread takes at a time. Fixed, so that sums over tasks do not depend on the number of threads.
const SEQUENCES_PER_TASK: usize = 16;

/// The logits (sequences x moments) of `inputs` (sequences x frames x [`CHANNELS`]); there are 2 [`CONTEXT`] fewer
/// moments than frames. `parameters` is the flat vector of all weights; gradients flow to it alone.
///
/// On the CPU this is one operation; on other devices it is built of Candle's own.
pub(crate) fn logits(inputs: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
    if inputs.track_op() {
        bail!("the inputs of the ear are constants");
    }
    if !inputs.device().is_cpu() {
        return fallback(inputs, parameters);
    }
    let op = EarOp { learns: parameters.track_op(), activations: Kept::default() };
    inputs.contiguous()?.apply_op2(&parameters.contiguous()?, op)
}

/// The same network made of Candle's operations: for graphics cards, and to check the kernel.
fn fallback(inputs: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
    let mut values = inputs.transpose(1, 2)?.contiguous()?;
    for (index, layer) in LAYERS.into_iter().enumerate() {
        let range = Convolution::range(index);
        let count = layer.width() * layer.outputs;
        let kernel = parameters.narrow(0, range.start, count)?.reshape((layer.taps, layer.inputs, layer.outputs))?;
        let biases = parameters.narrow(0, range.start + count, layer.outputs)?.reshape((1, layer.outputs, 1))?;
        values = values.conv1d(&kernel.permute((2, 1, 0))?.contiguous()?, 0, 1, 1, 1)?.broadcast_add(&biases)?;
        if index + 1 < LAYERS.len() {
            values = values.relu()?;
        }
    }
    values.squeeze(1)
}

struct EarOp {
    /// Whether there will be a backward pass.
    learns: bool,
    /// Of every sequence, left by the forward pass.
    activations: Kept,
}

impl EarOp {
    fn forward<F: Element>(
        &self,
        inputs: &[F],
        dims: (usize, usize, usize),
        parameters: &[F],
    ) -> candle_core::Result<Vec<F>> {
        let (sequences, frames, channels) = dims;
        if channels != CHANNELS || frames <= 2 * CONTEXT || parameters.len() != kernel::parameter_count() {
            bail!("inputs of {dims:?} and {} weights do not fit the ear", parameters.len());
        }
        let of_one = |inputs: &[F]| kernel::forward(parameters, inputs);
        // A few sequences stay on this thread: it may hold a lock that other threads wait for.
        let all: Vec<Activations<F>> = if sequences <= SEQUENCES_PER_TASK {
            inputs.chunks_exact(frames * channels).map(of_one).collect()
        } else {
            inputs.par_chunks_exact(frames * channels).with_min_len(SEQUENCES_PER_TASK).map(of_one).collect()
        };
        let logits = all.iter().flat_map(|activations| &activations[LAYERS.len() - 1]).copied().collect();
        if self.learns {
            self.activations.put(all);
        }
        Ok(logits)
    }

    fn backward<F: Element>(
        &self,
        inputs: &Tensor,
        parameters: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<Tensor> {
        let dims = inputs.dims3()?;
        let (input_length, logit_length) = (dims.1 * dims.2, dims.1 - 2 * CONTEXT);
        let gradient = with_values::<F, _>(inputs, |inputs| {
            with_values::<F, _>(parameters, |weights| {
                with_values::<F, _>(&gradient.contiguous()?, |gradient| {
                    let activations: Vec<Activations<F>> = match self.activations.take() {
                        Some(activations) => activations,
                        // A second backward pass through the same graph: the first took them.
                        None => inputs.chunks_exact(input_length).map(|i| kernel::forward(weights, i)).collect(),
                    };
                    let parts: Vec<Vec<F>> = activations
                        .par_chunks(SEQUENCES_PER_TASK)
                        .zip(inputs.par_chunks(SEQUENCES_PER_TASK * input_length))
                        .zip(gradient.par_chunks(SEQUENCES_PER_TASK * logit_length))
                        .map(|((activations, inputs), flows)| {
                            let mut sum = vec![F::ZERO; weights.len()];
                            let sequences = inputs.chunks_exact(input_length).zip(flows.chunks_exact(logit_length));
                            for (activations, (inputs, flow)) in activations.iter().zip(sequences) {
                                if flow.iter().any(|&flow| flow != F::ZERO) {
                                    kernel::backward(weights, inputs, activations, flow, &mut sum);
                                }
                            }
                            sum
                        })
                        .collect();
                    let mut sum = vec![F::ZERO; weights.len()];
                    for part in &parts {
                        sum.iter_mut().zip(part).for_each(|(sum, &value)| *sum += value);
                    }
                    Ok(sum)
                })
            })
        })?;
        Tensor::from_vec(gradient, parameters.shape(), parameters.device())
    }
}

impl CustomOp2 for EarOp {
    fn name(&self) -> &'static str {
        "ear"
    }

    fn cpu_fwd(
        &self,
        inputs: &CpuStorage,
        input_layout: &Layout,
        parameters: &CpuStorage,
        parameter_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let dims = input_layout.shape().dims3()?;
        let logits = match inputs {
            CpuStorage::F32(_) => CpuStorage::F32(self.forward(
                values(inputs, input_layout)?,
                dims,
                values(parameters, parameter_layout)?,
            )?),
            CpuStorage::F64(_) => CpuStorage::F64(self.forward(
                values(inputs, input_layout)?,
                dims,
                values(parameters, parameter_layout)?,
            )?),
            _ => bail!("the ear computes in f32 or f64 only"),
        };
        Ok((logits, Shape::from((dims.0, dims.1 - 2 * CONTEXT))))
    }

    fn bwd(
        &self,
        inputs: &Tensor,
        parameters: &Tensor,
        _logits: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let gradient = match inputs.dtype() {
            DType::F64 => self.backward::<f64>(inputs, parameters, gradient)?,
            _ => self.backward::<f32>(inputs, parameters, gradient)?,
        };
        Ok((None, Some(gradient)))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    fn wave(dims: &[usize], step: f64, size: f64) -> Var {
        let count = dims.iter().product::<usize>();
        let values: Vec<f64> = (1..=count).map(|i| size * (step * i as f64).sin()).collect();
        Var::from_vec(values, dims, &Device::Cpu).unwrap()
    }

    fn flat(tensor: &Tensor) -> Vec<f64> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    fn assert_close(a: &Tensor, b: &Tensor) {
        assert_eq!(a.dims(), b.dims());
        for (a, b) in flat(a).into_iter().zip(flat(b)) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
    }

    #[test]
    fn values_and_gradients_agree_with_the_same_network_made_of_candle_operations() {
        // More sequences than one task takes, and a remainder.
        let inputs = wave(&[21, 2 * CONTEXT + 5, CHANNELS], 1.3, 1.0).as_tensor().detach();
        let parameters = wave(&[kernel::parameter_count()], 0.7, 0.2);
        let weights = wave(&[21, 5], 0.37, 1.0).as_tensor().detach();
        let step = |run: fn(&Tensor, &Tensor) -> candle_core::Result<Tensor>| {
            let logits = run(&inputs, parameters.as_tensor()).unwrap();
            let loss = (&logits * &weights).unwrap().sum_all().unwrap();
            let gradient = |loss: &Tensor| loss.backward().unwrap().get(&parameters).unwrap().clone();
            (logits, gradient(&loss), gradient(&loss))
        };
        let (ours, gradient, again) = step(logits);
        let (theirs, expected, _) = step(fallback);
        assert_close(&ours, &theirs);
        assert_close(&gradient, &expected);
        assert_close(&again, &expected);
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let inputs = wave(&[50, 2 * CONTEXT + 3, CHANNELS], 1.3, 1.0).as_tensor().detach();
        let parameters = wave(&[kernel::parameter_count()], 0.7, 0.2);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let loss = logits(&inputs, parameters.as_tensor()).unwrap().sqr().unwrap().sum_all().unwrap();
                flat(loss.backward().unwrap().get(&parameters).unwrap())
            })
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let parameters = wave(&[kernel::parameter_count()], 0.7, 0.2).as_tensor().detach();
        let inputs = |dims: &[usize]| wave(dims, 1.3, 1.0).as_tensor().detach();
        assert!(logits(&inputs(&[1, 2 * CONTEXT, CHANNELS]), &parameters).is_err(), "too short for a single moment");
        assert!(logits(&inputs(&[1, 20, CHANNELS - 1]), &parameters).is_err());
        assert!(logits(&inputs(&[1, 20, CHANNELS]), &parameters.narrow(0, 0, 100).unwrap()).is_err());
        assert!(logits(wave(&[1, 20, CHANNELS], 1.3, 1.0).as_tensor(), &parameters).is_err(), "no gradient for inputs");
    }
}
