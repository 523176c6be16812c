//! The onset method: from the rough start to the onset of every note, and which sections of the score were played.

use std::collections::BTreeMap;

use crate::align::onsets::{OnsetParams, Placed, Rough, place};
use crate::align::settings::{Anchor, OnsetMethod, Path, Settings};
use crate::align::start::{self, Start};
use crate::base::error::{Error, Result};
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
    path: &Path,
    params: &OnsetParams,
    watch: &mut Stopwatch,
) -> Result<Found> {
    let mut place = |score: &Score, start: &Start, settings: &Settings| {
        watch.time("placing onsets", || refine(ctx, listening, score, start, settings, params))
    };
    let form = score.notation.form.as_deref();
    if let Some((form, path)) = form.zip(structure::asked(score, path)?) {
        let reading = structure::reading_along(score, form, &path);
        if reading.score.notes.len() < 2 {
            let allowed = "sections with at least two notes";
            return Err(Error::invalid("--path", form.labels(&path).join(" "), allowed));
        }
        let start = start::find(&ctx.quiet(), &listening.spectrum, &reading.score)?;
        let placed = place(&reading.score, &start, &reading.constraints(settings))?;
        return Ok(Found { placed, read: Some(Proposal::asked(reading, start)) });
    }
    let mut found = Found { placed: place(score, &listening.start, settings)?, read: None };
    let spectrum = &listening.spectrum;
    let explained = structure::explains(spectrum, &found.placed.warp);
    // What is missing at an end may be a repeat or a da capo, too; without one it is an excerpt.
    let covered = form.is_none() || structure::covers(&listening.start, score);
    if *path == Path::Written || (explained && covered) {
        return Ok(found);
    }
    let along = form.map(|form| structure::choose(ctx, spectrum, score, form)).transpose()?.flatten();
    // What the user fixed was played. Of an excerpt the shorter way always fits better: nothing can be told of what it does not hold.
    let along = along.map(|along| (along.reading.constraints(settings), along));
    let fits = |fixed: &Settings, along: &Proposal| {
        structure::covers(&along.start, &along.reading.score) && fixed.corrections() == settings.corrections()
    };
    if let Some((fixed, proposal)) = along.filter(|(fixed, along)| fits(fixed, along)) {
        let placed = place(&proposal.reading.score, &proposal.start, &fixed)?;
        let explained = structure::explains(spectrum, &placed.warp);
        found = Found { placed, read: Some(proposal) };
        if explained {
            return Ok(found);
        }
    }
    if explained || settings.corrections() > 0 {
        return Ok(found);
    }
    for proposal in structure::propose(ctx, spectrum, score, &listening.start)? {
        if found.read.as_ref().is_some_and(|read| !proposal.fits_better(read)) {
            continue;
        }
        let other = place(&proposal.reading.score, &proposal.start, settings)?;
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
