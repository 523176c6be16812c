//! A text file in memory, with line numbers for messages.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::base::error::{Error, Result};

/// More than any alignment: an hour of dense piano music takes about 10 MB as JSON.
const MAX_BYTES: u64 = 256 << 20;

/// Content and name of a text file.
pub struct TextFile {
    /// Where it was read from.
    pub path: PathBuf,
    /// The whole content, without a byte order mark.
    pub content: String,
}

impl TextFile {
    /// Reads a file of bounded size.
    pub fn read(path: &Path) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(|e| Error::io("read", path, e))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
        if bytes.len() as u64 > MAX_BYTES {
            let cause = format!("the file is larger than {} MB", MAX_BYTES >> 20);
            return Err(Error::limit(path, cause, "an alignment is far smaller: check that this is one"));
        }
        let content = String::from_utf8(bytes)
            .map_err(|_| Error::malformed(path, "the file is not text", "give an alignment as CSV, JSON or text"))?;
        let content = content.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(content);
        Ok(Self { path: path.to_owned(), content })
    }

    /// Lines that say something, with their numbers from 1: blank lines and `#` comments are left out.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.content.lines().enumerate().map(|(index, line)| (index + 1, line.trim_end()));
        numbered.filter(|(_, line)| !line.trim_start().is_empty() && !line.starts_with('#'))
    }

    /// An error about the file as a whole.
    pub fn malformed(&self, cause: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::malformed(&self.path, cause, remedy)
    }

    /// An error about one line.
    pub fn malformed_line(&self, number: usize, cause: impl AsRef<str>, remedy: impl Into<String>) -> Error {
        Error::malformed(&self.path, format!("line {number}: {}", cause.as_ref()), remedy)
    }

    /// A number of a line; `what` names it in the error.
    pub fn number(&self, line: usize, what: &str, field: &str) -> Result<f64> {
        let field = field.trim();
        field.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
            let shown: String = field.chars().take(40).collect();
            self.malformed_line(line, format!("{what} is \"{shown}\", not a finite number"), "correct the line")
        })
    }
}
