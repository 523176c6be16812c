//! A trained (or fresh) extractor: one network for the score, one for the performance.

use super::card::ModelCard;
use super::gru::{self, Batch, GruRef, GruShape};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::features::FeatureSeq;

/// Which of the two networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The synthesised score.
    Score,
    /// The recording.
    Performance,
}

impl Side {
    /// Both, in the order of the file.
    pub const BOTH: [Self; 2] = [Self::Score, Self::Performance];

    /// The name that starts the names of its weights.
    pub fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Performance => "performance",
        }
    }
}

/// The weights of one network.
#[derive(Debug, Clone, PartialEq)]
pub struct Gru {
    shape: GruShape,
    parameters: Vec<f32>,
}

impl Gru {
    /// Checks that the parameters, in the order of [`GruShape::tensors`], are as many as the shape asks for.
    pub fn new(shape: GruShape, parameters: Vec<f32>) -> Result<Self> {
        GruRef::new(shape, &parameters)?;
        Ok(Self { shape, parameters })
    }

    /// Random weights as PyTorch draws them: uniform between ±1/√hidden. The same seed gives the same weights.
    pub fn random(shape: GruShape, seed: u64) -> Self {
        let bound = 1.0 / (shape.hidden as f64).sqrt();
        let mut random = Random::at(seed, &[]);
        let parameters = (0..shape.parameter_count()).map(|_| ((2.0 * random.unit() - 1.0) * bound) as f32).collect();
        Self { shape, parameters }
    }

    /// The shape.
    pub fn shape(&self) -> GruShape {
        self.shape
    }

    /// The parameters, in the order of [`GruShape::tensors`].
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// The parameters, for an optimiser.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// The network as the kernels take it.
    pub fn as_ref(&self) -> GruRef<'_, f32> {
        GruRef::new(self.shape, &self.parameters).expect("every constructor gives the shape its number of parameters")
    }
}

/// Two networks and what is known about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Extractor {
    /// The network for the score.
    pub score: Gru,
    /// The network for the performance.
    pub performance: Gru,
    /// What the networks were trained for, and how.
    pub card: ModelCard,
}

impl Extractor {
    /// A network to be trained, with the dimensions of `card`. Both sides start with the same random weights.
    pub fn untrained(card: ModelCard, seed: u64) -> Result<Self> {
        let network = Gru::random(card.shape()?, seed);
        Ok(Self { score: network.clone(), performance: network, card })
    }

    /// The network of one side.
    pub fn network(&self, side: Side) -> &Gru {
        match side {
            Side::Score => &self.score,
            Side::Performance => &self.performance,
        }
    }

    /// The learned features of a whole piece, from its [rescaled](crate::features::rescaled) base features.
    pub fn extract(&self, ctx: &JobContext, features: &FeatureSeq, side: Side) -> Result<FeatureSeq> {
        ctx.report("extracting learned features", 0.0)?;
        if let Some(at) = features.values.iter().position(|value| !value.is_finite()) {
            let cause = format!("the features of frame {} are not numbers", at / features.dim.max(1));
            return Err(Error::unsuitable(side.name(), cause, "check that the audio holds no invalid samples"));
        }
        let network = self.network(side).as_ref();
        let batch = Batch { values: &features.values, sequences: 1, frames: features.frames(), dim: features.dim };
        let values = gru::encode(ctx, network, &batch)?;
        ctx.report("extracting learned features", 1.0)?;
        Ok(FeatureSeq { times: features.times.clone(), values, dim: network.shape().output() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureKind;

    fn extractor() -> Extractor {
        Extractor::untrained(ModelCard::new("test", FeatureKind::Chroma, 1024, 16), 1).unwrap()
    }

    fn features(frames: usize) -> FeatureSeq {
        let values = (0..frames * 12).map(|i| (i as f32 * 0.3).sin()).collect();
        FeatureSeq { times: (0..frames).map(|i| i as f64 * 0.046).collect(), values, dim: 12 }
    }

    #[test]
    fn random_weights_fill_the_range_and_depend_on_the_seed_alone() {
        let shape = GruShape { input: 48, hidden: 64 };
        let network = Gru::random(shape, 7);
        assert_eq!(network, Gru::random(shape, 7));
        assert_ne!(network, Gru::random(shape, 8));
        let values = network.parameters();
        assert!(values.iter().all(|v| v.abs() <= 0.125));
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        let variance = values.iter().map(|v| v * v).sum::<f32>() / values.len() as f32;
        assert!(mean.abs() < 2e-3 && (variance - 0.125 * 0.125 / 3.0).abs() < 1e-4, "{mean} {variance}");
    }

    #[test]
    fn both_sides_start_alike_and_keep_the_times() {
        let (extractor, features) = (extractor(), features(50));
        let ctx = JobContext::new();
        let score = extractor.extract(&ctx, &features, Side::Score).unwrap();
        assert_eq!(score, extractor.extract(&ctx, &features, Side::Performance).unwrap());
        assert_eq!((score.dim, &score.times), (16, &features.times));
        for frame in 0..50 {
            let length: f32 = score.frame(frame).iter().map(|v| v * v).sum();
            assert!((length - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn each_side_uses_its_own_weights() {
        let mut extractor = extractor();
        extractor.score.parameters_mut()[0] += 1.0;
        let ctx = JobContext::new();
        let of = |side| extractor.extract(&ctx, &features(5), side).unwrap();
        assert_ne!(of(Side::Score), of(Side::Performance));
    }

    #[test]
    fn features_that_are_not_numbers_are_refused() {
        let mut features = features(5);
        features.values[30] = f32::NAN;
        let message = extractor().extract(&JobContext::new(), &features, Side::Performance).unwrap_err().to_string();
        assert!(message.contains("frame 2"), "{message}");
    }
}
