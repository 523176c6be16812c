//! The card beside a model's weights: what they are for, where they come from, how good they are.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::gru::GruShape;
use crate::base::error::{Error, Result};
use crate::features::FeatureKind;

/// The version of the card that this program writes, and the newest that it reads.
const FORMAT: u32 = 1;
/// Larger networks are refused: a damaged card must not ask for all the memory.
const LARGEST_OUTPUT: usize = 4096;

/// What is known about a model. Stored as JSON beside the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCard {
    /// Version of this format.
    pub format: u32,
    /// The model's name.
    pub name: String,
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
    /// How and on what it was trained: data, method, epochs, seed …
    #[serde(default)]
    pub training: BTreeMap<String, serde_json::Value>,
    /// Measured accuracy, by the name of the measure.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    /// Under which terms the weights may be used.
    pub licence: String,
    /// SHA-256 of the weights file, in hexadecimal.
    pub sha256: String,
}

impl ModelCard {
    /// A card for a model that is not trained yet.
    pub fn new(name: impl Into<String>, features: FeatureKind, hop: usize, output_dim: usize) -> Self {
        Self {
            format: FORMAT,
            name: name.into(),
            features,
            feature_parameters: BTreeMap::new(),
            hop,
            input_dim: features.dim(),
            output_dim,
            lambda: features.default_lambda(),
            training: BTreeMap::new(),
            metrics: BTreeMap::new(),
            licence: "unknown".to_owned(),
            sha256: String::new(),
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

    /// Checks that the features at hand are those that the model was trained on.
    pub fn check_suits(&self, features: FeatureKind, hop: usize) -> Result<()> {
        if self.features == features && self.hop == hop {
            return Ok(());
        }
        let cause = format!(
            "it was trained on {:?} features with a hop of {} samples, not on {:?} with {}",
            self.features, self.hop, features, hop
        );
        Err(Error::unsuitable(format!("model {}", self.name), cause, "choose another model or these features"))
    }

    /// Reads and checks a card.
    pub(super) fn read(path: &Path, text: &str) -> Result<Self> {
        let remedy = "fetch or train the model again";
        let json: serde_json::Value = serde_json::from_str(text)
            .map_err(|e| Error::malformed(path, format!("is not a model card: {e}"), remedy))?;
        // Before the rest, because a later format may not parse as this one.
        if let Some(format) = json.get("format").and_then(serde_json::Value::as_u64).filter(|&f| f > FORMAT.into()) {
            let cause = format!("model format {format} (this program reads up to {FORMAT})");
            return Err(Error::unsupported(path, cause, "update the program"));
        }
        let card: Self = serde_json::from_value(json)
            .map_err(|e| Error::malformed(path, format!("is not a model card: {e}"), remedy))?;
        card.shape().map_err(|e| Error::malformed(path, e.to_string(), remedy))?;
        if !(card.lambda.is_finite() && card.lambda >= 0.0 && (64..=8192).contains(&card.hop)) {
            return Err(Error::malformed(path, "lambda or hop is out of range", remedy));
        }
        Ok(card)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> ModelCard {
        ModelCard::new("test", FeatureKind::Cqt, 1024, 128)
    }

    fn read(card: &serde_json::Value) -> Result<ModelCard> {
        ModelCard::read(Path::new("model.json"), &card.to_string())
    }

    #[test]
    fn a_card_survives_json() {
        let mut card = card();
        card.metrics.insert("validation TimeErr ms".to_owned(), 12.5);
        card.training.insert("data".to_owned(), "twelve pieces".into());
        assert_eq!(read(&serde_json::to_value(&card).unwrap()).unwrap(), card);
    }

    #[test]
    fn a_newer_format_asks_for_an_update_even_if_its_fields_differ() {
        let message = read(&serde_json::json!({ "format": 2 })).unwrap_err().to_string();
        assert!(message.contains("format 2") && message.contains("update"), "{message}");
    }

    #[test]
    fn contradictory_or_absurd_cards_are_refused() {
        for (field, value) in
            [("input_dim", 12), ("output_dim", 0), ("output_dim", 7), ("output_dim", 1_i64 << 40), ("hop", 0)]
        {
            let mut json = serde_json::to_value(card()).unwrap();
            json[field] = value.into();
            assert!(matches!(read(&json), Err(Error::Malformed { .. })), "{field} = {value}");
        }
        assert!(ModelCard::read(Path::new("model.json"), "{").is_err());
    }

    #[test]
    fn other_features_and_hops_do_not_suit() {
        assert!(card().check_suits(FeatureKind::Cqt, 1024).is_ok());
        assert!(card().check_suits(FeatureKind::Mel, 1024).is_err());
        let message = card().check_suits(FeatureKind::Cqt, 512).unwrap_err().to_string();
        assert!(message.contains("1024") && message.contains("512"), "{message}");
    }
}
