//! Scores in notation formats: MusicXML, MEI and Humdrum **kern become one written score, and that is played out.

mod archive;
mod draft;
mod form;
mod from_midi;
mod graces;
mod kern;
mod kind;
mod liberties;
mod manuscript;
mod mei;
mod musicxml;
mod numbers;
mod order;
mod playing;
mod quarters;
mod tempo_words;
mod to_score;
mod tremolo;
pub mod written;
mod xml;
mod xml_cost;

use std::path::Path;
use std::sync::Arc;

pub use form::{Form, FormPass, FormSection};
#[cfg(feature = "gui")]
pub(crate) use from_midi::{from_midi, spelled};
pub(crate) use kind::{HEAD_BYTES, ScoreKind, score_kind};
pub use manuscript::{BarPass, Manuscript, Source, SourceKind};
pub(crate) use playing::{Played, Reading, play_out};
pub use written::{WrittenPitch, WrittenScore};
pub(crate) use xml::LARGEST_XML_BYTES;

use super::midi::{Content, check};
use super::types::Score;
use crate::base::error::{Error, Result};

/// Reads a score as it is written from memory; `name` stands in the error messages.
pub(crate) fn read_written(name: &Path, bytes: &[u8]) -> Result<WrittenScore> {
    Ok(read_with_source(name, bytes)?.0)
}

/// Reads a score as it is written, and the text that it was read from if that is XML.
fn read_with_source(name: &Path, bytes: &[u8]) -> Result<(WrittenScore, Option<Source>)> {
    match score_kind(bytes) {
        Some(ScoreKind::Archive) => {
            let inside = archive::unpack(name, bytes)?;
            read_kind(name, score_kind(&inside), &inside)
        }
        kind => read_kind(name, kind, bytes),
    }
}

fn read_kind(name: &Path, kind: Option<ScoreKind>, bytes: &[u8]) -> Result<(WrittenScore, Option<Source>)> {
    match kind {
        Some(ScoreKind::MusicXml) => {
            let text = xml::decode(name, bytes)?;
            let written = musicxml::read(name, &xml::parse(name, &xml::condense(&text))?)?;
            Ok((written, Some(Source { kind: SourceKind::MusicXml, text: text.into_owned() })))
        }
        Some(ScoreKind::Mei) => {
            let text = xml::decode(name, bytes)?;
            let written = mei::read(name, &xml::parse(name, &xml::condense(&text))?)?;
            Ok((written, Some(Source { kind: SourceKind::Mei, text: text.into_owned() })))
        }
        Some(ScoreKind::Kern) => Ok((kern::read(name, &xml::decode_any(name, bytes)?)?, None)),
        Some(ScoreKind::Midi) => Ok((from_midi::from_midi(&super::midi::read(name, bytes, Content::Score)?), None)),
        _ => Err(not_a_score(name, bytes)),
    }
}

/// The score that is aligned: a written one, played out.
pub(super) fn read_played(name: &Path, bytes: &[u8]) -> Result<Score> {
    let (written, source) = read_with_source(name, bytes)?;
    let played = play_out(name, &written, Reading::WithRepeats)?;
    let mut score = to_score::to_score(&written, &played)?;
    check(name, &score, Content::Score)?;
    let manuscript = Manuscript::new(written, source, &played, to_score::to_ticks);
    score.notation.manuscript = Some(Arc::new(manuscript));
    Ok(score)
}

/// Says what a file is instead of a score.
fn not_a_score(name: &Path, bytes: &[u8]) -> Error {
    const REMEDY: &str = "choose a score in MusicXML, MEI, Humdrum **kern or MIDI";
    if bytes.is_empty() {
        return Error::malformed(name, "the file is empty", REMEDY);
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_BYTES)]);
    let head = head.trim_start_matches('\u{feff}').trim_start();
    match kind::root_element(head).filter(|_| head.starts_with('<')) {
        Some("museScore") => {
            Error::unsupported(name, "MuseScore's own format", "export the score as MusicXML from MuseScore")
        }
        Some(root) => Error::malformed(name, format!("this is XML, but with <{root}> at its root no score"), REMEDY),
        None => Error::malformed(name, "this is not a score", REMEDY),
    }
}

#[cfg(test)]
mod tests;
