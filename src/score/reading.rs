//! Reading a score, whatever format it is in: that is told by its content.

use std::path::Path;

use super::midi::{self, Content};
use super::notation::{self, Reading, ScoreKind, WrittenScore, score_kind};
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
            _ => notation::played_score(name, &notation::read_written(name, bytes)?, Reading::WithRepeats)?,
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
    /// Reads a score in a notation format as it is written: MusicXML, MEI or Humdrum **kern.
    pub fn read(path: &Path) -> Result<WrittenScore> {
        notation::read_written(path, &score_bytes(path)?)
    }
}

/// All bytes of a score's file.
pub(crate) fn score_bytes(path: &Path) -> Result<Vec<u8>> {
    let file = std::fs::File::open(path).map_err(|e| Error::io("read", path, e))?;
    let about = file.metadata().map_err(|e| Error::io("read", path, e))?;
    if about.is_dir() {
        return Err(Error::malformed(path, "this is a folder, not a score", "name a file inside it"));
    }
    midi::bytes_from(path, file, notation::LARGEST_XML_BYTES)
}
