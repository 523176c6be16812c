//! Scores in notation formats: MusicXML, MEI and Humdrum **kern become one written score, and that is played out.

mod archive;
mod draft;
mod kind;
mod musicxml;
mod order;
mod playing;
mod quarters;
mod tempo_words;
mod written;
mod xml;

use std::path::Path;

pub(crate) use kind::{ScoreKind, score_kind};
pub(crate) use playing::{Played, PlayedNote, Reading, play_out};
pub use quarters::Quarters;
pub use written::*;

use crate::base::error::{Error, Result};

/// Reads a score in a notation format from memory; `name` stands in the error messages.
pub(crate) fn read_written(name: &Path, bytes: Vec<u8>) -> Result<WrittenScore> {
    match score_kind(&bytes) {
        Some(ScoreKind::Archive) => {
            let inside = archive::unpack(name, &bytes)?;
            match score_kind(&inside) {
                Some(ScoreKind::Archive) | None => Err(not_a_score(name, &inside)),
                Some(kind) => read_kind(name, kind, inside),
            }
        }
        Some(kind) => read_kind(name, kind, bytes),
        None => Err(not_a_score(name, &bytes)),
    }
}

fn read_kind(name: &Path, kind: ScoreKind, bytes: Vec<u8>) -> Result<WrittenScore> {
    match kind {
        ScoreKind::MusicXml => {
            let text = xml::condense(&xml::decode(name, bytes)?);
            musicxml::read(name, &xml::parse(name, &text)?)
        }
        _ => Err(not_a_score(name, &bytes)),
    }
}

/// Says what a file is instead of a score.
fn not_a_score(name: &Path, bytes: &[u8]) -> Error {
    let _ = bytes;
    Error::malformed(name, "this is not a score", "choose a score in MusicXML, MEI, Humdrum **kern or MIDI")
}
