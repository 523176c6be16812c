//! All that is learned, as one flat vector: both networks, then the logarithm of λ.

use crate::base::error::Result;
use crate::learning::batch::{BatchLoss, Networks};
use crate::networks::gru::{GruRef, GruShape};
use crate::networks::{Extractor, Gru, ModelCard};

/// λ stays above zero, because its logarithm is learned; a model whose λ is zero starts from here.
const SMALLEST_LAMBDA: f64 = 1e-6;

/// The parameters of an extractor in the order that the optimiser knows them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    shape: GruShape,
    pub values: Vec<f32>,
}

impl Parameters {
    pub fn of(extractor: &Extractor) -> Self {
        let mut values = extractor.score.parameters().to_vec();
        values.extend_from_slice(extractor.performance.parameters());
        values.push(extractor.card.lambda.max(SMALLEST_LAMBDA).ln() as f32);
        Self { shape: extractor.score.shape(), values }
    }

    /// The same extractor with these values instead; `None` if there are not as many.
    pub fn with_values(&self, values: Vec<f32>) -> Option<Self> {
        (values.len() == self.values.len()).then_some(Self { shape: self.shape, values })
    }

    /// Moves all values towards others by a share of the way.
    pub fn approach(&mut self, target: &Self, share: f64) {
        let share = share as f32;
        self.values.iter_mut().zip(&target.values).for_each(|(value, goal)| *value += share * (goal - *value));
    }

    pub fn networks(&self) -> Result<Networks<'_, f32>> {
        let (score, rest) = self.values.split_at(self.shape.parameter_count());
        let (performance, _) = rest.split_at(self.shape.parameter_count());
        Ok(Networks { score: GruRef::new(self.shape, score)?, performance: GruRef::new(self.shape, performance)? })
    }

    pub fn lambda(&self) -> f64 {
        f64::from(self.values[self.values.len() - 1]).exp()
    }

    /// The gradient of a batch in the same order. A λ that is not learned has no gradient.
    pub fn gradient(&self, loss: &BatchLoss<f32>, learn_lambda: bool) -> Vec<f32> {
        let mut gradient = Vec::with_capacity(self.values.len());
        gradient.extend_from_slice(&loss.score);
        gradient.extend_from_slice(&loss.performance);
        gradient.push(if learn_lambda { (loss.lambda * self.lambda()) as f32 } else { 0.0 });
        gradient
    }

    /// An extractor with these parameters.
    pub fn extractor(&self, card: ModelCard) -> Result<Extractor> {
        let count = self.shape.parameter_count();
        Ok(Extractor {
            score: Gru::new(self.shape, self.values[..count].to_vec())?,
            performance: Gru::new(self.shape, self.values[count..2 * count].to_vec())?,
            card,
        })
    }
}
