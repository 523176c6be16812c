//! Files that are read as a whole, up to a size that nothing sensible has.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::error::{Error, Result};

/// All bytes of a file; one of more than `most` bytes, or without an end, is refused.
pub fn read_whole(path: &Path, most: u64, remedy: &str) -> Result<Vec<u8>> {
    let failed = |source| Error::io("read", path, source);
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        let cause = format!("the file is larger than {} MB, the limit for this kind of file", most >> 20);
        return Err(Error::limit(path, cause, remedy));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_refused_beyond() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, b"four").unwrap();
        assert_eq!(read_whole(file.path(), 4, "check it").unwrap(), b"four");
        let error = read_whole(file.path(), 3, "check it").unwrap_err().to_string();
        assert!(error.contains("larger than") && error.ends_with("; check it"), "{error}");
    }
}
