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
use crate::networks::{Ear, EarSpec, Model};

/// What an ear learns from.
pub(in crate::learning) trait Material: Sync {
    /// An error if nothing can be learned from it.
    fn check(&self) -> Result<()> {
        Ok(())
    }

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
}

impl<M: Material> Lesson for EarLesson<M> {
    fn parameters(&self) -> Result<Vec<f32>> {
        self.start.parameters()
    }

    fn parts(&self) -> Vec<usize> {
        vec![self.start.parameter_count()]
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
        let ear = Ear::new(self.start.card.clone(), parameters.to_vec(), self.device())?;
        stretch_scores(ctx, &self.validation, &ear)
    }

    fn model(&self, parameters: Vec<f32>) -> Result<Model> {
        Ear::new(self.start.card.clone(), parameters, self.device()).map(Model::Ear)
    }
}
