//! An ear that learns: the same from any material.

use candle_core::Device;
use sha2::Sha256;

use super::super::extractor::SliceScores;
use super::super::params::TrainParams;
use super::super::trainer::{Epoch, Lesson};
use super::alignment::stretch_scores;
use super::sounds::AlignedSound;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::networks::{Ear, EarSpec, Model, ProblemWeights};

/// What an ear learns from.
pub(in crate::learning) trait Material: Sync {
    /// An error if nothing can be learned from it.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Whether the weights of the onset problem are learned from it, too.
    fn teaches_problem(&self) -> bool;

    /// Adds it to a hash.
    fn identify(&self, hasher: &mut Sha256);

    /// The examples of an epoch, drawn from the seed and the epoch's number alone.
    fn epoch<'a>(&'a self, number: usize, spec: &'a EarSpec, params: &'a TrainParams) -> Box<dyn Epoch + 'a>;
}

/// An ear, what it learns from, and the pieces that it is judged by.
pub(in crate::learning) struct EarLesson<M> {
    start: Ear,
    training: M,
    validation: Vec<AlignedSound>,
    params: TrainParams,
}

impl<M: Material> EarLesson<M> {
    pub fn new(start: Ear, training: M, validation: Vec<AlignedSound>, params: TrainParams) -> Result<Self> {
        training.check()?;
        validation.check()?;
        Ok(Self { start, training, validation, params })
    }

    /// The ear that these parameters make.
    fn ear(&self, mut parameters: Vec<f32>) -> Result<Ear> {
        let mut card = self.start.card.clone();
        let learned = parameters.split_off(self.start.parameter_count());
        if let [rises, ear, tempo] = learned[..] {
            card.spec.problem = ProblemWeights::from_logarithms([rises, ear, tempo].map(f64::from));
        }
        Ear::new(card, parameters, self.start.device())
    }

    /// Logarithms of the weights of the onset problem, if they are learned.
    fn problem(&self) -> Vec<f32> {
        let logarithms = self.start.card.spec.problem.logarithms().map(|value| value as f32);
        if self.training.teaches_problem() { logarithms.to_vec() } else { Vec::new() }
    }
}

impl<M: Material> Lesson for EarLesson<M> {
    fn parameters(&self) -> Result<Vec<f32>> {
        Ok([self.start.parameters()?, self.problem()].concat())
    }

    fn parts(&self) -> Vec<usize> {
        [self.start.parameter_count(), self.problem().len()].into_iter().filter(|&count| count > 0).collect()
    }

    fn device(&self) -> &Device {
        self.start.device()
    }

    fn identify(&self, hasher: &mut Sha256) {
        self.training.identify(hasher);
        self.validation.identify(hasher);
    }

    fn epoch(&self, number: usize) -> Result<Box<dyn Epoch + '_>> {
        Ok(self.training.epoch(number, &self.start.card.spec, &self.params))
    }

    fn validate(&self, ctx: &JobContext, parameters: &[f32]) -> Result<SliceScores> {
        stretch_scores(ctx, &self.validation, &self.ear(parameters.to_vec())?)
    }

    fn model(&self, parameters: Vec<f32>) -> Result<Model> {
        self.ear(parameters).map(Model::Ear)
    }
}
