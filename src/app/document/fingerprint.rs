//! What tells whether a file still holds the same.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// Tells whether a file holds the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Length in bytes.
    pub bytes: u64,
    /// FNV-1a hash of the content.
    pub fnv1a: u64,
}

impl Fingerprint {
    const OF_NOTHING: Self = Self { bytes: 0, fnv1a: 0xcbf2_9ce4_8422_2325 };

    /// Reads a file from beginning to end. A pipe is refused: it can be read only once, by whoever needs what is in it.
    pub fn of(ctx: &JobContext, path: &Path) -> Result<Self> {
        let failed = |source| Error::io("read", path, source);
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")));
        }
        let mut file = File::open(path).map_err(failed)?;
        let mut buffer = vec![0; 1 << 16];
        let mut fingerprint = Self::OF_NOTHING;
        loop {
            ctx.check()?;
            let read = file.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                return Ok(fingerprint);
            }
            fingerprint = fingerprint.and(&buffer[..read]);
        }
    }

    /// Of what a file holds, or will.
    pub fn of_bytes(content: &[u8]) -> Self {
        Self::OF_NOTHING.and(content)
    }

    fn and(mut self, more: &[u8]) -> Self {
        self.bytes += more.len() as u64;
        for byte in more {
            self.fnv1a = (self.fnv1a ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_read_in_pieces_has_the_fingerprint_of_its_bytes() {
        let content: Vec<u8> = (0..200_000_u32).map(|number| (number * 7) as u8).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &content).unwrap();
        let fingerprint = Fingerprint::of(&JobContext::new(), file.path()).unwrap();
        assert_eq!(fingerprint, Fingerprint::of_bytes(&content));
        assert_eq!(fingerprint.bytes, 200_000);
        assert_ne!(fingerprint, Fingerprint::of_bytes(&content[1..]));
        // The known value of FNV-1a.
        assert_eq!(Fingerprint::of_bytes(b"a").fnv1a, 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn reading_through_can_be_cancelled_and_a_folder_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Fingerprint::of(&JobContext::new(), folder.path()).is_err());
        let file = folder.path().join("take.wav");
        std::fs::write(&file, "x").unwrap();
        let ctx = JobContext::new();
        ctx.cancel();
        assert!(matches!(Fingerprint::of(&ctx, &file), Err(Error::Cancelled)));
    }
}
