//! Learning through the alignment, and judging by it.

use candle_core::Tensor;
use sha2::{Digest, Sha256};

use super::super::extractor::SliceScores;
use super::super::params::TrainParams;
use super::super::trainer::Epoch;
use super::lesson::Material;
use super::sounds::AlignedSound;
use super::stretch::{Stretch, StretchBatch, truth_of};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::networks::{Ear, EarSpec};

/// Chords of a stretch.
const CHORDS: usize = 32;
/// Stretches that are judged at a time.
const JUDGED_AT_ONCE: usize = 4;
/// The band lies up to this far beside the truth.
const LONGEST_SHIFT_S: f64 = 0.1;
/// Tells this generator from the others of an epoch.
const STRETCHES: u64 = 11;

/// Pieces whose stretches are placed by the onset problem.
impl Material for Vec<AlignedSound> {
    fn check(&self) -> Result<()> {
        fixed_stretches(self).map(drop)
    }

    fn teaches_problem(&self) -> bool {
        true
    }

    fn identify(&self, hasher: &mut Sha256) {
        hasher.update((self.len() as u64).to_le_bytes());
        self.iter().for_each(|sound| sound.identify(hasher));
    }

    fn epoch<'a>(&'a self, number: usize, spec: &'a EarSpec, params: &'a TrainParams) -> Box<dyn Epoch + 'a> {
        let mut random = Random::at(params.seed, &[STRETCHES, number as u64]);
        let mut plan = stretches(self, &mut |most| {
            (random.between(0.0, most as f64) as usize, random.between(-LONGEST_SHIFT_S, LONGEST_SHIFT_S))
        });
        random.shuffle(&mut plan);
        Box::new(Stretches { sounds: self, spec, params, plan })
    }
}

/// The stretches of one epoch.
struct Stretches<'a> {
    sounds: &'a [AlignedSound],
    spec: &'a EarSpec,
    params: &'a TrainParams,
    plan: Vec<Stretch>,
}

impl Epoch for Stretches<'_> {
    fn steps(&self) -> usize {
        self.plan.len().div_ceil(self.params.batch_size)
    }

    fn loss(&self, ctx: &JobContext, step: usize, parameters: &[Tensor]) -> candle_core::Result<Tensor> {
        let size = self.params.batch_size;
        let plan = &self.plan[step * size..((step + 1) * size).min(self.plan.len())];
        StretchBatch::new(self.sounds, plan).loss(ctx, self.spec, &parameters[0], &parameters[1])
    }
}

/// Stretches of all sounds, one after the other, where the truth is known; `draw` gets how many chords may be left out before the
/// first one of a sound, and says how many are, and how far beside the truth the band is.
fn stretches(sounds: &[AlignedSound], draw: &mut dyn FnMut(usize) -> (usize, f64)) -> Vec<Stretch> {
    let mut plan = Vec::new();
    for (sound, labelled) in sounds.iter().enumerate() {
        let spare = labelled.chords.len() % CHORDS;
        let (mut first, _) = draw(spare);
        while first + CHORDS <= labelled.chords.len() {
            let stretch = Stretch { sound, chords: first..first + CHORDS, shift_s: draw(1).1 };
            if truth_of(labelled, &stretch).is_some() {
                plan.push(stretch);
            }
            first += CHORDS;
        }
    }
    plan
}

/// The stretches that accuracy is measured on: always the same.
fn fixed_stretches(sounds: &[AlignedSound]) -> Result<Vec<Stretch>> {
    let plan = stretches(sounds, &mut |_| (0, 0.0));
    if plan.is_empty() {
        let cause = format!("no piece has {CHORDS} chords with true times");
        return Err(Error::unsuitable("the labelled pieces", cause, "give longer pieces for training and validation"));
    }
    Ok(plan)
}

/// TimeErr and TimeDev of the stretches of some sounds that are placed with an ear.
pub(in crate::learning) fn stretch_scores(ctx: &JobContext, sounds: &[AlignedSound], ear: &Ear) -> Result<SliceScores> {
    let plan = fixed_stretches(sounds)?;
    let of_some = |plan: &[Stretch]| StretchBatch::new(sounds, plan).errors(&ctx.quiet(), ear);
    let errors = plan.chunks(JUDGED_AT_ONCE).map(of_some).collect::<Result<Vec<_>>>()?.concat();
    let mean = |of: fn(&[f64; 2]) -> f64| 1e3 * errors.iter().map(of).sum::<f64>() / errors.len() as f64;
    Ok(SliceScores { time_err_ms: mean(|e| e[0]), time_dev_ms: mean(|e| e[1]), slices: errors.len() })
}
