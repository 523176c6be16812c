//! Finds the rough warp.

use super::LogSpectrum;
use super::frames::{CoarseFrames, coarse_frames, sharpen};
use super::spectrum::BANDS;
use super::template;
use crate::alignment::Warp;
use crate::alignment::cost::{Band, LocalCost, local_cost};
use crate::alignment::overlap::{OverlapPath, SkipPrices, overlap};
use crate::error::{Error, Result};
use crate::features::FeatureSeq;
use crate::job::JobContext;
use crate::score::Score;

/// Coarse frames are this many spectrum frames at least (about 93 ms) …
const LEAST_FACTOR: usize = 4;
/// … and so many that no more than this number of frames is compared with as many.
const MOST_FRAMES: usize = 3000;
/// Leaving out a sounding frame of the recording costs this, in cosine distance per frame.
const SOUND_PRICE: f32 = 0.6;
/// Leaving out a silent one costs this: just enough not to leave out a rest.
const SILENCE_PRICE: f32 = 0.05;
/// Leaving out a frame of the score costs this, a little more than a frame that is there.
const SCORE_PRICE: f32 = 0.5;
/// A path that covers less than this share of the shorter side has found nothing.
const LEAST_COVERED: f64 = 0.2;
/// A price at which nothing is left out.
const FORBIDDING_PRICE: f32 = 2.0;
/// Semitones that a recording may be off: old or high concert pitch, a transposed part.
const MOST_TRANSPOSITION: i32 = 3;
/// A transposition is believed if it brings the cost down by this much.
const TRANSPOSITION_GAIN: f64 = 0.02;
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
    /// How much higher than A = 440 Hz the recording sounds than the score is written, in semitones.
    pub tuning_semitones: f64,
    /// Mean cosine distance between the score's and the recording's frames along the warp, 0 to 1.
    pub distance: f64,
    /// Cost per frame of either side, with what was left out: what candidates are compared by.
    pub cost: f64,
}

/// Finds the rough warp of a score in a recording.
pub fn find(ctx: &JobContext, recording: &LogSpectrum, score: &Score) -> Result<Start> {
    let factor = LEAST_FACTOR.max(recording.frames().div_ceil(MOST_FRAMES));
    let search = Search { recording, audio: &coarse_frames(recording, factor), factor, score };
    ctx.report("finding the way", 0.0)?;
    let as_written = search.at_best_tempo(ctx, 0)?;
    let likely = likely_transposition(recording, score);
    if likely == 0 {
        return Ok(as_written);
    }
    let transposed = search.at_best_tempo(ctx, likely)?;
    Ok(if transposed.cost < as_written.cost - TRANSPOSITION_GAIN { transposed } else { as_written })
}

/// Coarse frames of the score, played at a tempo ratio, by score seconds; and those of a span of the recording, by its seconds.
pub fn compared(recording: &LogSpectrum, score: &Score, ratio: f64, span_s: (f64, f64)) -> (FeatureSeq, FeatureSeq) {
    let factor = LEAST_FACTOR.max(recording.frames().div_ceil(MOST_FRAMES));
    let first = score.first_onset_s();
    let frames = ((score.end_s() - first) * ratio / recording.hop_s).ceil() as usize + 1;
    let spectrum = template::render(score, &|s| (s - first) * ratio, 0, recording.hop_s, frames);
    let mut written = coarse_frames(&spectrum, factor).features();
    written.times.iter_mut().for_each(|time| *time = first + *time / ratio);
    let mut heard = coarse_frames(recording, factor).features();
    let last = heard.times.partition_point(|&time| time <= span_s.1).max(2);
    let begin = heard.times.partition_point(|&time| time < span_s.0).min(last - 2);
    heard.values = heard.values[begin * heard.dim..last * heard.dim].to_vec();
    heard.times = heard.times[begin..last].to_vec();
    (written, heard)
}

/// What is searched in what.
struct Search<'a> {
    recording: &'a LogSpectrum,
    audio: &'a CoarseFrames,
    factor: usize,
    score: &'a Score,
}

impl Search<'_> {
    /// Searches with the tempo ratio that the sounding length suggests, and again if another one comes out.
    fn at_best_tempo(&self, ctx: &JobContext, transposition: i32) -> Result<Start> {
        let score_length = self.score.end_s() - self.score.first_onset_s();
        let within = |ratio: f64| ratio.clamp(RATIO_RANGE.0, RATIO_RANGE.1);
        let mut ratio = within(active_length_s(self.audio) / score_length);
        let mut found = self.at_tempo(ctx, ratio, transposition)?;
        for _ in 0..2 {
            let seen = within(found.warp.mean_slope());
            if (seen / ratio).max(ratio / seen) < RATIO_TRUST {
                break;
            }
            ratio = seen;
            let again = self.at_tempo(ctx, ratio, transposition)?;
            if again.cost < found.cost {
                found = again;
            }
        }
        Ok(found)
    }

    /// One search with the score rendered at a given tempo ratio.
    fn at_tempo(&self, ctx: &JobContext, ratio: f64, transposition: i32) -> Result<Start> {
        let (audio, hop_s) = (self.audio, self.recording.hop_s);
        let first = self.score.first_onset_s();
        let frames = ((self.score.end_s() - first) * ratio / hop_s).ceil() as usize + 1;
        // Long scores are compressed further so that neither side exceeds the limit.
        let factor = self.factor.max(frames.div_ceil(MOST_FRAMES));
        let spectrum = template::render(self.score, &|s| (s - first) * ratio, transposition, hop_s, frames);
        let expected = coarse_frames(&spectrum, factor);
        let distances = cosine_distances(ctx, &expected, audio)?;
        let price = |level: &f32| SILENCE_PRICE + (SOUND_PRICE - SILENCE_PRICE) * (level * 4.0).min(1.0);
        let prices: Vec<f32> = audio.level.iter().map(price).collect();
        let width = audio.len();
        let fill = |i: usize, row: &mut [f32]| row.copy_from_slice(&distances[i * width..(i + 1) * width]);
        let mut path = overlap(ctx, expected.len(), SkipPrices { score: SCORE_PRICE, performance: &prices }, fill)?;
        let cost = path.cost / (expected.len() + width) as f64;
        if path.pairs.len() < (LEAST_COVERED * expected.len().min(width) as f64) as usize {
            // Nothing seems to match. The best whole reading is still worth more than none; its distance tells.
            let dear = vec![FORBIDDING_PRICE; width];
            path = overlap(ctx, expected.len(), SkipPrices { score: FORBIDDING_PRICE, performance: &dear }, fill)?;
        }
        let sum: f64 = path.pairs.iter().map(|&(i, j)| f64::from(distances[i * width + j])).sum();
        let to_score = |frame: f64| first + expected.time_s(frame) / ratio;
        let (begun, ended) = (path.pairs[0].0 as f64, path.pairs[path.pairs.len() - 1].0 as f64);
        Ok(Start {
            warp: warp_of(&path, &to_score, audio)?,
            covered_s: (to_score(begun - 0.5), to_score(ended + 0.5)),
            distance: sum / path.pairs.len() as f64,
            cost,
            tuning_semitones: self.recording.tuning_semitones + f64::from(transposition),
        })
    }
}

/// By how many semitones the score must be moved for its notes to be, on the whole, those of the recording.
fn likely_transposition(recording: &LogSpectrum, score: &Score) -> i32 {
    let mut heard = recording.mean();
    sharpen(&mut heard);
    let first = score.first_onset_s();
    let length = score.end_s() - first;
    // Tempo does not matter for an average: the whole score in a fixed number of frames is enough.
    let spectrum = template::render(score, &|s| (s - first) / length, 0, 1.0 / 4000.0, 4000);
    let mut written = spectrum.mean();
    sharpen(&mut written);
    let agreement = |shift: i32| -> f32 {
        let moved = |band: usize| usize::try_from(band as i32 - shift).ok().and_then(|from| written.get(from)).copied();
        (0..BANDS).map(|band| heard[band] * moved(band).unwrap_or(0.0)).sum()
    };
    let shifts = -MOST_TRANSPOSITION..=MOST_TRANSPOSITION;
    shifts.max_by(|&a, &b| agreement(a).total_cmp(&agreement(b))).unwrap_or(0)
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
