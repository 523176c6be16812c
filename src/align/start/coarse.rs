//! Finds the rough warp.

use std::ops::Range;

use super::LogSpectrum;
use super::frames::{CoarseFrames, coarse_frames, sharpen};
use super::spectrum::BANDS;
use super::template;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::features::FeatureSeq;
use crate::score::Score;
use crate::warping::Warp;
use crate::warping::cost::{Band, Banded, LocalCost, local_cost};
use crate::warping::overlap::{OverlapPath, SkipPrices, overlap};

/// A frame of at least this level sounds.
const SOUNDING_LEVEL: f32 = 0.15;
/// Coarse frames are this many spectrum frames at least (about 93 ms) …
const LEAST_FACTOR: usize = 4;
/// … and so many that no more than this number of frames is compared with as many.
const MOST_FRAMES: usize = 3000;
/// Finer frames are shorter by this factor, until they are as short as they may be …
const FINER: usize = 4;
/// … and compared within so many coarse frames and at least so many seconds.
const FINER_RADIUS_FRAMES: f64 = 6.0;
const FINER_RADIUS_S: f64 = 4.0;
/// The tempo found is smoothed over this share of that.
const FINER_SMOOTHING: f64 = 0.2;
/// What leaving frames out costs, in cosine distance per frame.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Prices {
    /// A sounding frame of the recording.
    sound: f32,
    /// A frame of the score.
    score: f32,
}

/// Recording and score are taken to hold the same music: what is left out costs more than what fits.
const WHOLE: Prices = Prices { sound: 0.6, score: 0.5 };
/// The score is taken to hold a part of the recording: what of that does not fit better than chance is left out …
const SCORE_EXCERPT: Prices = Prices { sound: 0.43, score: 0.6 };
/// … or the recording a part of the score.
const RECORDING_EXCERPT: Prices = Prices { sound: 0.6, score: 0.43 };
/// Distance at which two frames are as likely to be the same music as not.
const CHANCE_DISTANCE: f64 = 0.475;
/// Tempo ratios that an excerpt is looked for at: each search tolerates half to double its own.
const EXCERPT_RATIOS: [f64; 5] = [0.45, 0.7, 1.0, 1.5, 2.2];
/// An excerpt is looked for if the sounding lengths of recording and score differ by more than this factor …
const EXCERPT_LENGTHS: f64 = 1.9;
/// … or the whole does not fit better than this.
const CONVINCING_DISTANCE: f64 = 0.45;
/// Leaving out a silent one costs this: just enough not to leave out a rest.
const SILENCE_PRICE: f32 = 0.05;
/// The price grows by this with the level, that of typical music being 1.
const FULL_PRICE_PER_LEVEL: f32 = 1.5;
/// A path that covers less than this share of the shorter side has found nothing.
const LEAST_COVERED: f64 = 0.2;
/// A price at which nothing is left out.
const FORBIDDING_PRICE: f32 = 2.0;
/// Semitones that a recording may be off: old or high concert pitch, a transposed part.
const MOST_TRANSPOSITION: i32 = 3;
/// A transposition is believed if it brings the cost down by this much.
const TRANSPOSITION_GAIN: f64 = 0.02;
/// Leaving out anything in between costs as much as so many seconds of sound besides: as much as not to do so where the music is only
/// slow, or a little out of place.
const GAP_S: f64 = 2.0;
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
    /// Cost per frame of either side, with what was left out: what readings of the score are compared by.
    pub cost: f64,
    /// By how much the recording fits better than chance, summed over what is covered and divided by all of it.
    evidence: f64,
    /// What leaving frames out cost.
    prices: Prices,
}

impl Start {
    /// The same start for other times of the score.
    pub fn with(&self, warp: Warp, covered_s: (f64, f64)) -> Self {
        Self { warp, covered_s, ..self.clone() }
    }
}

/// Finds the rough warp of a score in a recording: with frames so coarse that everything can be compared with everything, then, in
/// a band round what was found, with finer ones.
pub fn find(ctx: &JobContext, recording: &LogSpectrum, score: &Score) -> Result<Start> {
    let mut found = glance(ctx, recording, score)?;
    let transposition = (found.tuning_semitones - recording.tuning_semitones).round() as i32;
    let mut factor = coarsest_factor(recording);
    while factor > LEAST_FACTOR {
        let radius_s = (FINER_RADIUS_FRAMES * factor as f64 * recording.hop_s).max(FINER_RADIUS_S);
        factor = (factor / FINER).max(LEAST_FACTOR);
        let search = Search { recording, audio: &coarse_frames(recording, factor), factor, score };
        found = search.finer(ctx, &found, transposition, radius_s)?;
    }
    Ok(found)
}

/// The first step of [`find`]: in a long recording some seconds off, but its cost tells how well the score fits.
pub fn glance(ctx: &JobContext, recording: &LogSpectrum, score: &Score) -> Result<Start> {
    let factor = coarsest_factor(recording);
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

/// Mean cosine distance between the score's and the recording's frames along any warp: how well a result fits. The recording
/// must be in the score's pitch.
pub fn distance_along(recording: &LogSpectrum, score: &Score, warp: &Warp) -> f64 {
    let (first, last) = (warp.score_s()[0], warp.score_s()[warp.score_s().len() - 1]);
    let audio = coarse_frames(recording, LEAST_FACTOR);
    let begin_s = warp.at(first).max(0.0);
    let end_s = warp.at(last).min(audio.len() as f64 * audio.hop_s);
    let frames = ((end_s - begin_s).max(0.0) / recording.hop_s).ceil() as usize + 1;
    let spectrum = template::render(score, &|s| warp.at(s) - begin_s, 0, recording.hop_s, frames);
    let expected = coarse_frames(&spectrum, LEAST_FACTOR);
    let distance = |row: usize| {
        let column = (((begin_s + row as f64 * expected.hop_s) / audio.hop_s).round() as usize).min(audio.len() - 1);
        // That both are silent tells nothing: a score stretched over a long silence would fit well.
        let tells = expected.level[row].max(audio.level[column]) > SOUNDING_LEVEL;
        let alike = || expected.frame(row).iter().zip(audio.frame(column)).map(|(a, b)| a * b).sum::<f32>();
        tells.then(|| 1.0 - f64::from(alike()))
    };
    let distances: Vec<f64> = (0..expected.len()).filter_map(distance).collect();
    if distances.is_empty() { 1.0 } else { distances.iter().sum::<f64>() / distances.len() as f64 }
}

/// Spectrum frames per coarse frame, so that everything can be compared with everything.
fn coarsest_factor(recording: &LogSpectrum) -> usize {
    LEAST_FACTOR.max(recording.frames().div_ceil(MOST_FRAMES))
}

/// Coarse frames of the score, played at a tempo ratio, by score seconds; and those of the recording, by its seconds.
pub fn compared(recording: &LogSpectrum, score: &Score, ratio: f64) -> (FeatureSeq, FeatureSeq) {
    let factor = coarsest_factor(recording);
    let first = score.first_onset_s();
    let frames = ((score.end_s() - first) * ratio / recording.hop_s).ceil() as usize + 1;
    let spectrum = template::render(score, &|s| (s - first) * ratio, 0, recording.hop_s, frames);
    let mut written = coarse_frames(&spectrum, factor).features();
    written.times.iter_mut().for_each(|time| *time = first + *time / ratio);
    (written, coarse_frames(recording, factor).features())
}

/// What is searched in what.
struct Search<'a> {
    recording: &'a LogSpectrum,
    audio: &'a CoarseFrames,
    factor: usize,
    score: &'a Score,
}

impl Search<'_> {
    /// Searches for the whole score in the whole recording, and for a part of the one in the other where that does not convince.
    fn at_best_tempo(&self, ctx: &JobContext, transposition: i32) -> Result<Start> {
        let score_length = self.score.end_s() - self.score.first_onset_s();
        let lengths = active_length_s(self.audio) / score_length;
        let whole = self.starting_at_tempo(ctx, lengths, transposition, WHOLE)?;
        let same_length = (1.0 / EXCERPT_LENGTHS..EXCERPT_LENGTHS).contains(&lengths);
        if same_length && whole.distance < CONVINCING_DISTANCE {
            return Ok(whole);
        }
        let prices = if lengths > 1.0 { SCORE_EXCERPT } else { RECORDING_EXCERPT };
        let cost = whole.cost;
        let mut best = whole;
        for ratio in EXCERPT_RATIOS {
            let Ok(excerpt) = self.starting_at_tempo(ctx, ratio, transposition, prices) else {
                // Too little fits at this tempo to be an excerpt.
                ctx.check()?;
                continue;
            };
            if excerpt.evidence > best.evidence {
                // Readings are compared by what the search for the whole cost.
                best = Start { cost, ..excerpt };
            }
        }
        Ok(best)
    }

    /// Searches with a tempo ratio, and again if another one comes out.
    fn starting_at_tempo(&self, ctx: &JobContext, ratio: f64, transposition: i32, prices: Prices) -> Result<Start> {
        let within = |ratio: f64| ratio.clamp(RATIO_RANGE.0, RATIO_RANGE.1);
        let mut ratio = within(ratio);
        let mut found = self.at_tempo(ctx, ratio, transposition, prices)?;
        for _ in 0..2 {
            let seen = within(found.warp.mean_slope());
            if (seen / ratio).max(ratio / seen) < RATIO_TRUST {
                break;
            }
            ratio = seen;
            let again = self.at_tempo(ctx, ratio, transposition, prices)?;
            let is_better = if prices == WHOLE { again.cost < found.cost } else { again.evidence > found.evidence };
            if is_better {
                found = again;
            }
        }
        Ok(found)
    }

    /// One search with the score rendered at a given tempo ratio.
    fn at_tempo(&self, ctx: &JobContext, ratio: f64, transposition: i32, prices: Prices) -> Result<Start> {
        let (audio, hop_s) = (self.audio, self.recording.hop_s);
        let first = self.score.first_onset_s();
        let frames = ((self.score.end_s() - first) * ratio / hop_s).ceil() as usize + 1;
        // Long scores are compressed further so that neither side exceeds the limit.
        let factor = self.factor.max(frames.div_ceil(MOST_FRAMES));
        let spectrum = template::render(self.score, &|s| (s - first) * ratio, transposition, hop_s, frames);
        let expected = coarse_frames(&spectrum, factor);
        let distances = cosine_distances(ctx, &expected, audio, &Band::full(expected.len(), audio.len())?)?;
        let width = audio.len();
        let skips = skip_prices(audio, prices.sound);
        let mut path =
            overlap(ctx, &distances, SkipPrices { score: prices.score, performance: &skips, gap: self.gap_price() })?;
        let cost = path.cost / (expected.len() + width) as f64;
        if path.pairs.len() < (LEAST_COVERED * expected.len().min(width) as f64) as usize {
            // Nothing seems to match. The best whole reading is still worth more than none; its distance tells.
            let dear = vec![FORBIDDING_PRICE; width];
            path = overlap(
                ctx,
                &distances,
                SkipPrices { score: FORBIDDING_PRICE, performance: &dear, gap: f32::INFINITY },
            )?;
        }
        let to_score = |frame: f64| first + expected.time_s(frame) / ratio;
        self.start(&path, &distances, &to_score, cost, transposition, prices)
    }

    /// One search in a band round what coarser frames found, with the score rendered at the tempo found.
    fn finer(&self, ctx: &JobContext, found: &Start, transposition: i32, radius_s: f64) -> Result<Start> {
        let (audio, hop_s) = (self.audio, self.recording.hop_s);
        let slope = found.warp.mean_slope();
        if !(RATIO_RANGE.0..=RATIO_RANGE.1).contains(&slope) {
            // A path that stands still or leaps has found nothing to look at more closely.
            return Ok(found.clone());
        }
        let tempo = found.warp.smoothed(FINER_SMOOTHING * radius_s / slope);
        // What was just not covered may be.
        let more_s = radius_s / slope;
        let begin_s = tempo.at((found.covered_s.0 - more_s).max(self.score.first_onset_s())).max(0.0);
        let end_s = tempo.at((found.covered_s.1 + more_s).min(self.score.end_s()));
        let duration_s = audio.len() as f64 * audio.hop_s;
        let length_s = (end_s.min(duration_s) - begin_s).max(2.0 * audio.hop_s);
        let frames = (length_s / hop_s).ceil() as usize;
        let spectrum = template::render(self.score, &|s| tempo.at(s) - begin_s, transposition, hop_s, frames);
        let expected = coarse_frames(&spectrum, self.factor);
        let columns = |row: usize| {
            let at = begin_s + expected.time_s(row as f64);
            let frame = |second: f64| ((second / audio.hop_s).max(0.0) as usize).min(audio.len() - 1);
            frame(at - radius_s)..frame(at + radius_s) + 1
        };
        let ranges: Vec<Range<usize>> = (0..expected.len()).map(columns).collect();
        let distances = cosine_distances(ctx, &expected, audio, &Band::from_ranges(audio.len(), &ranges)?)?;
        let skips = skip_prices(audio, found.prices.sound);
        let prices = SkipPrices { score: found.prices.score, performance: &skips, gap: self.gap_price() };
        let path = overlap(ctx, &distances, prices)?;
        if path.pairs.len() < (LEAST_COVERED * expected.len() as f64) as usize {
            // What was found does not hold when looked at closely; then nothing better will be found near it.
            return Ok(found.clone());
        }
        let to_score = |frame: f64| tempo.inverse(begin_s + expected.time_s(frame));
        // Candidates are compared by what the search over everything found.
        self.start(&path, &distances, &to_score, found.cost, transposition, found.prices)
    }

    /// What leaving out something in between costs.
    fn gap_price(&self) -> f32 {
        (GAP_S / self.audio.hop_s) as f32 * WHOLE.sound
    }

    fn start(
        &self,
        path: &OverlapPath,
        distances: &Banded<f32>,
        to_score: &dyn Fn(f64) -> f64,
        cost: f64,
        transposition: i32,
        prices: Prices,
    ) -> Result<Start> {
        let distance_of = |&(row, column): &(usize, usize)| distances.get(row, column).map_or(1.0, f64::from);
        let by_column = path.pairs.chunk_by(|a, b| a.1 == b.1);
        let fits = by_column.map(|run| CHANCE_DISTANCE - run.iter().map(distance_of).sum::<f64>() / run.len() as f64);
        let sum: f64 = path.pairs.iter().filter_map(|&(i, j)| distances.get(i, j)).map(f64::from).sum();
        let (begun, ended) = (path.pairs[0].0 as f64, path.pairs[path.pairs.len() - 1].0 as f64);
        Ok(Start {
            warp: warp_of(path, to_score, self.audio)?,
            covered_s: (to_score(begun - 0.5), to_score(ended + 0.5)),
            distance: sum / path.pairs.len() as f64,
            cost,
            evidence: fits.sum::<f64>() / self.audio.len() as f64,
            prices,
            tuning_semitones: self.recording.tuning_semitones + f64::from(transposition),
        })
    }
}

/// What leaving out each frame of the recording costs. Noise has half the level of music, however loud it is: its bands hardly
/// stand out.
fn skip_prices(audio: &CoarseFrames, sound: f32) -> Vec<f32> {
    let price = |level: &f32| SILENCE_PRICE + (sound - SILENCE_PRICE) * (level * FULL_PRICE_PER_LEVEL).min(1.0);
    audio.level.iter().map(price).collect()
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
    let sounds = |level: &f32| *level > SOUNDING_LEVEL;
    let first = audio.level.iter().position(sounds).unwrap_or(0);
    let last = audio.level.iter().rposition(sounds).unwrap_or(audio.len().saturating_sub(1));
    (last + 1 - first) as f64 * audio.hop_s
}

fn cosine_distances(ctx: &JobContext, score: &CoarseFrames, audio: &CoarseFrames, band: &Band) -> Result<Banded<f32>> {
    local_cost(ctx, &score.features().signal()?, &audio.features().signal()?, LocalCost::Cosine, band)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::plain_score;

    /// Half an hour in which the tempo goes from a half to double and back: far from a straight line, in frames of 0.9 s at first.
    #[test]
    fn in_a_long_recording_the_start_is_as_near_as_in_a_short_one() {
        let mut state = 7u32;
        let mut pitch = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            48 + (state >> 24) as u8 % 36
        };
        let notes: Vec<(f64, f64, u8)> = (0..5000).map(|k| (0.36 * f64::from(k), 0.34, pitch())).collect();
        let score = plain_score(&notes);
        let played = |s: f64| 2.0 + 1.25 * s + 210.0 * (1.0 - (s / 286.5).cos());
        let hop_s = 0.0232;
        let frames = (played(score.end_s()) / hop_s) as usize + 100;
        let recording = template::render(&score, &played, 0, hop_s, frames);
        let start = find(&JobContext::new(), &recording, &score).unwrap();
        let mut errors: Vec<f64> = notes.iter().map(|note| (start.warp.at(note.0) - played(note.0)).abs()).collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors[4900] < 0.3, "98 % are right to {:.2} s", errors[4900]);
    }

    #[test]
    fn in_a_long_recording_of_noise_something_is_found_without_a_fault() {
        let mut state = 3u32;
        let mut level = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            2.0 + (state >> 8) as f32 / 16_777_216.0
        };
        let values = (0..40_000 * BANDS).map(|_| level()).collect();
        let noise = LogSpectrum { hop_s: 0.0232, values, tuning_semitones: 0.0 };
        let notes: Vec<(f64, f64, u8)> = (0..500).map(|k| (0.5 * f64::from(k), 0.4, 50 + (k * 7 % 24) as u8)).collect();
        let start = find(&JobContext::new(), &noise, &plain_score(&notes)).unwrap();
        assert!(start.warp.performance_s().iter().all(|time| time.is_finite()));
        assert!(start.distance.is_finite() && start.cost.is_finite());
    }
}
