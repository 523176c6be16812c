//! The network as one operation of Candle's.

use candle_core::{Shape, Tensor};

use super::{
    Batch, GruRef, GruShape, InputGradient, Output, Trace, backward, check_sizes, encode, encode_recording, fallback,
};
use crate::base::accelerator::{Accelerator, DevicePassed, DeviceTrace, GruPass, Outcome, Work, WorkKind};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::networks::ops::{Dims, Element, Gradients, Kernel, apply};

/// The features of `input` (sequences x frames x values), of length one in each frame.
///
/// `parameters` is the flat vector that [`GruShape::tensors`] describes. Gradients flow to both. On the CPU this is
/// one operation, which can be cancelled; on other devices it is built of Candle's own.
pub(crate) fn encode_tensor(
    ctx: &JobContext,
    shape: GruShape,
    input: &Tensor,
    parameters: &Tensor,
) -> candle_core::Result<Tensor> {
    run(ctx, shape, Output::Normalised, input, parameters)
}

/// The same without the division by the length: the states of both directions.
pub(crate) fn states_tensor(
    ctx: &JobContext,
    shape: GruShape,
    input: &Tensor,
    parameters: &Tensor,
) -> candle_core::Result<Tensor> {
    run(ctx, shape, Output::States, input, parameters)
}

fn run(
    ctx: &JobContext,
    shape: GruShape,
    output: Output,
    input: &Tensor,
    parameters: &Tensor,
) -> candle_core::Result<Tensor> {
    if !input.device().is_cpu() {
        return fallback::encode(shape, output, input, parameters);
    }
    apply(GruKernel { ctx: ctx.quiet(), shape, output }, input, parameters)
}

struct GruKernel {
    ctx: JobContext,
    shape: GruShape,
    output: Output,
}

impl GruKernel {
    fn pass<'a>(&self, values: &'a [f32], (sequences, frames, input): Dims, parameters: &'a [f32]) -> GruPass<'a> {
        GruPass {
            input,
            hidden: self.shape.hidden,
            sequences,
            frames,
            normalised: self.output == Output::Normalised,
            values,
            parameters,
        }
    }
}

impl Kernel for GruKernel {
    type Trace<F: Element> = Trace<F>;
    const NAME: &'static str = "bidirectional-gru";

    fn forward<F: Element>(
        &self,
        values: &[F],
        (sequences, frames, dim): Dims,
        parameters: &[F],
        learns: bool,
    ) -> Result<(Vec<F>, Option<Trace<F>>)> {
        let batch = Batch { values, sequences, frames, dim };
        let gru = GruRef::new(self.shape, parameters)?.with_output(self.output);
        if learns {
            let (output, trace) = encode_recording(&self.ctx, gru, &batch)?;
            return Ok((output, Some(trace)));
        }
        Ok((encode(&self.ctx, gru, &batch)?, None))
    }

    fn backward<F: Element>(
        &self,
        values: &[F],
        (sequences, frames, dim): Dims,
        parameters: &[F],
        trace: Trace<F>,
        gradient: &[F],
        for_input: bool,
    ) -> Result<(Option<Vec<F>>, Vec<F>)> {
        let batch = Batch { values, sequences, frames, dim };
        let wanted = if for_input { InputGradient::Wanted } else { InputGradient::Skipped };
        let gradients =
            backward(GruRef::new(self.shape, parameters)?.with_output(self.output), &batch, trace, gradient, wanted)?;
        Ok((gradients.input, gradients.parameters))
    }

    fn output(&self, (sequences, frames, _): Dims) -> Shape {
        Shape::from((sequences, frames, self.shape.output()))
    }

    fn context(&self) -> &JobContext {
        &self.ctx
    }

    fn work(&self, (sequences, frames, _): Dims) -> Work {
        let amount = (sequences * frames) as f64 * self.shape.parameter_count() as f64;
        Work { kind: WorkKind::Recurrence, amount }
    }

    fn device_forward(
        &self,
        device: &dyn Accelerator,
        values: &[f32],
        dims: Dims,
        parameters: &[f32],
        learns: bool,
    ) -> Outcome<DevicePassed> {
        device.gru(&self.pass(values, dims, parameters), learns)
    }

    fn device_backward(
        &self,
        device: &dyn Accelerator,
        (values, dims, parameters): (&[f32], Dims, &[f32]),
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<Gradients<f32>> {
        device.gru_backward(&self.pass(values, dims, parameters), trace, gradient, for_input)
    }

    fn check(&self, values: usize, dims: Dims, parameters: usize) -> Result<()> {
        check_sizes(self.shape, values, dims, parameters)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Var};

    use super::*;

    const SHAPE: GruShape = GruShape { input: 5, hidden: 4 };

    fn wave(dims: &[usize], step: f64) -> Var {
        let count = dims.iter().product::<usize>();
        let values: Vec<f64> = (1..=count).map(|i| (step * i as f64).sin()).collect();
        Var::from_vec(values, dims, &Device::Cpu).unwrap()
    }

    fn on_cpu(shape: GruShape, input: &Tensor, parameters: &Tensor) -> candle_core::Result<Tensor> {
        encode_tensor(&JobContext::new(), shape, input, parameters)
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
        let input = wave(&[3, 9, 5], 1.3);
        let parameters = wave(&[SHAPE.parameter_count()], 0.7);
        let weights = wave(&[3, 9, 8], 0.37);
        let step = |output: &Tensor| {
            let loss = (output * weights.as_tensor()).unwrap().sum_all().unwrap();
            loss.backward().unwrap()
        };
        for wanted in [Output::Normalised, Output::States] {
            let ours = run(&JobContext::new(), SHAPE, wanted, input.as_tensor(), parameters.as_tensor()).unwrap();
            let theirs = fallback::encode(SHAPE, wanted, input.as_tensor(), parameters.as_tensor()).unwrap();
            let (our_gradients, their_gradients) = (step(&ours), step(&theirs));
            assert_close(&ours, &theirs);
            for variable in [&input, &parameters] {
                let (a, b) = (our_gradients.get(variable).unwrap(), their_gradients.get(variable).unwrap());
                assert_close(a, b);
            }
        }
    }

    #[test]
    fn a_second_backward_pass_gives_the_same_gradient() {
        let parameters = wave(&[SHAPE.parameter_count()], 0.7);
        let input = wave(&[1, 6, 5], 1.3).as_tensor().detach();
        let output = on_cpu(SHAPE, &input, parameters.as_tensor()).unwrap();
        let loss = output.sum_all().unwrap();
        let (first, second) = (loss.backward().unwrap(), loss.backward().unwrap());
        assert_close(first.get(&parameters).unwrap(), second.get(&parameters).unwrap());
        assert!(first.get(&input).is_none(), "a constant input has no gradient");
    }

    #[test]
    fn the_values_are_the_same_bits_whether_or_not_a_gradient_follows() {
        let (parameters, input) = (wave(&[SHAPE.parameter_count()], 0.7), wave(&[2, 7, 5], 1.3));
        let learning = on_cpu(SHAPE, input.as_tensor(), parameters.as_tensor()).unwrap();
        let plain = on_cpu(SHAPE, &input.as_tensor().detach(), &parameters.as_tensor().detach()).unwrap();
        assert_eq!(flat(&learning), flat(&plain));
    }

    #[test]
    fn wrong_shapes_and_types_are_errors() {
        let parameters = wave(&[SHAPE.parameter_count()], 0.7);
        let wrong_dim = wave(&[1, 6, 4], 1.3);
        assert!(on_cpu(SHAPE, wrong_dim.as_tensor(), parameters.as_tensor()).is_err());
        let no_batch = wave(&[6, 5], 1.3);
        assert!(on_cpu(SHAPE, no_batch.as_tensor(), parameters.as_tensor()).is_err());
        let integers = Tensor::zeros((1, 6, 5), DType::U8, &Device::Cpu).unwrap();
        assert!(on_cpu(SHAPE, &integers, parameters.as_tensor()).is_err());
    }

    #[test]
    #[cfg(feature = "gpu")]
    fn a_graphics_card_gives_the_same_values_and_gradients() {
        let Some(gpu) = crate::devices::devices_for_tests::gpu_context() else { return };
        let shape = GruShape { input: 48, hidden: 64 };
        let input = wave(&[3, 40, 48], 1.3).as_tensor().detach().to_dtype(DType::F32).unwrap();
        let start = wave(&[shape.parameter_count()], 0.7).as_tensor().affine(0.1, 0.0).unwrap();
        let parameters = Var::from_tensor(&start.to_dtype(DType::F32).unwrap()).unwrap();
        let step = |ctx: &JobContext| {
            let output = encode_tensor(ctx, shape, &input, parameters.as_tensor()).unwrap();
            let weights = wave(&[3, 40, 128], 0.37).as_tensor().detach().to_dtype(DType::F32).unwrap();
            let gradients = (&output * weights).unwrap().sum_all().unwrap().backward().unwrap();
            let double = |tensor: &Tensor| flat(&tensor.to_dtype(DType::F64).unwrap());
            (double(&output), double(gradients.get(&parameters).unwrap()))
        };
        let ((output, gradient), (on_gpu, gradient_on_gpu)) = (step(&JobContext::new()), step(&gpu));
        let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let largest = gradient.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
        assert!(worst(&output, &on_gpu) < 1e-5);
        assert!(worst(&gradient, &gradient_on_gpu) < 1e-4 * largest);
    }
}
