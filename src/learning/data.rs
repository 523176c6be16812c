//! Labelled pieces: which a folder or a manifest holds, how they are read and split.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::manifest::{Manifest, ManifestRow};
use crate::base::random::Random;
use crate::score::is_score;

/// A recording, its score and the truth about where the one is in the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceFiles {
    /// What messages call the piece.
    pub name: String,
    /// The recording.
    pub audio: PathBuf,
    /// The score.
    pub score: PathBuf,
    /// The true alignment, in any format that [`read_ground_truth`](crate::evaluation::read_ground_truth) knows.
    pub truth: PathBuf,
}

const REMEDY: &str = "give a folder whose subfolders hold audio.*, score.* and alignment.*, \
                      or a CSV file with the columns audio, score and truth";
/// What the truth of a piece may be called in its folder, apart from the extension.
const TRUTH_STEMS: [&str; 3] = ["alignment", "truth", "annotation"];

/// The pieces of `data`, in the order of the manifest or of their names.
///
/// `data` is a CSV manifest (columns audio, score, truth and optionally id; paths relative to its folder), a folder
/// with such a `manifest.csv`, a folder with one subfolder per piece (`audio.*`, `score.*`, `alignment.*`), or such
/// a piece's folder itself.
pub fn find_pieces(data: &Path) -> Result<Vec<PieceFiles>> {
    let metadata = std::fs::metadata(data).map_err(|source| Error::io("read", data, source))?;
    if metadata.is_file() {
        return of_manifest(data, Manifest::read(data)?);
    }
    let list = data.join("manifest.csv");
    // One with other columns is a list of something else.
    if let Some(manifest) = Manifest::read(&list).ok().filter(|manifest| manifest.names_truth) {
        return of_manifest(&list, manifest);
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

/// The pieces of a list, each of which must have a truth.
fn of_manifest(path: &Path, manifest: Manifest) -> Result<Vec<PieceFiles>> {
    let piece = |row: ManifestRow| {
        let missing = || Error::malformed(path, format!("line {} names no truth", row.line), REMEDY);
        Ok(PieceFiles {
            truth: row.truth.ok_or_else(missing)?,
            name: row.id.unwrap_or(row.written_audio),
            audio: row.audio,
            score: row.score,
        })
    };
    manifest.rows.into_iter().map(piece).collect()
}

/// The piece that a folder holds, if it holds one.
fn from_folder(folder: &Path) -> Result<Option<PieceFiles>> {
    let files = sorted_entries(folder)?;
    let stem_is = |path: &Path, stem: &str| path.file_stem().is_some_and(|s| s.eq_ignore_ascii_case(stem));
    let find = |stem: &str| files.iter().find(|path| path.is_file() && stem_is(path, stem)).cloned();
    let score = files.iter().find(|path| stem_is(path, "score") && is_score(path));
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

/// Reads every piece with `load`, on all threads, and tells how far it is. The result is in the order of `files`.
pub(super) fn load_all<T: Send>(
    ctx: &JobContext,
    files: &[PieceFiles],
    load: impl Fn(&JobContext, &PieceFiles) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    const STAGE: &str = "reading the data";
    let done = AtomicUsize::new(0);
    ctx.report(STAGE, 0.0)?;
    let one = |piece: &PieceFiles| {
        ctx.check()?;
        let loaded = load(&ctx.quiet(), piece)?;
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        ctx.report(STAGE, count as f32 / files.len() as f32)?;
        Ok(loaded)
    };
    files.par_iter().map(one).collect()
}

/// The whole content of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::io("read", path, source))
}

/// Splits pieces by the content of their scores, never within one: shares of the scores go to each part, in a random
/// order. Every part gets at least one score if there are enough.
pub(super) fn split_by_score(pieces: Vec<PieceFiles>, shares: &[f64], seed: u64) -> Result<Vec<Vec<PieceFiles>>> {
    let id = |piece: &PieceFiles| Ok(<[u8; 32]>::from(Sha256::digest(read(&piece.score)?)));
    let ids = pieces.iter().map(id).collect::<Result<Vec<_>>>()?;
    let mut scores: Vec<[u8; 32]> = ids.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    Random::at(seed, &[]).shuffle(&mut scores);
    let parts = part_sizes(scores.len(), shares);
    let part_of = |id: &[u8; 32]| {
        let place = scores.iter().position(|score| score == id).unwrap_or(0);
        let mut end = 0;
        parts.iter().position(|size| {
            end += size;
            place < end
        })
    };
    let mut split = vec![Vec::new(); shares.len()];
    for (piece, id) in pieces.into_iter().zip(&ids) {
        split[part_of(id).unwrap_or(0)].push(piece);
    }
    Ok(split)
}

/// How many of `count` scores each part gets.
fn part_sizes(count: usize, shares: &[f64]) -> Vec<usize> {
    let total: f64 = shares.iter().sum();
    let mut sizes: Vec<usize> = shares.iter().map(|share| (share / total * count as f64) as usize).collect();
    while sizes.iter().sum::<usize>() < count {
        // The part that is furthest below its share; an empty part before all others.
        let missing =
            |i: usize| if sizes[i] == 0 { f64::INFINITY } else { shares[i] / total * count as f64 - sizes[i] as f64 };
        let neediest = (0..sizes.len()).max_by(|&a, &b| missing(a).total_cmp(&missing(b)).then(b.cmp(&a)));
        match neediest {
            Some(part) => sizes[part] += 1,
            None => break,
        }
    }
    sizes
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
        assert!(find_pieces(&path).unwrap_err().to_string().contains("line 2 names no truth"));
    }

    #[test]
    fn a_folder_without_pieces_says_what_was_expected() {
        let data = tempfile::tempdir().unwrap();
        assert!(find_pieces(data.path()).unwrap_err().to_string().contains("alignment.*"));
        assert!(find_pieces(&data.path().join("no such folder")).is_err());
    }

    #[test]
    fn a_split_never_parts_performances_of_one_score_and_loses_none() {
        let folder = tempfile::tempdir().unwrap();
        let pieces: Vec<PieceFiles> = (0..23)
            .map(|i| {
                let score = folder.path().join(format!("{i}.mid"));
                std::fs::write(&score, format!("score {}", i / 3)).unwrap();
                let path = |name: &str| folder.path().join(name);
                PieceFiles { name: i.to_string(), audio: path("a"), score, truth: path("t") }
            })
            .collect();
        let parts = split_by_score(pieces, &[0.5, 0.25, 0.25], 1).unwrap();
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 23);
        let ids = |part: &[PieceFiles]| part.iter().map(|p| read(&p.score).unwrap()).collect::<BTreeSet<_>>();
        assert!(parts.iter().enumerate().all(|(i, a)| parts[i + 1..].iter().all(|b| ids(a).is_disjoint(&ids(b)))));
        assert!(parts.iter().map(|p| ids(p).len()).eq([4, 2, 2]));
    }

    #[test]
    fn few_scores_go_round_as_far_as_they_last() {
        assert_eq!(part_sizes(3, &[0.5, 0.25, 0.25]), [1, 1, 1]);
        assert_eq!(part_sizes(2, &[0.75, 0.25]), [1, 1]);
        assert_eq!(part_sizes(1, &[0.75, 0.25]), [1, 0]);
        assert_eq!(part_sizes(0, &[0.75, 0.25]), [0, 0]);
    }
}
