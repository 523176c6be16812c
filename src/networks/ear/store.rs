//! The network on disk: safetensors weights and a JSON card of the same name beside them.

use std::collections::BTreeMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::levels::{CHANNELS, NETWORK_HOP};
use super::network::{LAYERS, OnsetNetwork};
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};
use crate::networks::weights::{hash, serialise};

/// The version of the card that this program writes, and the only one that it reads.
const FORMAT: u32 = 1;
const REMEDY: &str = "fetch or train the network again";

/// What is known about a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnsetCard {
    /// Version of this format.
    pub format: u32,
    /// The network's name.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// Samples between frames at 22,050 Hz.
    pub hop: usize,
    /// Values per moment and pitch that it reads.
    pub channels: usize,
    /// Number of weights and biases.
    pub parameters: usize,
    /// How and on what it was trained.
    #[serde(default)]
    pub training: BTreeMap<String, serde_json::Value>,
    /// Measured quality, by the name of the measure.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    /// Under which terms the weights may be used.
    pub licence: String,
    /// SHA-256 of the weights file, in hexadecimal.
    pub sha256: String,
}

impl OnsetCard {
    /// A card of a network with nothing told about its training.
    pub fn new(name: impl Into<String>, licence: impl Into<String>) -> Self {
        Self {
            format: FORMAT,
            name: name.into(),
            purpose: "odds that a note of a pitch begins, for placing onsets".to_owned(),
            hop: NETWORK_HOP,
            channels: CHANNELS,
            parameters: OnsetNetwork::<f32>::parameter_count(),
            training: BTreeMap::new(),
            metrics: BTreeMap::new(),
            licence: licence.into(),
            sha256: String::new(),
        }
    }
}

/// Writes the weights to `path` and the card beside it, each whole or not at all. The card gets the weights' hash.
pub fn save(network: &OnsetNetwork, card: &OnsetCard, path: &Path) -> Result<()> {
    let card_path = path.with_extension("json");
    if path == card_path {
        return Err(Error::invalid("model file", path.display(), "a name that ends in .safetensors"));
    }
    let bytes = to_safetensors(network, path)?;
    let card = OnsetCard { sha256: hash(&bytes), ..card.clone() };
    let json = serde_json::to_string_pretty(&card)
        .map_err(|e| Error::malformed(path, format!("the card cannot be written: {e}"), "report this"))?;
    write_bytes_atomically(path, &bytes)?;
    write_bytes_atomically(&card_path, format!("{json}\n").as_bytes())
}

/// Reads a network by the name of its weights.
pub fn load(path: &Path) -> Result<(OnsetNetwork, OnsetCard)> {
    /// Larger files are no networks of ours.
    const LARGEST: u64 = 16 << 20;
    let read = |path: &Path| {
        let failed = |e| Error::io("read", path, e);
        if std::fs::metadata(path).map_err(failed)?.len() > LARGEST {
            return Err(Error::limit(path, "is larger than any onset network", "check that this is the right file"));
        }
        std::fs::read(path).map_err(failed)
    };
    let card_path = path.with_extension("json");
    let card = String::from_utf8(read(&card_path)?)
        .map_err(|_| Error::malformed(&card_path, "is not a card: it is not text", REMEDY))?;
    from_bytes(path, &read(path)?, &card)
}

/// The network that comes with the program.
pub fn shipped() -> Result<(OnsetNetwork, OnsetCard)> {
    let weights = include_bytes!("../../../models/onsets.safetensors");
    from_bytes(Path::new("built-in onset network"), weights, include_str!("../../../models/onsets.json"))
}

fn from_bytes(path: &Path, weights: &[u8], card: &str) -> Result<(OnsetNetwork, OnsetCard)> {
    let malformed = |cause: String| Error::malformed(path, cause, REMEDY);
    let card: OnsetCard =
        serde_json::from_str(card).map_err(|e| malformed(format!("has no card of an onset network: {e}")))?;
    let expected = OnsetCard::new("", "");
    if (card.format, card.hop, card.channels) != (expected.format, expected.hop, expected.channels) {
        return Err(malformed("was made for another version of the program".to_owned()));
    }
    if hash(weights) != card.sha256 {
        return Err(malformed("is damaged or belongs to another card".to_owned()));
    }
    let file =
        SafeTensors::deserialize(weights).map_err(|e| malformed(format!("is no sound safetensors file ({e})")))?;
    let mut parameters = Vec::with_capacity(card.parameters.min(1 << 20));
    for layer in LAYERS {
        for (part, dims) in [("weight", vec![layer.taps, layer.inputs, layer.outputs]), ("bias", vec![layer.outputs])] {
            let name = format!("{}.{part}", layer.name);
            let view = file.tensor(&name).map_err(|_| malformed(format!("has no weights named {name}")))?;
            if view.dtype() != Dtype::F32 || view.shape() != dims {
                return Err(malformed(format!("{name} is {:?}, not {dims:?}", view.shape())));
            }
            parameters.extend(view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        }
    }
    if parameters.iter().any(|value| !value.is_finite()) {
        return Err(malformed("holds values that are not numbers".to_owned()));
    }
    Ok((OnsetNetwork { parameters }, card))
}

fn to_safetensors(network: &OnsetNetwork, path: &Path) -> Result<Vec<u8>> {
    let mut arrays: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect();
    for (index, layer) in LAYERS.into_iter().enumerate() {
        let (weights, biases) = network.weights(index);
        let dims = vec![layer.taps, layer.inputs, layer.outputs];
        arrays.push((format!("{}.weight", layer.name), dims, bytes(weights)));
        arrays.push((format!("{}.bias", layer.name), vec![layer.outputs], bytes(biases)));
    }
    serialise(&arrays, path)
}
