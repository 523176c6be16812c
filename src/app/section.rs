//! Solving a stretch of an alignment again: what a moved onset changes, between its neighbours.

use super::document::view_model::Piece;
use super::solve::preview;
use crate::align::onsets::{Evidence, OnsetParams, Placed, Rough, place};
use crate::align::result::{AlignedNote, Alignment, SearchBand};
use crate::align::settings::{AlignerKind, Anchor, Refinement, Settings};
use crate::align::start::{self, LogSpectrum};
use crate::align::tempo_curve;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::networks::ear;
use crate::warping::Warp;

/// How far from the moved onset, in seconds of the recording, others may follow if no anchor is nearer.
const REACH_S: f64 = 6.0;
/// The expected tempo is that of the curve so far, smoothed over this much of the recording.
const TEMPO_SMOOTHING_S: f64 = 0.75;
/// The same moment of the score.
const SAME_MOMENT_S: f64 = 1e-6;

/// What was heard of a recording, kept so that stretches of it can be solved again at once.
#[derive(Debug)]
pub struct Listening {
    spectrum: LogSpectrum,
    evidence: Evidence,
}

impl Listening {
    /// Listens to the recording of a piece for onsets; `spectrum` is what was heard of it so far.
    pub fn new(ctx: &JobContext, piece: &Piece, mut spectrum: LogSpectrum) -> Result<Self> {
        let start = start::find(ctx, &spectrum, &piece.score)?;
        spectrum.retune(start.tuning_semitones);
        let evidence = Evidence::of(ctx, &piece.recording, spectrum.tuning_semitones, Some(ear::shipped()?.0))?;
        Ok(Self { spectrum, evidence })
    }
}

/// Whether `settings` differ from those of an alignment in nothing but anchors, so that a stretch of it can be solved again.
pub fn suits(alignment: &Alignment, settings: &Settings) -> bool {
    let but_anchors = Settings { anchors: alignment.settings.anchors.clone(), ..settings.clone() };
    but_anchors == alignment.settings
        && settings.aligner == AlignerKind::Gdtw
        && settings.refinement() == Refinement::Onsets
}

/// Solves the stretch around the moment `at_s` of the score again, under the anchors of `settings`. The rest stays as it is.
pub fn solve_section(
    ctx: &JobContext,
    piece: &Piece,
    listening: &Listening,
    alignment: &Alignment,
    settings: &Settings,
    at_s: f64,
) -> Result<Alignment> {
    let moved = settings.anchors.iter().find(|anchor| (anchor.score_s - at_s).abs() <= SAME_MOMENT_S);
    let edges = Edges::around(piece, &alignment.warp, &settings.anchors, at_s);
    let centre = match moved {
        Some(moved) => preview(&alignment.warp, &edges.as_anchors(), *moved)
            .ok_or_else(|| Error::Infeasible { reason: "the moved onset passes another one".to_owned() })?,
        None => alignment.warp.clone(),
    };
    let ratio = centre.mean_slope().max(f64::MIN_POSITIVE);
    let tempo = centre.smoothed(TEMPO_SMOOTHING_S / ratio);
    let inside = |score_s: f64| score_s >= edges.low_s - SAME_MOMENT_S && score_s <= edges.high_s + SAME_MOMENT_S;
    let mut fixed = edges.pins.clone();
    fixed.extend(settings.anchors.iter().map(|a| (a.score_s, a.performance_s)).filter(|pin| inside(pin.0)));
    fixed.sort_by(|a, b| a.0.total_cmp(&b.0));
    fixed.dedup_by(|a, b| (a.0 - b.0).abs() <= SAME_MOMENT_S);
    let rough = Rough { centre: &centre, tempo: &tempo, covered_s: (edges.low_s, edges.high_s), anchors: &fixed };
    let mut params =
        OnsetParams { slope: settings.slope.map(|slope| (slope.min, slope.max)), ..OnsetParams::default() };
    if let Some(band) = settings.band_s {
        (params.band_s, params.widenings) = (band, 0);
    }
    let placed = place(ctx, &listening.evidence, &listening.spectrum, &piece.score, rough, &params)?;
    let warp = spliced(&alignment.warp, &placed.warp, &inside)?;
    let search = alignment.search.as_ref().map(|band| SearchBand {
        // Two bands that do not meet leave the old one.
        centre: spliced(&band.centre, &centre, &inside).unwrap_or_else(|_| band.centre.clone()),
        radius_s: band.radius_s,
    });
    let notes = spliced_notes(piece, alignment, &placed, &warp, &inside);
    Ok(Alignment {
        notes,
        tempo: tempo_curve(&piece.score, &warp),
        warp,
        confidence: alignment.confidence,
        warnings: alignment.warnings.clone(),
        settings: settings.clone(),
        provenance: alignment.provenance.clone(),
        search,
    })
}

/// The stretch of the score that is solved again, and what holds its ends.
struct Edges {
    low_s: f64,
    high_s: f64,
    pins: Vec<(f64, f64)>,
}

impl Edges {
    /// To the next anchor on either side, but not farther than [`REACH_S`]; the ends of the score stay free.
    fn around(piece: &Piece, warp: &Warp, anchors: &[Anchor], at_s: f64) -> Self {
        let here = warp.at(at_s);
        let onsets = &piece.onsets_s;
        let mut edges = Self { low_s: f64::NEG_INFINITY, high_s: f64::INFINITY, pins: Vec::new() };
        let before = anchors.iter().filter(|a| a.score_s < at_s - SAME_MOMENT_S).map(|a| (a.score_s, a.performance_s));
        let first = onsets.partition_point(|&onset| onset < warp.inverse(here - REACH_S));
        let reached = (first > 0).then(|| (onsets[first - 1], warp.at(onsets[first - 1])));
        if let Some(pin) = before.chain(reached).max_by(|a, b| a.0.total_cmp(&b.0)) {
            edges.low_s = pin.0;
            edges.pins.push(pin);
        }
        let after = anchors.iter().filter(|a| a.score_s > at_s + SAME_MOMENT_S).map(|a| (a.score_s, a.performance_s));
        let last = onsets.partition_point(|&onset| onset <= warp.inverse(here + REACH_S));
        let reached = onsets.get(last).map(|&onset| (onset, warp.at(onset)));
        if let Some(pin) = after.chain(reached).min_by(|a, b| a.0.total_cmp(&b.0)) {
            edges.high_s = pin.0;
            edges.pins.push(pin);
        }
        edges
    }

    fn as_anchors(&self) -> Vec<Anchor> {
        self.pins.iter().map(|&(score_s, performance_s)| Anchor { score_s, performance_s }).collect()
    }
}

/// The old warp outside the stretch, the new one inside.
fn spliced(old: &Warp, new: &Warp, inside: &dyn Fn(f64) -> bool) -> Result<Warp> {
    let knots_of = |warp: &Warp, keep: &dyn Fn(f64) -> bool| {
        let knots = warp.score_s().iter().copied().zip(warp.performance_s().iter().copied());
        knots.filter(|knot| keep(knot.0)).collect::<Vec<_>>()
    };
    let mut knots = knots_of(old, &|score_s| !inside(score_s));
    knots.extend(knots_of(new, inside));
    knots.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (scores, times) = knots.into_iter().unzip();
    Warp::new(scores, times)
}

fn spliced_notes(
    piece: &Piece,
    alignment: &Alignment,
    placed: &Placed,
    warp: &Warp,
    inside: &dyn Fn(f64) -> bool,
) -> Vec<AlignedNote> {
    let mut notes = alignment.notes.clone();
    let score = &piece.score.notes;
    for (note, aligned) in score.iter().zip(&mut notes).filter(|(note, _)| inside(note.onset_s)) {
        aligned.onset_s = warp.at(note.onset_s);
    }
    for &(index, onset_s) in placed.notes.iter().filter(|(index, _)| inside(score[*index].onset_s)) {
        notes[index].onset_s = onset_s;
    }
    for (chord, support) in placed.chords.iter().zip(&placed.support).filter(|(chord, _)| inside(chord.onset_s)) {
        for note in &mut notes[chord.notes.clone()] {
            note.confidence = alignment.confidence * support.confidence();
        }
    }
    for (note, aligned) in score.iter().zip(&mut notes) {
        aligned.offset_s = warp.at(note.offset_s).max(aligned.onset_s);
    }
    notes
}

#[cfg(test)]
#[path = "section_tests.rs"]
mod tests;
