//! The one error type of the library: each message names the file or parameter, the cause and the remedy.

use std::path::{Path, PathBuf};

/// Result with the library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong. Messages are one sentence or two, fit to show to a user as they are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read or write.
    #[error("cannot {action} {}: {}", line(path.display()), words(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: "read", "write", "create" …
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is damaged, or not what its name says.
    #[error("{}: {}; {remedy}", line(path.display()), words(cause))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
        /// What the user can do.
        remedy: String,
    },
    /// The file is sound but uses something that is not supported.
    #[error("{}: {} is not supported; {remedy}", line(path.display()), words(cause))]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The codec, format or feature.
        cause: String,
        /// What the user can do.
        remedy: String,
    },
    /// The file or request is larger than the program accepts.
    #[error("{}: {}; {remedy}", line(path.display()), words(cause))]
    Limit {
        /// The file.
        path: PathBuf,
        /// What is too large, with the limit.
        cause: String,
        /// What the user can do.
        remedy: String,
    },
    /// The content cannot be aligned: silence, no notes and the like.
    #[error("{}: {}; {remedy}", line(subject), words(cause))]
    Unsuitable {
        /// The file or signal.
        subject: String,
        /// Why it cannot be used.
        cause: String,
        /// What the user can do.
        remedy: String,
    },
    /// A parameter lies outside its legal range.
    #[error("{name} is {}, but must be {allowed}", words(value))]
    Invalid {
        /// The parameter as the user knows it.
        name: String,
        /// The value given.
        value: String,
        /// The legal range.
        allowed: String,
    },
    /// An option was given beside a choice that does not read it.
    #[error("{option} belongs to {belongs_to}, but {chosen} is chosen; leave it out or choose {belongs_to}")]
    Misplaced {
        /// The option.
        option: String,
        /// The choice that reads it.
        belongs_to: String,
        /// The choice that was made.
        chosen: String,
    },
    /// The constraints of an alignment problem contradict each other.
    #[error("no alignment satisfies the constraints: {}", words(reason))]
    Infeasible {
        /// Which anchors or bounds conflict.
        reason: String,
    },
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// What files and users say, fit for one line of a terminal: names and contents may hold control characters.
fn line(said: impl std::fmt::Display) -> String {
    let plain = |char: char| match char {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        other if other.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    };
    said.to_string().chars().map(plain).collect()
}

/// The same of what a file holds, which may be a megabyte in a single word: no more than a sentence of it is repeated.
fn words(said: impl std::fmt::Display) -> String {
    const MOST: usize = 400;
    let said = line(said);
    match said.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &said[..end]),
        None => said,
    }
}

impl Error {
    /// An [`Error::Io`] for `path`.
    pub fn io(action: &'static str, path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_owned(), action, source }
    }

    /// An [`Error::Malformed`] for `path`.
    pub fn malformed(path: impl AsRef<Path>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Malformed { path: path.as_ref().to_owned(), cause: cause.into(), remedy: remedy.into() }
    }

    /// An [`Error::Unsupported`] for `path`.
    pub fn unsupported(path: impl AsRef<Path>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unsupported { path: path.as_ref().to_owned(), cause: cause.into(), remedy: remedy.into() }
    }

    /// An [`Error::Limit`] for `path`.
    pub fn limit(path: impl AsRef<Path>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Limit { path: path.as_ref().to_owned(), cause: cause.into(), remedy: remedy.into() }
    }

    /// An [`Error::Unsuitable`] about `subject`.
    pub fn unsuitable(subject: impl Into<String>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unsuitable { subject: subject.into(), cause: cause.into(), remedy: remedy.into() }
    }

    /// An [`Error::Misplaced`] about `option`.
    pub fn misplaced(option: impl Into<String>, belongs_to: impl Into<String>, chosen: impl Into<String>) -> Self {
        Self::Misplaced { option: option.into(), belongs_to: belongs_to.into(), chosen: chosen.into() }
    }

    /// An [`Error::Invalid`] about the parameter `name`.
    pub fn invalid(name: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Self {
        Self::Invalid { name: name.into(), value: value.to_string(), allowed: allowed.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_without_control_characters_whatever_a_file_is_called_or_says() {
        let error = Error::malformed("a\u{1b}[31m\n.csv", "line \"x\u{7}\r\ny\"", "mend it");
        assert_eq!(error.to_string(), "a\u{fffd}[31m .csv: line \"x\u{fffd}  y\"; mend it");
        assert_eq!(
            Error::invalid("--band", "1\u{0}", "a number").to_string(),
            "--band is 1\u{fffd}, but must be a number"
        );
    }

    #[test]
    fn no_message_repeats_more_than_a_sentence_of_a_file() {
        let error = Error::malformed("a.csv", format!("the format is \"{}\"", "é".repeat(1 << 20)), "mend it");
        assert!(error.to_string().chars().count() < 450);
        assert!(error.to_string().ends_with("é …; mend it"));
    }
}
