//! The models that come with the program, and how any model is named.

use std::path::Path;

use super::card::ModelCard;
use super::model::Extractor;
use super::weights;
use crate::base::error::{Error, Result};

/// A model inside the program.
struct Shipped {
    name: &'static str,
    weights: &'static [u8],
    card: &'static str,
}

macro_rules! shipped {
    ($($name:literal),*) => {
        &[$(Shipped {
            name: $name,
            weights: include_bytes!(concat!("../../models/", $name, ".safetensors")),
            card: include_str!(concat!("../../models/", $name, ".json")),
        }),*]
    };
}

const SHIPPED: &[Shipped] = shipped!("mel", "cqt", "chroma");

/// The cards of the models that come with the program.
pub fn shipped_cards() -> Result<Vec<ModelCard>> {
    SHIPPED.iter().map(|model| Ok(open_shipped(model)?.card)).collect()
}

/// Opens a model by the name of one that comes with the program, or by its file.
pub fn open_model(name_or_file: &str) -> Result<Extractor> {
    if let Some(model) = SHIPPED.iter().find(|model| model.name == name_or_file) {
        return open_shipped(model);
    }
    let path = Path::new(name_or_file);
    if path.exists() || path.extension().is_some() {
        return weights::load(path);
    }
    let names: Vec<&str> = SHIPPED.iter().map(|model| model.name).collect();
    Err(Error::invalid("the extractor", name_or_file, format!("{} or a model file", names.join(", "))))
}

fn open_shipped(model: &Shipped) -> Result<Extractor> {
    let place = format!("built-in model {}", model.name);
    weights::from_bytes(Path::new(&place), model.weights, Path::new(&place), model.card)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_model_opens_by_its_name_and_is_small() {
        for model in SHIPPED {
            let extractor = open_model(model.name).unwrap();
            assert_eq!(extractor.card.name, model.name);
            assert!(model.weights.len() < 1_000_000);
            assert!(!extractor.card.metrics.is_empty() && extractor.card.licence.contains("CC BY-NC-SA"));
        }
        assert_eq!(shipped_cards().unwrap().len(), SHIPPED.len());
    }

    #[test]
    fn an_unknown_name_says_what_there_is_and_a_missing_file_is_named() {
        assert!(open_model("nonsense").unwrap_err().to_string().contains("model file"));
        assert!(open_model("missing.safetensors").unwrap_err().to_string().contains("missing"));
    }
}
