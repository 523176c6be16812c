//! A training on disk, exact to the bit: killed at any moment it goes on as if nothing had happened.
//!
//! The file is a magic word, the identity of the training, then numbers and arrays in little-endian order, then the
//! SHA-256 of all that.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};

pub(crate) const MAGIC: &[u8; 8] = b"AGOTRN03";
/// Arrays of one length in a checkpoint.
const ARRAYS: usize = 5;
const REMEDY: &str = "delete it to start again";

/// What an epoch brought. Epoch 0 is the state before training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Mean loss over the batches of the epoch; zero for epoch 0.
    pub training_loss: f64,
    /// TimeErr of the validation slices, in milliseconds.
    pub time_err_ms: f64,
    /// TimeDev of the validation slices, in milliseconds.
    pub time_dev_ms: f64,
}

/// Where a training stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Checkpoint {
    /// Steps done in the epoch that is under way, which is the one after those in `history`.
    pub step: u64,
    /// Sum of the losses of these steps.
    pub loss_sum: f64,
    pub optimiser_steps: u64,
    /// Of finished epochs.
    pub history: Vec<EpochRecord>,
    pub parameters: Vec<f32>,
    /// Running average of the parameters.
    pub average: Vec<f32>,
    /// The average at the end of the best epoch so far.
    pub best_parameters: Vec<f32>,
    pub means: Vec<f32>,
    pub squares: Vec<f32>,
}

/// Which training a checkpoint belongs to: a hash of its settings, its data and where it started.
pub(crate) type Identity = [u8; 32];

impl Checkpoint {
    /// Replaces the checkpoint at `path`, whole or not at all.
    pub fn write(&self, path: &Path, identity: &Identity) -> Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(identity);
        for number in [self.step, self.optimiser_steps, self.loss_sum.to_bits(), self.history.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        for record in &self.history {
            for number in [record.training_loss, record.time_err_ms, record.time_dev_ms] {
                bytes.extend(number.to_le_bytes());
            }
        }
        bytes.extend((self.parameters.len() as u64).to_le_bytes());
        for array in [&self.parameters, &self.average, &self.best_parameters, &self.means, &self.squares] {
            bytes.extend(array.iter().flat_map(|value| value.to_le_bytes()));
        }
        let hash = Sha256::digest(&bytes);
        bytes.extend(hash);
        write_bytes_atomically(path, &bytes)
    }

    /// The checkpoint at `path`, or `None` if there is no file.
    pub fn read(path: &Path, identity: &Identity) -> Result<Option<Self>> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let damaged = || Error::malformed(path, "this checkpoint is damaged", REMEDY);
        let (content, hash) = bytes.split_last_chunk::<32>().ok_or_else(damaged)?;
        if Sha256::digest(content).as_slice() != hash {
            return Err(damaged());
        }
        let rest = content.strip_prefix(MAGIC).ok_or_else(damaged)?;
        let (found, rest) = rest.split_first_chunk::<32>().ok_or_else(damaged)?;
        if found != identity {
            let cause = "this checkpoint belongs to a training with other data or settings";
            return Err(Error::malformed(path, cause, "give the same data and settings again, or delete it"));
        }
        Self::decode(rest).map(Some).ok_or_else(damaged)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut next = || {
            let (number, tail) = rest.split_first_chunk::<8>()?;
            rest = tail;
            Some(u64::from_le_bytes(*number))
        };
        let (step, optimiser_steps, loss_sum) = (next()?, next()?, f64::from_bits(next()?));
        let epochs = next()?;
        let mut history = Vec::new();
        for _ in 0..epochs {
            let mut number = || next().map(f64::from_bits);
            let (training_loss, time_err_ms, time_dev_ms) = (number()?, number()?, number()?);
            history.push(EpochRecord { training_loss, time_err_ms, time_dev_ms });
        }
        let count = usize::try_from(next()?).ok()?;
        if rest.len() != count.checked_mul(ARRAYS * size_of::<f32>())? {
            return None;
        }
        let mut arrays = rest.chunks_exact((4 * count).max(1));
        let mut array = || Some(arrays.next()?.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect());
        Some(Self {
            step,
            loss_sum,
            optimiser_steps,
            history,
            parameters: array()?,
            average: array()?,
            best_parameters: array()?,
            means: array()?,
            squares: array()?,
        })
    }
}

/// The epoch with the lowest validation TimeErr, the earliest of equals.
pub(super) fn best_epoch(history: &[EpochRecord]) -> usize {
    let errors = history.iter().map(|record| record.time_err_ms).enumerate();
    errors.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(epoch, _)| epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        let record = |time_err_ms| EpochRecord { training_loss: 0.1 + 0.2, time_err_ms, time_dev_ms: 1e-9 };
        Checkpoint {
            step: 7,
            loss_sum: 1.0 / 3.0,
            optimiser_steps: 1 << 40,
            history: vec![record(30.0), record(12.0), record(12.0), record(13.0)],
            parameters: vec![1.0, f32::MIN_POSITIVE / 4.0],
            average: vec![0.3, 0.7],
            best_parameters: vec![0.1, -0.0],
            means: vec![1e-30, 2.0],
            squares: vec![3.0, 4.0],
        }
    }

    #[test]
    fn a_checkpoint_comes_back_with_every_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.checkpoint");
        assert_eq!(Checkpoint::read(&path, &[3; 32]).unwrap(), None);
        checkpoint().write(&path, &[3; 32]).unwrap();
        assert_eq!(Checkpoint::read(&path, &[3; 32]).unwrap(), Some(checkpoint()));
        assert_eq!(best_epoch(&checkpoint().history), 1);
    }

    #[test]
    fn another_training_and_damage_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.checkpoint");
        checkpoint().write(&path, &[3; 32]).unwrap();
        let message = Checkpoint::read(&path, &[4; 32]).unwrap_err().to_string();
        assert!(message.contains("other data or settings"), "{message}");
        let sound = std::fs::read(&path).unwrap();
        for length in [0, 10, 40, sound.len() - 1] {
            std::fs::write(&path, &sound[..length]).unwrap();
            let message = Checkpoint::read(&path, &[3; 32]).unwrap_err().to_string();
            assert!(message.contains("damaged"), "{message}");
        }
    }
}
