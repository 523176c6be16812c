//! A model on disk: one safetensors file that holds the weights, named as in PyTorch, and the card in its metadata.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::card::ModelCard;
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::digest::sha256;
use crate::base::error::{Error, Result};

/// The version of the format that this program writes, and the newest that it reads.
const FORMAT: u32 = 2;
/// Larger files are no models of ours.
const LARGEST_FILE: u64 = 256 << 20;
/// The entry of the metadata that holds the card.
const CARD: &str = "card";
const REMEDY: &str = "fetch or train the model again";

/// Named arrays as read from a file: dimensions and values.
pub(super) type NamedArrays = HashMap<String, (Vec<usize>, Vec<f32>)>;

/// The card as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredCard {
    format: u32,
    #[serde(flatten)]
    card: ModelCard,
}

/// Writes a model in one piece: whole or not at all.
pub(super) fn write(path: &Path, card: &ModelCard, parameters: &[f32]) -> Result<()> {
    let failed = |cause: String| Error::malformed(path, format!("the model cannot be written: {cause}"), "report this");
    let mut rest = parameters;
    let mut arrays = Vec::new();
    for (name, dims) in card.spec.layout()? {
        let (values, tail) = rest
            .split_at_checked(dims.iter().product())
            .ok_or_else(|| failed(format!("{} weights are too few", parameters.len())))?;
        rest = tail;
        arrays.push((name, dims, values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>()));
    }
    let serialise = |metadata: Option<HashMap<String, String>>| {
        let views = arrays
            .iter()
            .map(|(name, dims, bytes)| Ok((name, TensorView::new(Dtype::F32, dims.clone(), bytes)?)))
            .collect::<Result<Vec<_>, _>>();
        views.and_then(|views| safetensors::serialize(views, metadata)).map_err(|e| failed(e.to_string()))
    };
    let sha256 = sha256(data(&serialise(None)?));
    let stored = StoredCard { format: FORMAT, card: ModelCard { sha256, ..card.clone() } };
    let text = serde_json::to_string(&stored).map_err(|e| failed(e.to_string()))?;
    write_bytes_atomically(path, &serialise(Some(HashMap::from([(CARD.to_owned(), text)])))?)
}

/// Reads a model: its card and its flat parameters.
pub(super) fn read(path: &Path) -> Result<(ModelCard, Vec<f32>)> {
    parse(path, &read_limited(path)?)
}

/// A model that is already in memory, such as one built into the program. The path is for messages.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<(ModelCard, Vec<f32>)> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| not_safetensors(path, &e))?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(CARD)).ok_or_else(|| {
        let remedy = "make a model of PyTorch weights with `agogic model import`, or train it again";
        Error::unsupported(path, "it holds weights, but no card that tells what they are for", remedy)
    })?;
    let not_a_card = |e: serde_json::Error| Error::malformed(path, format!("has no sound card: {e}"), REMEDY);
    let json: serde_json::Value = serde_json::from_str(text).map_err(not_a_card)?;
    // Before the rest, because a later format may not parse as this one.
    if let Some(format) = json.get("format").and_then(serde_json::Value::as_u64).filter(|&f| f > FORMAT.into()) {
        let cause = format!("model format {format} (this program reads up to {FORMAT})");
        return Err(Error::unsupported(path, cause, "update the program"));
    }
    let StoredCard { card, .. } = serde_json::from_value(json).map_err(not_a_card)?;
    card.spec.validate().map_err(|e| Error::malformed(path, e.to_string(), REMEDY))?;
    if sha256(data(bytes)) != card.sha256 {
        return Err(Error::malformed(path, "is damaged: its weights are not those that its card was made for", REMEDY));
    }
    let arrays = read_arrays(path, bytes)?;
    let parameters = flatten(path, &arrays, &card.spec.layout()?)?;
    Ok((card, parameters))
}

/// The values of these arrays one after the other, checked.
pub(super) fn flatten(path: &Path, arrays: &NamedArrays, layout: &[(String, Vec<usize>)]) -> Result<Vec<f32>> {
    let mut parameters = Vec::new();
    for (name, expected) in layout {
        let Some((dims, values)) = arrays.get(name) else {
            return Err(Error::malformed(path, format!("has no weights named {name}"), REMEDY));
        };
        if dims != expected {
            let cause = format!("{name} is {dims:?}, but the model asks for {expected:?}");
            return Err(Error::malformed(path, cause, "check that the model was trained on these features"));
        }
        if values.iter().any(|v| !v.is_finite()) {
            let cause = format!("{name} holds values that are not numbers: its training diverged or it is damaged");
            return Err(Error::malformed(path, cause, REMEDY));
        }
        parameters.extend_from_slice(values);
    }
    Ok(parameters)
}

/// All floating-point arrays of a safetensors file.
pub(super) fn read_arrays(path: &Path, bytes: &[u8]) -> Result<NamedArrays> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| not_safetensors(path, &e))?;
    let arrays = file.iter().filter_map(|(name, view)| {
        let values = floats(view.dtype(), view.data())?;
        Some((name.to_owned(), (view.shape().to_vec(), values)))
    });
    Ok(arrays.collect())
}

/// The whole file, unless it is too large for a model.
pub(super) fn read_limited(path: &Path) -> Result<Vec<u8>> {
    let failed = |e| Error::io("read", path, e);
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST_FILE {
        let cause = format!("is larger than {} MB, the most that a model may have", LARGEST_FILE >> 20);
        return Err(Error::limit(path, cause, "check that this is the right file"));
    }
    Ok(bytes)
}

fn not_safetensors(path: &Path, cause: &safetensors::SafeTensorError) -> Error {
    Error::malformed(path, format!("is no sound safetensors file ({cause})"), REMEDY)
}

/// Little-endian numbers, or `None` for a type that no network of ours has.
fn floats(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    match dtype {
        Dtype::F32 => Some(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
        Dtype::F64 => Some(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32).collect()),
        _ => None,
    }
}

/// The bytes of the arrays: what follows the header, whose length the first eight bytes give.
fn data(bytes: &[u8]) -> &[u8] {
    let header = bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    usize::try_from(header).ok().and_then(|header| bytes.get(header.checked_add(8)?..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::features::FeatureKind;
    use crate::networks::card::{EarSpec, ExtractorSpec, Spec};

    fn card() -> ModelCard {
        let mut card = ModelCard::new("small", Spec::Extractor(ExtractorSpec::new(FeatureKind::Chroma, 512, 8)));
        card.metrics.insert("TimeErr".to_owned(), 0.012);
        card
    }

    fn parameters(card: &ModelCard) -> Vec<f32> {
        let count: usize = card.spec.layout().unwrap().iter().map(|(_, dims)| dims.iter().product::<usize>()).sum();
        (0..count).map(|i| (0.1 * i as f32).sin()).collect()
    }

    fn saved() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.safetensors");
        write(&path, &card(), &parameters(&card())).unwrap();
        (folder, path)
    }

    /// Replaces text in the header, which keeps its length.
    fn edit(path: &Path, from: &str, to: &str) {
        assert_eq!(from.len(), to.len());
        let mut bytes = std::fs::read(path).unwrap();
        let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).expect(from);
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        std::fs::write(path, bytes).unwrap();
    }

    fn message(path: &Path) -> String {
        let message = read(path).unwrap_err().to_string();
        assert!(message.contains("small."), "names the file: {message}");
        message
    }

    #[test]
    fn one_file_holds_a_model_of_either_kind_and_the_same_model_is_the_same_bytes() {
        for card in [card(), ModelCard::new("ear", Spec::Ear(EarSpec::default()))] {
            let folder = tempfile::tempdir().unwrap();
            let (path, moved) = (folder.path().join("a.safetensors"), folder.path().join("elsewhere"));
            write(&path, &card, &parameters(&card)).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            write(&path, &card, &parameters(&card)).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
            std::fs::rename(&path, &moved).unwrap();
            let (opened, weights) = read(&moved).unwrap();
            assert_eq!((opened.sha256.len(), weights), (64, parameters(&card)));
            assert_eq!(ModelCard { sha256: String::new(), ..opened }, card);
        }
    }

    #[test]
    fn the_names_in_the_file_are_those_of_pytorch() {
        let (_folder, path) = saved();
        let arrays = read_arrays(&path, &std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(arrays.len(), 16);
        assert_eq!(arrays["score.weight_ih_l0"].0, [12, 12]);
        assert_eq!(arrays["performance.weight_hh_l0_reverse"].0, [12, 4]);
        assert_eq!(arrays["performance.bias_hh_l0"].0, [12]);
    }

    #[test]
    fn one_changed_bit_is_damage() {
        let (_folder, path) = saved();
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(message(&path).contains("damaged"));
    }

    #[test]
    fn truncated_or_foreign_files_are_named() {
        let (_folder, path) = saved();
        let bytes = std::fs::read(&path).unwrap();
        for cut in [0, 4, 100, 2000] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(message(&path).contains("no sound safetensors file"));
        }
    }

    #[test]
    fn a_newer_format_asks_for_an_update_and_weights_without_a_card_for_an_import() {
        let (_folder, path) = saved();
        edit(&path, r#"\"format\":2"#, r#"\"format\":3"#);
        assert!(message(&path).contains("format 3") && message(&path).contains("update"));
        edit(&path, r#""card""#, r#""cart""#);
        assert!(message(&path).contains("no card") && message(&path).contains("model import"));
    }

    #[test]
    fn a_card_with_other_dimensions_or_nonsense_is_refused() {
        let (_folder, path) = saved();
        edit(&path, r#"\"output_dim\":8"#, r#"\"output_dim\":6"#);
        assert!(message(&path).contains("[12, 12], but the model asks for [9, 12]"), "{}", message(&path));
        edit(&path, r#"\"output_dim\":6"#, r#"\"output_dim\":7"#);
        assert!(message(&path).contains("an even number"));
        edit(&path, r#"\"output_dim\":7"#, r#"\"output_dim\":x"#);
        assert!(message(&path).contains("no sound card"));
    }

    #[test]
    fn weights_that_are_not_numbers_or_too_few_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.safetensors");
        let mut diverged = parameters(&card());
        diverged[0] = f32::NAN;
        write(&path, &card(), &diverged).unwrap();
        assert!(message(&path).contains("score.weight_ih_l0 holds values that are not numbers"));
        assert!(write(&path, &card(), &diverged[1..]).is_err());
    }
}
