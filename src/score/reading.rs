//! Reading a score, whatever format it is in: that is told by its content.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::midi::{self, Content};
use super::notation::{self, HEAD_BYTES, ScoreKind, WrittenScore, score_kind};
use super::types::Score;
use crate::base::error::{Error, Result};

impl Score {
    /// Reads a score: MIDI, MusicXML, MEI or Humdrum **kern. Repeats are written out as the score says.
    pub fn read(path: &Path) -> Result<Score> {
        Self::from_bytes(path, &score_bytes(path)?)
    }

    /// Reads a score from memory; `name` stands in the error messages.
    pub fn from_bytes(name: &Path, bytes: &[u8]) -> Result<Score> {
        let score = match score_kind(bytes) {
            Some(ScoreKind::Midi) => midi::read(name, bytes, Content::Score)?,
            _ => notation::read_played(name, bytes)?,
        };
        if score.notes.iter().all(|note| note.onset_tick == score.notes[0].onset_tick) {
            return Err(Error::unsuitable(
                name.display().to_string(),
                "all notes begin at the same time, and an alignment needs at least two different onset times",
                "choose a longer score",
            ));
        }
        Ok(score)
    }
}

impl WrittenScore {
    /// Reads a score as it is written: MusicXML, MEI, Humdrum **kern, or what MIDI tells of it.
    pub fn read(path: &Path) -> Result<WrittenScore> {
        Self::from_bytes(path, &score_bytes(path)?)
    }

    /// Reads a written score from memory; `name` stands in the error messages.
    pub(crate) fn from_bytes(name: &Path, bytes: &[u8]) -> Result<WrittenScore> {
        notation::read_written(name, bytes)
    }
}

/// Extensions of scores, for files that cannot be looked into.
const EXTENSIONS: [&str; 7] = ["mid", "midi", "smf", "musicxml", "mxl", "mei", "krn"];

/// Whether a file is a score, by its content; of one that is empty, or of which nothing can be read twice, the name decides.
pub(crate) fn is_score(path: &Path) -> bool {
    let mut head = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    let read = is_file && File::open(path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head)).is_ok();
    let named = || path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e.eq_ignore_ascii_case(known)));
    if read && !head.is_empty() { score_kind(&head).is_some() } else { named() }
}

/// All bytes of a score's file.
fn score_bytes(path: &Path) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
    let about = file.metadata().map_err(|e| Error::io("read", path, e))?;
    if about.is_dir() {
        return Err(Error::malformed(path, "this is a folder, not a score", "name a file inside it"));
    }
    midi::bytes_from(path, file, notation::LARGEST_XML_BYTES)
}
