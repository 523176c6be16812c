//! Session files: what was open, how it was set, what was corrected, and the alignment that came of it. The recording and
//! score themselves are not in it; they are found again by path, by name, or by content.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use super::source::{Source, Sources};
use crate::align::result::Alignment;
use crate::align::settings::Settings;
use crate::app::time_view::TimeView;
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

const FORMAT: &str = "agogic session";
const VERSION: u32 = 1;
/// A session is small; what is larger is something else.
const LARGEST_BYTES: u64 = 1 << 30;

/// One of the files of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Media {
    /// Where it was.
    pub source: Source,
    /// Where it was as seen from the session file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<PathBuf>,
    /// What it held; none for the demo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// An alignment that was kept to compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptAlignment {
    /// What it is called.
    pub name: String,
    /// The alignment.
    pub alignment: Alignment,
    /// Where its recording is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Source>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    format: String,
    version: u32,
    /// The recording.
    pub recording: Media,
    /// The score.
    pub score: Media,
    /// What is compared with.
    #[serde(default)]
    pub reference: Option<Media>,
    /// How it is aligned, with the anchors.
    pub settings: Settings,
    /// What was on the screen.
    #[serde(default)]
    pub view: Option<TimeView>,
    /// The alignment, if it was finished.
    #[serde(default)]
    pub alignment: Option<Alignment>,
    /// Alignments that were kept to compare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptAlignment>,
    /// Stretches of the score, in its seconds, that were called right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<(f64, f64)>,
    /// The file that this session was saved as, in a recovery file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_as: Option<PathBuf>,
    /// What that file held when it was last read or written, in a recovery file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_holds: Option<Fingerprint>,
}

impl Session {
    /// A session of these files.
    pub fn new(sources: &Sources, settings: Settings) -> Self {
        let media = |source: &Source| Media { source: source.clone(), relative: None, fingerprint: None };
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            recording: media(&sources.recording),
            score: media(&sources.score),
            reference: sources.reference.as_ref().map(media),
            settings,
            view: None,
            alignment: None,
            kept: Vec::new(),
            accepted: Vec::new(),
            saved_as: None,
            saved_holds: None,
        }
    }

    /// Writes it to `path`, whole or not at all; gives what the file then holds. The fingerprints of files that it knows stay as they are:
    /// the alignment is of what was read, whatever has become of the files.
    pub fn write(mut self, ctx: &JobContext, path: &Path) -> Result<Fingerprint> {
        let folder = path.parent().and_then(|folder| std::path::absolute(folder).ok());
        for media in [Some(&mut self.recording), Some(&mut self.score), self.reference.as_mut()].into_iter().flatten() {
            if let Source::File(file) = &mut media.source {
                *file = std::path::absolute(&*file).unwrap_or_else(|_| file.clone());
                let folder = folder.as_deref();
                media.relative = folder.and_then(|folder| file.strip_prefix(folder).ok()).map(Path::to_owned);
                media.fingerprint = media.fingerprint.or_else(|| Fingerprint::of(ctx, file).ok());
            }
        }
        for source in self.kept.iter_mut().filter_map(|kept| kept.recording.as_mut()) {
            if let Source::File(file) = source {
                *file = std::path::absolute(&*file).unwrap_or_else(|_| file.clone());
            }
        }
        let text = serde_json::to_vec_pretty(&self)
            .map_err(|error| Error::unsuitable(path.display().to_string(), error.to_string(), "save it again"))?;
        // A session that is no longer wanted must not come back after it was removed.
        ctx.check()?;
        write_bytes_atomically(path, &text)?;
        Ok(Fingerprint::of_bytes(&text))
    }

    /// Reads a session; also gives what its file holds.
    pub fn read(path: &Path) -> Result<(Self, Fingerprint)> {
        let failed = |source| Error::io("read", path, source);
        if std::fs::metadata(path).map_err(failed)?.len() > LARGEST_BYTES {
            return Err(Error::limit(path, "the file is too large to be a session", "choose an .agogic file"));
        }
        let text = std::fs::read(path).map_err(failed)?;
        let read: Self = serde_json::from_slice(&text).map_err(|error| {
            Error::malformed(path, format!("this is not a session file: {error}"), "choose an .agogic file")
        })?;
        if read.format != FORMAT {
            return Err(Error::malformed(path, "this is not a session file", "choose an .agogic file"));
        }
        if read.version > VERSION {
            let cause = format!("a session of version {}", read.version);
            return Err(Error::unsupported(path, cause, "open it with a newer Agogic"));
        }
        read.settings.validate()?;
        Ok((read, Fingerprint::of_bytes(&text)))
    }
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It is there, maybe elsewhere.
    Same(Source),
    /// There is one of its name that holds something else.
    Other(Source),
    /// There is none.
    Nothing,
}

/// Looks for a file where it was, and in `folder` under its name or another one.
pub fn find(ctx: &JobContext, media: &Media, folder: &Path) -> Result<Found> {
    let Source::File(recorded) = &media.source else { return Ok(Found::Same(Source::Demo)) };
    let beside = media.relative.iter().map(|relative| folder.join(relative));
    let named = recorded.file_name().map(|name| folder.join(name));
    let candidates: Vec<PathBuf> =
        beside.chain([recorded.clone()]).chain(named).filter(|path| path.is_file()).collect();
    let same = |path: &Path| Fingerprint::of(ctx, path).ok() == media.fingerprint;
    if let Some(found) = candidates.iter().find(|path| same(path)) {
        return Ok(Found::Same(Source::File(found.clone())));
    }
    if let Some(fingerprint) = media.fingerprint
        && let Some(found) = same_content_in(ctx, folder, fingerprint)
    {
        return Ok(Found::Same(Source::File(found)));
    }
    // What could not be compared because the work was cancelled is not another file.
    ctx.check()?;
    Ok(candidates.into_iter().next().map_or(Found::Nothing, |found| Found::Other(Source::File(found))))
}

/// A file of the folder with this content, under whatever name.
fn same_content_in(ctx: &JobContext, folder: &Path, fingerprint: Fingerprint) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    entries
        .filter(|entry| entry.metadata().is_ok_and(|about| about.is_file() && about.len() == fingerprint.bytes))
        .map(|entry| entry.path())
        .find(|path| Fingerprint::of(ctx, path).ok() == Some(fingerprint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::settings::Anchor;

    #[test]
    fn a_session_comes_back_and_finds_media_that_moved_or_were_renamed() {
        let ctx = JobContext::new();
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old");
        std::fs::create_dir(&old).unwrap();
        std::fs::write(old.join("a.wav"), b"recording").unwrap();
        std::fs::write(old.join("a.mid"), b"score").unwrap();
        let sources = Sources {
            recording: Source::File(old.join("a.wav")),
            score: Source::File(old.join("a.mid")),
            reference: None,
        };
        let anchors = vec![Anchor { score_s: 1.0, performance_s: 2.0 }];
        let session = Session::new(&sources, Settings { anchors, ..Settings::default() });
        session.clone().write(&ctx, &old.join("a.agogic")).unwrap();
        let new = folder.path().join("new");
        std::fs::rename(&old, &new).unwrap();
        std::fs::rename(new.join("a.wav"), new.join("renamed.wav")).unwrap();
        let (read, holds) = Session::read(&new.join("a.agogic")).unwrap();
        assert_eq!(holds, Fingerprint::of(&ctx, &new.join("a.agogic")).unwrap());
        assert_eq!(read.settings, session.settings);
        assert_eq!(find(&ctx, &read.recording, &new).unwrap(), Found::Same(Source::File(new.join("renamed.wav"))));
        assert_eq!(find(&ctx, &read.score, &new).unwrap(), Found::Same(Source::File(new.join("a.mid"))));
        std::fs::write(new.join("a.mid"), b"other").unwrap();
        assert_eq!(find(&ctx, &read.score, &new).unwrap(), Found::Other(Source::File(new.join("a.mid"))));
        std::fs::remove_file(new.join("a.mid")).unwrap();
        assert_eq!(find(&ctx, &read.score, &new).unwrap(), Found::Nothing);
    }

    #[test]
    fn what_is_no_session_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.agogic");
        std::fs::write(&path, "{}").unwrap();
        assert!(Session::read(&path).unwrap_err().to_string().contains("not a session"));
        assert!(Session::read(&folder.path().join("missing.agogic")).is_err());
        let good = Session::new(&Sources::demo(), Settings::default());
        let said = |format: &str, version| {
            let other = Session { format: format.to_owned(), version, ..good.clone() };
            other.write(&JobContext::new(), &path).unwrap();
            Session::read(&path).unwrap_err().to_string()
        };
        assert!(said("something else", VERSION).contains("not a session"));
        assert!(said(FORMAT, VERSION + 1).contains("a newer Agogic"));
    }

    #[test]
    fn a_session_that_is_no_longer_wanted_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recovery-1.agogic");
        let ctx = JobContext::new();
        ctx.cancel();
        let written = Session::new(&Sources::demo(), Settings::default()).write(&ctx, &path);
        assert!(matches!(written, Err(Error::Cancelled)) && !path.exists());
    }
}
