//! A recording that kills its workers, above all by the memory it needs, must not keep the rest of its shard from being done for ever.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use crate::base::error::{Error, Result};

/// A row is given up after so many workers did not survive it. As often as `cluster/` has a worker begin again.
const MOST: u64 = 3;

/// A file that is there while a row is worked on, and stays if the process is killed meanwhile: a byte for every attempt.
#[derive(Debug)]
pub(super) struct Attempt(PathBuf);

impl Attempt {
    /// Begins a row with this file; refused if too many have ended with it. The folder must be there.
    pub(super) fn begin(piece: &str, path: PathBuf) -> Result<Self> {
        let ended = std::fs::metadata(&path).map_or(0, |facts| facts.len());
        if ended >= MOST {
            // It gets another chance once the shard is done.
            let _ = std::fs::remove_file(&path);
            let cause = format!("{ended} workers were killed while they were at it");
            return Err(Error::unsuitable(piece, cause, "run the shard again with more memory and --resume"));
        }
        let written =
            OpenOptions::new().create(true).append(true).open(&path).and_then(|mut file| file.write_all(b"."));
        written.map_err(|source| Error::io("write", &path, source))?;
        Ok(Self(path))
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_did_not_end_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.begun");
        let begin = || Attempt::begin("x", path.clone());
        for _ in 0..5 {
            drop(begin().unwrap());
        }
        for _ in 0..MOST {
            std::mem::forget(begin().unwrap());
        }
        let error = begin().unwrap_err().to_string();
        assert!(error.contains("x: 3 workers were killed"), "{error}");
        begin().unwrap();
    }
}
