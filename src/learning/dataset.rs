//! Labelled pieces as training needs them: the features of both sides and the truth between them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::feature_cache::{FeatureCache, hex};
use super::piece_files::PieceFiles;
use crate::audio;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::evaluation::{BeatClock, GroundTruth, read_ground_truth};
use crate::features::{FeatureParams, FeatureSeq, estimate_tuning, extract};
use crate::score::{Score, SoundFont, play_in_tune};

/// A piece ready to be cut into slices. Features are raw: augmentation works on them before they are rescaled.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// What messages call it.
    pub name: String,
    /// Hash of the score's content: performances of one score stay on one side of a split.
    pub score_id: String,
    /// Features of the score, played at the performance's overall tempo.
    pub score: FeatureSeq,
    /// Features of the recording.
    pub performance: FeatureSeq,
    /// The truth; its score times are those of the played score.
    pub truth: GroundTruth,
}

/// Reads pieces and computes their features, or takes them from the cache. The result is in the order of `files`.
pub fn load_pieces(
    ctx: &JobContext,
    files: &[PieceFiles],
    params: &FeatureParams,
    cache: Option<&FeatureCache>,
) -> Result<Vec<Piece>> {
    const STAGE: &str = "reading the data";
    let done = AtomicUsize::new(0);
    ctx.report(STAGE, 0.0)?;
    let load = |piece: &PieceFiles| {
        let piece = load_piece(&ctx.quiet(), piece, params, cache)?;
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        ctx.report(STAGE, count as f32 / files.len() as f32)?;
        Ok(piece)
    };
    files.par_iter().map(load).collect()
}

/// Reads one piece.
pub fn load_piece(
    ctx: &JobContext,
    files: &PieceFiles,
    params: &FeatureParams,
    cache: Option<&FeatureCache>,
) -> Result<Piece> {
    ctx.check()?;
    let score_bytes = read(&files.score)?;
    let score = Score::from_bytes(&files.score, &score_bytes)?;
    let mut truth = read_ground_truth(&files.truth, Some(&BeatClock::of_score(&score)))?;
    let tempo = overall_tempo(files, &truth)?;
    truth.score_s.iter_mut().for_each(|time| *time *= tempo);

    let audio_bytes = read(&files.audio)?;
    let recording = || {
        let clip = audio::decode(ctx, &files.audio)?.clip;
        clip.check_usable(&files.name)?;
        Ok(clip)
    };
    // As the score is played for an alignment, but at one tempo throughout.
    let played = || {
        let tuning = estimate_tuning(ctx, &recording()?)?;
        let clip = play_in_tune(ctx, &score, SoundFont::builtin(), tuning, &|second| second * tempo)?;
        extract(ctx, &clip, params)
    };
    let recorded = || extract(ctx, &recording()?, params);
    let (played, recorded) = match cache {
        None => (played()?, recorded()?),
        Some(cache) => {
            let tempo_bytes = tempo.to_bits().to_le_bytes();
            let played_from: [&[u8]; 4] = [b"score played in tune", &score_bytes, &audio_bytes, &tempo_bytes];
            (
                cache.get_or_compute(params, &played_from, played)?,
                cache.get_or_compute(params, &[b"recording", &audio_bytes], recorded)?,
            )
        }
    };
    let score_id = hex(&Sha256::digest(&score_bytes));
    Ok(Piece { name: files.name.clone(), score_id, score: played, performance: recorded, truth })
}

/// Performance seconds per score second over the labelled span.
fn overall_tempo(files: &PieceFiles, truth: &GroundTruth) -> Result<f64> {
    let span = |times: &[f64]| times[times.len() - 1] - times[0];
    let tempo = span(&truth.performance_s) / span(&truth.score_s);
    if tempo.is_finite() && (1.0 / 16.0..=16.0).contains(&tempo) {
        return Ok(tempo);
    }
    let cause = format!("the performance lasts {tempo} times as long as the score");
    Err(Error::malformed(&files.truth, cause, "check that its columns are not mixed up"))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::io("read", path, source))
}

/// Splits pieces by score, never within one: shares of the scores go to each part, in a random order. Every part gets
/// at least one score if there are enough.
pub fn split_by_score(pieces: Vec<Piece>, shares: &[f64], seed: u64) -> Vec<Vec<Piece>> {
    let mut scores: Vec<String> =
        pieces.iter().map(|p| p.score_id.clone()).collect::<BTreeSet<_>>().into_iter().collect();
    Random::at(seed, &[]).shuffle(&mut scores);
    let parts = part_sizes(scores.len(), shares);
    let part_of = |id: &str| {
        let place = scores.iter().position(|score| score == id).unwrap_or(0);
        let mut end = 0;
        parts.iter().position(|size| {
            end += size;
            place < end
        })
    };
    let mut split = vec![Vec::new(); shares.len()];
    for piece in pieces {
        split[part_of(&piece.score_id).unwrap_or(0)].push(piece);
    }
    split
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
    use crate::features::FeatureKind;

    const PARAMS: FeatureParams = FeatureParams { kind: FeatureKind::Chroma, hop: 1024 };

    fn demo_piece(folder: &Path) -> PieceFiles {
        let [audio, score, truth] = crate::demo::files().map(|(name, bytes)| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        });
        PieceFiles { name: "demo".to_owned(), audio, score, truth }
    }

    #[test]
    fn the_score_is_played_at_the_overall_tempo_and_the_cache_gives_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let files = demo_piece(folder.path());
        let ctx = JobContext::new();
        let piece = load_piece(&ctx, &files, &PARAMS, None).unwrap();
        let span = |times: &[f64]| times[times.len() - 1] - times[0];
        assert!((span(&piece.truth.score_s) - span(&piece.truth.performance_s)).abs() < 1e-9);
        let cache = FeatureCache::in_folder(folder.path().join("cache")).unwrap();
        for _ in 0..2 {
            let cached = load_pieces(&ctx, std::slice::from_ref(&files), &PARAMS, Some(&cache)).unwrap();
            assert_eq!(cached, std::slice::from_ref(&piece));
        }
    }

    fn named(name: usize, score: usize) -> Piece {
        let features = FeatureSeq { times: vec![0.0], values: vec![0.0], dim: 1 };
        let truth = GroundTruth { score_s: vec![0.0, 1.0], performance_s: vec![0.0, 1.0] };
        let (name, score_id) = (name.to_string(), score.to_string());
        Piece { name, score_id, score: features.clone(), performance: features, truth }
    }

    #[test]
    fn a_split_never_parts_performances_of_one_score_and_loses_none() {
        let pieces: Vec<Piece> = (0..23).map(|i| named(i, i / 3)).collect();
        let parts = split_by_score(pieces, &[0.5, 0.25, 0.25], 1);
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 23);
        let ids = |part: &[Piece]| part.iter().map(|p| p.score_id.clone()).collect::<BTreeSet<_>>();
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
