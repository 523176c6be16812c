//! Features on disk, found again by the content they were made from.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::Result;
use crate::base::folders::cache_folder;
use crate::base::time::{ANALYSIS_RATE, frame_to_seconds};
use crate::features::{FeatureParams, FeatureSeq};

/// Changes whenever the features or the synthesiser change, so that old entries are not found any more.
const GENERATION: &str = "agogic features 1";
const MAGIC: &[u8; 8] = b"AGOFEAT1";
const HASH_BYTES: usize = 32;

/// A folder of computed features. Entries that are damaged, or cannot be written, are computed again.
#[derive(Debug, Clone)]
pub struct FeatureCache {
    folder: PathBuf,
}

impl FeatureCache {
    /// A cache in this folder, which is made if it does not exist.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where the operating system keeps caches; `None` if it does not say.
    pub fn default_folder() -> Option<PathBuf> {
        cache_folder().map(|folder| folder.join("features"))
    }

    /// The features made from `sources` (everything that they depend on), computed only if they are not there yet.
    pub fn get_or_compute(
        &self,
        params: &FeatureParams,
        sources: &[&[u8]],
        compute: impl FnOnce() -> Result<FeatureSeq>,
    ) -> Result<FeatureSeq> {
        let path = self.folder.join(format!("{}.features", key(params, sources)));
        if let Some(features) = std::fs::read(&path).ok().and_then(|bytes| decode(&bytes, params)) {
            return Ok(features);
        }
        let features = compute()?;
        // A cache that cannot be written, on a full disk say, costs time but must not stop the work.
        if std::fs::create_dir_all(&self.folder).is_ok() {
            let _ = write_bytes_atomically(&path, &encode(&features));
        }
        Ok(features)
    }
}

fn key(params: &FeatureParams, sources: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(format!("{GENERATION} {:?} {}", params.kind, params.hop));
    for source in sources {
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        hasher.update((source.len() as u64).to_le_bytes());
        hasher.update(source);
    }
    hex(&hasher.finalize())
}

/// Bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn encode(features: &FeatureSeq) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((features.frames() as u64).to_le_bytes());
    bytes.extend(features.values.iter().flat_map(|value| value.to_le_bytes()));
    let hash = Sha256::digest(&bytes);
    bytes.extend(hash);
    bytes
}

/// `None` if the entry is not whole.
fn decode(bytes: &[u8], params: &FeatureParams) -> Option<FeatureSeq> {
    let (content, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH_BYTES)?)?;
    if Sha256::digest(content).as_slice() != hash {
        return None;
    }
    let (frames, values) = content.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    let frames = usize::try_from(u64::from_le_bytes(*frames)).ok()?;
    let dim = params.kind.dim();
    if values.len() != frames.checked_mul(dim)?.checked_mul(4)? {
        return None;
    }
    let values = values.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let times = (0..frames).map(|frame| frame_to_seconds(frame, params.hop, ANALYSIS_RATE)).collect();
    Some(FeatureSeq { times, values, dim })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::features::FeatureKind;

    const PARAMS: FeatureParams = FeatureParams { kind: FeatureKind::Chroma, hop: 1024 };

    fn features() -> FeatureSeq {
        let values = (0..36).map(|i| (i as f32).sin()).collect();
        FeatureSeq { times: (0..3).map(|i| frame_to_seconds(i, 1024, ANALYSIS_RATE)).collect(), values, dim: 12 }
    }

    #[test]
    fn the_second_time_nothing_is_computed_unless_content_or_parameters_differ() {
        let folder = tempfile::tempdir().unwrap();
        let cache = FeatureCache::in_folder(folder.path().join("new"));
        let computed = Cell::new(0);
        let get = |params: &FeatureParams, sources: &[&[u8]]| {
            let compute = || {
                computed.set(computed.get() + 1);
                Ok(features())
            };
            assert_eq!(cache.get_or_compute(params, sources, compute).unwrap(), features());
        };
        get(&PARAMS, &[b"ab", b"c"]);
        get(&PARAMS, &[b"ab", b"c"]);
        assert_eq!(computed.get(), 1);
        get(&PARAMS, &[b"a", b"bc"]);
        get(&FeatureParams { hop: 512, ..PARAMS }, &[b"ab", b"c"]);
        assert_eq!(computed.get(), 3);
    }

    #[test]
    fn a_damaged_or_cut_entry_is_computed_again_and_repaired() {
        let folder = tempfile::tempdir().unwrap();
        let cache = FeatureCache::in_folder(folder.path());
        cache.get_or_compute(&PARAMS, &[b"x"], || Ok(features())).unwrap();
        let entry = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let sound = std::fs::read(&entry).unwrap();
        let mut flipped = sound.clone();
        flipped[20] ^= 1;
        for damaged in [&flipped[..], &sound[..sound.len() - 5], b"", &[0; 40]] {
            std::fs::write(&entry, damaged).unwrap();
            assert_eq!(cache.get_or_compute(&PARAMS, &[b"x"], || Ok(features())).unwrap(), features());
            assert_eq!(std::fs::read(&entry).unwrap(), sound);
        }
    }
}
