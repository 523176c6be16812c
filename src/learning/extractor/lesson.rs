//! What an extractor learns, epoch by epoch, and what it is judged by.

use std::sync::Arc;

use candle_core::{Device, Tensor};
use sha2::{Digest, Sha256};

use super::super::augmentation::Augmentation;
use super::super::params::TrainParams;
use super::super::trainer::{Epoch, Lesson};
use super::batch::{SliceBatch, extractor_loss};
use super::method::{ExtractorMethod, SliceAligner};
use super::pieces::Piece;
use super::slice_test::{SliceScores, TestSetup, rescale, test_slices};
use super::slices::{Placement, SlicePlan, cut, plan_slices};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::networks::{Extractor, Gru, Model, Side};

/// λ stays above zero, because its logarithm is learned; a model whose λ is zero starts from here.
const SMALLEST_LAMBDA: f64 = 1e-6;
/// What the generators of an epoch are used for: no two draw the same numbers.
const PLACES: u64 = 1;
const ORDER: u64 = 2;
const SOUND: u64 = 3;

/// Slices of the pieces to learn from and of those to judge by; no score should be in both.
pub(in crate::learning) struct ExtractorLesson {
    pub start: Extractor,
    pub method: ExtractorMethod,
    pub training: Arc<Vec<Piece>>,
    pub validation: Arc<Vec<Piece>>,
    pub params: TrainParams,
    pub device: Device,
}

impl ExtractorLesson {
    /// An extractor with these parameters: those of both networks, then the logarithm of λ.
    fn extractor(&self, mut parameters: Vec<f32>) -> Result<Extractor> {
        let mut card = self.start.card.clone();
        let log_lambda = parameters.pop().map_or(f64::NAN, f64::from);
        if self.params.learns_lambda {
            card.spec.lambda = log_lambda.exp();
        }
        Extractor::new(card, parameters, &self.device)
    }

    fn scores(&self, ctx: &JobContext, extractor: Option<&Extractor>, aligner: SliceAligner) -> Result<SliceScores> {
        let features = self.start.card.spec.features;
        let setup = TestSetup { features, extractor, slices: self.params.slices, seed: self.params.seed };
        Ok(test_slices(ctx, &self.validation, &setup, &[aligner])?[0])
    }
}

impl Lesson for ExtractorLesson {
    fn parameters(&self) -> Result<Vec<f32>> {
        let mut values = self.start.parameters()?;
        values.push(self.start.card.spec.lambda.max(SMALLEST_LAMBDA).ln() as f32);
        Ok(values)
    }

    /// Both networks and the logarithm of λ.
    fn parts(&self) -> Vec<usize> {
        let count = self.start.card.spec.shape().map_or(0, |shape| shape.parameter_count());
        vec![count, count, 1]
    }

    fn device(&self) -> &Device {
        &self.device
    }

    fn identify(&self, hasher: &mut Sha256) {
        for pieces in [&self.training, &self.validation] {
            hasher.update((pieces.len() as u64).to_le_bytes());
            for piece in pieces.iter() {
                for values in [&piece.score.values, &piece.performance.values] {
                    hasher.update((values.len() as u64).to_le_bytes());
                    values.iter().for_each(|value| hasher.update(value.to_le_bytes()));
                }
                for times in [&piece.truth.score_s, &piece.truth.performance_s] {
                    times.iter().for_each(|time| hasher.update(time.to_le_bytes()));
                }
            }
        }
    }

    /// The slices of an epoch in the order of training: placed anew, at new tempos, shuffled.
    fn epoch(&self, number: usize) -> Result<Box<dyn Epoch + '_>> {
        let (seed, place) = (self.params.seed, number as u64);
        let augmentation = self.params.augmented.then(Augmentation::default);
        let mut plans = Vec::new();
        for (index, piece) in self.training.iter().enumerate() {
            let mut random = Random::at(seed, &[PLACES, place, index as u64]);
            let tempo = augmentation.map_or(1.0, |augmentation| augmentation.draw_tempo(&mut random));
            let placement = Placement { first: random.unit(), tempo };
            plans.extend(plan_slices(index, piece, &self.params.slices, placement, &mut random));
        }
        if plans.is_empty() {
            let remedy = "give longer pieces or shorter slices";
            return Err(Error::unsuitable("the training data", "no slice fits into any piece", remedy));
        }
        Random::at(seed, &[ORDER, place]).shuffle(&mut plans);
        Ok(Box::new(Slices { lesson: self, plans, augmentation, number: place }))
    }

    fn validate(&self, ctx: &JobContext, parameters: &[f32]) -> Result<SliceScores> {
        self.scores(ctx, Some(&self.extractor(parameters.to_vec())?), self.method.aligner())
    }

    fn baseline(&self, ctx: &JobContext) -> Result<Option<SliceScores>> {
        self.scores(ctx, None, SliceAligner::Gdtw).map(Some)
    }

    fn model(&self, parameters: Vec<f32>) -> Result<Model> {
        self.extractor(parameters).map(Model::Extractor)
    }
}

/// The slices of one epoch.
struct Slices<'a> {
    lesson: &'a ExtractorLesson,
    plans: Vec<SlicePlan>,
    augmentation: Option<Augmentation>,
    number: u64,
}

impl Epoch for Slices<'_> {
    fn steps(&self) -> usize {
        self.plans.len().div_ceil(self.lesson.params.batch_size)
    }

    fn loss(&self, ctx: &JobContext, step: usize, parameters: &[Tensor]) -> candle_core::Result<Tensor> {
        let ExtractorLesson { start, params, training, device, .. } = self.lesson;
        let (kind, slices) = (start.card.spec.features, &params.slices);
        let range = step * params.batch_size..((step + 1) * params.batch_size).min(self.plans.len());
        let frame_s = training[self.plans[0].piece].score.times[1];
        let times = |frames: usize| (0..frames).map(|i| i as f64 * frame_s).collect();
        let (score_s, performance_s) = (times(slices.score_frames), times(slices.performance_frames()));
        let (mut score, mut performance, mut truths) = (Vec::new(), Vec::new(), Vec::new());
        for index in range {
            let plan = &self.plans[index];
            let mut slice = cut(&training[plan.piece], plan, slices);
            if let Some(augmentation) = &self.augmentation {
                let mut random = Random::at(params.seed, &[SOUND, self.number, index as u64]);
                augmentation.apply(kind, frame_s, &mut slice.performance, &mut random);
            }
            score.extend(rescale(slice.score, kind));
            performance.extend(rescale(slice.performance, kind));
            truths.push(slice.truth);
        }
        let batch = SliceBatch { score_s, performance_s, truths };
        let shape = start.card.spec.shape().map_err(candle_core::Error::wrap)?;
        let encode = |values: Vec<f32>, frames: usize, side: Side| {
            let input = Tensor::from_vec(values, (batch.truths.len(), frames, shape.input), device)?;
            Gru::new(shape, parameters[side as usize].clone()).encode(ctx, &input)
        };
        let score = encode(score, batch.score_s.len(), Side::Score)?;
        let performance = encode(performance, batch.performance_s.len(), Side::Performance)?;
        let log_lambda = if params.learns_lambda { parameters[2].clone() } else { parameters[2].detach() };
        extractor_loss(ctx, self.lesson.method, batch, &score, &performance, &log_lambda.exp()?)
    }
}
