//! Writing files that the user asked for: no other file is replaced without a question, none of the piece's own at all.

use std::path::{Path, PathBuf};

use super::worker::Event;
use crate::app::document::source::Sources;
use crate::app::state::Writing;
use crate::base::error::{Error, Result};

/// Calls `write`, unless another file is there that may not be replaced.
pub(super) fn write(
    writing: Writing,
    sources: &Sources,
    replace: bool,
    write: impl FnOnce(&Path) -> Result<Event>,
) -> Result<Event> {
    let path = writing.path();
    let (there, reference) = (|file: &Path| std::fs::canonicalize(file).ok(), sources.reference.as_ref());
    let own = [Some(&sources.recording), Some(&sources.score), reference].into_iter().flatten();
    if let Some(target) = there(path)
        && own.filter_map(|source| source.path()).any(|file| there(file).as_ref() == Some(&target))
    {
        return Err(Error::unsuitable(
            path.display().to_string(),
            "the open piece is read from it",
            "choose another name",
        ));
    }
    if path.is_file() && !replace {
        return Ok(Event::WouldReplace(writing));
    }
    write(path)
}

/// As seen from anywhere.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::document::source::Source;

    #[test]
    fn other_files_need_a_yes_and_the_files_of_the_piece_stay() {
        let folder = tempfile::tempdir().unwrap();
        let [score, other, new] = ["a.mid", "other.csv", "new.csv"].map(|name| folder.path().join(name));
        std::fs::write(&score, "score").unwrap();
        std::fs::write(&other, "other").unwrap();
        let sources = Sources { recording: Source::Demo, score: Source::File(score.clone()), reference: None };
        let try_to = |path: &PathBuf, replace: bool| {
            write(Writing::Session(path.clone()), &sources, replace, |path| {
                std::fs::write(path, "written").unwrap();
                Ok(Event::Written(path.to_owned()))
            })
        };
        assert!(matches!(try_to(&other, false), Ok(Event::WouldReplace(_))));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "other");
        assert!(matches!(try_to(&other, true), Ok(Event::Written(_))));
        assert!(matches!(try_to(&new, false), Ok(Event::Written(_))));
        assert!(try_to(&folder.path().join(".").join("a.mid"), true).is_err());
        assert_eq!(std::fs::read_to_string(&score).unwrap(), "score");
    }
}
