//! The scores that performances are made of, and what kind of music each is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::score::Score;

/// Shorter pieces give no excerpt.
const FEWEST_NOTES: usize = 30;
const UNKNOWN_LICENCE: &str = "unknown";

/// What a score is written for, as far as it decides who may play it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texture {
    /// Keyboards, harp, guitar: one player with many notes at a time.
    Keyboard,
    /// A melody or two with a keyboard.
    Song,
    /// One melody alone.
    Solo,
    /// A few melodies at once.
    Ensemble,
    /// Many.
    Orchestra,
}

impl Texture {
    /// All of them, in the order of the weights with which they are drawn.
    pub const ALL: [Self; 5] = [Self::Keyboard, Self::Song, Self::Solo, Self::Ensemble, Self::Orchestra];
}

/// One track of a score that has notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Its number in the file.
    pub track: u16,
    /// Written for an instrument that plays chords.
    pub is_keyboard: bool,
}

/// A score of the folder.
#[derive(Debug)]
pub(super) struct Source {
    /// The name of its file, without the extension.
    pub name: String,
    pub licence: String,
    pub texture: Texture,
    pub parts: Vec<Part>,
    pub score: Score,
}

/// Every usable score of a folder, by name. Files that are no scores, or too short ones, are passed over.
pub(super) fn read_scores(ctx: &JobContext, folder: &Path) -> Result<Vec<Source>> {
    ctx.report("reading the scores", 0.0)?;
    let entries = std::fs::read_dir(folder).map_err(|source| Error::io("read", folder, source))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| is_midi(path)).collect();
    paths.sort();
    let licences = licences(&folder.join("scores.csv"));
    let read = |path: &PathBuf| {
        ctx.check()?;
        Ok(Score::read(path).ok().and_then(|score| source(path, score, &licences)))
    };
    let read: Vec<Option<Source>> = paths.par_iter().map(read).collect::<Result<_>>()?;
    let sources: Vec<Source> = read.into_iter().flatten().collect();
    if sources.is_empty() {
        let cause = format!("none of its {} MIDI files is a score of {FEWEST_NOTES} notes or more", paths.len());
        return Err(Error::unsuitable(folder.display().to_string(), cause, "name a folder with .mid files of scores"));
    }
    Ok(sources)
}

fn is_midi(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mid") || e.eq_ignore_ascii_case("midi")) && path.is_file()
}

fn source(path: &Path, score: Score, licences: &HashMap<String, String>) -> Option<Source> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    if score.notes.len() < FEWEST_NOTES {
        return None;
    }
    let parts = parts_of(&score);
    let licence = licences.get(&name).map_or(UNKNOWN_LICENCE, String::as_str).to_owned();
    Some(Source { texture: texture_of(&parts), name, licence, parts, score })
}

fn parts_of(score: &Score) -> Vec<Part> {
    let mut tracks: Vec<(u16, u8)> = score.notes.iter().map(|note| (note.track, note.channel)).collect();
    tracks.sort_unstable();
    tracks.dedup_by_key(|(track, _)| *track);
    let program = |channel: u8| score.programs.iter().find(|change| change.channel == channel).map_or(0, |c| c.program);
    let part = |&(track, channel): &(u16, u8)| Part { track, is_keyboard: plays_chords(program(channel)) };
    tracks.iter().map(part).collect()
}

/// Whether a General MIDI program is a piano, an organ, a guitar or a harp.
fn plays_chords(program: u8) -> bool {
    matches!(program, 0..=7 | 16..=31 | 46)
}

fn texture_of(parts: &[Part]) -> Texture {
    let melodies = parts.iter().filter(|part| !part.is_keyboard).count();
    match (melodies, parts.len() - melodies) {
        (0, _) => Texture::Keyboard,
        (1, 0) => Texture::Solo,
        (1..=2, _) => Texture::Song,
        (..=6, _) => Texture::Ensemble,
        _ => Texture::Orchestra,
    }
}

/// The licences by the name of the score, from a table with the columns id and licence. Without one they are unknown.
fn licences(table: &Path) -> HashMap<String, String> {
    let Ok(mut reader) = csv::ReaderBuilder::new().flexible(true).from_path(table) else { return HashMap::new() };
    let Ok(header) = reader.headers().cloned() else { return HashMap::new() };
    let find = |names: [&str; 2]| header.iter().position(|column| names.contains(&column.trim()));
    let (Some(id), Some(licence)) = (find(["id", "name"]), find(["licence", "license"])) else { return HashMap::new() };
    let field = |record: &csv::StringRecord, column: usize| record.get(column).unwrap_or("").trim().to_owned();
    let rows = reader.records().flatten().map(|record| (field(&record, id), field(&record, licence)));
    rows.filter(|(_, licence)| !licence.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_tell_songs_from_quartets_and_piano_pieces() {
        let parts = |keyboards: &[bool]| -> Vec<Part> {
            keyboards.iter().zip(0..).map(|(&is_keyboard, track)| Part { track, is_keyboard }).collect()
        };
        assert_eq!(texture_of(&parts(&[true, true])), Texture::Keyboard);
        assert_eq!(texture_of(&parts(&[false, true, true])), Texture::Song);
        assert_eq!(texture_of(&parts(&[false])), Texture::Solo);
        assert_eq!(texture_of(&parts(&[false; 4])), Texture::Ensemble);
        assert_eq!(texture_of(&parts(&[false; 12])), Texture::Orchestra);
    }

    #[test]
    fn licences_come_from_the_table_beside_the_scores() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("scores.csv");
        assert!(licences(&table).is_empty());
        std::fs::write(&table, "id,title,licence\na,\"A, b\",CC0\nb,B,\n").unwrap();
        let found = licences(&table);
        assert_eq!((found.get("a").map(String::as_str), found.get("b")), (Some("CC0"), None));
    }
}
