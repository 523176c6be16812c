//! What the learned ear says, worked out only where it is asked for.

use std::sync::OnceLock;

use crate::features::SEMITONE_BANDS;
use crate::onset_network::{Activations, CHANNELS, CONTEXT, Levels, OnsetNetwork};

/// Frames that are worked out at a time.
const BLOCK: usize = 64;
/// Odds below exp(-DOUBT) count for nothing, above they count by their logarithm.
const DOUBT: f64 = 3.0;

/// The learned evidence of a recording: for each pitch and moment a value that is 0 where no note begins and grows with
/// the logarithm of the odds that one does.
#[derive(Debug)]
pub(super) struct Learned {
    network: OnsetNetwork,
    levels: Levels,
    /// Blocks of one band lie one after the other.
    blocks: Vec<OnceLock<Box<[f32]>>>,
}

impl Learned {
    pub(super) fn new(network: OnsetNetwork, levels: Levels) -> Self {
        let blocks = (0..SEMITONE_BANDS * levels.frames().div_ceil(BLOCK)).map(|_| OnceLock::new()).collect();
        Self { network, levels, blocks }
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
        let per_band = self.levels.frames().div_ceil(BLOCK);
        let block = &self.blocks[band * per_band + frame / BLOCK];
        block.get_or_init(|| self.block(frame / BLOCK, band))[frame % BLOCK]
    }

    fn block(&self, block: usize, band: usize) -> Box<[f32]> {
        let mut inputs = vec![0.0; (BLOCK + 2 * CONTEXT) * CHANNELS];
        self.levels.inputs(band, (block * BLOCK) as isize - CONTEXT as isize, &mut inputs);
        let mut activations = Activations::default();
        self.network.logits(&inputs, &mut activations).iter().map(|logit| heard(f64::from(*logit)).0 as f32).collect()
    }
}

/// What a logit of the network counts as evidence, and the derivative of that.
pub(crate) fn heard(logit: f64) -> (f64, f64) {
    let value = logit + DOUBT;
    (value.max(0.0) + (-value.abs()).exp().ln_1p(), 1.0 / (1.0 + (-value).exp()))
}
