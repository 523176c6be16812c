//! The card of a model: what it is for, where it comes from, how good it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ear;
use super::extractor::Side;
use super::gru::GruShape;
use crate::base::error::{Error, Result};
use crate::features::{EAR_HOP, FeatureKind};

/// Larger networks are refused: a damaged card must not ask for all the memory.
const LARGEST_OUTPUT: usize = 4096;

/// What is known about a model. It is stored in the model's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCard<S = Spec> {
    /// The model's name.
    pub name: String,
    /// What kind of network it is, and its dimensions.
    #[serde(flatten)]
    pub spec: S,
    /// How and on what it was trained: data, method, epochs, seed …
    #[serde(default)]
    pub training: BTreeMap<String, serde_json::Value>,
    /// Measured accuracy, by the name of the measure.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    /// Under which terms the weights may be used.
    pub licence: String,
    /// SHA-256 of the weights as they are in the file, in hexadecimal; empty for a model that is not stored yet.
    #[serde(default)]
    pub sha256: String,
}

impl<S> ModelCard<S> {
    /// A card for a model that is not trained yet.
    pub fn new(name: impl Into<String>, spec: S) -> Self {
        let (training, metrics) = (BTreeMap::new(), BTreeMap::new());
        Self { name: name.into(), spec, training, metrics, licence: "unknown".to_owned(), sha256: String::new() }
    }

    /// The card of a model that is taught further with other material: neither the terms nor the accuracy of the first are its own.
    pub fn taught_further(mut self, name: impl Into<String>, licence: impl Into<String>) -> Self {
        let first = std::mem::replace(&mut self.name, name.into());
        self.training.insert("fine_tuned_from".to_owned(), first.into());
        self.metrics.clear();
        self.licence = licence.into();
        self
    }

    /// The same card with another description of the network.
    pub fn with_spec<T>(self, spec: T) -> ModelCard<T> {
        let Self { name, training, metrics, licence, sha256, .. } = self;
        ModelCard { name, spec, training, metrics, licence, sha256 }
    }
}

/// The kinds of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Hears where notes begin: what the onset method listens with.
    Ear,
    /// Turns features into learned features: what the frame method compares.
    Extractor,
}

impl ModelKind {
    /// The name, as the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ear => "ear",
            Self::Extractor => "extractor",
        }
    }
}

/// The kind of a network with what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Spec {
    /// An ear.
    Ear(EarSpec),
    /// An extractor.
    Extractor(ExtractorSpec),
}

/// The dimensions of an ear, and what it counts for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EarSpec {
    /// Samples between frames at 22,050 Hz.
    pub hop: usize,
    /// Values per frame and pitch after each convolution.
    pub channels: usize,
    /// Units of the recurrent network in each direction.
    pub hidden: usize,
    /// Values per frame that a pitch tells the others.
    pub summary: usize,
    /// Values per frame and pitch before the answer.
    pub head: usize,
    /// What the parts of the onset problem count for with this ear.
    #[serde(default)]
    pub problem: ProblemWeights,
}

/// What the parts of the onset problem count for with an ear, as factors of the usual weights. Learned with it through the alignment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProblemWeights {
    /// The rises of the spectrum.
    pub rises: f64,
    /// What the ear says.
    pub ear: f64,
    /// How far the tempo may wander: larger is freer.
    pub tempo: f64,
}

impl Default for ProblemWeights {
    fn default() -> Self {
        Self { rises: 1.0, ear: 1.0, tempo: 1.0 }
    }
}

impl ProblemWeights {
    /// Weights beyond these belong to a damaged file.
    const LEGAL: std::ops::RangeInclusive<f64> = 0.01..=100.0;

    /// Their logarithms: what is learned.
    pub(crate) fn logarithms(self) -> [f64; 3] {
        [self.rises, self.ear, self.tempo].map(f64::ln)
    }

    /// The weights of these logarithms.
    pub(crate) fn from_logarithms(logarithms: [f64; 3]) -> Self {
        let [rises, ear, tempo] = logarithms.map(|value| value.exp().clamp(*Self::LEGAL.start(), *Self::LEGAL.end()));
        Self { rises, ear, tempo }
    }

    pub(super) fn validate(self) -> Result<()> {
        let Self { rises, ear, tempo } = self;
        for (name, value) in [("rises", rises), ("ear", ear), ("tempo", tempo)] {
            if !Self::LEGAL.contains(&value) {
                let allowed = format!("between {} and {}", Self::LEGAL.start(), Self::LEGAL.end());
                return Err(Error::invalid(format!("weight {name} of the ear"), value, allowed));
            }
        }
        Ok(())
    }
}

/// The features and dimensions of an extractor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtractorSpec {
    /// The base features that the networks read.
    pub features: FeatureKind,
    /// Parameters of these features worth knowing, such as the number of bands.
    #[serde(default)]
    pub feature_parameters: BTreeMap<String, serde_json::Value>,
    /// Samples between feature frames at 22,050 Hz.
    pub hop: usize,
    /// Values per frame of the base features.
    pub input_dim: usize,
    /// Values per frame of the learned features.
    pub output_dim: usize,
    /// Weight of the tempo regulariser that suits the learned features.
    pub lambda: f64,
}

impl Spec {
    /// The kind alone.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Ear(_) => ModelKind::Ear,
            Self::Extractor(_) => ModelKind::Extractor,
        }
    }

    /// Name and dimensions of each array of weights, in the order of the flat parameters.
    pub(super) fn layout(&self) -> Result<Vec<(String, Vec<usize>)>> {
        match self {
            Self::Ear(spec) => Ok(ear::layout(spec)),
            Self::Extractor(spec) => {
                let tensors = spec.shape()?.tensors();
                let of_side = |side: Side| {
                    tensors.iter().map(move |tensor| (format!("{}.{}", side.name(), tensor.name), tensor.dims.clone()))
                };
                Ok(Side::BOTH.into_iter().flat_map(of_side).collect())
            }
        }
    }

    /// Refuses dimensions that contradict each other or that this program has no network for.
    pub(super) fn validate(&self) -> Result<()> {
        match self {
            Self::Ear(spec) => ear::validate(spec),
            Self::Extractor(spec) => {
                spec.shape()?;
                if !(spec.lambda.is_finite() && spec.lambda >= 0.0) {
                    return Err(Error::invalid("lambda of the model", spec.lambda, "a number, 0 or above"));
                }
                if !(64..=8192).contains(&spec.hop) {
                    return Err(Error::invalid("hop of the model", spec.hop, "between 64 and 8192"));
                }
                Ok(())
            }
        }
    }
}

impl Default for EarSpec {
    fn default() -> Self {
        Self { hop: EAR_HOP, channels: 80, hidden: 48, summary: 12, head: 40, problem: ProblemWeights::default() }
    }
}

impl EarSpec {
    /// The dimensions of an ear that is two to three times as fast, and hears less well.
    pub fn small() -> Self {
        Self { channels: 24, hidden: 16, summary: 6, head: 16, ..Self::default() }
    }
}

impl ExtractorSpec {
    /// The specification of a network on these features.
    pub fn new(features: FeatureKind, hop: usize, output_dim: usize) -> Self {
        Self {
            features,
            feature_parameters: BTreeMap::new(),
            hop,
            input_dim: features.dim(),
            output_dim,
            lambda: features.default_lambda(),
        }
    }

    /// The dimensions of each network.
    pub fn shape(&self) -> Result<GruShape> {
        if self.input_dim != self.features.dim() {
            return Err(Error::invalid("input_dim of the model", self.input_dim, self.features.dim().to_string()));
        }
        if self.output_dim == 0 || !self.output_dim.is_multiple_of(2) || self.output_dim > LARGEST_OUTPUT {
            let allowed = format!("an even number up to {LARGEST_OUTPUT}");
            return Err(Error::invalid("output_dim of the model", self.output_dim, allowed));
        }
        Ok(GruShape { input: self.input_dim, hidden: self.output_dim / 2 })
    }
}

impl ModelCard<ExtractorSpec> {
    /// Checks that the features at hand are those that the model was trained on.
    pub fn check_suits(&self, features: FeatureKind, hop: usize) -> Result<()> {
        let ExtractorSpec { features: own, hop: own_hop, .. } = self.spec;
        if own == features && own_hop == hop {
            return Ok(());
        }
        let cause = format!(
            "it was trained on {own:?} features with a hop of {own_hop} samples, not on {features:?} with {hop}"
        );
        Err(Error::unsuitable(format!("model {}", self.name), cause, "choose another model or these features"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> ModelCard<ExtractorSpec> {
        ModelCard::new("test", ExtractorSpec::new(FeatureKind::Cqt, 1024, 128))
    }

    #[test]
    fn a_card_of_either_kind_survives_json() {
        let mut extractor = card();
        extractor.metrics.insert("validation TimeErr ms".to_owned(), 12.5);
        extractor.training.insert("data".to_owned(), "twelve pieces".into());
        extractor.spec.lambda = 0.298_470_329_657_598_07;
        let extractor = extractor.clone().with_spec(Spec::Extractor(extractor.spec));
        let ear = ModelCard::new("ear", Spec::Ear(EarSpec::default()));
        for card in [extractor, ear] {
            let text = serde_json::to_string(&card).unwrap();
            assert_eq!(serde_json::from_str::<ModelCard>(&text).unwrap(), card, "{text}");
        }
    }

    #[test]
    fn contradictory_or_absurd_dimensions_are_refused() {
        let change: [fn(&mut ExtractorSpec); 6] = [
            |spec| spec.input_dim = 12,
            |spec| spec.output_dim = 0,
            |spec| spec.output_dim = 7,
            |spec| spec.output_dim = 1 << 40,
            |spec| spec.hop = 0,
            |spec| spec.lambda = f64::NAN,
        ];
        for change in change {
            let mut spec = card().spec;
            change(&mut spec);
            assert!(Spec::Extractor(spec.clone()).validate().is_err(), "{spec:?}");
        }
        let change: [fn(&mut EarSpec); 5] = [
            |spec| spec.hop = 512,
            |spec| spec.channels = 0,
            |spec| spec.hidden = 1 << 40,
            |spec| spec.summary = 0,
            |spec| spec.head = 0,
        ];
        for change in change {
            let mut spec = EarSpec::small();
            assert!(Spec::Ear(spec).validate().is_ok());
            change(&mut spec);
            assert!(Spec::Ear(spec).validate().is_err(), "{spec:?}");
        }
    }

    #[test]
    fn other_features_and_hops_do_not_suit() {
        assert!(card().check_suits(FeatureKind::Cqt, 1024).is_ok());
        assert!(card().check_suits(FeatureKind::Mel, 1024).is_err());
        let message = card().check_suits(FeatureKind::Cqt, 512).unwrap_err().to_string();
        assert!(message.contains("1024") && message.contains("512"), "{message}");
    }
}
