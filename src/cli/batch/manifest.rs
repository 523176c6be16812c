//! Reads the list of pairs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::base::error::{Error, Result};

const REMEDY: &str = "give one line per pair: audio,score or audio,score,truth, with or without that header";

/// One pair to align.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub index: usize,
    /// Unique within the manifest; names the outputs.
    pub name: String,
    pub audio: PathBuf,
    pub score: PathBuf,
    pub truth: Option<PathBuf>,
}

/// Reads a manifest. With a header, columns are found by name (an `id` column names the outputs); without one they
/// are audio, score and truth. Paths are relative to the manifest's folder.
pub(super) fn read(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io("read", path, source))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    parse(&text, folder).map_err(|cause| Error::malformed(path, cause, REMEDY))
}

fn parse(text: &str, folder: &Path) -> std::result::Result<Vec<Row>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let records: Vec<csv::StringRecord> =
        reader.records().collect::<std::result::Result<_, _>>().map_err(|e| e.to_string())?;
    let columns = Columns::of(records.first().ok_or("the manifest is empty")?);
    let mut rows = Vec::new();
    for record in records.iter().skip(usize::from(columns.has_header)) {
        let field = |column: Option<usize>| column.and_then(|c| record.get(c)).filter(|text| !text.is_empty());
        let line = record.position().map_or(0, csv::Position::line);
        let audio = field(columns.audio).ok_or(format!("line {line} names no audio file"))?;
        let score = field(columns.score).ok_or(format!("line {line} names no score"))?;
        let name = field(columns.id).map_or_else(|| name_of(audio), str::to_owned);
        let truth = field(columns.truth).map(|truth| folder.join(truth));
        rows.push(Row { index: rows.len(), name, audio: folder.join(audio), score: folder.join(score), truth });
    }
    if rows.is_empty() {
        return Err("the manifest lists no pair".to_owned());
    }
    make_unique(&mut rows);
    Ok(rows)
}

struct Columns {
    has_header: bool,
    id: Option<usize>,
    audio: Option<usize>,
    score: Option<usize>,
    truth: Option<usize>,
}

impl Columns {
    fn of(first: &csv::StringRecord) -> Self {
        let find = |name: &str| first.iter().position(|field| field.eq_ignore_ascii_case(name));
        match (find("audio"), find("score")) {
            (Some(audio), Some(score)) => {
                Self { has_header: true, id: find("id"), audio: Some(audio), score: Some(score), truth: find("truth") }
            }
            _ => Self { has_header: false, id: None, audio: Some(0), score: Some(1), truth: Some(2) },
        }
    }
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

fn make_unique(rows: &mut [Row]) {
    let mut taken = HashSet::new();
    for row in rows {
        // A name becomes a file name: nothing in it may lead to another folder.
        let plain = row.name.replace(['/', '\\'], "_");
        let numbered = (2..).map(|count| format!("{plain}_{count}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name));
        row.name = free.unwrap_or(plain);
        taken.insert(row.name.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_optional_and_columns_are_found_by_name() {
        let plain = parse("a/x.wav,a/x.mid\nb/x.wav, b/x.mid ,b/t.csv\n", Path::new("d")).unwrap();
        assert_eq!(plain[0].name, "a_x");
        assert_eq!(plain[1].truth, Some(PathBuf::from("d/b/t.csv")));
        let headed = parse("truth,id,score,audio\nt.csv,one,s.mid,a.wav\n", Path::new("")).unwrap();
        assert_eq!((headed[0].name.as_str(), headed[0].audio.as_path()), ("one", Path::new("a.wav")));
    }

    #[test]
    fn equal_names_are_told_apart_and_stay_in_the_folder() {
        let rows = parse("audio,score,id\nx.wav,x.mid,../p\ny.wav,y.mid,../p\n", Path::new("")).unwrap();
        assert_eq!((rows[0].name.as_str(), rows[1].name.as_str()), (".._p", ".._p_2"));
        let rows = parse("a.wav,s.mid\na_2.wav,s.mid\na.wav,s.mid\n", Path::new("")).unwrap();
        assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["a", "a_2", "a_3"]);
    }

    #[test]
    fn a_line_without_a_score_is_named() {
        assert!(parse("a.wav,a.mid\nb.wav\n", Path::new("")).unwrap_err().contains("line 2"));
        assert!(parse("", Path::new("")).is_err());
        assert!(parse("audio,score\n", Path::new("")).is_err());
    }
}
