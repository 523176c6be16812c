//! What the learned ear says, worked out only where it is asked for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::job::JobContext;
use crate::features::SEMITONE_BANDS;
use crate::networks::Ear;
use crate::networks::ear::{self, CHANNELS, CONTEXT, Levels};

/// Frames that are worked out at a time.
const BLOCK: usize = 64;
/// Odds below exp(-BIAS) count for nothing, above they count by their logarithm.
const BIAS: f64 = 3.0;

/// The learned evidence of a recording: for each pitch and moment a value that is 0 where no note begins and grows with
/// the logarithm of the odds that one does.
#[derive(Debug)]
pub(super) struct Learned {
    /// Where the ear runs.
    ctx: JobContext,
    ear: Ear,
    levels: Levels,
    bands: Vec<Band>,
}

/// The values of one pitch. They lie in one piece: hundreds of thousands of small ones, kept from between larger ones that are
/// freed, would hold several times their size.
#[derive(Debug, Default)]
struct Band {
    /// The bits of the values, once the pitch is asked for.
    values: OnceLock<Vec<AtomicU32>>,
    /// Which blocks are worked out.
    known: OnceLock<Vec<OnceLock<()>>>,
    /// Whether a device has worked out all of it.
    whole: OnceLock<()>,
}

impl Learned {
    pub(super) fn new(ctx: &JobContext, ear: Ear, levels: Levels) -> Self {
        Self { ctx: ctx.for_later(), ear, levels, bands: (0..SEMITONE_BANDS).map(|_| Band::default()).collect() }
    }

    /// The value at half frames: even ones are frames of the network, odd ones lie between two.
    pub(super) fn at(&self, half_frame: usize, band: usize) -> f32 {
        let here = self.value(half_frame / 2, band);
        if half_frame.is_multiple_of(2) { here } else { 0.5 * (here + self.value(half_frame / 2 + 1, band)) }
    }

    fn value(&self, frame: usize, band: usize) -> f32 {
        if frame >= self.levels.frames() {
            return 0.0;
        }
        let blocks = self.levels.frames().div_ceil(BLOCK);
        let Band { values, known, whole } = &self.bands[band];
        let values = values.get_or_init(|| (0..blocks * BLOCK).map(|_| AtomicU32::new(0)).collect());
        let known = known.get_or_init(|| (0..blocks).map(|_| OnceLock::new()).collect());
        let block = frame / BLOCK;
        if known[block].get().is_none() && self.ctx.accelerates(ear::work(blocks * BLOCK)) {
            // A device is slow to ask and fast to answer: the whole pitch at once. If it fails, blocks are worked out one by one, below:
            // the other threads, which may wait for this lock, are not asked to help.
            whole.get_or_init(|| {
                if let Some(logits) = self.ear.logits_on_device(&self.ctx, blocks, &self.inputs(0, band, blocks)) {
                    store(values, &logits);
                    known.iter().for_each(|block| block.set(()).unwrap_or_default());
                }
            });
        }
        // The lock orders the values before everyone who finds it set.
        known[block].get_or_init(|| self.work_out(block, band, &values[block * BLOCK..(block + 1) * BLOCK]));
        f32::from_bits(values[frame].load(Ordering::Relaxed))
    }

    fn work_out(&self, block: usize, band: usize, values: &[AtomicU32]) {
        // On the CPU it cannot fail; one of Candle's devices that fails hears nothing.
        store(values, &self.ear.logits(&self.ctx, 1, self.inputs(block, band, 1)).unwrap_or_default());
    }

    /// The inputs of the network for some blocks from `first` on.
    fn inputs(&self, first: usize, band: usize, blocks: usize) -> Vec<f32> {
        const INPUTS: usize = (BLOCK + 2 * CONTEXT) * CHANNELS;
        let mut inputs = vec![0.0; blocks * INPUTS];
        for (block, inputs) in (first..).zip(inputs.chunks_exact_mut(INPUTS)) {
            self.levels.inputs(band, (block * BLOCK) as isize - CONTEXT as isize, inputs);
        }
        inputs
    }
}

fn store(values: &[AtomicU32], logits: &[f32]) {
    for (value, &logit) in values.iter().zip(logits) {
        value.store((softplus(f64::from(logit)).0 as f32).to_bits(), Ordering::Relaxed);
    }
}

/// What a logit of the network counts as evidence: its softplus with a bias, and the derivative of that.
pub(crate) fn softplus(logit: f64) -> (f64, f64) {
    let value = logit + BIAS;
    (value.max(0.0) + (-value.abs()).exp().ln_1p(), 1.0 / (1.0 + (-value).exp()))
}
