//! What one epoch of training sees, drawn from the seed and the epoch alone.

use super::dataset::Piece;
use super::slice_test::rescale;
use super::slices::{Placement, SlicePlan, SliceTruth, cut, plan_slices};
use super::train_params::TrainParams;
use crate::base::random::Random;
use crate::features::FeatureKind;

/// What the generators of an epoch are used for: no two draw the same numbers.
const PLACES: u64 = 1;
const ORDER: u64 = 2;
const SOUND: u64 = 3;

/// The slices of an epoch in the order of training: placed anew, at new tempos, shuffled.
pub(super) fn training_plans(pieces: &[Piece], params: &TrainParams, epoch: usize) -> Vec<SlicePlan> {
    let epoch = epoch as u64;
    let mut plans = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let mut random = Random::at(params.seed, &[PLACES, epoch, index as u64]);
        let tempo = params.augmentation.map_or(1.0, |augmentation| augmentation.draw_tempo(&mut random));
        let placement = Placement { first: random.unit(), tempo };
        plans.extend(plan_slices(index, piece, &params.slices, placement, &mut random));
    }
    Random::at(params.seed, &[ORDER, epoch]).shuffle(&mut plans);
    plans
}

/// Cuts the batches of an epoch.
pub(super) struct EpochSlices<'a> {
    pub pieces: &'a [Piece],
    pub plans: &'a [SlicePlan],
    pub params: &'a TrainParams,
    pub epoch: usize,
    pub kind: FeatureKind,
}

/// The slices of one step, one after the other.
pub(super) struct OwnedBatch {
    pub score_s: Vec<f64>,
    pub performance_s: Vec<f64>,
    pub score: Vec<f32>,
    pub performance: Vec<f32>,
    pub truths: Vec<SliceTruth>,
}

impl EpochSlices<'_> {
    /// The batch of a step: augmented and rescaled.
    pub fn batch(&self, step: usize) -> OwnedBatch {
        let size = self.params.batch_size;
        let range = step * size..((step + 1) * size).min(self.plans.len());
        let frame_s = self.plans.first().map_or(0.0, |plan| self.pieces[plan.piece].score.times[1]);
        let times = |frames: usize| (0..frames).map(|i| i as f64 * frame_s).collect();
        let mut batch = OwnedBatch {
            score_s: times(self.params.slices.score_frames),
            performance_s: times(self.params.slices.performance_frames()),
            score: Vec::new(),
            performance: Vec::new(),
            truths: Vec::new(),
        };
        for index in range {
            let plan = &self.plans[index];
            let mut slice = cut(&self.pieces[plan.piece], plan, &self.params.slices);
            if let Some(augmentation) = &self.params.augmentation {
                let mut random = Random::at(self.params.seed, &[SOUND, self.epoch as u64, index as u64]);
                augmentation.apply(self.kind, frame_s, &mut slice.performance, &mut random);
            }
            batch.score.extend(rescale(slice.score, self.kind));
            batch.performance.extend(rescale(slice.performance, self.kind));
            batch.truths.push(slice.truth);
        }
        batch
    }
}
