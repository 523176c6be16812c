//! Lists of recordings with their scores: CSV files that `batch` and training read.

use std::path::{Path, PathBuf};

use super::error::{Error, Result};

const REMEDY: &str = "give one line per pair: audio,score or audio,score,truth, with or without that header";

/// One line of a manifest. Paths are relative to the folder of the manifest, or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestRow {
    /// The name in its `id` column, if it has one.
    pub id: Option<String>,
    /// The recording as it is written in the manifest.
    pub written_audio: String,
    /// The recording.
    pub audio: PathBuf,
    /// The score.
    pub score: PathBuf,
    /// The true alignment, if it is known.
    pub truth: Option<PathBuf>,
    /// Notes that somebody heard in the recording, if they are given.
    pub transcription: Option<PathBuf>,
    /// The line in the file, from 1.
    pub line: u64,
}

/// A list of pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Whether its first line names the columns, a column for the truth among them.
    pub names_truth: bool,
    /// The pairs, at least one.
    pub rows: Vec<ManifestRow>,
}

impl Manifest {
    /// Reads a manifest. With a header, columns are found by name (`audio`, `score`, `truth` or `alignment`, `transcription`,
    /// `id` or `name`); without one they are audio, score and truth.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::io("read", path, source))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::parse(&text, folder).map_err(|cause| Error::malformed(path, cause, REMEDY))
    }

    /// The same from the text of the file.
    pub fn parse(text: &str, folder: &Path) -> std::result::Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let records: Vec<csv::StringRecord> =
            reader.records().collect::<std::result::Result<_, _>>().map_err(|e| e.to_string())?;
        let first = records.first().ok_or("the manifest is empty")?;
        let find = |names: &[&str]| first.iter().position(|h| names.iter().any(|name| h.eq_ignore_ascii_case(name)));
        let (has_header, audio, score, truth) = match (find(&["audio"]), find(&["score"])) {
            (Some(audio), Some(score)) => (true, audio, score, find(&["truth", "alignment"])),
            _ => (false, 0, 1, Some(2)),
        };
        let named = |names: &[&str]| find(names).filter(|_| has_header);
        let (transcription, id) = (named(&["transcription"]), named(&["id", "name"]));
        let mut rows = Vec::new();
        for record in records.iter().skip(usize::from(has_header)) {
            let field = |column: usize| record.get(column).filter(|text| !text.is_empty());
            let line = record.position().map_or(0, csv::Position::line);
            let written_audio = field(audio).ok_or(format!("line {line} names no audio file"))?;
            let score = field(score).ok_or(format!("line {line} names no score"))?;
            rows.push(ManifestRow {
                id: id.and_then(field).map(str::to_owned),
                written_audio: written_audio.to_owned(),
                audio: folder.join(written_audio),
                score: folder.join(score),
                truth: truth.and_then(field).map(|truth| folder.join(truth)),
                transcription: transcription.and_then(field).map(|transcription| folder.join(transcription)),
                line,
            });
        }
        if rows.is_empty() {
            return Err("the manifest lists no pair".to_owned());
        }
        Ok(Self { names_truth: has_header && truth.is_some(), rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Manifest {
        Manifest::parse(text, Path::new("d")).unwrap()
    }

    #[test]
    fn header_is_optional_and_columns_are_found_by_name() {
        let plain = parse("a/x.wav,a/x.mid\nb/x.wav, b/x.mid ,b/t.csv\n");
        assert_eq!((&plain.rows[0].truth, plain.names_truth), (&None, false));
        assert_eq!(plain.rows[1].truth, Some(PathBuf::from("d/b/t.csv")));
        let headed = parse("# a comment\nalignment,id,score,audio\nt.csv,one,s.mid,a.wav\n");
        assert!(headed.names_truth);
        let row = &headed.rows[0];
        assert_eq!((row.id.as_deref(), row.audio.as_path()), (Some("one"), Path::new("d/a.wav")));
        let heard = parse("audio,score,transcription\na.wav,s.mid,t.mid\nb.wav,s.mid,\n");
        assert_eq!(heard.rows[0].transcription, Some(PathBuf::from("d/t.mid")));
        assert_eq!(heard.rows[1].transcription, None);
    }

    #[test]
    fn a_line_without_a_score_is_named() {
        let error = |text: &str| Manifest::parse(text, Path::new("")).unwrap_err();
        assert!(error("a.wav,a.mid\nb.wav\n").contains("line 2 names no score"));
        assert!(error("").contains("empty") && error("audio,score\n").contains("no pair"));
    }
}
