//! A session that is being opened: which of its files were found again, and which have to be asked for.

use std::path::{Path, PathBuf};

use super::fingerprint::Fingerprint;
use super::session::{Found, Media, Session, find};
use super::source::{Source, Sources, file_name};
use crate::base::error::Result;
use crate::base::job::JobContext;

/// What a file is to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaRole {
    /// The recording.
    Recording,
    /// The score.
    Score,
    /// What is compared with: the session can do without.
    Reference,
}

impl MediaRole {
    const ALL: [Self; 3] = [Self::Recording, Self::Score, Self::Reference];

    /// In a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recording => "the recording",
            Self::Score => "the score",
            Self::Reference => "the reference",
        }
    }
}

/// A file that was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What it is to the session.
    pub role: MediaRole,
    /// Where it was.
    pub was: PathBuf,
}

/// A session and what was found of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Reopened {
    /// What the session file holds.
    pub session: Session,
    /// The session file.
    pub file: PathBuf,
    /// Where it will be saved; none if it was left by a crash.
    pub saved_as: Option<PathBuf>,
    /// What the session file held when it was read.
    pub holds: Fingerprint,
    /// A path that is being typed.
    pub typed: String,
    /// A file that was offered and is not the one that was saved.
    pub different: Option<PathBuf>,
    /// Sentences about files that are no longer the same.
    pub changed: Vec<String>,
    /// Whether recording and score are those that the stored alignment is of.
    pub same_media: bool,
    found: [Option<Source>; 3],
}

impl Reopened {
    /// Reads a session and looks for its files.
    pub fn read(ctx: &JobContext, file: &Path, saved_as: Option<PathBuf>) -> Result<Self> {
        let (session, holds) = Session::read(file)?;
        let mut reopened = Self {
            session,
            file: file.to_owned(),
            saved_as,
            holds,
            typed: String::new(),
            different: None,
            changed: Vec::new(),
            same_media: true,
            found: [const { None }; 3],
        };
        for source in reopened.look_in(ctx, file.parent().unwrap_or(Path::new(".")))? {
            reopened.take_changed(source);
        }
        Ok(reopened)
    }

    /// The first file that was not found.
    pub fn missing(&self) -> Option<Missing> {
        MediaRole::ALL.into_iter().find_map(|role| {
            let media = self.media(role).filter(|_| self.found[role as usize].is_none())?;
            let was = media.source.path()?.to_owned();
            Some(Missing { role, was })
        })
    }

    /// Takes a file for the one that is missing, if it holds the same or the user has confirmed that another will do.
    pub fn offer(&mut self, ctx: &JobContext, file: &Path, confirmed: bool) -> Result<()> {
        let Some(Missing { role, .. }) = self.missing() else { return Ok(()) };
        let fingerprint = Fingerprint::of(ctx, file)?;
        let known = self.media(role).and_then(|media| media.fingerprint);
        let same = known.is_none_or(|known| known == fingerprint);
        if !same && !confirmed {
            self.different = Some(file.to_owned());
            return Ok(());
        }
        self.typed.clear();
        self.different = None;
        self.same_media &= same || role == MediaRole::Reference;
        self.found[role as usize] = Some(Source::File(file.to_owned()));
        // What was moved together is found together; another file that happens to have the name is not meant.
        if let Some(folder) = file.parent() {
            let _ = self.look_in(ctx, folder)?;
        }
        Ok(())
    }

    /// Goes on without the file that is missing, if that can be.
    pub fn go_without(&mut self) {
        if self.missing().is_some_and(|missing| missing.role == MediaRole::Reference) {
            self.session.reference = None;
            self.different = None;
        }
    }

    /// The files, once all are found.
    pub fn sources(&self) -> Option<Sources> {
        if self.missing().is_some() {
            return None;
        }
        let [recording, score, reference] = self.found.clone();
        Some(Sources { recording: recording?, score: score?, reference })
    }

    fn media(&self, role: MediaRole) -> Option<&Media> {
        match role {
            MediaRole::Recording => Some(&self.session.recording),
            MediaRole::Score => Some(&self.session.score),
            MediaRole::Reference => self.session.reference.as_ref(),
        }
    }

    /// Takes what is found unchanged; gives what only has the name of a file that is missing.
    fn look_in(&mut self, ctx: &JobContext, folder: &Path) -> Result<Vec<(MediaRole, Source)>> {
        let mut others = Vec::new();
        for role in MediaRole::ALL {
            let missing = self.media(role).filter(|_| self.found[role as usize].is_none());
            match missing.map(|media| find(ctx, media, folder)).transpose()? {
                Some(Found::Same(source)) => self.found[role as usize] = Some(source),
                Some(Found::Other(source)) => others.push((role, source)),
                Some(Found::Nothing) | None => {}
            }
        }
        Ok(others)
    }

    /// A file that is where it should be and holds something else is reported.
    fn take_changed(&mut self, (role, source): (MediaRole, Source)) {
        let name = source.path().map_or_else(String::new, file_name);
        self.changed.push(format!("{name} is not the same file as when the session was saved."));
        self.same_media &= role == MediaRole::Reference;
        self.found[role as usize] = Some(source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::settings::Settings;

    struct Moved {
        folder: tempfile::TempDir,
    }

    impl Moved {
        /// A session whose files have gone to another folder.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let old = folder.path().join("old");
            std::fs::create_dir(&old).unwrap();
            std::fs::create_dir(folder.path().join("sessions")).unwrap();
            let file = |name: &str| {
                std::fs::write(old.join(name), name).unwrap();
                Source::File(old.join(name))
            };
            let sources = Sources { recording: file("a.wav"), score: file("a.mid"), reference: Some(file("a.csv")) };
            Session::new(&sources, Settings::default())
                .write(&JobContext::new(), &folder.path().join("sessions/a.agogic"))
                .unwrap();
            std::fs::rename(&old, folder.path().join("new")).unwrap();
            Self { folder }
        }

        fn read(&self) -> Reopened {
            Reopened::read(&JobContext::new(), &self.folder.path().join("sessions/a.agogic"), None).unwrap()
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join("new").join(name)
        }
    }

    #[test]
    fn one_file_that_is_found_leads_to_the_others() {
        let moved = Moved::new();
        let mut reopened = moved.read();
        let missing = reopened.missing().unwrap();
        assert!(missing.role == MediaRole::Recording && missing.was.ends_with("old/a.wav"));
        assert!(reopened.sources().is_none());
        reopened.offer(&JobContext::new(), &moved.path("a.wav"), false).unwrap();
        let sources = reopened.sources().unwrap();
        assert_eq!(sources.reference, Some(Source::File(moved.path("a.csv"))));
        assert!(reopened.same_media && reopened.changed.is_empty());
    }

    #[test]
    fn a_namesake_beside_a_file_that_was_found_is_not_taken_for_what_is_missing() {
        let moved = Moved::new();
        std::fs::write(moved.path("a.mid"), "another score").unwrap();
        let mut reopened = moved.read();
        reopened.offer(&JobContext::new(), &moved.path("a.wav"), false).unwrap();
        assert_eq!(reopened.missing().unwrap().role, MediaRole::Score);
        std::fs::rename(moved.path("a.mid"), moved.folder.path().join("sessions/a.mid")).unwrap();
        let reopened = moved.read();
        assert_eq!(reopened.missing().unwrap().role, MediaRole::Recording);
        assert!(reopened.changed[0].starts_with("a.mid is not the same") && !reopened.same_media);
    }

    #[test]
    fn another_file_is_taken_only_after_a_confirmation() {
        let moved = Moved::new();
        let mut reopened = moved.read();
        let other = moved.folder.path().join("other.wav");
        std::fs::write(&other, "another take").unwrap();
        reopened.offer(&JobContext::new(), &other, false).unwrap();
        assert_eq!(reopened.different.as_deref(), Some(other.as_path()));
        assert_eq!(reopened.missing().unwrap().role, MediaRole::Recording);
        reopened.offer(&JobContext::new(), &other, true).unwrap();
        assert_eq!(reopened.missing().unwrap().role, MediaRole::Score);
        assert!(!reopened.same_media && reopened.different.is_none());
        assert!(reopened.offer(&JobContext::new(), &moved.path("nothing.mid"), false).is_err());
    }

    #[test]
    fn only_a_reference_can_be_done_without() {
        let moved = Moved::new();
        let mut reopened = moved.read();
        reopened.go_without();
        assert_eq!(reopened.missing().unwrap().role, MediaRole::Recording);
        std::fs::remove_file(moved.path("a.csv")).unwrap();
        reopened.offer(&JobContext::new(), &moved.path("a.wav"), false).unwrap();
        assert_eq!(reopened.missing().unwrap().role, MediaRole::Reference);
        reopened.go_without();
        assert_eq!(reopened.sources().unwrap().reference, None);
    }
}
