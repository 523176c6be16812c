//! Models on disk: safetensors weights, named as in PyTorch, and a JSON card of the same name beside them.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};

use super::card::ModelCard;
use super::gru::GruShape;
use super::model::{Extractor, Gru, Side};
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};

/// Larger files are no models of ours.
const LARGEST_FILE: u64 = 256 << 20;
const REMEDY: &str = "fetch or train the model again";

/// Named arrays as read from a file: dimensions and values.
pub(super) type NamedArrays = HashMap<String, (Vec<usize>, Vec<f32>)>;

/// Writes the weights to `path` and the card beside it, each whole or not at all. The card gets the weights' hash.
pub fn save(extractor: &Extractor, path: &Path) -> Result<()> {
    if path == card_path(path) {
        return Err(Error::invalid("model file", path.display(), "a name that ends in .safetensors"));
    }
    let bytes = to_safetensors(extractor, path)?;
    let card = ModelCard { sha256: hash(&bytes), ..extractor.card.clone() };
    let json = serde_json::to_string_pretty(&card)
        .map_err(|e| Error::malformed(path, format!("the card cannot be written: {e}"), "report this"))?;
    write_bytes_atomically(path, &bytes)?;
    write_bytes_atomically(&card_path(path), format!("{json}\n").as_bytes())
}

/// Reads a model by the name of its weights or of its card.
pub fn load(path: &Path) -> Result<Extractor> {
    let weights_path = path.with_extension("safetensors");
    let card_path = card_path(path);
    if weights_path.is_file() && !card_path.exists() {
        let cause = format!("has no card beside it: {} is missing", card_path.display());
        let remedy = "copy the card, too, or make one from PyTorch weights with `agogic model import`";
        return Err(Error::unsupported(weights_path, cause, remedy));
    }
    let card = String::from_utf8(read_limited(&card_path)?)
        .map_err(|_| Error::malformed(&card_path, "is not a model card: it is not text", REMEDY))?;
    from_bytes(&weights_path, &read_limited(&weights_path)?, &card_path, &card)
}

/// A model that is already in memory, such as one built into the program. The paths are for messages.
pub fn from_bytes(weights_path: &Path, weights: &[u8], card_path: &Path, card: &str) -> Result<Extractor> {
    let card = ModelCard::read(card_path, card)?;
    let hash = hash(weights);
    if hash != card.sha256 {
        let cause = format!(
            "is damaged or belongs to another card (its SHA-256 starts {}, the card says {:.8})",
            &hash[..8],
            card.sha256
        );
        return Err(Error::malformed(weights_path, cause, REMEDY));
    }
    let shape = card.shape()?;
    let arrays = read_safetensors(weights_path, weights)?;
    let network = |side: Side| network(weights_path, &arrays, &format!("{}.", side.name()), shape);
    Ok(Extractor { score: network(Side::Score)?, performance: network(Side::Performance)?, card })
}

/// Where the card of a model lies.
pub fn card_path(path: &Path) -> PathBuf {
    path.with_extension("json")
}

/// The eight arrays whose names start with `prefix`, checked.
pub(super) fn network(path: &Path, arrays: &NamedArrays, prefix: &str, shape: GruShape) -> Result<Gru> {
    let mut parameters = Vec::with_capacity(shape.parameter_count());
    for tensor in shape.tensors() {
        let name = format!("{prefix}{}", tensor.name);
        let Some((dims, values)) = arrays.get(&name) else {
            return Err(Error::malformed(path, format!("has no weights named {name}"), REMEDY));
        };
        if *dims != tensor.dims {
            let cause = format!("{name} is {dims:?}, but the model asks for {:?}", tensor.dims);
            return Err(Error::malformed(path, cause, "check that the model was trained on these features"));
        }
        if values.iter().any(|v| !v.is_finite()) {
            let cause = format!("{name} holds values that are not numbers: its training diverged or it is damaged");
            return Err(Error::malformed(path, cause, REMEDY));
        }
        parameters.extend_from_slice(values);
    }
    Gru::new(shape, parameters)
}

/// All floating-point arrays of a safetensors file.
pub(super) fn read_safetensors(path: &Path, bytes: &[u8]) -> Result<NamedArrays> {
    let file = SafeTensors::deserialize(bytes)
        .map_err(|e| Error::malformed(path, format!("is no sound safetensors file ({e})"), REMEDY))?;
    let arrays = file.iter().filter_map(|(name, view)| {
        let values = floats(view.dtype(), view.data())?;
        Some((name.to_owned(), (view.shape().to_vec(), values)))
    });
    Ok(arrays.collect())
}

/// Little-endian numbers, or `None` for a type that no network of ours has.
fn floats(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    match dtype {
        Dtype::F32 => Some(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
        Dtype::F64 => Some(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32).collect()),
        _ => None,
    }
}

fn to_safetensors(extractor: &Extractor, path: &Path) -> Result<Vec<u8>> {
    let mut arrays: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    for side in Side::BOTH {
        let network = extractor.network(side);
        for tensor in network.shape().tensors() {
            let bytes = network.parameters()[tensor.range].iter().flat_map(|v| v.to_le_bytes()).collect();
            arrays.push((format!("{}.{}", side.name(), tensor.name), tensor.dims, bytes));
        }
    }
    serialise(&arrays, path)
}

/// Arrays of 32-bit numbers, each with its name and dimensions, as the content of a safetensors file.
pub(crate) fn serialise(arrays: &[(String, Vec<usize>, Vec<u8>)], path: &Path) -> Result<Vec<u8>> {
    let failed = |e| Error::malformed(path, format!("the weights cannot be written: {e}"), "report this");
    let views = arrays
        .iter()
        .map(|(name, dims, bytes)| Ok((name, TensorView::new(Dtype::F32, dims.clone(), bytes).map_err(failed)?)))
        .collect::<Result<Vec<_>>>()?;
    safetensors::serialize(views, None).map_err(failed)
}

/// SHA-256 in hexadecimal, as cards name it.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureKind;

    fn extractor() -> Extractor {
        let mut extractor = Extractor::untrained(ModelCard::new("small", FeatureKind::Chroma, 512, 8), 3).unwrap();
        extractor.score.parameters_mut()[5] = 0.75;
        extractor.card.metrics.insert("TimeErr".to_owned(), 0.012);
        extractor
    }

    fn saved() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.safetensors");
        save(&extractor(), &path).unwrap();
        (folder, path)
    }

    /// Gives the card the hash of the weights as they are now, so that later checks are reached.
    fn bless(path: &Path) {
        let text = std::fs::read_to_string(card_path(path)).unwrap();
        let mut card: serde_json::Value = serde_json::from_str(&text).unwrap();
        card["sha256"] = hash(&std::fs::read(path).unwrap()).into();
        std::fs::write(card_path(path), card.to_string()).unwrap();
    }

    fn message(path: &Path) -> String {
        let message = load(path).unwrap_err().to_string();
        assert!(message.contains("small."), "names the file: {message}");
        message
    }

    #[test]
    fn a_saved_model_loads_the_same_by_either_name() {
        let (_folder, path) = saved();
        let mut expected = extractor();
        let loaded = load(&path).unwrap();
        assert_eq!(loaded.card.sha256.len(), 64);
        expected.card.sha256 = loaded.card.sha256.clone();
        assert_eq!(loaded, expected);
        assert_eq!(load(&card_path(&path)).unwrap(), expected);
    }

    #[test]
    fn the_names_in_the_file_are_those_of_pytorch() {
        let (_folder, path) = saved();
        let arrays = read_safetensors(&path, &std::fs::read(&path).unwrap()).unwrap();
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
    fn truncated_or_foreign_weights_are_named_even_when_the_hash_fits() {
        for cut in [0, 4, 100, 2000] {
            let (_folder, path) = saved();
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..cut]).unwrap();
            bless(&path);
            assert!(message(&path).contains("no sound safetensors file"));
        }
    }

    #[test]
    fn weights_that_are_not_numbers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.safetensors");
        let mut diverged = extractor();
        diverged.performance.parameters_mut()[0] = f32::NAN;
        save(&diverged, &path).unwrap();
        assert!(message(&path).contains("performance.weight_ih_l0 holds values that are not numbers"));
    }

    #[test]
    fn a_card_with_other_dimensions_is_refused() {
        let (_folder, path) = saved();
        let text = std::fs::read_to_string(card_path(&path)).unwrap();
        std::fs::write(card_path(&path), text.replace("\"output_dim\": 8", "\"output_dim\": 16")).unwrap();
        assert!(message(&path).contains("[12, 12], but the model asks for [24, 12]"));
    }

    #[test]
    fn a_missing_card_or_missing_weights_are_named() {
        let (_folder, path) = saved();
        std::fs::remove_file(card_path(&path)).unwrap();
        assert!(message(&path).contains("small.json is missing") && message(&path).contains("model import"));
        let (_folder, path) = saved();
        std::fs::remove_file(&path).unwrap();
        assert!(message(&path).contains("small.safetensors"));
    }

    #[test]
    fn weights_are_not_written_over_their_own_card() {
        let folder = tempfile::tempdir().unwrap();
        assert!(save(&extractor(), &folder.path().join("model.json")).is_err());
    }
}
