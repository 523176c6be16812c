//! The network as one operation of Candle's, with its own backward pass.

use candle_core::{CpuStorage, CustomOp2, DType, Layout, Shape, Tensor, bail};

use super::{Batch, GruRef, GruShape, InputGradient, Trace, backward, encode, encode_recording, fallback};
use crate::base::job::JobContext;
use crate::networks::ops::{Element, Kept, values, with_values};

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
    if !input.device().is_cpu() {
        return fallback::encode(shape, input, parameters);
    }
    let (input, parameters) = (input.contiguous()?, parameters.contiguous()?);
    let learns = input.track_op() || parameters.track_op();
    input.apply_op2(&parameters, GruOp { ctx: ctx.quiet(), shape, learns, trace: Kept::default() })
}

/// The network as one node of the graph.
struct GruOp {
    ctx: JobContext,
    shape: GruShape,
    /// Whether there will be a backward pass.
    learns: bool,
    /// Left by the forward pass, taken by the backward pass.
    trace: Kept,
}

impl GruOp {
    fn forward<F: Element>(
        &self,
        input: &[F],
        dims: (usize, usize, usize),
        parameters: &[F],
    ) -> candle_core::Result<Vec<F>> {
        let wrap = candle_core::Error::wrap;
        let (sequences, frames, dim) = dims;
        let batch = Batch { values: input, sequences, frames, dim };
        let gru = GruRef::new(self.shape, parameters).map_err(wrap)?;
        if !self.learns {
            return encode(&self.ctx, gru, &batch).map_err(wrap);
        }
        let (output, trace) = encode_recording(&self.ctx, gru, &batch).map_err(wrap)?;
        self.trace.put(trace);
        Ok(output)
    }

    fn backward<F: Element>(
        &self,
        input: &Tensor,
        parameters: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let dims = input.dims3()?;
        let (sequences, frames, dim) = dims;
        let wanted = if input.track_op() { InputGradient::Wanted } else { InputGradient::Skipped };
        let gradients = with_values::<F, _>(input, |values| {
            with_values::<F, _>(parameters, |weights| {
                with_values::<F, _>(&gradient.contiguous()?, |gradient| {
                    let trace = match self.trace.take::<Trace<F>>() {
                        Some(trace) => trace,
                        // A second backward pass through the same graph: the first took the trace.
                        None => {
                            self.forward(values, dims, weights)?;
                            match self.trace.take() {
                                Some(trace) => trace,
                                None => bail!("the forward pass of the network left no trace"),
                            }
                        }
                    };
                    let batch = Batch { values, sequences, frames, dim };
                    let gru = GruRef::new(self.shape, weights).map_err(candle_core::Error::wrap)?;
                    backward(gru, &batch, trace, gradient, wanted).map_err(candle_core::Error::wrap)
                })
            })
        })?;
        let for_input = gradients.input.map(|g| Tensor::from_vec(g, input.shape(), input.device())).transpose()?;
        Ok((for_input, Some(Tensor::from_vec(gradients.parameters, parameters.shape(), parameters.device())?)))
    }
}

impl CustomOp2 for GruOp {
    fn name(&self) -> &'static str {
        "bidirectional-gru"
    }

    fn cpu_fwd(
        &self,
        input: &CpuStorage,
        input_layout: &Layout,
        parameters: &CpuStorage,
        parameter_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let dims = input_layout.shape().dims3()?;
        let output = match input {
            CpuStorage::F32(_) => CpuStorage::F32(self.forward(
                values(input, input_layout)?,
                dims,
                values(parameters, parameter_layout)?,
            )?),
            CpuStorage::F64(_) => CpuStorage::F64(self.forward(
                values(input, input_layout)?,
                dims,
                values(parameters, parameter_layout)?,
            )?),
            _ => bail!("the network computes in f32 or f64 only"),
        };
        Ok((output, Shape::from((dims.0, dims.1, self.shape.output()))))
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

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

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
        let step = |encode: fn(GruShape, &Tensor, &Tensor) -> candle_core::Result<Tensor>| {
            let output = encode(SHAPE, input.as_tensor(), parameters.as_tensor()).unwrap();
            let loss = (&output * weights.as_tensor()).unwrap().sum_all().unwrap();
            (output, loss.backward().unwrap())
        };
        let (ours, our_gradients) = step(on_cpu);
        let (theirs, their_gradients) = step(fallback::encode);
        assert_close(&ours, &theirs);
        for variable in [&input, &parameters] {
            let (a, b) = (our_gradients.get(variable).unwrap(), their_gradients.get(variable).unwrap());
            assert_close(a, b);
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
}
