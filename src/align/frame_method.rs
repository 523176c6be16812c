//! The frame method: the score is synthesised at the recording's tempo, both become features, DTW or GDTW aligns the frames.

use crate::align::performance::Performance;
use crate::align::result::ModelId;
use crate::align::settings::{Aligner, Anchor, Ends, FrameMethod, Settings, SlopeLimits};
use crate::align::start::Start;
use crate::audio::AudioClip;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::time::{frame_count, frame_to_seconds};
use crate::features::{FeatureParams, FeatureSeq, extract, rescaled};
use crate::networks::{Side, open_extractor};
use crate::score::{Score, SoundFont, play_in_tune};
use crate::warping::Warp;
use crate::warping::cost::Band;
use crate::warping::dtw::{self, PathReading, dtw_of_pairs};
use crate::warping::gdtw::{Problem, SolveOptions, WideningBand, Workspace, solve_in_band};

use super::retiming::Retiming;
use super::{Listening, Stopwatch};

/// How far the warp may stray from the rough one at first; it widens where the path touches the edge.
const FIRST_BAND_S: f64 = 1.5;
/// The band doubles at most this often: from 1.5 to 12 seconds.
const MOST_WIDENINGS: usize = 3;

/// How far from the rough start frames are compared at first.
pub(super) fn first_radius_s(settings: &Settings, method: &FrameMethod) -> f64 {
    settings.band_s.unwrap_or(match method.aligner {
        Aligner::Gdtw { .. } => FIRST_BAND_S,
        Aligner::Dtw => 2.0 * FIRST_BAND_S,
    })
}

/// The warp that was found, and the extractor that it was found with.
pub(super) struct FrameWarp {
    pub warp: Warp,
    pub extractor: Option<ModelId>,
}

/// Refines the rough start to a warp with one knot per frame of the synthesised score.
pub(super) fn refine(
    ctx: &JobContext,
    performance: &Performance,
    score: &Score,
    listening: &Listening,
    settings: &Settings,
    method: &FrameMethod,
    watch: &mut Stopwatch,
) -> Result<FrameWarp> {
    let soundfont = SoundFont::load(method.soundfont.as_deref())?;
    let recording = &*performance.sound(ctx, &soundfont)?;
    let (start, anchors) = with_ends(recording, score, &listening.start, &settings.anchors, method);
    let retiming = Retiming::new(&start, &anchors)?;
    let params = FeatureParams { kind: method.features, hop: method.hop };
    let expected = {
        let to_clip = |score_s| retiming.to_clip(score_s);
        let played = watch
            .time("playing the score", || play_in_tune(ctx, score, soundfont, start.tuning_semitones, &to_clip))?;
        watch.time("features of the score", || extract(ctx, &played, &params))?
    };
    let actual = watch.time("features of the recording", || extract(ctx, recording, &params))?;
    let (mut expected, mut actual) = (rescaled(expected, method.features), rescaled(actual, method.features));
    let mut suitable_lambda = method.features.default_lambda();
    let mut used = None;
    if let Some(name) = &method.extractor {
        let extractor = open_extractor(name, &listening.device)?;
        extractor.card.check_suits(method.features, method.hop)?;
        suitable_lambda = extractor.card.spec.lambda;
        used = Some(ModelId::of(&extractor.card));
        watch.time("learned features", || {
            expected = extractor.extract(ctx, &expected, Side::Score)?;
            actual = extractor.extract(ctx, &actual, Side::Performance)?;
            Ok::<_, Error>(())
        })?;
    }
    let frames = Frames::new(&expected, &retiming, &start)?;
    let radius_s = first_radius_s(settings, method);
    let times = watch.time("aligning frames", || match method.aligner {
        Aligner::Gdtw { lambda, slope } => {
            // A band that the user chose is a constraint; ours is a guess.
            let widenings = if settings.band_s.is_some() { 0 } else { MOST_WIDENINGS };
            let band = WideningBand { radius_s, widenings };
            gdtw_times(ctx, &frames, &actual, lambda.unwrap_or(suitable_lambda), slope, band)
        }
        Aligner::Dtw => dtw_times(ctx, &frames, &actual, radius_s),
    })?;
    let knots = frames.times_s.iter().map(|&time| retiming.to_score(time)).collect();
    Ok(FrameWarp { warp: Warp::new(knots, times)?, extractor: used })
}

/// Pinned ends are two more anchors, and then the recording covers the whole score.
fn with_ends(
    recording: &AudioClip,
    score: &Score,
    start: &Start,
    anchors: &[Anchor],
    FrameMethod { ends, hop, .. }: &FrameMethod,
) -> (Start, Vec<Anchor>) {
    let (ends, hop) = (*ends, *hop);
    let (first_s, last_s) = (score.first_onset_s(), score.end_s());
    let mut anchors = anchors.to_vec();
    if ends == Ends::Free {
        return (start.clone(), anchors);
    }
    if anchors.first().is_none_or(|anchor| anchor.score_s > first_s) {
        anchors.insert(0, Anchor { score_s: first_s, performance_s: 0.0 });
    }
    if anchors.last().is_none_or(|anchor| anchor.score_s < last_s) {
        let last_frame = frame_count(recording.samples.len(), hop).saturating_sub(1);
        let performance_s = frame_to_seconds(last_frame, hop, recording.sample_rate);
        anchors.push(Anchor { score_s: last_s, performance_s });
    }
    (start.with(start.warp.clone(), (first_s, last_s)), anchors)
}

/// The frames of the synthesised score, at the performance times where the rough start expects them.
struct Frames {
    times_s: Vec<f64>,
    features: FeatureSeq,
    /// Frames that the user fixed.
    anchors: Vec<(usize, f64)>,
}

impl Frames {
    /// Keeps the frames that the recording covers and adds one exactly at each anchor.
    fn new(expected: &FeatureSeq, retiming: &Retiming, start: &Start) -> Result<Self> {
        let (first, last) = (retiming.to_performance(start.covered_s.0), retiming.to_performance(start.covered_s.1));
        let mut times: Vec<(f64, Option<f64>)> = Vec::new();
        for &clip_s in &expected.times {
            let time = retiming.clip_to_performance(clip_s);
            if (first..=last).contains(&time) {
                times.push((time, None));
            }
        }
        for anchor in retiming.anchors() {
            let time = retiming.to_performance(anchor.score_s);
            // A frame closer than this to an anchor gives way to it: two knots at one moment would be singular.
            times.retain(|(other, fixed)| fixed.is_some() || (other - time).abs() > 1e-3);
            times.push((time, Some(anchor.performance_s)));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut values = Vec::with_capacity(times.len() * expected.dim);
        for (time, _) in &times {
            expected.interpolate_into(retiming.performance_to_clip(*time), &mut values);
        }
        let anchors = times.iter().enumerate().filter_map(|(i, (_, fixed))| Some((i, (*fixed)?))).collect();
        let times_s: Vec<f64> = times.iter().map(|(time, _)| *time).collect();
        let features = FeatureSeq { times: times_s.clone(), values, dim: expected.dim };
        Ok(Self { times_s, features, anchors })
    }
}

fn gdtw_times(
    ctx: &JobContext,
    frames: &Frames,
    actual: &FeatureSeq,
    lambda: f64,
    slope: Option<SlopeLimits>,
    band: WideningBand,
) -> Result<Vec<f64>> {
    let mut problem = Problem::from_signals(frames.features.signal()?, actual.signal()?, lambda);
    if let Some(slope) = slope {
        problem = problem.with_slope_limits(slope.min, slope.max);
    }
    problem = problem.with_anchors(&frames.anchors)?;
    let (options, mut workspace) = (SolveOptions::default(), Workspace::default());
    Ok(solve_in_band(ctx, &problem, &frames.times_s, band, &options, &mut workspace)?.phi)
}

fn dtw_times(ctx: &JobContext, frames: &Frames, actual: &FeatureSeq, radius: f64) -> Result<Vec<f64>> {
    let column = |time: f64| actual.times.partition_point(|&t| t < time).min(actual.frames() - 1);
    let fixed: Vec<(usize, usize)> = frames.anchors.iter().map(|&(row, time)| (row, column(time))).collect();
    let mut ranges = Vec::with_capacity(frames.times_s.len());
    for (row, time) in frames.times_s.iter().enumerate() {
        let earliest = fixed.iter().filter(|a| a.0 <= row).map(|a| a.1).max().unwrap_or(0);
        let latest = fixed.iter().filter(|a| a.0 >= row).map(|a| a.1).min().unwrap_or(actual.frames() - 1);
        let low = column(time - radius).clamp(earliest, latest);
        let high = column(time + radius).clamp(earliest, latest);
        ranges.push(low..high + 1);
    }
    let band = Band::from_ranges(actual.frames(), &ranges)?;
    let pair = (frames.features.signal()?, actual.signal()?, band);
    let path = dtw_of_pairs(ctx, &[pair], dtw::Ends::Subsequence)?.remove(0);
    let warp = path.warp(&frames.times_s, &actual.times, PathReading::RunCentres)?;
    let mut times: Vec<f64> = frames.times_s.iter().map(|&time| warp.at(time)).collect();
    for &(row, time) in &frames.anchors {
        times[row] = time;
        times[..row].iter_mut().for_each(|t| *t = t.min(time));
        times[row..].iter_mut().for_each(|t| *t = t.max(time));
    }
    Ok(times)
}
