//! The ear as one operation of Candle's.

use candle_core::{Shape, Tensor, bail};
use rayon::prelude::*;

use super::kernel::{self, Activations, CONTEXT, Convolution, LAYERS};
use super::levels::CHANNELS;
use crate::base::error::{Error, Result};
use crate::networks::ops::{Dims, Element, Kernel, apply};

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
    apply(EarKernel, inputs, parameters)
}

/// The same network made of Candle's operations: for graphics cards, and to check the kernel.
fn fallback(inputs: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
    let (sequences, _, _) = inputs.dims3()?;
    let mut values = inputs.clone();
    for (index, layer) in LAYERS.into_iter().enumerate() {
        let (range, count) = (Convolution::range(index), layer.width() * layer.outputs);
        let weights = parameters.narrow(0, range.start, count)?.reshape((layer.width(), layer.outputs))?;
        let biases = parameters.narrow(0, range.start + count, layer.outputs)?;
        let frames = (values.dim(1)? + 1).saturating_sub(layer.taps);
        let taps: candle_core::Result<Vec<Tensor>> = (0..layer.taps).map(|tap| values.narrow(1, tap, frames)).collect();
        let rows = Tensor::cat(&taps?, 2)?.reshape((sequences * frames, layer.width()))?;
        values = rows.matmul(&weights)?.broadcast_add(&biases)?.reshape((sequences, frames, layer.outputs))?;
        if index + 1 < LAYERS.len() {
            values = values.relu()?;
        }
    }
    values.squeeze(2)
}

struct EarKernel;

impl Kernel for EarKernel {
    /// Of every sequence.
    type Trace<F: Element> = Vec<Activations<F>>;
    const NAME: &'static str = "ear";

    fn forward<F: Element>(
        &self,
        inputs: &[F],
        dims: Dims,
        parameters: &[F],
        learns: bool,
    ) -> Result<(Vec<F>, Option<Vec<Activations<F>>>)> {
        let (sequences, frames, channels) = dims;
        if channels != CHANNELS || frames <= 2 * CONTEXT || parameters.len() != kernel::parameter_count() {
            let given = format!("{dims:?} with {} weights", parameters.len());
            return Err(Error::invalid(
                "input of the ear",
                given,
                format!("{CHANNELS} values per frame, and its weights"),
            ));
        }
        let of_one = |inputs: &[F]| kernel::forward(parameters, inputs);
        // A few sequences stay on this thread: it may hold a lock that other threads wait for.
        let all: Vec<Activations<F>> = if sequences <= SEQUENCES_PER_TASK {
            inputs.chunks_exact(frames * channels).map(of_one).collect()
        } else {
            inputs.par_chunks_exact(frames * channels).with_min_len(SEQUENCES_PER_TASK).map(of_one).collect()
        };
        let logits = all.iter().flat_map(|activations| &activations[LAYERS.len() - 1]).copied().collect();
        Ok((logits, learns.then_some(all)))
    }

    fn backward<F: Element>(
        &self,
        inputs: &[F],
        (_, frames, channels): Dims,
        parameters: &[F],
        activations: Vec<Activations<F>>,
        gradient: &[F],
        _: bool,
    ) -> Result<(Option<Vec<F>>, Vec<F>)> {
        let (input_length, logit_length) = (frames * channels, frames - 2 * CONTEXT);
        let parts: Vec<Vec<F>> = activations
            .par_chunks(SEQUENCES_PER_TASK)
            .zip(inputs.par_chunks(SEQUENCES_PER_TASK * input_length))
            .zip(gradient.par_chunks(SEQUENCES_PER_TASK * logit_length))
            .map(|((activations, inputs), flows)| {
                let mut sum = vec![F::ZERO; parameters.len()];
                let sequences = inputs.chunks_exact(input_length).zip(flows.chunks_exact(logit_length));
                for (activations, (inputs, flow)) in activations.iter().zip(sequences) {
                    if flow.iter().any(|&flow| flow != F::ZERO) {
                        kernel::backward(parameters, inputs, activations, flow, &mut sum);
                    }
                }
                sum
            })
            .collect();
        let mut sum = vec![F::ZERO; parameters.len()];
        for part in &parts {
            sum.iter_mut().zip(part).for_each(|(sum, &value)| *sum += value);
        }
        Ok((None, sum))
    }

    fn output(&self, (sequences, frames, _): Dims) -> Shape {
        Shape::from((sequences, frames - 2 * CONTEXT))
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
