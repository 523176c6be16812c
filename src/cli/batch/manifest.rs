//! The pairs of a batch, each with a name for its outputs.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::shard::Shard;
use crate::base::error::{Error, Result};
use crate::base::manifest::{Manifest, ManifestRow};

/// One pair to align.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Its place in the list, from 1.
    pub number: usize,
    /// Unique within the manifest; names the outputs.
    pub name: String,
    pub written_audio: String,
    pub written_score: String,
    pub audio: PathBuf,
    pub score: PathBuf,
    pub truth: Option<PathBuf>,
    pub transcription: Option<PathBuf>,
}

impl Row {
    /// All that is read for it.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [Some(&self.audio), Some(&self.score), self.truth.as_ref(), self.transcription.as_ref()].into_iter().flatten()
    }
}

/// The pairs of one shard.
pub(crate) struct Rows {
    pub own: Vec<Row>,
    /// How many the whole list has.
    pub total: usize,
}

/// Reads the rows of a shard. An `id` column names the outputs, else the recordings do.
pub(crate) fn read(path: &Path, shard: Shard) -> Result<Rows> {
    let mut naming = Naming::default();
    let mut twice = None;
    Manifest::for_each_row(path, |row| twice = twice.take().or(naming.note_id(&row).err()))?;
    if let Some(cause) = twice {
        return Err(Error::malformed(path, cause, "give every row an id of its own"));
    }
    let mut rows = Rows { own: Vec::new(), total: 0 };
    Manifest::for_each_row(path, |row| {
        let name = naming.name(&row);
        if shard.has(rows.total) {
            let ManifestRow { written_audio, written_score, audio, score, truth, transcription, .. } = row;
            let number = rows.total + 1;
            rows.own.push(Row { number, name, written_audio, written_score, audio, score, truth, transcription });
        }
        rows.total += 1;
    })?;
    Ok(rows)
}

/// Gives every row of a list a name of its own, the same in every shard.
#[derive(Default)]
struct Naming {
    taken: HashSet<String>,
    /// How far each name was counted that several rows have: a long list may have but one.
    counted: HashMap<String, usize>,
}

impl Naming {
    /// Takes the name that a row was given; two of the same are refused.
    fn note_id(&mut self, row: &ManifestRow) -> std::result::Result<(), String> {
        match row.id.as_deref().map(plain) {
            Some(id) if !self.taken.insert(id.clone()) => {
                Err(format!("line {} has the id \"{id}\", which another row has too", row.line))
            }
            _ => Ok(()),
        }
    }

    /// The name of a row, once all given ones are known.
    fn name(&mut self, row: &ManifestRow) -> String {
        if let Some(id) = &row.id {
            return plain(id);
        }
        let own = plain(&name_of(&row.written_audio));
        let mut name = own.clone();
        while !self.taken.insert(name.clone()) {
            let count = self.counted.entry(own.clone()).or_insert(1);
            *count += 1;
            name = format!("{own}_{count}");
        }
        name
    }
}

/// A name becomes a file name: nothing in it may lead to another folder.
fn plain(name: &str) -> String {
    name.replace(['/', '\\'], "_")
}

/// `set/piece/audio.ogg` becomes `set_piece_audio`: one flat folder holds all outputs.
fn name_of(audio: &str) -> String {
    let stem = Path::new(audio).with_extension("");
    let parts = stem.components().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, shard: &str) -> Result<Vec<Row>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, text).unwrap();
        read(file.path(), Shard::parse(shard).unwrap()).map(|rows| rows.own)
    }

    fn names(text: &str) -> Vec<String> {
        rows(text, "1/1").unwrap().into_iter().map(|row| row.name).collect()
    }

    #[test]
    fn names_of_recordings_are_told_apart_and_stay_in_the_folder() {
        assert_eq!(names("a/x.wav,a/x.mid\n"), ["a_x"]);
        assert_eq!(names("audio,score,id\nx.wav,x.mid,../p\n"), [".._p"]);
        assert_eq!(names("a.wav,s.mid\na_2.wav,s.mid\na.wav,s.mid\n"), ["a", "a_2", "a_3"]);
        assert_eq!(names("audio,score,id\na.wav,s.mid,\nb.wav,s.mid,a\n"), ["a_2", "a"], "what was given is kept");
    }

    #[test]
    fn two_rows_with_one_id_are_refused_by_their_line() {
        for second in ["p/q", "p_q"] {
            let error = rows(&format!("audio,score,id\nx.wav,x.mid,p/q\ny.wav,y.mid,{second}\n"), "2/2").unwrap_err();
            assert!(error.to_string().contains("line 3 has the id \"p_q\""), "{error}");
        }
    }

    #[test]
    fn names_and_numbers_are_those_of_the_whole_list_in_every_shard() {
        let text = "a.wav,s.mid\n".repeat(10);
        let mut found: Vec<(usize, String)> = Vec::new();
        for shard in ["1/3", "2/3", "3/3"] {
            found.extend(rows(&text, shard).unwrap().into_iter().map(|row| (row.number, row.name)));
        }
        found.sort();
        let whole = rows(&text, "1/1").unwrap().into_iter().map(|row| (row.number, row.name));
        assert!(whole.eq(found));
    }
}
