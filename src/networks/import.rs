//! Taking over weights that the paper's code trained.

use std::path::Path;

use candle_core::Device;

use super::card::{ExtractorSpec, ModelCard};
use super::checkpoint_file;
use super::extractor::{Extractor, Side};
use super::gru::GruShape;
use super::model_file::{self, NamedArrays};
use crate::base::error::{Error, Result};
use crate::features::FeatureKind;

/// The hop of the paper's features.
const PAPER_HOP: usize = 1024;
const REMEDY: &str = "import a checkpoint of the paper's audio-to-score code with `--num_layers 1` and its GRU encoder";
/// Ends the name of the array that tells the dimensions.
const FIRST_ARRAY: &str = ".weight_ih_l0";

/// Reads a checkpoint of PyTorch or Lightning (`.ckpt`, `.pt`, `.pth`) or a safetensors file with PyTorch's names.
///
/// The features follow from the dimensions of the weights; the hop is the paper's. Names may have any prefix that ends
/// in a word with `score` or with `perf`, such as the `backbone_score.` and `backbone_perf.` of the paper's code.
pub fn import(path: &Path) -> Result<Extractor> {
    let bytes = model_file::read_limited(path)?;
    let (arrays, lambda) = if checkpoint_file::is_checkpoint(&bytes) {
        let checkpoint = checkpoint_file::read(path, &bytes)?;
        (checkpoint.arrays, checkpoint.lambda)
    } else {
        (model_file::read_arrays(path, &bytes)?, None)
    };
    let score = prefix(path, &arrays, Side::Score)?;
    let performance = prefix(path, &arrays, Side::Performance)?;
    if arrays.keys().any(|name| name.contains("_l1")) {
        return Err(Error::unsupported(path, "a network of more than one layer", REMEDY));
    }
    let (features, shape) = dimensions(path, &arrays, &score)?;
    let name = path.file_stem().map_or_else(|| "imported".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let mut card = ModelCard::new(name, ExtractorSpec::new(features, PAPER_HOP, shape.output()));
    card.spec.lambda = lambda.unwrap_or(card.spec.lambda);
    card.training.insert("imported_from".to_owned(), path.file_name().map(|n| n.to_string_lossy()).into());
    let of_side = |prefix: &str| {
        let tensors = shape.tensors().into_iter();
        let layout: Vec<_> = tensors.map(|tensor| (format!("{prefix}{}", tensor.name), tensor.dims)).collect();
        model_file::flatten(path, &arrays, &layout)
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
