//! Labelled pieces as training needs them: the features of both sides and the truth between them.

use super::super::data::{PieceFiles, load_all, read};
use super::super::feature_cache::FeatureCache;
use crate::audio;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::evaluation::{BeatClock, GroundTruth, read_ground_truth};
use crate::features::{FeatureParams, FeatureSeq, estimate_tuning, extract};
use crate::score::{Score, SoundFont, play_in_tune};

/// A piece ready to be cut into slices. Features are raw: augmentation works on them before they are rescaled.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// What messages call it.
    pub name: String,
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
    load_all(ctx, files, |ctx, piece| load_piece(ctx, piece, params, cache))
}

/// Reads one piece.
fn load_piece(
    ctx: &JobContext,
    files: &PieceFiles,
    params: &FeatureParams,
    cache: Option<&FeatureCache>,
) -> Result<Piece> {
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
    Ok(Piece { name: files.name.clone(), score: played, performance: recorded, truth })
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

#[cfg(test)]
mod tests {
    use std::path::Path;

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
        let cache = FeatureCache::in_folder(folder.path().join("cache"));
        for _ in 0..2 {
            let cached = load_pieces(&ctx, std::slice::from_ref(&files), &PARAMS, Some(&cache)).unwrap();
            assert_eq!(cached, std::slice::from_ref(&piece));
        }
    }
}
