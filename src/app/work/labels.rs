//! Labelled pieces to learn from: found in files, or made of the open piece.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::app::document::source::{FileRole, Source, file_name, role_of};
use crate::app::document::view_model::{Piece, Solution};
use crate::app::tuning::LabelledPiece;
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};
use crate::demo;
use crate::learning::{PieceFiles, find_pieces};

/// Folders and manifests hold any number of pieces; several files are taken for one piece.
pub fn of_files(paths: &[PathBuf]) -> Result<Vec<LabelledPiece>> {
    match paths {
        [one] => Ok(find_pieces(one)?.into_iter().map(LabelledPiece::of_files).collect()),
        files => Ok(vec![one_piece(files)?]),
    }
}

fn one_piece(files: &[PathBuf]) -> Result<LabelledPiece> {
    let of_role = |role: FileRole, what: &str| {
        let found = files.iter().find(|path| role_of(path) == role).cloned();
        found.ok_or_else(|| {
            let remedy = "choose a recording, its score and its true alignment together";
            Error::unsuitable("the labelled piece", format!("there is no {what} among the files"), remedy)
        })
    };
    let audio = of_role(FileRole::Recording, "recording")?;
    Ok(LabelledPiece::of_files(PieceFiles {
        name: file_name(&audio),
        score: of_role(FileRole::Score, "score")?,
        truth: of_role(FileRole::Reference, "true alignment")?,
        audio,
    }))
}

/// The piece as it is aligned now: the passages that were called right, or else all of it. Labels are written to `folder`.
pub fn of_piece(
    piece: &Piece,
    solution: &Solution,
    accepted: &[(f64, f64)],
    folder: &Path,
) -> Result<Vec<LabelledPiece>> {
    if piece.is_take() {
        let cause = "a MIDI performance has no sound to learn from";
        return Err(Error::unsuitable(&piece.recording_name, cause, "open a recording of the piece"));
    }
    std::fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
    let on_disk = |source: &Source, name: &str, bytes: &[u8]| match source {
        Source::File(path) => Ok(path.clone()),
        Source::Demo => {
            let path = folder.join(name);
            write_bytes_atomically(&path, bytes)?;
            Ok::<_, Error>(path)
        }
    };
    let audio = on_disk(&piece.sources.recording, "demo.ogg", demo::performance_bytes())?;
    let score = on_disk(&piece.sources.score, "demo.mid", demo::score_bytes())?;
    let whole = [(f64::NEG_INFINITY, f64::INFINITY)];
    let passages = if accepted.is_empty() { &whole[..] } else { accepted };
    let stem = audio.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut pieces = Vec::new();
    for (number, (from, to)) in passages.iter().enumerate() {
        let mut text = String::from("score_time_s,performance_time_s\n");
        for onset in solution.onsets.iter().filter(|onset| (*from..=*to).contains(&onset.score_s)) {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{:.6},{:.6}", onset.score_s, onset.performance_s);
        }
        let truth = free_path(folder, &format!("{stem}-{}", number + 1), &text)?;
        let part = if accepted.is_empty() { String::new() } else { format!(", passage {}", number + 1) };
        let name = format!("{}{part}", piece.title());
        let files = PieceFiles { name, audio: audio.clone(), score: score.clone(), truth };
        pieces.push(LabelledPiece::of_files(files));
    }
    Ok(pieces)
}

/// Writes labels under a name that does not hold other ones.
fn free_path(folder: &Path, stem: &str, text: &str) -> Result<PathBuf> {
    let mut number = 0;
    loop {
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{suffix}.csv"));
        match std::fs::read_to_string(&path) {
            Ok(there) if there == text => return Ok(path),
            Ok(_) => number += 1,
            Err(_) => {
                write_bytes_atomically(&path, text.as_bytes())?;
                return Ok(path);
            }
        }
    }
}
