//! Lists of recordings with their scores: CSV files that `batch` and training read.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};

const REMEDY: &str = "give one line per pair: audio,score or audio,score,truth, with or without that header";

/// About two million lines. Every worker of a batch reads the whole list.
const MOST_BYTES: u64 = 256 << 20;

/// A row takes half a kilobyte of memory, so that many must be as long as names of files are.
const MANY_ROWS: u64 = 200_000;
const LEAST_BYTES_A_ROW: u64 = 20;
/// No line is longer.
const LONGEST_LINE: u64 = 1 << 20;

/// One line of a manifest. Paths are relative to the folder of the manifest, or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestRow {
    /// The name in its `id` column, if it has one.
    pub id: Option<String>,
    /// The recording as it is written in the manifest.
    pub written_audio: String,
    /// The score as it is written in the manifest.
    pub written_score: String,
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
    /// `id` or `name`); without one they are audio, score and truth. They are separated by commas, tabs or semicolons.
    pub fn read(path: &Path) -> Result<Self> {
        let mut rows = Vec::new();
        let names_truth = Self::for_each_row(path, |row| rows.push(row))?;
        Ok(Self { names_truth, rows })
    }

    /// Passes the rows on one by one, so that of a long list only what is needed is kept. Returns whether the header names a truth.
    pub fn for_each_row(path: &Path, take: impl FnMut(ManifestRow)) -> Result<bool> {
        let unread = |source| Error::io("read", path, source);
        let file = File::open(path).map_err(unread)?;
        let bytes = file.metadata().map_err(unread)?.len();
        if bytes > MOST_BYTES {
            let cause = format!("the manifest has {} MB, at most {} are read", bytes >> 20, MOST_BYTES >> 20);
            return Err(Error::limit(path, cause, "split it, and give each part a folder of its own for the results"));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        parse(BufReader::new(file), folder, take).map_err(|cause| Error::malformed(path, cause, REMEDY))
    }
}

/// Returns whether the header names a truth.
fn parse(
    mut text: impl BufRead + Seek,
    folder: &Path,
    mut take: impl FnMut(ManifestRow),
) -> std::result::Result<bool, String> {
    let delimiter = delimiter_of(&mut text)?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        // A return before it is trimmed; taken for part of the end, it would put lines out of count.
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(ShortLines { text, length: 0 });
    let is_blank = |record: &csv::StringRecord| record.iter().all(str::is_empty);
    let records = reader.records().filter(|record| !record.as_ref().is_ok_and(is_blank));
    let mut records = records.map(|record| record.map_err(|error| error.to_string())).peekable();
    let first = match records.peek() {
        None => return Err("the manifest is empty".to_owned()),
        Some(first) => first.clone()?,
    };
    let find = |names: &[&str]| first.iter().position(|h| names.iter().any(|name| h.eq_ignore_ascii_case(name)));
    let (has_header, audio, score, truth) = match (find(&["audio"]), find(&["score"])) {
        (Some(audio), Some(score)) => (true, audio, score, find(&["truth", "alignment"])),
        _ => (false, 0, 1, Some(2)),
    };
    let named = |names: &[&str]| find(names).filter(|_| has_header);
    let (transcription, id) = (named(&["transcription"]), named(&["id", "name"]));
    let mut count = 0;
    for record in records.skip(usize::from(has_header)) {
        let record = record?;
        let field = |column: usize| record.get(column).filter(|text| !text.is_empty());
        let line = record.position().map_or(0, csv::Position::line);
        let written_audio = field(audio).ok_or(format!("line {line} names no audio file"))?;
        let written_score = field(score).ok_or(format!("line {line} names no score"))?;
        count += 1;
        // The position is where this row begins: only those before it have been passed.
        if count > MANY_ROWS && record.position().is_some_and(|at| at.byte() < (count - 1) * LEAST_BYTES_A_ROW) {
            return Err("it has more than 200,000 rows, and they are too short to be file names".to_owned());
        }
        take(ManifestRow {
            id: id.and_then(field).map(str::to_owned),
            written_audio: written_audio.to_owned(),
            written_score: written_score.to_owned(),
            audio: folder.join(written_audio),
            score: folder.join(written_score),
            truth: truth.and_then(field).map(|truth| folder.join(truth)),
            transcription: transcription.and_then(field).map(|transcription| folder.join(transcription)),
            line,
        });
    }
    if count == 0 {
        return Err("the manifest lists no pair".to_owned());
    }
    Ok(has_header && truth.is_some())
}

/// Refuses a line that is no row of a list: each of its fields takes memory.
struct ShortLines<T> {
    text: T,
    length: u64,
}

impl<T: Read> Read for ShortLines<T> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.text.read(buffer)?;
        let (last, before) = match buffer[..read].iter().rposition(|&byte| byte == b'\n') {
            Some(end) => (read - end - 1, 0),
            None => (read, self.length),
        };
        self.length = before + last as u64;
        if self.length > LONGEST_LINE {
            return Err(std::io::Error::other("a line is longer than 1 MB"));
        }
        Ok(read)
    }
}

/// What separates the columns, by the first line that is no comment: no path has a tab in it, but some have commas.
fn delimiter_of(text: &mut (impl BufRead + Seek)) -> std::result::Result<u8, String> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = text.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if read == 0 || !(line.starts_with(b"#") || line.trim_ascii().is_empty()) {
            break;
        }
    }
    text.rewind().map_err(|error| error.to_string())?;
    let count = |delimiter: u8| line.iter().filter(|&&byte| byte == delimiter).count();
    Ok(match () {
        () if count(b'\t') > 0 => b'\t',
        () if count(b';') > count(b',') => b';',
        () => b',',
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_parse(text: &str) -> std::result::Result<Manifest, String> {
        let mut rows = Vec::new();
        let names_truth = super::parse(std::io::Cursor::new(text), Path::new("d"), |row| rows.push(row))?;
        Ok(Manifest { names_truth, rows })
    }

    fn parse(text: &str) -> Manifest {
        try_parse(text).unwrap()
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
        let error = |text: &str| try_parse(text).unwrap_err();
        assert!(error("a.wav,a.mid\nb.wav\n").contains("line 2 names no score"));
        assert!(error("").contains("empty") && error("audio,score\n").contains("no pair"));
    }

    #[test]
    fn tabs_and_semicolons_separate_columns_as_commas_do() {
        let expected = parse("id,audio,score\none,a.wav,s.mid\n");
        assert_eq!(parse("id\taudio\tscore\none\ta.wav\ts.mid\n"), expected);
        // As a spreadsheet writes it where the decimal sign is a comma.
        assert_eq!(parse("\u{feff}id;audio;score\r\none;a.wav;\"s.mid\"\r\n\r\n"), expected);
        let commas = parse("# made, by hand, today\nNo. 1, Allegro.wav\ts.mid\n");
        assert_eq!(commas.rows[0].audio, Path::new("d/No. 1, Allegro.wav"));
        assert_eq!(parse("a;b.wav,s.mid\n").rows[0].written_audio, "a;b.wav");
    }

    #[test]
    fn more_rows_than_many_are_read_if_they_are_as_long_as_names_of_files() {
        let rows = |row: &str, more: usize| row.repeat(MANY_ROWS as usize + more);
        let (long, short) = ("audio.wav,score.mid\n", "audio.wav,scor.mid\n");
        assert_eq!(long.len() as u64, LEAST_BYTES_A_ROW);
        assert_eq!(parse(&rows(long, 10)).rows.len() as u64, MANY_ROWS + 10);
        assert_eq!(parse(&rows(short, 0)).rows.len() as u64, MANY_ROWS);
        let error = try_parse(&rows(short, 1)).unwrap_err();
        assert!(error.contains("more than 200,000 rows") && MANY_ROWS == 200_000, "{error}");
    }

    #[test]
    fn a_line_is_refused_when_it_is_longer_than_any_row() {
        let row = |bytes: u64| format!("{},s.mid\nb.wav,s.mid\n", "a".repeat(bytes as usize - 6));
        assert_eq!(parse(&row(LONGEST_LINE)).rows.len(), 2);
        // Lines are measured a buffer at a time.
        for longer in [LONGEST_LINE + (1 << 14), 10 * LONGEST_LINE] {
            let error = try_parse(&row(longer)).unwrap_err();
            assert_eq!(error, "a line is longer than 1 MB");
        }
    }

    #[test]
    fn a_file_that_is_no_list_is_refused_by_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.csv");
        File::create(&path).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let error = Manifest::read(&path).unwrap_err().to_string();
        assert!(error.contains("at most 256") && error.contains("split it"), "{error}");
    }
}
