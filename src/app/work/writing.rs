//! Writing files that the user asked for: no other file is replaced without a question, none of the piece's own at all.

use std::path::{Path, PathBuf};

use super::worker::Event;
use crate::app::document::fingerprint::Fingerprint;
use crate::app::document::source::{Sources, file_name};
use crate::app::document::view_model::Piece;
use crate::app::state::Writing;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// What may be replaced without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayReplace {
    /// No file.
    Nothing,
    /// The file, as long as it holds what this window read from it or wrote to it.
    Holding(Fingerprint),
    /// Whatever is there.
    Anything,
}

impl MayReplace {
    /// Anything if the user has agreed to that, else nothing.
    pub fn anything_if(agreed: bool) -> Self {
        if agreed { Self::Anything } else { Self::Nothing }
    }

    fn allows(self, ctx: &JobContext, path: &Path) -> bool {
        match self {
            Self::Nothing => false,
            Self::Holding(known) => Fingerprint::of(ctx, path).is_ok_and(|found| found == known),
            Self::Anything => true,
        }
    }
}

/// Calls `write`, unless another file is there that may not be replaced.
pub(super) fn write(
    ctx: &JobContext,
    writing: Writing,
    sources: &Sources,
    replace: MayReplace,
    write: impl FnOnce(&Path) -> Result<Event>,
) -> Result<Event> {
    let path = writing.path();
    // Saving a session again does not touch the drives of its recording and score: they may no longer answer.
    if matches!(replace, MayReplace::Holding(_)) && replace.allows(ctx, path) {
        return write(path);
    }
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
    if path.is_file() && replace != MayReplace::Anything {
        return Ok(Event::WouldReplace(writing));
    }
    write(path)
}

/// Sentences about the recording and the score of a piece, where their files no longer hold what was read.
pub(super) fn changed_files(ctx: &JobContext, piece: &Piece) -> Result<Vec<String>> {
    let files =
        [(&piece.sources.recording, piece.fingerprints.recording), (&piece.sources.score, piece.fingerprints.score)];
    let known = files.into_iter().filter_map(|(source, fingerprint)| source.path().zip(fingerprint));
    known.filter_map(|(path, known)| changed(ctx, path, known).transpose()).collect()
}

fn changed(ctx: &JobContext, path: &Path, known: Fingerprint) -> Result<Option<String>> {
    match Fingerprint::of(ctx, path) {
        Ok(found) if found == known => Ok(None),
        Ok(_) => Ok(Some(format!(
            "{} has changed on disk since it was opened. The session still uses the old version; open the file again to align the new one.",
            file_name(path)
        ))),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(error) => Ok(Some(format!(
            "{} can no longer be read ({error}). You will be asked for it when you open the session again.",
            file_name(path)
        ))),
    }
}

/// As seen from anywhere.
pub fn absolute(path: &Path) -> PathBuf {
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
        let try_to = |path: &PathBuf, replace: MayReplace| {
            write(&JobContext::new(), Writing::Session(path.clone()), &sources, replace, |path| {
                std::fs::write(path, "written").unwrap();
                Ok(Event::Written(path.to_owned()))
            })
        };
        assert!(matches!(try_to(&other, MayReplace::Nothing), Ok(Event::WouldReplace(_))));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "other");
        assert!(matches!(try_to(&other, MayReplace::Anything), Ok(Event::Written(_))));
        assert!(matches!(try_to(&new, MayReplace::Nothing), Ok(Event::Written(_))));
        assert!(try_to(&folder.path().join(".").join("a.mid"), MayReplace::Anything).is_err());
        assert_eq!(std::fs::read_to_string(&score).unwrap(), "score");
        // One's own file, as long as nobody else has written to it.
        let known = MayReplace::Holding(Fingerprint::of_bytes(b"written"));
        assert!(matches!(try_to(&new, known), Ok(Event::Written(_))));
        std::fs::write(&new, "by somebody else").unwrap();
        assert!(matches!(try_to(&new, known), Ok(Event::WouldReplace(_))));
        assert_eq!(std::fs::read_to_string(&new).unwrap(), "by somebody else");
        std::fs::remove_file(&new).unwrap();
        assert!(matches!(try_to(&new, known), Ok(Event::Written(_))), "what is gone is not lost by writing it again");
    }

    #[test]
    fn files_that_no_longer_hold_what_was_read_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("take.wav");
        let known = Fingerprint::of_bytes(b"as it was read");
        std::fs::write(&path, "as it was read").unwrap();
        let changed = || changed(&JobContext::new(), &path, known).unwrap();
        assert_eq!(changed(), None);
        std::fs::write(&path, "as it is now!!").unwrap();
        assert!(changed().unwrap().starts_with("take.wav has changed"));
        std::fs::remove_file(&path).unwrap();
        assert!(changed().unwrap().starts_with("take.wav can no longer be read"));
    }
}
