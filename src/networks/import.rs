//! Taking over weights that were trained in PyTorch: extractors of the paper's code, and ears.

use std::path::Path;

use candle_core::Device;

use super::card::{EarSpec, ExtractorSpec, ModelCard};
use super::checkpoint_file;
use super::ear::{self, Ear};
use super::extractor::{Extractor, Side};
use super::gru::GruShape;
use super::model::Model;
use super::model_file::{self, NamedArrays};
use crate::base::error::{Error, Result};
use crate::features::FeatureKind;

/// The hop of the paper's features.
const PAPER_HOP: usize = 1024;
/// Ends the name of the array that only ears have.
const OF_AN_EAR: &str = "conv1.weight";
const EAR_REMEDY: &str =
    "save the `state_dict` of an ear with the layers conv1, att, place, sum, conv2, cross, gru, post and out";
const REMEDY: &str = "import a checkpoint of the paper's audio-to-score code with `--num_layers 1` and its GRU encoder";
/// Ends the name of the array that tells the dimensions.
const FIRST_ARRAY: &str = ".weight_ih_l0";

/// Reads a checkpoint of PyTorch or Lightning (`.ckpt`, `.pt`, `.pth`) or a safetensors file with PyTorch's names.
///
/// What has a layer `conv1` is an ear; its dimensions follow from those of the weights, whose names may have a common prefix.
///
/// Anything else is an extractor. Its features follow from the dimensions of the weights; the hop is the paper's. Names may have any
/// prefix that ends in a word with `score` or with `perf`, such as the `backbone_score.` and `backbone_perf.` of the paper's code.
pub fn import(path: &Path) -> Result<Model> {
    let bytes = model_file::read_limited(path)?;
    let (arrays, lambda) = if checkpoint_file::is_checkpoint(&bytes) {
        let checkpoint = checkpoint_file::read(path, &bytes)?;
        (checkpoint.arrays, checkpoint.lambda)
    } else {
        (model_file::read_arrays(path, &bytes)?, None)
    };
    let of_an_ear = arrays.keys().filter_map(|name| name.strip_suffix(OF_AN_EAR)).min_by_key(|prefix| prefix.len());
    match of_an_ear {
        Some(prefix) => import_ear(path, &arrays, prefix).map(Model::Ear),
        None => import_extractor(path, &arrays, lambda).map(Model::Extractor),
    }
}

/// A card that says where the weights come from.
fn card<S>(path: &Path, spec: S) -> ModelCard<S> {
    let name = path.file_stem().map_or_else(|| "imported".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let mut card = ModelCard::new(name, spec);
    card.training.insert("imported_from".to_owned(), path.file_name().map(|n| n.to_string_lossy()).into());
    card
}

fn import_ear(path: &Path, arrays: &NamedArrays, prefix: &str) -> Result<Ear> {
    let rows = |name: &str| match arrays.get(&format!("{prefix}{name}")) {
        Some((dims, _)) if !dims.is_empty() => Ok(dims[0]),
        _ => Err(Error::malformed(path, format!("has no weights named {prefix}{name}"), EAR_REMEDY)),
    };
    let spec = EarSpec {
        channels: rows(OF_AN_EAR)?,
        hidden: rows("gru.weight_hh_l0")? / 3,
        summary: rows("sum.weight")?,
        head: rows("post.weight")?,
        ..EarSpec::default()
    };
    ear::validate(&spec).map_err(|e| Error::malformed(path, e.to_string(), EAR_REMEDY))?;
    let layout: Vec<_> = ear::layout(&spec).into_iter().map(|(name, dims)| (format!("{prefix}{name}"), dims)).collect();
    Ear::new(card(path, spec), model_file::flatten(path, arrays, &layout)?, &Device::Cpu)
}

fn import_extractor(path: &Path, arrays: &NamedArrays, lambda: Option<f64>) -> Result<Extractor> {
    let score = prefix(path, arrays, Side::Score)?;
    let performance = prefix(path, arrays, Side::Performance)?;
    if arrays.keys().any(|name| name.contains("_l1")) {
        return Err(Error::unsupported(path, "a network of more than one layer", REMEDY));
    }
    let (features, shape) = dimensions(path, arrays, &score)?;
    let mut card = card(path, ExtractorSpec::new(features, PAPER_HOP, shape.output()));
    card.spec.lambda = lambda.unwrap_or(card.spec.lambda);
    let of_side = |prefix: &str| {
        let tensors = shape.tensors().into_iter();
        let layout: Vec<_> = tensors.map(|tensor| (format!("{prefix}{}", tensor.name), tensor.dims)).collect();
        model_file::flatten(path, arrays, &layout)
    };
    Extractor::new(card, [of_side(&score)?, of_side(&performance)?].concat(), &Device::Cpu)
}

/// What the names of a side's arrays start with, the dot included.
fn prefix(path: &Path, arrays: &NamedArrays, side: Side) -> Result<String> {
    let word = match side {
        Side::Score => "score",
        Side::Performance => "perf",
    };
    let mut prefixes: Vec<&str> = arrays
        .keys()
        .filter_map(|name| name.strip_suffix(FIRST_ARRAY))
        .filter(|prefix| prefix.rsplit('.').next().is_some_and(|last| last.contains(word)))
        .collect();
    prefixes.sort_unstable();
    match prefixes[..] {
        [prefix] => Ok(format!("{prefix}.")),
        [] => Err(Error::malformed(path, format!("has no GRU for the {}", side.name()), REMEDY)),
        _ => Err(Error::malformed(
            path,
            format!("has more than one GRU for the {}: {}", side.name(), prefixes.join(", ")),
            REMEDY,
        )),
    }
}

fn dimensions(path: &Path, arrays: &NamedArrays, prefix: &str) -> Result<(FeatureKind, GruShape)> {
    let dims = arrays.get(&format!("{prefix}{}", &FIRST_ARRAY[1..])).map_or(&[][..], |(dims, _)| dims);
    let &[gates, input] = dims else {
        return Err(Error::malformed(path, format!("the input weights are {dims:?}, not a matrix"), REMEDY));
    };
    let kind = [FeatureKind::Cqt, FeatureKind::Chroma, FeatureKind::Mel].into_iter().find(|kind| kind.dim() == input);
    match kind {
        Some(kind) if gates > 0 && gates.is_multiple_of(3) => {
            let shape = GruShape { input, hidden: gates / 3 };
            ExtractorSpec::new(kind, PAPER_HOP, shape.output())
                .shape()
                .map_err(|e| Error::malformed(path, e.to_string(), REMEDY))?;
            Ok((kind, shape))
        }
        _ => {
            let cause = format!(
                "input weights of {gates} x {input} (columns must be 48 for cqt, 12 for chroma or 128 for mel)"
            );
            Err(Error::unsupported(path, cause, REMEDY))
        }
    }
}

#[cfg(test)]
mod tests;
