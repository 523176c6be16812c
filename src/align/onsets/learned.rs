//! What the learned ear says, worked out only where it is asked for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::features::SEMITONE_BANDS;
use crate::networks::Ear;
use crate::networks::ear::{CHANNELS, CONTEXT, Levels};

/// Frames that are worked out at a time.
const BLOCK: usize = 64;
/// Odds below exp(-BIAS) count for nothing, above they count by their logarithm.
const BIAS: f64 = 3.0;

/// The learned evidence of a recording: for each pitch and moment a value that is 0 where no note begins and grows with
/// the logarithm of the odds that one does.
#[derive(Debug)]
pub(super) struct Learned {
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
}

impl Learned {
    pub(super) fn new(ear: Ear, levels: Levels) -> Self {
        Self { ear, levels, bands: (0..SEMITONE_BANDS).map(|_| Band::default()).collect() }
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
        let Band { values, known } = &self.bands[band];
        let values = values.get_or_init(|| (0..blocks * BLOCK).map(|_| AtomicU32::new(0)).collect());
        let known = known.get_or_init(|| (0..blocks).map(|_| OnceLock::new()).collect());
        let block = frame / BLOCK;
        // The lock orders the values before everyone who finds it set.
        known[block].get_or_init(|| self.work_out(block, band, &values[block * BLOCK..(block + 1) * BLOCK]));
        f32::from_bits(values[frame].load(Ordering::Relaxed))
    }

    fn work_out(&self, block: usize, band: usize, values: &[AtomicU32]) {
        let mut inputs = vec![0.0; (BLOCK + 2 * CONTEXT) * CHANNELS];
        self.levels.inputs(band, (block * BLOCK) as isize - CONTEXT as isize, &mut inputs);
        // On the CPU it cannot fail; a device that fails hears nothing.
        for (value, logit) in values.iter().zip(self.ear.logits(inputs).unwrap_or_default()) {
            value.store((softplus(f64::from(logit)).0 as f32).to_bits(), Ordering::Relaxed);
        }
    }
}

/// What a logit of the network counts as evidence: its softplus with a bias, and the derivative of that.
pub(crate) fn softplus(logit: f64) -> (f64, f64) {
    let value = logit + BIAS;
    (value.max(0.0) + (-value.abs()).exp().ln_1p(), 1.0 / (1.0 + (-value).exp()))
}
