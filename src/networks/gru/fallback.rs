//! The network written frame by frame with Candle's own operations: for graphics cards, and to check the kernels.
//!
//! Slower than the kernels on a CPU, and fit only for slices: the graph of a whole recording would be too deep for
//! Candle's backward pass.

use candle_core::{D, Result, Tensor};

use super::{GruShape, Output};

/// See [`encode_tensor`](super::op::encode_tensor).
pub(super) fn encode(shape: GruShape, wanted: Output, input: &Tensor, parameters: &Tensor) -> Result<Tensor> {
    let tensors = shape
        .tensors()
        .into_iter()
        .map(|tensor| parameters.narrow(0, tensor.range.start, tensor.range.len())?.reshape(tensor.dims))
        .collect::<Result<Vec<_>>>()?;
    let (_, frames, _) = input.dims3()?;
    let forward = run_direction(shape, input, &tensors[..4], &mut (0..frames))?;
    let mut reverse = run_direction(shape, input, &tensors[4..], &mut (0..frames).rev())?;
    reverse.reverse();
    let output = Tensor::cat(&[Tensor::stack(&forward, 1)?, Tensor::stack(&reverse, 1)?], 2)?;
    if wanted == Output::States {
        return Ok(output);
    }
    let length = output.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?.maximum(1e-12)?;
    output.broadcast_div(&length)
}

/// The states in the order in which the frames are read.
fn run_direction(
    shape: GruShape,
    input: &Tensor,
    weights: &[Tensor],
    frames: &mut dyn Iterator<Item = usize>,
) -> Result<Vec<Tensor>> {
    let hidden = shape.hidden;
    let projected = input.broadcast_matmul(&weights[0].t()?)?.broadcast_add(&weights[2])?;
    let recurrent_weights = weights[1].t()?;
    let mut state = Tensor::zeros((input.dim(0)?, hidden), input.dtype(), input.device())?;
    let mut states = Vec::new();
    for frame in frames {
        let x = projected.narrow(1, frame, 1)?.squeeze(1)?;
        let h = state.matmul(&recurrent_weights)?.broadcast_add(&weights[3])?;
        let part = |of: &Tensor, gate: usize| of.narrow(1, gate * hidden, hidden);
        let r = sigmoid(&(part(&x, 0)? + part(&h, 0)?)?)?;
        let z = sigmoid(&(part(&x, 1)? + part(&h, 1)?)?)?;
        let n = (part(&x, 2)? + (r * part(&h, 2)?)?)?.tanh()?;
        state = (&n + (z * (state - &n)?)?)?;
        states.push(state.clone());
    }
    Ok(states)
}

fn sigmoid(x: &Tensor) -> Result<Tensor> {
    // By the tangent, which cannot overflow.
    (x * 0.5)?.tanh()?.affine(0.5, 0.5)
}
