//! Where a recording, a score or a reference comes from, and what a file that was dropped on the window is.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::score::{HEAD_BYTES, score_kind};

/// A file of the user's, or the part of the built-in demo that takes its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Built in.
    Demo,
    /// On disk.
    File(PathBuf),
}

impl Source {
    /// The path of a file; none for the demo.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Demo => None,
            Self::File(path) => Some(path),
        }
    }

    /// What it is called: the file name, or `demo_name`.
    pub fn name(&self, demo_name: &str) -> String {
        self.path().map_or_else(|| demo_name.to_owned(), file_name)
    }
}

/// The files of a piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// The recording.
    pub recording: Source,
    /// The score.
    pub score: Source,
    /// A ground truth or a second alignment, to compare with.
    pub reference: Option<Source>,
}

impl Sources {
    /// The demo with its ground truth.
    pub fn demo() -> Self {
        Self { recording: Source::Demo, score: Source::Demo, reference: Some(Source::Demo) }
    }
}

/// What a file is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// What was played: audio, or MIDI where it was told apart from a score.
    Recording,
    /// A score: MIDI, MusicXML, MEI or Humdrum.
    Score,
    /// An alignment or ground truth.
    Reference,
    /// A session of this program.
    Session,
    /// An ear or an extractor.
    Model,
    /// Instruments to hear the score with.
    SoundFont,
}

/// What is known of files that are opened together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nothing: they were dropped or chosen together.
    Any,
    /// What was played comes first, then its score.
    PerformanceFirst,
    /// It was played from the score that is open.
    Performance,
}

/// Tells by content where that is certain, else by the extension; what is unknown is taken for a recording, whose decoder
/// says best what is wrong with it.
pub fn role_of(path: &Path) -> FileRole {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
    if read.is_ok() && score_kind(&head).is_some() {
        return FileRole::Score;
    }
    // XML that is no score by its content is none.
    let is_xml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    role_by_name(path).filter(|_| !is_xml).unwrap_or(FileRole::Recording)
}

/// What a file is by its name; none if that is the name of nothing that is read.
pub fn role_by_name(path: &Path) -> Option<FileRole> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase())?;
    ROLES.iter().find(|(_, extensions)| extensions.contains(&extension.as_str())).map(|(role, _)| *role)
}

/// Extensions of MIDI files: a score, or what was played.
pub const MIDI: &[&str] = &["mid", "midi", "smf", "kar", "rmi"];

const ROLES: &[(FileRole, &[&str])] = &[
    (
        FileRole::Recording,
        &[
            "wav", "wave", "flac", "mp1", "mp2", "mp3", "ogg", "oga", "m4a", "m4b", "mp4", "mov", "aac", "aif", "aiff",
            "aifc", "caf", "mka", "mkv", "webm",
        ],
    ),
    (FileRole::Score, MIDI),
    (FileRole::Score, &["musicxml", "mxl", "xml", "mei", "krn"]),
    (FileRole::Session, &["agogic"]),
    (FileRole::Model, &["safetensors"]),
    (FileRole::SoundFont, &["sf2"]),
    (FileRole::Reference, &["csv", "json", "txt", "align", "match"]),
];

/// Whether files of these roles need no recording besides: files of an unknown kind that come with them are left out. Otherwise
/// one of those may be the recording.
pub fn need_no_recording(known: &[FileRole]) -> bool {
    let count = |wanted: FileRole| known.iter().filter(|&&role| role == wanted).count();
    count(FileRole::Recording) + count(FileRole::Session) > 0 || count(FileRole::Score) > 1
}

/// Whether a file is MIDI by its name.
pub fn is_midi_by_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| MIDI.iter().any(|midi| extension.eq_ignore_ascii_case(midi)))
}

/// The extensions that files of these roles have.
pub fn extensions(roles: &[FileRole]) -> Vec<&'static str> {
    let listed = ROLES.iter().filter(|(role, _)| roles.contains(role));
    listed.flat_map(|(_, extensions)| *extensions).copied().collect()
}

/// File name without its folder.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_known_by_its_content_and_the_rest_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("prelude.wav");
        std::fs::write(&odd, b"MThd\0\0\0\x06").unwrap();
        assert_eq!(role_of(&odd), FileRole::Score);
        for notation in ["<?xml version=\"1.0\"?><score-partwise>", "<mei xmlns=\"x\">", "**kern\n4c\n"] {
            std::fs::write(&odd, notation).unwrap();
            assert_eq!(role_of(&odd), FileRole::Score, "{notation}");
        }
        std::fs::write(&odd, "<html>").unwrap();
        assert_eq!(role_of(&odd), FileRole::Recording);
        assert_eq!(role_of(Path::new("missing.MID")), FileRole::Score);
        assert_eq!(role_of(Path::new("x.agogic")), FileRole::Session);
        assert_eq!(role_of(Path::new("truth.csv")), FileRole::Reference);
        assert_eq!(role_of(Path::new("whatever.flac")), FileRole::Recording);
        assert_eq!(role_of(Path::new("piano.sf2")), FileRole::SoundFont);
        assert_eq!(role_of(Path::new("settings.xml")), FileRole::Recording, "its decoder says what is wrong with it");
        assert_eq!(role_by_name(Path::new("letter.pdf")), None);
        assert_eq!(role_by_name(Path::new("folder")), None);
    }
}
