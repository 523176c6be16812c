//! The ear as one operation of Candle's.

use candle_core::{Shape, Tensor, bail};
use rayon::prelude::*;

use super::kernel::{self, Activations, CONTEXT, Convolution, LAYERS};
use super::levels::CHANNELS;
use crate::base::accelerator::{
    Accelerator, ConvolutionPass, ConvolutionShape, DevicePassed, DeviceTrace, Outcome, Work, WorkKind,
};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::networks::ops::{Dims, Element, Gradients, Kernel, apply};

/// Sequences that one thread takes at a time. Fixed, so that sums over tasks do not depend on the number of threads.
const SEQUENCES_PER_TASK: usize = 16;

/// The logits (sequences x moments) of `inputs` (sequences x frames x [`CHANNELS`]); there are 2 [`CONTEXT`] fewer
/// moments than frames. `parameters` is the flat vector of all weights; gradients flow to it alone.
///
/// On the CPU this is one operation; on other devices it is built of Candle's own.
pub(crate) fn logits(ctx: &JobContext, inputs: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
    if inputs.track_op() {
        bail!("the inputs of the ear are constants");
    }
    if !inputs.device().is_cpu() {
        return fallback(inputs, parameters);
    }
    apply(EarKernel { ctx: ctx.quiet() }, inputs, parameters)
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

/// How much work it is to hear so many moments.
pub(crate) fn work(moments: usize) -> Work {
    Work { kind: WorkKind::Convolution, amount: moments as f64 * kernel::parameter_count() as f64 }
}

/// The logits of many sequences if the device of the context gives them; `None` if the CPU would have to.
pub(super) fn logits_on_device(
    ctx: &JobContext,
    sequences: usize,
    inputs: &[f32],
    parameters: &[f32],
) -> Option<Vec<f32>> {
    let dims = (sequences, inputs.len() / (sequences * CHANNELS), CHANNELS);
    let kernel = EarKernel { ctx: ctx.quiet() };
    kernel.check(inputs.len(), dims, parameters.len()).ok()?;
    let passed =
        ctx.accelerate(kernel.work(dims), |device| kernel.device_forward(device, inputs, dims, parameters, false));
    passed.map(|(logits, _)| logits)
}

struct EarKernel {
    ctx: JobContext,
}

impl EarKernel {
    fn device_pass<R>(
        (values, (sequences, frames, _), parameters): (&[f32], Dims, &[f32]),
        run: impl FnOnce(&ConvolutionPass<'_>) -> R,
    ) -> R {
        let layers =
            LAYERS.map(|layer| ConvolutionShape { taps: layer.taps, inputs: layer.inputs, outputs: layer.outputs });
        run(&ConvolutionPass { layers: &layers, sequences, frames, values, parameters })
    }
}

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

    fn context(&self) -> &JobContext {
        &self.ctx
    }

    fn work(&self, (sequences, frames, _): Dims) -> Work {
        work(sequences * frames)
    }

    fn device_forward(
        &self,
        device: &dyn Accelerator,
        values: &[f32],
        dims: Dims,
        parameters: &[f32],
        learns: bool,
    ) -> Outcome<DevicePassed> {
        Self::device_pass((values, dims, parameters), |pass| device.convolutions(pass, learns))
    }

    fn device_backward(
        &self,
        device: &dyn Accelerator,
        pass: (&[f32], Dims, &[f32]),
        trace: DeviceTrace,
        gradient: &[f32],
        _: bool,
    ) -> Outcome<Gradients<f32>> {
        Ok((None, Self::device_pass(pass, |pass| device.convolutions_backward(pass, trace, gradient))?))
    }

    fn check(&self, _: usize, dims: Dims, parameters: usize) -> Result<()> {
        let (_, frames, channels) = dims;
        if channels == CHANNELS && frames > 2 * CONTEXT && parameters == kernel::parameter_count() {
            return Ok(());
        }
        let allowed = format!("{CHANNELS} values per frame, and its weights");
        Err(Error::invalid("input of the ear", format!("{dims:?} with {parameters} weights"), allowed))
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

    fn hear(inputs: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
        logits(&JobContext::new(), inputs, parameters)
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
        let (ours, gradient, again) = step(hear);
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
                let loss = hear(&inputs, parameters.as_tensor()).unwrap().sqr().unwrap().sum_all().unwrap();
                flat(loss.backward().unwrap().get(&parameters).unwrap())
            })
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let parameters = wave(&[kernel::parameter_count()], 0.7, 0.2).as_tensor().detach();
        let inputs = |dims: &[usize]| wave(dims, 1.3, 1.0).as_tensor().detach();
        assert!(hear(&inputs(&[1, 2 * CONTEXT, CHANNELS]), &parameters).is_err(), "too short for a single moment");
        assert!(hear(&inputs(&[1, 20, CHANNELS - 1]), &parameters).is_err());
        assert!(hear(&inputs(&[1, 20, CHANNELS]), &parameters.narrow(0, 0, 100).unwrap()).is_err());
        assert!(hear(wave(&[1, 20, CHANNELS], 1.3, 1.0).as_tensor(), &parameters).is_err(), "no gradient for inputs");
    }

    #[test]
    #[cfg(feature = "gpu")]
    fn a_graphics_card_gives_the_same_values_and_gradients() {
        use candle_core::DType;
        let Some(gpu) = crate::devices::devices_for_tests::gpu_context() else { return };
        let single = |tensor: Tensor| tensor.to_dtype(DType::F32).unwrap();
        let inputs = single(wave(&[21, 2 * CONTEXT + 40, CHANNELS], 1.3, 1.0).as_tensor().detach());
        let parameters = wave(&[kernel::parameter_count()], 0.7, 0.2);
        let parameters = Var::from_tensor(&single(parameters.as_tensor().detach())).unwrap();
        let weights = single(wave(&[21, 40], 0.37, 1.0).as_tensor().detach());
        let step = |ctx: &JobContext| {
            let output = logits(ctx, &inputs, parameters.as_tensor()).unwrap();
            let gradients = (&output * &weights).unwrap().sum_all().unwrap().backward().unwrap();
            let double = |tensor: &Tensor| flat(&tensor.to_dtype(DType::F64).unwrap());
            (double(&output), double(gradients.get(&parameters).unwrap()))
        };
        let ((output, gradient), (on_gpu, gradient_on_gpu)) = (step(&JobContext::new()), step(&gpu));
        let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
        assert!(worst(&output, &on_gpu) < 1e-5 * largest(&output));
        assert!(worst(&gradient, &gradient_on_gpu) < 1e-4 * largest(&gradient));
    }
}
