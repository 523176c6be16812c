//! Which labelled pieces a data folder or a manifest holds.

use std::path::{Path, PathBuf};

use crate::base::error::{Error, Result};

/// A recording, its score and the truth about where the one is in the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceFiles {
    /// What messages call the piece.
    pub name: String,
    /// The recording.
    pub audio: PathBuf,
    /// The score: a Standard MIDI File.
    pub score: PathBuf,
    /// The true alignment, in any format that [`read_ground_truth`](crate::evaluation::read_ground_truth) knows.
    pub truth: PathBuf,
}

const REMEDY: &str = "give a folder whose subfolders hold audio.*, score.mid and alignment.*, \
                      or a CSV file with the columns audio, score and truth";
/// What the truth of a piece may be called in its folder, apart from the extension.
const TRUTH_STEMS: [&str; 3] = ["alignment", "truth", "annotation"];

/// The pieces of `data`, in the order of the manifest or of their names.
///
/// `data` is a CSV manifest (columns audio, score, truth and optionally id; paths relative to its folder), a folder
/// with such a `manifest.csv`, a folder with one subfolder per piece (`audio.*`, `score.mid`, `alignment.*`), or such
/// a piece's folder itself.
pub fn find_pieces(data: &Path) -> Result<Vec<PieceFiles>> {
    let metadata = std::fs::metadata(data).map_err(|source| Error::io("read", data, source))?;
    if metadata.is_file() {
        return from_manifest(data)?
            .ok_or_else(|| Error::malformed(data, "has no columns audio, score and truth", REMEDY));
    }
    let manifest = data.join("manifest.csv");
    if manifest.is_file()
        && let Some(pieces) = from_manifest(&manifest)?
    {
        return Ok(pieces);
    }
    let mut pieces: Vec<PieceFiles> = from_folder(data)?.into_iter().collect();
    for folder in sorted_entries(data)?.iter().filter(|path| path.is_dir()) {
        pieces.extend(from_folder(folder)?);
    }
    if pieces.is_empty() {
        return Err(Error::unsuitable(data.display().to_string(), "it holds no labelled piece", REMEDY));
    }
    Ok(pieces)
}

/// `None` if the columns are others: the file is a list of something else.
fn from_manifest(path: &Path) -> Result<Option<Vec<PieceFiles>>> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io("read", path, source))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let malformed = |cause: String| Error::malformed(path, cause, REMEDY);
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| malformed(e.to_string()))?.clone();
    let find = |names: &[&str]| header.iter().position(|h| names.iter().any(|name| h.eq_ignore_ascii_case(name)));
    let (Some(audio), Some(score), Some(truth)) = (find(&["audio"]), find(&["score"]), find(&["truth", "alignment"]))
    else {
        return Ok(None);
    };
    let id = find(&["id", "name"]);
    let mut pieces = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| malformed(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |column: usize, what: &str| {
            let text = record.get(column).filter(|text| !text.is_empty());
            text.ok_or_else(|| malformed(format!("line {line} names no {what}")))
        };
        let audio = field(audio, "audio file")?;
        pieces.push(PieceFiles {
            name: id.and_then(|id| record.get(id)).unwrap_or(audio).to_owned(),
            audio: folder.join(audio),
            score: folder.join(field(score, "score")?),
            truth: folder.join(field(truth, "truth")?),
        });
    }
    if pieces.is_empty() {
        return Err(malformed("lists no piece".to_owned()));
    }
    Ok(Some(pieces))
}

/// The piece that a folder holds, if it holds one.
fn from_folder(folder: &Path) -> Result<Option<PieceFiles>> {
    let files = sorted_entries(folder)?;
    let stem_is = |path: &Path, stem: &str| path.file_stem().is_some_and(|s| s.eq_ignore_ascii_case(stem));
    let find = |stem: &str| files.iter().find(|path| path.is_file() && stem_is(path, stem)).cloned();
    let score = files.iter().find(|path| {
        let is_midi = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mid") || e.eq_ignore_ascii_case("midi"));
        stem_is(path, "score") && is_midi && path.is_file()
    });
    let truth = TRUTH_STEMS.iter().find_map(|stem| find(stem));
    let (Some(audio), Some(score), Some(truth)) = (find("audio"), score.cloned(), truth) else {
        return Ok(None);
    };
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    Ok(Some(PieceFiles { name, audio, score, truth }))
}

fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::io("read", folder, source);
    let mut paths = std::fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(failed)?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(folder: &Path, name: &str) {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for file in ["audio.ogg", "score.mid", "performance.mid", "alignment.csv"] {
            std::fs::write(folder.join(file), "").unwrap();
        }
    }

    #[test]
    fn subfolders_are_pieces_in_order_and_a_manifest_of_other_things_is_passed_over() {
        let data = tempfile::tempdir().unwrap();
        piece(data.path(), "b");
        piece(data.path(), "a");
        std::fs::create_dir(data.path().join("empty")).unwrap();
        std::fs::write(data.path().join("manifest.csv"), "id,audio\na,rendered\n").unwrap();
        let pieces = find_pieces(data.path()).unwrap();
        assert_eq!(pieces.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(pieces[0].audio, data.path().join("a").join("audio.ogg"));
        assert_eq!(find_pieces(&data.path().join("b")).unwrap().len(), 1);
    }

    #[test]
    fn a_manifest_names_files_beside_it_and_its_gaps_are_named() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join("list.csv");
        std::fs::write(&path, "truth,id,score,audio\nt.csv,one,s.mid,a.wav\n").unwrap();
        let pieces = find_pieces(&path).unwrap();
        assert_eq!((pieces[0].name.as_str(), &pieces[0].truth), ("one", &data.path().join("t.csv")));
        std::fs::write(&path, "audio,score,truth\na.wav,,t.csv\n").unwrap();
        assert!(find_pieces(&path).unwrap_err().to_string().contains("line 2 names no score"));
        std::fs::write(&path, "audio,score\na.wav,s.mid\n").unwrap();
        assert!(find_pieces(&path).is_err());
    }

    #[test]
    fn a_folder_without_pieces_says_what_was_expected() {
        let data = tempfile::tempdir().unwrap();
        assert!(find_pieces(data.path()).unwrap_err().to_string().contains("alignment.*"));
        assert!(find_pieces(&data.path().join("no such folder")).is_err());
    }
}
