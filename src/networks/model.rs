//! Models of any kind: those that come with the program, and how each is named and opened.

use std::path::Path;

use candle_core::Device;

use super::card::{ModelCard, ModelKind, Spec};
use super::ear::Ear;
use super::extractor::Extractor;
use super::model_file;
use crate::base::error::{Error, Result};

/// A network of one kind or another.
#[derive(Debug, Clone)]
pub enum Model {
    /// Hears where notes begin.
    Ear(Ear),
    /// Turns features into learned features.
    Extractor(Extractor),
}

/// A model inside the program.
struct Shipped {
    name: &'static str,
    bytes: &'static [u8],
}

macro_rules! shipped {
    ($($name:literal),*) => {
        &[$(Shipped { name: $name, bytes: include_bytes!(concat!("../../models/", $name, ".safetensors")) }),*]
    };
}

const SHIPPED: &[Shipped] = shipped!("ear", "small", "mel", "cqt", "chroma");

/// The cards of the models that come with the program.
pub fn shipped_cards() -> Result<Vec<ModelCard>> {
    SHIPPED.iter().map(|model| Ok(open_shipped(model)?.0)).collect()
}

/// Opens a model by the name of one that comes with the program, or by its file.
pub fn open_model(name_or_file: &str, device: &Device) -> Result<Model> {
    let (card, parameters) = read(name_or_file)?;
    Model::new(card, parameters, device)
}

/// The card of a model, by its name or file.
pub fn open_card(name_or_file: &str) -> Result<ModelCard> {
    Ok(read(name_or_file)?.0)
}

/// Opens an ear by name or file.
pub fn open_ear(name_or_file: &str, device: &Device) -> Result<Ear> {
    match open_model(name_or_file, device)? {
        Model::Ear(ear) => Ok(ear),
        Model::Extractor(_) => Err(wrong_kind(ModelKind::Ear, ModelKind::Extractor, name_or_file)),
    }
}

/// Opens an extractor by name or file.
pub fn open_extractor(name_or_file: &str, device: &Device) -> Result<Extractor> {
    match open_model(name_or_file, device)? {
        Model::Extractor(extractor) => Ok(extractor),
        Model::Ear(_) => Err(wrong_kind(ModelKind::Extractor, ModelKind::Ear, name_or_file)),
    }
}

fn wrong_kind(wanted: ModelKind, found: ModelKind, name: &str) -> Error {
    let (wanted, found) = (wanted.name(), found.name());
    Error::invalid(
        format!("the {wanted}"),
        name,
        format!("an {wanted}; this is an {found}, which belongs to --{found}"),
    )
}

fn read(name_or_file: &str) -> Result<(ModelCard, Vec<f32>)> {
    if let Some(model) = SHIPPED.iter().find(|model| model.name == name_or_file) {
        return open_shipped(model);
    }
    let path = Path::new(name_or_file);
    if path.exists() || path.extension().is_some() {
        return model_file::read(path);
    }
    let names: Vec<&str> = SHIPPED.iter().map(|model| model.name).collect();
    Err(Error::invalid("the model", name_or_file, format!("{} or a model file", names.join(", "))))
}

fn open_shipped(model: &Shipped) -> Result<(ModelCard, Vec<f32>)> {
    model_file::parse(Path::new(&format!("built-in model {}", model.name)), model.bytes)
}

impl Model {
    /// A model of the kind that its card tells.
    pub fn new(card: ModelCard, parameters: Vec<f32>, device: &Device) -> Result<Self> {
        match card.spec.clone() {
            Spec::Ear(spec) => Ear::new(card.with_spec(spec), parameters, device).map(Self::Ear),
            Spec::Extractor(spec) => Extractor::new(card.with_spec(spec), parameters, device).map(Self::Extractor),
        }
    }

    /// Its card.
    pub fn card(&self) -> ModelCard {
        match self {
            Self::Ear(ear) => ear.card.clone().with_spec(Spec::Ear(ear.card.spec)),
            Self::Extractor(extractor) => {
                let card = extractor.card.clone();
                card.clone().with_spec(Spec::Extractor(card.spec))
            }
        }
    }

    /// Its kind.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Ear(_) => ModelKind::Ear,
            Self::Extractor(_) => ModelKind::Extractor,
        }
    }

    /// Where its weights are.
    pub fn device(&self) -> &Device {
        match self {
            Self::Ear(ear) => ear.device(),
            Self::Extractor(extractor) => extractor.device(),
        }
    }

    /// All weights, in the order of the file.
    pub fn parameters(&self) -> Result<Vec<f32>> {
        match self {
            Self::Ear(ear) => ear.parameters(),
            Self::Extractor(extractor) => extractor.parameters(),
        }
    }

    /// Writes it, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        model_file::write(path, &self.card(), &self.parameters()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_model_opens_by_its_name_and_is_small() {
        for model in SHIPPED {
            let opened = open_model(model.name, &Device::Cpu).unwrap();
            let card = opened.card();
            assert_eq!(card.name, model.name);
            assert!(model.bytes.len() < 1_000_000);
            assert!(!card.metrics.is_empty() && card.licence != "unknown");
            // What the program listens with unless told otherwise may be used for anything.
            assert!(card.spec.kind() != ModelKind::Ear || card.licence.starts_with("MIT OR Apache-2.0"));
        }
        assert_eq!(shipped_cards().unwrap().len(), SHIPPED.len());
    }

    #[test]
    fn a_shipped_model_saved_again_is_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("again.safetensors");
        for model in SHIPPED {
            open_model(model.name, &Device::Cpu).unwrap().save(&path).unwrap();
            assert!(std::fs::read(&path).unwrap() == model.bytes, "{}", model.name);
        }
    }

    #[test]
    fn an_unknown_name_says_what_there_is_and_a_missing_file_is_named() {
        assert!(open_card("nonsense").unwrap_err().to_string().contains("model file"));
        assert!(open_card("missing.safetensors").unwrap_err().to_string().contains("missing"));
    }

    #[test]
    fn a_model_of_the_other_kind_names_the_option_that_it_belongs_to() {
        let message = open_extractor("ear", &Device::Cpu).unwrap_err().to_string();
        assert!(message.contains("is an ear") && message.contains("--ear"), "{message}");
        let message = open_ear("mel", &Device::Cpu).unwrap_err().to_string();
        assert!(message.contains("is an extractor") && message.contains("--extractor"), "{message}");
    }
}
