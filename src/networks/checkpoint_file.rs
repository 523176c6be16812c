//! The weights in a PyTorch checkpoint: a zip archive that holds a pickle and one entry per array.

use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use super::model_file::NamedArrays;
use super::pickle::{self, Pickle, Value};
use crate::base::error::{Error, Result};

const REMEDY: &str = "save the checkpoint again with torch.save, or convert it to safetensors";
/// No network of ours has more values in one array.
const LARGEST_ARRAY: usize = 1 << 24;

/// What the entry with the weights is called, if they are not all that there is.
const STATES: [&str; 3] = ["state_dict", "model", "sd"];

/// What a checkpoint holds.
pub(super) struct Checkpoint {
    /// The arrays of its `state_dict`.
    pub arrays: NamedArrays,
    /// The weight of the tempo regulariser, if the paper's code wrote the checkpoint.
    pub lambda: Option<f64>,
}

/// Whether the file starts like a zip archive.
pub(super) fn is_checkpoint(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// Reads a checkpoint of PyTorch (1.6 and later) or PyTorch Lightning.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Checkpoint> {
    parse(bytes).map_err(|cause| Error::malformed(path, format!("is no sound PyTorch checkpoint: {cause}"), REMEDY))
}

fn parse(bytes: &[u8]) -> Result<Checkpoint, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let names: Vec<String> = archive.file_names().map(str::to_owned).collect();
    let pickle_name = names.iter().find(|name| name.ends_with("data.pkl")).ok_or("it has no data.pkl")?;
    let folder = pickle_name.trim_end_matches(".pkl");
    let pickle = pickle::parse(&entry(&mut archive, pickle_name, bytes.len())?)
        .map_err(|cause| format!("its index has {cause}"))?;

    let root = pickle.root();
    let state = STATES.iter().find_map(|name| pickle.entry(root, name)).unwrap_or(root);
    let Value::Dict(entries) = state else { return Err("it has no dictionary of weights".to_owned()) };
    let mut arrays = NamedArrays::new();
    for (name, value) in entries {
        let (Value::Text(name), Some(array)) = (pickle.get(*name), ArrayInfo::of(&pickle, pickle.get(*value))) else {
            continue;
        };
        let data = entry(&mut archive, &format!("{folder}/{}", array.key), bytes.len())?;
        let values = array.values(&data).ok_or_else(|| format!("{name} reaches beyond its data"))?;
        arrays.insert(name.clone(), (array.dims, values));
    }
    let lambda = pickle.entry(root, "hyper_parameters").and_then(|h| pickle.entry(h, "reg_wt")).and_then(|v| match v {
        Value::Float(lambda) if lambda.is_finite() && *lambda >= 0.0 => Some(*lambda),
        _ => None,
    });
    Ok(Checkpoint { arrays, lambda })
}

/// The content of an entry. PyTorch does not compress, so it is never larger than the file.
fn entry(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str, limit: usize) -> Result<Vec<u8>, String> {
    let entry = archive.by_name(name).map_err(|e| format!("{name}: {e}"))?;
    let mut content = Vec::new();
    entry.take(limit as u64).read_to_end(&mut content).map_err(|e| format!("{name}: {e}"))?;
    Ok(content)
}

/// Where an array lies.
struct ArrayInfo {
    key: String,
    double: bool,
    offset: usize,
    dims: Vec<usize>,
    strides: Vec<usize>,
}

impl ArrayInfo {
    /// Understands the call that rebuilds an array; `None` for any other object or number type.
    fn of(pickle: &Pickle, value: &Value) -> Option<Self> {
        let (function, arguments) = pickle.call(value)?;
        match function {
            "torch._utils._rebuild_parameter" => Self::of_tensor(pickle, arguments.first()?),
            "torch._utils._rebuild_tensor_v2" => Self::of_tensor(pickle, value),
            _ => None,
        }
    }

    fn of_tensor(pickle: &Pickle, value: &Value) -> Option<Self> {
        let ("torch._utils._rebuild_tensor_v2", arguments) = pickle.call(value)? else { return None };
        let [Value::Persistent(storage), Value::Int(offset), dims, strides, ..] = arguments[..] else { return None };
        // ("storage", type, key, location, number of values)
        let storage = pickle.elements(pickle.get(*storage))?;
        let [_, Value::Global(kind), Value::Text(key), ..] = storage[..] else { return None };
        let double = match kind.as_str() {
            "torch.FloatStorage" => false,
            "torch.DoubleStorage" => true,
            _ => return None,
        };
        let sizes = |value| {
            let elements = pickle.elements(value)?;
            elements
                .into_iter()
                .map(|v| if let Value::Int(i) = v { usize::try_from(*i).ok() } else { None })
                .collect::<Option<Vec<_>>>()
        };
        let (dims, strides) = (sizes(dims)?, sizes(strides)?);
        (dims.len() == strides.len()).then_some(())?;
        Some(Self { key: key.clone(), double, offset: usize::try_from(*offset).ok()?, dims, strides })
    }

    /// The values in row-major order, or `None` if the data do not hold them all.
    fn values(&self, data: &[u8]) -> Option<Vec<f32>> {
        let count = self.dims.iter().try_fold(1_usize, |n, &dim| n.checked_mul(dim))?;
        if count > LARGEST_ARRAY {
            return None;
        }
        (0..count).map(|index| self.value(data, index)).collect()
    }

    fn value(&self, data: &[u8], mut index: usize) -> Option<f32> {
        let mut at = self.offset;
        for (&dim, &stride) in self.dims.iter().zip(&self.strides).rev() {
            at = at.checked_add((index % dim).checked_mul(stride)?)?;
            index /= dim;
        }
        if self.double {
            let bytes = data.get(at.checked_mul(8)?..)?.first_chunk()?;
            Some(f64::from_le_bytes(*bytes) as f32)
        } else {
            let bytes = data.get(at.checked_mul(4)?..)?.first_chunk()?;
            Some(f32::from_le_bytes(*bytes))
        }
    }
}
