//! The onset stage: from a rough warp to the onset of every note.

use crate::align::onsets::{Evidence, OnsetParams, Placed, Rough, place};
use crate::align::settings::{Anchor, Settings};
use crate::align::start::{LogSpectrum, Start};
use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::networks::ear;
use crate::score::Score;
use crate::warping::Warp;

use super::Stopwatch;
use super::retiming::bend;

/// The band follows the rough warp smoothed over this much of the performance …
const CENTRE_SMOOTHING_S: f64 = 0.3;
/// … and the expected tempo is that of the rough warp smoothed over this much.
const TEMPO_SMOOTHING_S: f64 = 0.75;
/// Onsets this little outside of what the rough start covers are placed too.
const COVER_SLACK_S: f64 = 0.2;

/// How far from the rough start onsets are looked for at first.
pub(super) fn first_radius_s(settings: &Settings) -> f64 {
    settings.band_s.unwrap_or(OnsetParams::default().band_s)
}

/// The middle of the band: the rough start, smoothed and bent through the anchors.
pub(super) fn centre(start: &Start, anchors: &[Anchor]) -> Result<Warp> {
    let ratio = start.warp.mean_slope().max(f64::MIN_POSITIVE);
    let mut anchors = anchors.to_vec();
    anchors.sort_by(|a, b| a.score_s.total_cmp(&b.score_s));
    bend(&start.warp.smoothed(CENTRE_SMOOTHING_S / ratio), &anchors)
}

/// What the onset stage hears of a recording.
pub(super) struct Heard<'a> {
    evidence: Evidence,
    spectrum: &'a LogSpectrum,
}

/// Listens to a recording for onsets, in the tuning of its spectrum.
pub(super) fn listen<'a>(
    ctx: &JobContext,
    recording: &AudioClip,
    spectrum: &'a LogSpectrum,
    watch: &mut Stopwatch,
) -> Result<Heard<'a>> {
    let evidence =
        watch.time("evidence", || Evidence::of(ctx, recording, spectrum.tuning_semitones, Some(ear::shipped()?.0)))?;
    Ok(Heard { evidence, spectrum })
}

/// Refines the rough start to a warp with one knot per onset, and the onsets of the notes.
pub(super) fn refine(
    ctx: &JobContext,
    heard: &Heard<'_>,
    score: &Score,
    start: &Start,
    settings: &Settings,
    params: &OnsetParams,
    watch: &mut Stopwatch,
) -> Result<Placed> {
    let ratio = start.warp.mean_slope().max(f64::MIN_POSITIVE);
    let mut anchors = settings.anchors.clone();
    anchors.sort_by(|a, b| a.score_s.total_cmp(&b.score_s));
    let centre = centre(start, &settings.anchors)?;
    let tempo = bend(&start.warp.smoothed(TEMPO_SMOOTHING_S / ratio), &anchors)?;
    let fixed: Vec<(f64, f64)> = anchors.iter().map(|anchor| (anchor.score_s, anchor.performance_s)).collect();
    let rough = Rough {
        centre: &centre,
        tempo: &tempo,
        covered_s: (start.covered_s.0 - COVER_SLACK_S, start.covered_s.1 + COVER_SLACK_S),
        anchors: &fixed,
    };
    let mut params = OnsetParams { slope: settings.slope.map(|slope| (slope.min, slope.max)), ..params.clone() };
    if let Some(band) = settings.band_s {
        (params.band_s, params.widenings) = (band, 0);
    }
    watch.time("placing onsets", || place(ctx, &heard.evidence, heard.spectrum, score, rough, &params))
}
