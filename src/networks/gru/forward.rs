//! The forward pass.

use rayon::prelude::*;

use super::{Batch, Direction, GruRef, SEQUENCES_PER_TASK, Weights, check_batch, normalise};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::base::simd::vectorised;
use crate::networks::panels::{Panels, add_product};

/// What the backward pass needs to know of a forward pass. The first of each pair is [`Direction::Forward`].
#[derive(Debug)]
pub struct Trace<F> {
    /// The states of each frame before normalisation.
    pub(super) states: [Vec<F>; 2],
    /// Four arrays per frame, in this order: r, z, U_n h + c_n, n.
    pub(super) gates: [Vec<F>; 2],
}

/// The features of every frame: `sequences * frames * output` values, each frame of length one.
pub fn encode<F: Real>(ctx: &JobContext, gru: GruRef<'_, F>, batch: &Batch<'_, F>) -> Result<Vec<F>> {
    check_batch(gru.shape, batch)?;
    let [forward, reverse] = Direction::BOTH.map(|direction| gru.weights(direction));
    let (forward, reverse) =
        rayon::join(|| run_direction(ctx, &forward, batch, None), || run_direction(ctx, &reverse, batch, None));
    Ok(normalise::join(&[forward?, reverse?], gru.shape.hidden, gru.output))
}

/// Like [`encode`], and keeps what [`backward`](super::backward()) needs.
pub fn encode_recording<F: Real>(
    ctx: &JobContext,
    gru: GruRef<'_, F>,
    batch: &Batch<'_, F>,
) -> Result<(Vec<F>, Trace<F>)> {
    check_batch(gru.shape, batch)?;
    let [forward, reverse] = Direction::BOTH.map(|direction| gru.weights(direction));
    let mut gates = [(); 2].map(|()| vec![F::ZERO; batch.sequences * batch.frames * 4 * gru.shape.hidden]);
    let [gates_forward, gates_reverse] = &mut gates;
    let (forward, reverse) = rayon::join(
        || run_direction(ctx, &forward, batch, Some(gates_forward)),
        || run_direction(ctx, &reverse, batch, Some(gates_reverse)),
    );
    let states = [forward?, reverse?];
    Ok((normalise::join(&states, gru.shape.hidden, gru.output), Trace { states, gates }))
}

/// A network whose weights are packed for many batches, each of which is worked out on the thread that asks.
pub(in crate::networks) struct PackedGru<'a>([Packed<'a, f32>; 2]);

impl<'a> PackedGru<'a> {
    /// Packs the weights.
    pub fn new(gru: GruRef<'a, f32>) -> Self {
        Self(Direction::BOTH.map(|direction| Packed::new(gru.weights(direction))))
    }

    /// The states of a few sequences of `frames` frames in either direction, first forward, then reverse.
    pub fn states(&self, ctx: &JobContext, frames: usize, input: &[f32]) -> Result<[Vec<f32>; 2]> {
        let [forward, reverse] = &self.0;
        let run = |packed: &Packed<'_, f32>| {
            let shape = packed.weights.shape;
            let mut states = vec![0.0; input.len() / shape.input * shape.hidden];
            run_sequences(ctx, packed, frames, input, &mut states, None)?;
            Ok(states)
        };
        Ok([run(forward)?, run(reverse)?])
    }
}

/// One direction with its matrices packed.
struct Packed<'a, F> {
    weights: Weights<'a, F>,
    input: Panels<F>,
    recurrent: Panels<F>,
}

impl<'a, F: Real> Packed<'a, F> {
    fn new(weights: Weights<'a, F>) -> Self {
        let (dim, hidden) = (weights.shape.input, weights.shape.hidden);
        Self {
            input: Panels::pack(dim, 3 * hidden, |row, column| weights.input[column * dim + row]),
            recurrent: Panels::pack(hidden, 3 * hidden, |row, column| weights.recurrent[column * hidden + row]),
            weights,
        }
    }
}

/// The states of one direction; stores the gates in `gates` if asked.
fn run_direction<F: Real>(
    ctx: &JobContext,
    weights: &Weights<'_, F>,
    batch: &Batch<'_, F>,
    gates: Option<&mut Vec<F>>,
) -> Result<Vec<F>> {
    let hidden = weights.shape.hidden;
    let mut states = vec![F::ZERO; batch.sequences * batch.frames * hidden];
    let sequence_length = batch.frames * batch.dim;
    if batch.frames == 0 || hidden == 0 || sequence_length == 0 {
        return Ok(states);
    }
    let packed = Packed::new(*weights);
    let inputs = batch.values.par_chunks(SEQUENCES_PER_TASK * sequence_length);
    let outputs = states.par_chunks_mut(SEQUENCES_PER_TASK * batch.frames * hidden);
    let work = inputs.zip(outputs);
    match gates {
        Some(gates) => work.zip(gates.par_chunks_mut(SEQUENCES_PER_TASK * batch.frames * 4 * hidden)).try_for_each(
            |((input, states), gates)| run_sequences(ctx, &packed, batch.frames, input, states, Some(gates)),
        )?,
        None => work.try_for_each(|(input, states)| run_sequences(ctx, &packed, batch.frames, input, states, None))?,
    }
    Ok(states)
}

/// Frames whose input is projected at once: enough for an efficient product, few enough to stay in the cache.
const FRAMES_PER_BLOCK: usize = 128;

/// One direction of a few sequences.
fn run_sequences<F: Real>(
    ctx: &JobContext,
    packed: &Packed<'_, F>,
    frames: usize,
    input: &[F],
    states: &mut [F],
    mut gates: Option<&mut [F]>,
) -> Result<()> {
    let weights = &packed.weights;
    let (dim, hidden) = (weights.shape.input, weights.shape.hidden);
    let sequences = input.len() / (frames * dim);
    let mut projected = vec![F::ZERO; sequences * FRAMES_PER_BLOCK.min(frames) * 3 * hidden];
    let mut state = vec![F::ZERO; sequences * hidden];
    let mut scratch = vec![F::ZERO; sequences * 3 * hidden];
    let mut unrecorded = vec![F::ZERO; 4 * hidden];
    for done in (0..frames).step_by(FRAMES_PER_BLOCK) {
        ctx.check()?;
        let length = FRAMES_PER_BLOCK.min(frames - done);
        let first_frame = match weights.direction {
            Direction::Forward => done,
            Direction::Reverse => frames - done - length,
        };
        for frame in projected.chunks_exact_mut(3 * hidden) {
            frame.copy_from_slice(weights.input_bias);
        }
        for (input, projected) in input.chunks_exact(frames * dim).zip(projected.chunks_exact_mut(length * 3 * hidden))
        {
            add_product(&packed.input, length, &input[first_frame * dim..], dim, projected);
        }
        run_block(Block {
            panels: &packed.recurrent,
            recurrent_bias: weights.recurrent_bias,
            direction: weights.direction,
            hidden,
            frames,
            first_frame,
            length,
            projected: &projected,
            state: &mut state,
            scratch: &mut scratch,
            unrecorded: &mut unrecorded,
            states,
            gates: gates.as_deref_mut(),
        });
    }
    Ok(())
}

/// The recurrence over the frames of one block.
struct Block<'a, F> {
    panels: &'a Panels<F>,
    recurrent_bias: &'a [F],
    direction: Direction,
    hidden: usize,
    frames: usize,
    first_frame: usize,
    length: usize,
    projected: &'a [F],
    state: &'a mut [F],
    scratch: &'a mut [F],
    unrecorded: &'a mut [F],
    states: &'a mut [F],
    gates: Option<&'a mut [F]>,
}

vectorised! {
    fn run_block<F: Real>(block: Block<'_, F>) {
        block.run::<FMA>()
    }
}

impl<F: Real> Block<'_, F> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let hidden = self.hidden;
        let sequences = self.state.len() / hidden;
        for count in 0..self.length {
            let in_block = self.direction.frame(count, self.length);
            for row in self.scratch.chunks_exact_mut(3 * hidden) {
                row.copy_from_slice(self.recurrent_bias);
            }
            self.panels.add_product::<FMA>(sequences, self.state, hidden, self.scratch);
            for sequence in 0..sequences {
                let projected = &self.projected[(sequence * self.length + in_block) * 3 * hidden..][..3 * hidden];
                let recurrent = &self.scratch[sequence * 3 * hidden..][..3 * hidden];
                let state = &mut self.state[sequence * hidden..][..hidden];
                let frame = sequence * self.frames + self.first_frame + in_block;
                let gates = match &mut self.gates {
                    Some(gates) => &mut gates[frame * 4 * hidden..][..4 * hidden],
                    None => &mut *self.unrecorded,
                };
                update_state::<F, FMA>(projected, recurrent, state, gates);
                self.states[frame * hidden..][..hidden].copy_from_slice(state);
            }
        }
    }
}

/// One frame of one sequence. Fills `gates` with r, z, U_n h + c_n, n.
#[inline(always)]
fn update_state<F: Real, const FMA: bool>(projected: &[F], recurrent: &[F], state: &mut [F], gates: &mut [F]) {
    let hidden = state.len();
    let [xr, xz, xn] = thirds(projected, hidden);
    let [hr, hz, hn] = thirds(recurrent, hidden);
    let (r_out, rest) = gates.split_at_mut(hidden);
    let (z_out, rest) = rest.split_at_mut(hidden);
    let (hn_out, n_out) = rest.split_at_mut(hidden);
    let n_out = &mut n_out[..hidden];
    for i in 0..hidden {
        let r = (xr[i] + hr[i]).sigmoid::<FMA>();
        let z = (xz[i] + hz[i]).sigmoid::<FMA>();
        let n = r.multiply_add::<FMA>(hn[i], xn[i]).tanh::<FMA>();
        state[i] = z.multiply_add::<FMA>(state[i] - n, n);
        r_out[i] = r;
        z_out[i] = z;
        hn_out[i] = hn[i];
        n_out[i] = n;
    }
}

#[inline(always)]
fn thirds<F>(values: &[F], length: usize) -> [&[F]; 3] {
    [&values[..length], &values[length..2 * length], &values[2 * length..3 * length]]
}
