//! The pairs of a batch, each with a name for its outputs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::base::error::Result;
use crate::base::manifest::{Manifest, ManifestRow};

/// One pair to align.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub index: usize,
    /// Unique within the manifest; names the outputs.
    pub name: String,
    pub audio: PathBuf,
    pub score: PathBuf,
    pub truth: Option<PathBuf>,
    pub transcription: Option<PathBuf>,
}

/// Reads a manifest. An `id` column names the outputs, else the recordings do.
pub(super) fn read(path: &Path) -> Result<Vec<Row>> {
    Ok(named(Manifest::read(path)?))
}

fn named(manifest: Manifest) -> Vec<Row> {
    let mut taken = HashSet::new();
    let mut rows = Vec::new();
    for (index, row) in manifest.rows.into_iter().enumerate() {
        // A name becomes a file name: nothing in it may lead to another folder.
        let plain = row.id.clone().unwrap_or_else(|| name_of(&row.written_audio)).replace(['/', '\\'], "_");
        let numbered = (2..).map(|count| format!("{plain}_{count}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name));
        let name = free.unwrap_or(plain);
        taken.insert(name.clone());
        let ManifestRow { audio, score, truth, transcription, .. } = row;
        rows.push(Row { index, name, audio, score, truth, transcription });
    }
    rows
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

    fn names(text: &str) -> Vec<String> {
        let rows = named(Manifest::parse(text, Path::new("")).unwrap());
        rows.into_iter().map(|row| row.name).collect()
    }

    #[test]
    fn equal_names_are_told_apart_and_stay_in_the_folder() {
        assert_eq!(names("a/x.wav,a/x.mid\n"), ["a_x"]);
        assert_eq!(names("audio,score,id\nx.wav,x.mid,../p\ny.wav,y.mid,../p\n"), [".._p", ".._p_2"]);
        assert_eq!(names("a.wav,s.mid\na_2.wav,s.mid\na.wav,s.mid\n"), ["a", "a_2", "a_3"]);
    }
}
