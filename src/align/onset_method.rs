//! The onset method: from the rough start to the onset of every note, and which sections of the score were played.

use std::collections::BTreeMap;

use crate::align::onsets::{OnsetParams, Placed, Rough, place};
use crate::align::settings::{Anchor, OnsetMethod, Settings};
use crate::align::start::Start;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::score::Score;
use crate::warping::Warp;

use super::retiming::bend;
use super::structure::{self, Proposal};
use super::{Listening, Stopwatch};

/// The band follows the rough warp smoothed over this much of the performance …
const CENTRE_SMOOTHING_S: f64 = 0.3;
/// … and the expected tempo is that of the rough warp smoothed over this much.
pub(super) const TEMPO_SMOOTHING_S: f64 = 0.75;
/// Onsets this little outside of what the rough start covers are placed too.
const COVER_SLACK_S: f64 = 0.2;

/// The onsets that were found, and the reading of the score that they belong to if it is not the score as written.
pub(super) struct Found {
    pub placed: Placed,
    pub read: Option<Proposal>,
}

/// Weights and widths of the onset problem under the user's settings.
pub(super) fn params(settings: &Settings, method: &OnsetMethod, usual: &OnsetParams) -> OnsetParams {
    let mut params = OnsetParams { slope: method.slope.map(|slope| (slope.min, slope.max)), ..usual.clone() };
    if let Some(band) = settings.band_s {
        (params.band_s, params.reach_s) = (band, band);
    }
    params
}

/// The middle of the band: the rough start, smoothed and bent through the anchors.
pub(super) fn centre(start: &Start, anchors: &[Anchor]) -> Result<Warp> {
    bend(&start.warp.smoothed(CENTRE_SMOOTHING_S / ratio(&start.warp)), anchors)
}

/// The tempo expected: the rough start, smoothed more.
fn expected_tempo(start: &Start, anchors: &[Anchor]) -> Result<Warp> {
    bend(&start.warp.smoothed(TEMPO_SMOOTHING_S / ratio(&start.warp)), anchors)
}

/// Performance seconds per score second, never zero.
pub(super) fn ratio(warp: &Warp) -> f64 {
    warp.mean_slope().max(f64::MIN_POSITIVE)
}

/// Places the onsets of the score as written, and of other readings where that leaves something to explain.
pub(super) fn find(
    ctx: &JobContext,
    listening: &Listening,
    score: &Score,
    settings: &Settings,
    params: &OnsetParams,
    watch: &mut Stopwatch,
) -> Result<Found> {
    let mut place = |score: &Score, start: &Start| {
        watch.time("placing onsets", || refine(ctx, listening, score, start, settings, params))
    };
    let mut found = Found { placed: place(score, &listening.start)?, read: None };
    // What the user fixed says where things are: then the score is read as written.
    if !settings.anchors.is_empty() || !settings.fixed_notes.is_empty() {
        return Ok(found);
    }
    for proposal in structure::propose(ctx, &listening.spectrum, score, &listening.start, &found.placed.warp)? {
        let other = place(&proposal.reading.score, &proposal.start)?;
        if proposal.is_believed(&other, &found.placed) {
            found = Found { placed: other, read: Some(proposal) };
        }
    }
    Ok(found)
}

/// Refines the rough start to a warp with one knot per onset, and the onsets of the notes.
pub(super) fn refine(
    ctx: &JobContext,
    listening: &Listening,
    score: &Score,
    start: &Start,
    settings: &Settings,
    params: &OnsetParams,
) -> Result<Placed> {
    let rough = Rough {
        centre: &centre(start, &settings.anchors)?,
        tempo: &expected_tempo(start, &settings.anchors)?,
        covered_s: (start.covered_s.0 - COVER_SLACK_S, start.covered_s.1 + COVER_SLACK_S),
        anchors: &settings.anchors,
        fixed_notes: &settings.fixed_notes,
        known_spread: &BTreeMap::new(),
    };
    let placed = place(ctx, &listening.evidence, score, rough, params)?;
    listening.settle(score, &settings.fixed_notes, placed)
}
