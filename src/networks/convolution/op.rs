//! A convolution as one operation of Candle's.

use candle_core::{Shape, Tensor};

use super::{Convolution, kernel};
use crate::base::accelerator::{Accelerator, ConvolutionPass, DevicePassed, DeviceTrace, Outcome, Work, WorkKind};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::networks::ops::{Dims, Element, Gradients, Kernel, apply};

/// The convolution of `input` (sequences x frames x inputs). Gradients flow to it and to the flat `parameters`.
///
/// On the CPU this is one operation; on other devices it is built of Candle's own.
pub(crate) fn convolve(
    ctx: &JobContext,
    of: Convolution,
    input: &Tensor,
    parameters: &Tensor,
) -> candle_core::Result<Tensor> {
    if !input.device().is_cpu() {
        return fallback(of, input, parameters);
    }
    apply(ConvolutionKernel { ctx: ctx.quiet(), of }, input, parameters)
}

/// The same made of Candle's operations: for its devices, and to check the kernel.
fn fallback(of: Convolution, input: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
    let (sequences, frames, _) = input.dims3()?;
    let padded = input.pad_with_zeros(1, of.margin(), of.margin())?;
    let taps: candle_core::Result<Vec<Tensor>> = (0..of.taps).map(|tap| padded.narrow(1, tap, frames)).collect();
    let rows = Tensor::cat(&taps?, 2)?.reshape((sequences * frames, of.width()))?;
    let weights = parameters.narrow(0, 0, of.weights())?.reshape((of.outputs, of.inputs, of.taps))?;
    let weights = weights.permute((2, 1, 0))?.reshape((of.width(), of.outputs))?;
    let mut output = rows.matmul(&weights)?;
    if of.has_bias {
        output = output.broadcast_add(&parameters.narrow(0, of.weights(), of.outputs)?)?;
    }
    output.reshape((sequences, frames, of.outputs))
}

struct ConvolutionKernel {
    ctx: JobContext,
    of: Convolution,
}

impl ConvolutionKernel {
    fn pass<'a>(&self, values: &'a [f32], (sequences, frames, _): Dims, parameters: &'a [f32]) -> ConvolutionPass<'a> {
        let Convolution { taps, inputs, outputs, has_bias } = self.of;
        ConvolutionPass { taps, inputs, outputs, has_bias, sequences, frames, values, parameters }
    }
}

impl Kernel for ConvolutionKernel {
    /// Input and parameters are all that the way back needs.
    type Trace<F: Element> = ();
    const NAME: &'static str = "convolution";

    fn forward<F: Element>(
        &self,
        input: &[F],
        (_, frames, _): Dims,
        parameters: &[F],
        learns: bool,
    ) -> Result<(Vec<F>, Option<()>)> {
        self.ctx.check()?;
        Ok((kernel::forward(self.of, parameters, frames, input), learns.then_some(())))
    }

    fn backward<F: Element>(
        &self,
        input: &[F],
        (_, frames, _): Dims,
        parameters: &[F],
        (): (),
        gradient: &[F],
        for_input: bool,
    ) -> Result<(Option<Vec<F>>, Vec<F>)> {
        let by_input = for_input.then(|| kernel::input_gradient(self.of, parameters, frames, gradient));
        Ok((by_input, kernel::parameter_gradient(self.of, frames, input, gradient)))
    }

    fn output(&self, (sequences, frames, _): Dims) -> Shape {
        Shape::from((sequences, frames, self.of.outputs))
    }

    fn context(&self) -> &JobContext {
        &self.ctx
    }

    fn work(&self, (sequences, frames, _): Dims) -> Work {
        Work { kind: WorkKind::Convolution, amount: (sequences * frames) as f64 * self.of.weights() as f64 }
    }

    fn device_forward(
        &self,
        device: &dyn Accelerator,
        values: &[f32],
        dims: Dims,
        parameters: &[f32],
        learns: bool,
    ) -> Outcome<DevicePassed> {
        device.convolution(&self.pass(values, dims, parameters), learns)
    }

    fn device_backward(
        &self,
        device: &dyn Accelerator,
        (values, dims, parameters): (&[f32], Dims, &[f32]),
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<Gradients<f32>> {
        device.convolution_backward(&self.pass(values, dims, parameters), trace, gradient, for_input)
    }

    fn check(&self, values: usize, dims: Dims, parameters: usize) -> Result<()> {
        let (sequences, frames, inputs) = dims;
        let fits = inputs == self.of.inputs && sequences * frames * inputs == values;
        if fits && !self.of.taps.is_multiple_of(2) && parameters == self.of.parameter_count() {
            return Ok(());
        }
        let (given, allowed) = (format!("{dims:?} with {parameters} weights"), format!("one that fits {:?}", self.of));
        Err(Error::invalid("input of a convolution", given, allowed))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    fn wave(dims: &[usize], step: f64) -> Var {
        let count = dims.iter().product::<usize>();
        let values: Vec<f64> = (1..=count).map(|i| (step * i as f64).sin()).collect();
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

    fn on_cpu(of: Convolution, input: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
        convolve(&JobContext::new(), of, input, parameters)
    }

    const CASES: [Convolution; 4] = [
        Convolution { taps: 5, inputs: 3, outputs: 7, has_bias: true },
        Convolution { taps: 3, inputs: 20, outputs: 17, has_bias: false },
        Convolution { taps: 1, inputs: 6, outputs: 2, has_bias: true },
        Convolution { taps: 5, inputs: 1, outputs: 1, has_bias: false },
    ];

    #[test]
    fn a_convolution_is_the_sum_over_taps_and_inputs_with_zeros_beyond_the_ends() {
        let of = CASES[0];
        let (input, parameters) = (wave(&[2, 4, 3], 1.3), wave(&[of.parameter_count()], 0.7));
        let (x, w) = (flat(&input), flat(&parameters));
        let found = flat(&on_cpu(of, input.as_tensor(), parameters.as_tensor()).unwrap());
        for (index, found) in found.into_iter().enumerate() {
            let (sequence, frame, output) = (index / 28, index / 7 % 4, index % 7);
            let mut sum = w[of.weights() + output];
            for tap in 0..5 {
                let Some(at) = (frame + tap).checked_sub(2).filter(|&at| at < 4) else { continue };
                for i in 0..3 {
                    sum += w[(output * 3 + i) * 5 + tap] * x[(sequence * 4 + at) * 3 + i];
                }
            }
            assert!((found - sum).abs() < 1e-12, "{index}: {found} {sum}");
        }
    }

    #[test]
    fn values_and_gradients_agree_with_the_same_made_of_candle_operations() {
        for of in CASES {
            // More sequences than one task takes, and a remainder; one sequence shorter than the taps.
            for (sequences, frames) in [(21, 6), (2, 1)] {
                let (input, parameters) =
                    (wave(&[sequences, frames, of.inputs], 1.3), wave(&[of.parameter_count()], 0.7));
                let weights = wave(&[sequences, frames, of.outputs], 0.37).as_tensor().detach();
                let step = |run: fn(Convolution, &Tensor, &Tensor) -> candle_core::Result<Tensor>| {
                    let output = run(of, input.as_tensor(), parameters.as_tensor()).unwrap();
                    let loss = (&output * &weights).unwrap().sum_all().unwrap();
                    let gradient = |loss: &Tensor| {
                        let found = loss.backward().unwrap();
                        [&input, &parameters].map(|variable| found.get(variable).unwrap().clone())
                    };
                    (output, gradient(&loss), gradient(&loss))
                };
                let (ours, gradient, again) = step(on_cpu);
                let (theirs, expected, _) = step(fallback);
                assert_close(&ours, &theirs);
                for index in 0..2 {
                    assert_close(&gradient[index], &expected[index]);
                    assert_close(&again[index], &expected[index]);
                }
            }
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let of = CASES[1];
        let (input, parameters) = (wave(&[50, 9, of.inputs], 1.3), wave(&[of.parameter_count()], 0.7));
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let output = on_cpu(of, input.as_tensor(), parameters.as_tensor()).unwrap();
                flat(output.sqr().unwrap().sum_all().unwrap().backward().unwrap().get(&parameters).unwrap())
            })
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let of = CASES[0];
        let parameters = wave(&[of.parameter_count()], 0.7);
        assert!(on_cpu(of, wave(&[1, 4, 2], 1.3).as_tensor(), parameters.as_tensor()).is_err());
        let few = parameters.as_tensor().narrow(0, 0, 5).unwrap();
        assert!(on_cpu(of, wave(&[1, 4, 3], 1.3).as_tensor(), &few).is_err());
        let even = Convolution { taps: 4, ..of };
        assert!(on_cpu(even, wave(&[1, 4, 3], 1.3).as_tensor(), parameters.as_tensor()).is_err());
    }

    #[test]
    #[cfg(feature = "gpu")]
    fn a_graphics_card_gives_the_same_values_and_gradients() {
        use candle_core::DType;
        let Some(gpu) = crate::devices::devices_for_tests::gpu_context() else { return };
        let of = Convolution { taps: 5, inputs: 40, outputs: 24, has_bias: true };
        let single = |var: Var| Var::from_tensor(&var.as_tensor().to_dtype(DType::F32).unwrap()).unwrap();
        let (input, parameters) = (single(wave(&[9, 50, 40], 1.3)), single(wave(&[of.parameter_count()], 0.7)));
        let weights = single(wave(&[9, 50, 24], 0.37)).as_tensor().detach();
        let step = |ctx: &JobContext| {
            let output = convolve(ctx, of, input.as_tensor(), parameters.as_tensor()).unwrap();
            let gradients = (&output * &weights).unwrap().sum_all().unwrap().backward().unwrap();
            let double = |tensor: &Tensor| flat(&tensor.to_dtype(DType::F64).unwrap());
            [double(&output), double(gradients.get(&input).unwrap()), double(gradients.get(&parameters).unwrap())]
        };
        for (on_cpu, on_gpu) in step(&JobContext::new()).into_iter().zip(step(&gpu)) {
            let largest = on_cpu.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            let worst = on_cpu.iter().zip(&on_gpu).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-4 * largest, "{worst} of {largest}");
        }
    }
}
