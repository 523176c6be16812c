//! The feature extractor: one recurrent network for the score, one for the performance.

use std::path::Path;

use candle_core::{Device, Tensor};

use super::card::{ExtractorSpec, ModelCard, Spec};
use super::gru::{self, GruRef, GruShape};
use super::model_file;
use super::ops::failed;
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

/// One network with its weights on a device.
#[derive(Debug, Clone)]
pub struct Gru {
    shape: GruShape,
    parameters: Tensor,
}

impl Gru {
    /// A network with these flat parameters, in the order of [`GruShape::tensors`].
    pub fn new(shape: GruShape, parameters: Tensor) -> Self {
        Self { shape, parameters }
    }

    /// Random weights as PyTorch draws them: uniform between ±1/√hidden. The same seed gives the same weights.
    pub fn random_parameters(shape: GruShape, seed: u64) -> Vec<f32> {
        let bound = 1.0 / (shape.hidden as f64).sqrt();
        let mut random = Random::at(seed, &[]);
        (0..shape.parameter_count()).map(|_| ((2.0 * random.unit() - 1.0) * bound) as f32).collect()
    }

    /// The learned features of `input` (sequences x frames x values); gradients flow to it and to the parameters.
    pub fn encode(&self, ctx: &JobContext, input: &Tensor) -> candle_core::Result<Tensor> {
        gru::encode_tensor(ctx, self.shape, input, &self.parameters)
    }

    /// Where its weights are.
    pub fn device(&self) -> &Device {
        self.parameters.device()
    }

    /// Values per frame of the learned features.
    pub fn output_dim(&self) -> usize {
        self.shape.output()
    }
}

/// Two networks and what is known about them.
#[derive(Debug, Clone)]
pub struct Extractor {
    /// What the networks were trained for, and how.
    pub card: ModelCard<ExtractorSpec>,
    networks: [Gru; 2],
}

impl Extractor {
    /// An extractor with these flat parameters: those of the score's network, then those of the performance's.
    pub fn new(card: ModelCard<ExtractorSpec>, parameters: Vec<f32>, device: &Device) -> Result<Self> {
        let shape = card.spec.shape()?;
        let count = shape.parameter_count();
        if parameters.len() != 2 * count {
            return Err(Error::invalid("number of weights", parameters.len(), (2 * count).to_string()));
        }
        GruRef::new(shape, &parameters[..count])?;
        let of = |values: &[f32]| {
            Tensor::from_slice(values, count, device)
                .map(|tensor| Gru::new(shape, tensor))
                .map_err(|e| failed(&JobContext::new(), &e))
        };
        Ok(Self { card, networks: [of(&parameters[..count])?, of(&parameters[count..])?] })
    }

    /// An extractor to be trained. Both sides start with the same random weights.
    pub fn untrained(card: ModelCard<ExtractorSpec>, seed: u64, device: &Device) -> Result<Self> {
        let parameters = Gru::random_parameters(card.spec.shape()?, seed).repeat(2);
        Self::new(card, parameters, device)
    }

    /// The network of one side.
    pub fn network(&self, side: Side) -> &Gru {
        &self.networks[side as usize]
    }

    /// Where its weights are.
    pub fn device(&self) -> &Device {
        self.networks[0].device()
    }

    /// All weights, in the order of the file.
    pub fn parameters(&self) -> Result<Vec<f32>> {
        let values = self.networks.iter().map(|network| network.parameters.to_vec1::<f32>());
        let values: candle_core::Result<Vec<_>> = values.collect();
        values.map(|values| values.concat()).map_err(|e| failed(&JobContext::new(), &e))
    }

    /// Writes it, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let spec = Spec::Extractor(self.card.spec.clone());
        model_file::write(path, &self.card.clone().with_spec(spec), &self.parameters()?)
    }

    /// The learned features of a whole piece, from its [rescaled](crate::features::rescaled) base features.
    pub fn extract(&self, ctx: &JobContext, features: &FeatureSeq, side: Side) -> Result<FeatureSeq> {
        ctx.report("extracting learned features", 0.0)?;
        if features.dim != self.card.spec.input_dim {
            let allowed = format!("{}, as the model was trained", self.card.spec.input_dim);
            return Err(Error::invalid("values per feature frame", features.dim, allowed));
        }
        if let Some(at) = features.values.iter().position(|value| !value.is_finite()) {
            let cause = format!("the features of frame {} are not numbers", at / features.dim.max(1));
            return Err(Error::unsuitable(side.name(), cause, "check that the audio holds no invalid samples"));
        }
        let network = self.network(side);
        let dims = (1, features.frames(), features.dim);
        let values = Tensor::from_slice(&features.values, dims, network.device())
            .and_then(|input| network.encode(ctx, &input)?.flatten_all()?.to_vec1::<f32>())
            .map_err(|e| failed(ctx, &e))?;
        ctx.report("extracting learned features", 1.0)?;
        Ok(FeatureSeq { times: features.times.clone(), values, dim: network.output_dim() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureKind;

    fn card() -> ModelCard<ExtractorSpec> {
        ModelCard::new("test", ExtractorSpec::new(FeatureKind::Chroma, 1024, 16))
    }

    fn extractor() -> Extractor {
        Extractor::untrained(card(), 1, &Device::Cpu).unwrap()
    }

    fn features(frames: usize) -> FeatureSeq {
        let values = (0..frames * 12).map(|i| (i as f32 * 0.3).sin()).collect();
        FeatureSeq { times: (0..frames).map(|i| i as f64 * 0.046).collect(), values, dim: 12 }
    }

    #[test]
    fn random_weights_fill_the_range_and_depend_on_the_seed_alone() {
        let shape = GruShape { input: 48, hidden: 64 };
        let values = Gru::random_parameters(shape, 7);
        assert_eq!(values, Gru::random_parameters(shape, 7));
        assert_ne!(values, Gru::random_parameters(shape, 8));
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
        let mut parameters = extractor().parameters().unwrap();
        parameters[0] += 1.0;
        let extractor = Extractor::new(card(), parameters, &Device::Cpu).unwrap();
        let of = |side| extractor.extract(&JobContext::new(), &features(5), side).unwrap();
        assert_ne!(of(Side::Score), of(Side::Performance));
    }

    #[test]
    fn features_that_do_not_fit_or_are_not_numbers_are_refused_and_a_cancelled_job_says_so() {
        let mut broken = features(5);
        broken.values[30] = f32::NAN;
        let of = |ctx: &JobContext, features: &FeatureSeq| extractor().extract(ctx, features, Side::Performance);
        let message = of(&JobContext::new(), &broken).unwrap_err().to_string();
        assert!(message.contains("frame 2"), "{message}");
        let other = FeatureSeq { dim: 4, ..features(5) };
        let message = of(&JobContext::new(), &other).unwrap_err().to_string();
        assert_eq!(message, "values per feature frame is 4, but must be 12, as the model was trained");
        let ctx = JobContext::new();
        ctx.cancel();
        assert!(matches!(of(&ctx, &features(5)), Err(Error::Cancelled)));
    }
}
