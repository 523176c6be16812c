//! Which content a file has, in a few letters.

use std::fs::File;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::{Error, Result};

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 of a file in hexadecimal, however large it is.
pub fn sha256_of_file(path: &Path) -> Result<String> {
    let mut digest = Sha256::new();
    let copied = File::open(path).and_then(|mut file| std::io::copy(&mut file, &mut digest));
    copied.map_err(|source| Error::io("read", path, source))?;
    Ok(hexadecimal(&digest.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_digest() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(sha256_of_file(file.path()).unwrap(), abc);
    }
}
