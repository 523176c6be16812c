//! Finds the rough warp.

use super::LogSpectrum;
use super::frames::{CoarseFrames, coarse_frames};
use super::template;
use crate::alignment::Warp;
use crate::alignment::cost::{Band, LocalCost, local_cost};
use crate::alignment::overlap::{OverlapPath, SkipPrices, overlap};
use crate::error::{Error, Result};
use crate::job::JobContext;
use crate::score::Score;

/// Coarse frames are this many spectrum frames at least (about 93 ms) …
const LEAST_FACTOR: usize = 4;
/// … and so many that no more than this number of frames is compared with as many.
const MOST_FRAMES: usize = 3000;
/// Leaving out a sounding frame of the recording costs this, in cosine distance per frame.
const SOUND_PRICE: f32 = 0.5;
/// Leaving out a silent one costs this: just enough not to leave out a rest.
const SILENCE_PRICE: f32 = 0.05;
/// Leaving out a frame of the score costs this: dearer, because recordings rarely lack part of the piece.
const SCORE_PRICE: f32 = 0.6;
/// Tempo ratios (performance seconds per score second) that are tried at all.
const RATIO_RANGE: (f64, f64) = (0.25, 4.0);
/// If the ratio found differs from the one assumed by more than this factor, the search is done again with it.
const RATIO_TRUST: f64 = 1.15;

/// A rough warp with how much of the score it covers.
#[derive(Debug, Clone)]
pub struct Start {
    /// Score seconds to performance seconds; a few tenths of a second off at most where it is right.
    pub warp: Warp,
    /// First and last score time that the recording holds.
    pub covered_s: (f64, f64),
    /// Mean cosine distance between the score's and the recording's frames along the warp, 0 to 1.
    pub distance: f64,
}

/// Finds the rough warp of a score in a recording.
pub fn find(ctx: &JobContext, recording: &LogSpectrum, score: &Score) -> Result<Start> {
    let factor = LEAST_FACTOR.max(recording.frames().div_ceil(MOST_FRAMES));
    let audio = coarse_frames(recording, factor);
    let first = score.first_onset_s();
    let score_length = score.end_s() - first;
    let mut ratio = (active_length_s(&audio) / score_length).clamp(RATIO_RANGE.0, RATIO_RANGE.1);
    let mut found = attempt(ctx, &audio, factor, recording.hop_s, score, ratio)?;
    for _ in 0..2 {
        let seen = found.warp.mean_slope().clamp(RATIO_RANGE.0, RATIO_RANGE.1);
        if (seen / ratio).max(ratio / seen) < RATIO_TRUST {
            break;
        }
        ratio = seen;
        let again = attempt(ctx, &audio, factor, recording.hop_s, score, ratio)?;
        if again.distance < found.distance {
            found = again;
        }
    }
    Ok(found)
}

/// One search with the score rendered at a given tempo ratio.
fn attempt(
    ctx: &JobContext,
    audio: &CoarseFrames,
    factor: usize,
    fine_hop_s: f64,
    score: &Score,
    ratio: f64,
) -> Result<Start> {
    let first = score.first_onset_s();
    // Long scores are compressed further so that neither side exceeds the limit.
    let frames = ((score.end_s() - first) * ratio / fine_hop_s).ceil() as usize + 1;
    let score_factor = factor.max(frames.div_ceil(MOST_FRAMES));
    let spectrum = template::render(score, &|s| (s - first) * ratio, fine_hop_s, frames);
    let expected = coarse_frames(&spectrum, score_factor);
    let distances = cosine_distances(ctx, &expected, audio)?;
    let price = |level: &f32| SILENCE_PRICE + (SOUND_PRICE - SILENCE_PRICE) * (level * 4.0).min(1.0);
    let prices: Vec<f32> = audio.level.iter().map(price).collect();
    let prices = SkipPrices { score: SCORE_PRICE, performance: &prices };
    let width = audio.len();
    let path =
        overlap(ctx, expected.len(), prices, |i, row| row.copy_from_slice(&distances[i * width..(i + 1) * width]))?;
    let distance =
        path.pairs.iter().map(|&(i, j)| f64::from(distances[i * width + j])).sum::<f64>() / path.pairs.len() as f64;
    let to_score = |frame: f64| first + expected.time_s(frame) / ratio;
    let warp = warp_of(&path, &to_score, audio)?;
    let covered_s = (to_score(path.pairs[0].0 as f64 - 0.5), to_score(path.pairs[path.pairs.len() - 1].0 as f64 + 0.5));
    Ok(Start { warp, covered_s, distance })
}

/// Seconds between the first and the last frame that sound.
fn active_length_s(audio: &CoarseFrames) -> f64 {
    let sounds = |level: &f32| *level > 0.15;
    let first = audio.level.iter().position(sounds).unwrap_or(0);
    let last = audio.level.iter().rposition(sounds).unwrap_or(audio.len().saturating_sub(1));
    (last + 1 - first) as f64 * audio.hop_s
}

fn cosine_distances(ctx: &JobContext, score: &CoarseFrames, audio: &CoarseFrames) -> Result<Vec<f32>> {
    let (score, audio) = (score.features(), audio.features());
    let band = Band::full(score.frames(), audio.frames())?;
    Ok(local_cost(ctx, &score.signal()?, &audio.signal()?, LocalCost::Cosine, &band)?.into_values())
}

/// One knot per matched score frame, at the middle of its performance frames, lightly smoothed.
fn warp_of(path: &OverlapPath, to_score: &dyn Fn(f64) -> f64, audio: &CoarseFrames) -> Result<Warp> {
    let (mut knots, mut times) = (Vec::new(), Vec::new());
    for run in path.pairs.chunk_by(|a, b| a.0 == b.0) {
        knots.push(to_score(run[0].0 as f64));
        times.push(audio.time_s((run[0].1 + run[run.len() - 1].1) as f64 / 2.0));
    }
    if knots.len() < 2 {
        return Err(Error::unsuitable(
            "the recording",
            "it is too short to follow the score",
            "check that recording and score belong together",
        ));
    }
    Warp::new(knots, times)
}
