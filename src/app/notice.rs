//! What the user is told, one sentence at a time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::document::source::file_name;
use crate::base::error::Error;

/// How grave a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Something was done.
    Info,
    /// Something to know.
    Warning,
    /// Something failed.
    Error,
}

/// How long a notice that something was done stays.
pub const TOLD_FOR: Duration = Duration::from_secs(8);

/// Something to tell the user, in one sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// How grave.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
    /// More for those who want to know.
    pub details: Option<String>,
    /// Since when it has been shown.
    pub since: Instant,
    /// The two MIDI files of which it says what each was taken for: the performance and the score. They can be swapped.
    pub taken: Option<(PathBuf, PathBuf)>,
}

impl Notice {
    fn new(severity: Severity, text: String, details: Option<String>) -> Self {
        Self { severity, text, details, since: Instant::now(), taken: None }
    }

    /// Whether it has been read by now: that something was done is no news for long.
    pub fn is_over(&self) -> bool {
        self.severity == Severity::Info && self.since.elapsed() > TOLD_FOR && self.taken.is_none()
    }

    /// Something was done.
    pub fn info(text: impl Into<String>) -> Self {
        Self::new(Severity::Info, text.into(), None)
    }

    /// Which of two MIDI files was taken for the performance, and which for the score.
    pub fn taken(performance: &Path, score: &Path) -> Self {
        let text =
            format!("{} was taken for the performance, {} for its score.", file_name(performance), file_name(score));
        Self { taken: Some((performance.to_owned(), score.to_owned())), ..Self::info(text) }
    }

    /// Something to know.
    pub fn warning(text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, text.into(), None)
    }

    /// Something failed.
    pub fn error(error: &Error) -> Self {
        let details = std::error::Error::source(error).map(|source| format!("{source}\n")).unwrap_or_default();
        Self::new(Severity::Error, sentence(error), Some(format!("{details}{error:#?}")))
    }
}

/// An error as a sentence of its own.
fn sentence(error: &Error) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    // A file is called as it is.
    let first_word = text.split([':', ' ']).next().unwrap_or_default();
    let starts_with_file = first_word.contains(['/', '\\', '.']);
    let text = if starts_with_file { text.clone() } else { first.chain(letters).collect() };
    if text.ends_with('.') { text } else { text + "." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_with_a_capital_and_files_as_they_are_called() {
        let file = Error::malformed("broken.flac", "this is no audio", "choose another");
        assert!(sentence(&file).starts_with("broken.flac"), "{}", sentence(&file));
        let words = Error::unsuitable("sound output", "there is none", "plug one in");
        assert!(sentence(&words).starts_with("Sound output"), "{}", sentence(&words));
    }
}
