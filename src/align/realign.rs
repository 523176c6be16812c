//! Solving a passage again: what a correction changes, between its neighbours.

use std::collections::BTreeMap;

use crate::align::notes::tempo_curve;
use crate::align::onset_method::{self, TEMPO_SMOOTHING_S, ratio};
use crate::align::onsets::{OnsetParams, Placed, Rough, place};
use crate::align::played::{self, Listened};
use crate::align::result::{AlignedNote, Alignment, ExtraNote, SearchBand};
use crate::align::settings::{Anchor, Method, Settings};
use crate::align::verdicts::Standing;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::time::SAME_MOMENT_S;
use crate::score::Score;
use crate::warping::Warp;

use super::{Listening, confidence, corrections, places};

/// How far from the corrected onset, in seconds of the recording, others may follow if no anchor is nearer.
const REACH_S: f64 = 6.0;

/// Whether a passage of `alignment` can be solved again under `settings`: they differ in nothing but what the user fixed, and
/// `listening` is what that alignment heard.
pub fn can_realign(alignment: &Alignment, settings: &Settings, listening: &Listening) -> bool {
    settings.differs_in_corrections_only(&alignment.settings)
        && matches!(settings.method, Method::Onsets(_))
        && listening.suits(&settings.method)
}

/// Solves the passage around the moment `at_s` of the score again, under what `settings` fix. The rest stays as it is.
pub fn realign(
    ctx: &JobContext,
    score: &Score,
    listening: &Listening,
    alignment: &Alignment,
    settings: &Settings,
    at_s: f64,
) -> Result<Alignment> {
    let Method::Onsets(method) = &settings.method else {
        return Err(Error::invalid("the method", settings.method.name(), "onsets, to solve a passage again"));
    };
    let ordered = corrections::as_constraints(score, settings);
    let moved = ordered.anchors.iter().find(|anchor| (anchor.score_s - at_s).abs() <= SAME_MOMENT_S);
    let passage = Passage::around(score, &alignment.warp, &ordered.anchors, at_s);
    let centre = match moved {
        Some(moved) => moved_warp(&alignment.warp, &passage.pins, *moved)
            .ok_or_else(|| Error::Infeasible { reason: "the moved onset passes another one".to_owned() })?,
        None => alignment.warp.clone(),
    };
    let tempo = centre.smoothed(TEMPO_SMOOTHING_S / ratio(&centre));
    let mut anchors = passage.pins.clone();
    anchors.extend(ordered.anchors.iter().filter(|anchor| passage.holds(anchor.score_s)));
    anchors.sort_by(|a, b| a.score_s.total_cmp(&b.score_s));
    anchors.dedup_by(|a, b| (a.score_s - b.score_s).abs() <= SAME_MOMENT_S);
    let rough = Rough {
        centre: &centre,
        tempo: &tempo,
        covered_s: (passage.low_s, passage.high_s),
        anchors: &anchors,
        fixed_notes: &ordered.fixed_notes,
        known_spread: &spread(score, alignment),
    };
    let params = onset_method::params(settings, method, &OnsetParams::suiting(&listening.evidence));
    let placed = place(ctx, &listening.evidence, score, rough, &params)?;
    let placed = listening.settle(score, &ordered.fixed_notes, placed)?;
    let warp = spliced(&alignment.warp, &placed.warp, &passage)?;
    let mut notes = spliced_notes(score, alignment, &placed, &warp, &passage, &ordered);
    let extra_notes = match listening.evidence.heard() {
        Some(heard) => {
            let listened = Listened { score, warp: &warp, heard, fixed_notes: &ordered.fixed_notes };
            passage.judge_again(&listened, alignment, &mut notes)
        }
        None => alignment.extra_notes.clone(),
    };
    played::set_known_ends(
        placed.ends.iter().filter(|(index, _)| passage.holds(score.notes[*index].onset_s)),
        &mut notes,
    );
    let search = alignment.search.as_ref().map(|band| SearchBand {
        // Two bands that do not meet leave the old one.
        centre: spliced(&band.centre, &centre, &passage).unwrap_or_else(|_| band.centre.clone()),
        radius_s: band.radius_s,
    });
    Ok(Alignment {
        confidence: confidence::of_notes(&notes),
        places: places::places(score, &notes, &warp),
        notes,
        extra_notes,
        tempo: tempo_curve(score, &warp),
        warp,
        settings: settings.clone(),
        search,
        ..alignment.clone()
    })
}

/// How far each note is from its onset in an alignment.
fn spread(score: &Score, alignment: &Alignment) -> BTreeMap<usize, f64> {
    let notes = score.notes.iter().zip(&alignment.notes).enumerate();
    notes.map(|(index, (note, aligned))| (index, aligned.onset_s - alignment.warp.at(note.onset_s))).collect()
}

/// The passage of the score that is solved again, and what holds its ends.
struct Passage {
    low_s: f64,
    high_s: f64,
    pins: Vec<Anchor>,
}

impl Passage {
    /// To the next anchor on either side, but not farther than [`REACH_S`]; the ends of the score stay free.
    fn around(score: &Score, warp: &Warp, anchors: &[Anchor], at_s: f64) -> Self {
        let here = warp.at(at_s);
        let onsets = score.onsets_s();
        let pin = |&score_s: &f64| Anchor { score_s, performance_s: warp.at(score_s) };
        let mut passage = Self { low_s: f64::NEG_INFINITY, high_s: f64::INFINITY, pins: Vec::new() };
        let before = anchors.iter().copied().rfind(|a| a.score_s < at_s - SAME_MOMENT_S);
        let first = onsets.partition_point(|&onset| onset < warp.inverse(here - REACH_S));
        let reached = first.checked_sub(1).map(|index| pin(&onsets[index]));
        if let Some(pin) = before.into_iter().chain(reached).max_by(|a, b| a.score_s.total_cmp(&b.score_s)) {
            passage.low_s = pin.score_s;
            passage.pins.push(pin);
        }
        let after = anchors.iter().copied().find(|a| a.score_s > at_s + SAME_MOMENT_S);
        let last = onsets.partition_point(|&onset| onset <= warp.inverse(here + REACH_S));
        let reached = onsets.get(last).map(pin);
        if let Some(pin) = after.into_iter().chain(reached).min_by(|a, b| a.score_s.total_cmp(&b.score_s)) {
            passage.high_s = pin.score_s;
            passage.pins.push(pin);
        }
        passage
    }

    fn holds(&self, score_s: f64) -> bool {
        score_s >= self.low_s - SAME_MOMENT_S && score_s <= self.high_s + SAME_MOMENT_S
    }

    /// Says anew what was played in the passage; elsewhere it stays as it was. Gives the notes that the score does not have, of the
    /// whole performance.
    fn judge_again(&self, listened: &Listened<'_>, before: &Alignment, notes: &mut [AlignedNote]) -> Vec<ExtraNote> {
        let standing = played::standing_of_notes(notes);
        // The ends of a passage are held: both alignments have them at the same time.
        let time = |score_s: f64| if score_s.is_finite() { listened.warp.at(score_s) } else { score_s };
        let within_s = (time(self.low_s), time(self.high_s));
        let judged = |time_s: f64| (within_s.0..=within_s.1).contains(&time_s);
        let mut again = notes.to_vec();
        let mut extra = listened.judge_between(within_s, &standing, &mut again);
        for (index, note) in listened.score.notes.iter().enumerate() {
            if self.holds(note.onset_s) && standing[index] == Standing::Placed {
                notes[index] = again[index];
            }
        }
        extra.extend(before.extra_notes.iter().filter(|extra| !judged(extra.onset_s)));
        extra.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
        extra
    }
}

/// What a warp looks like with one moment moved, the passage to its neighbour anchors following proportionally. `None` if the moment
/// would pass a neighbour.
pub fn moved_warp(warp: &Warp, anchors: &[Anchor], moved: Anchor) -> Option<Warp> {
    let others = || anchors.iter().filter(|anchor| (anchor.score_s - moved.score_s).abs() > SAME_MOMENT_S);
    let (scores, times) = (warp.score_s(), warp.performance_s());
    let last = scores.len() - 1;
    let before = others().filter(|a| a.score_s < moved.score_s).max_by(|a, b| a.score_s.total_cmp(&b.score_s));
    let after = others().filter(|a| a.score_s > moved.score_s).min_by(|a, b| a.score_s.total_cmp(&b.score_s));
    let low = before.map_or((scores[0], times[0]), |a| (a.score_s, a.performance_s));
    let high = after.map_or((scores[last], times[last]), |a| (a.score_s, a.performance_s));
    let old = warp.at(moved.score_s);
    let bent = |score_s: f64, time_s: f64| {
        let (edge_score, edge) = if score_s < moved.score_s { low } else { high };
        let inside = if score_s < moved.score_s { score_s > edge_score } else { score_s < edge_score };
        if !inside || (old - edge).abs() < 1e-9 {
            return time_s;
        }
        edge + ((time_s - edge) / (old - edge)).clamp(0.0, 1.0) * (moved.performance_s - edge)
    };
    let mut knots: Vec<(f64, f64)> = scores.iter().zip(times).map(|(&s, &t)| (s, bent(s, t))).collect();
    knots.retain(|knot| (knot.0 - moved.score_s).abs() > 1e-9);
    let place = knots.partition_point(|knot| knot.0 < moved.score_s);
    knots.insert(place, (moved.score_s, moved.performance_s));
    let (scores, times) = knots.into_iter().unzip();
    Warp::new(scores, times).ok()
}

/// The old warp outside the passage, the new one inside.
fn spliced(old: &Warp, new: &Warp, passage: &Passage) -> Result<Warp> {
    let knots = |warp: &Warp, inside: bool| {
        let knots = warp.score_s().iter().copied().zip(warp.performance_s().iter().copied());
        knots.filter(|knot| passage.holds(knot.0) == inside).collect::<Vec<_>>()
    };
    let mut all = knots(old, false);
    all.extend(knots(new, true));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (scores, times) = all.into_iter().unzip();
    Warp::new(scores, times)
}

fn spliced_notes(
    score: &Score,
    alignment: &Alignment,
    placed: &Placed,
    warp: &Warp,
    passage: &Passage,
    settings: &Settings,
) -> Vec<AlignedNote> {
    let mut notes = alignment.notes.clone();
    let onset = |note: usize| score.notes[note].onset_s;
    for (note, aligned) in score.notes.iter().zip(&mut notes).filter(|(note, _)| passage.holds(note.onset_s)) {
        aligned.onset_s = warp.at(note.onset_s);
    }
    for &(index, onset_s) in placed.notes.iter().filter(|(index, _)| passage.holds(onset(*index))) {
        notes[index].onset_s = onset_s;
    }
    // The ends of the passage are held where they were, not corrected: their notes stay as they are.
    let is_pin = |score_s: f64| passage.pins.iter().any(|pin| (pin.score_s - score_s).abs() <= SAME_MOMENT_S);
    let is_anchor = |score_s: f64| settings.anchors.iter().any(|a| (a.score_s - score_s).abs() <= SAME_MOMENT_S);
    for (chord, support) in placed.chords.iter().zip(&placed.support).filter(|(chord, _)| passage.holds(chord.onset_s))
    {
        if is_pin(chord.onset_s) && !is_anchor(chord.onset_s) {
            notes[chord.notes.clone()].copy_from_slice(&alignment.notes[chord.notes.clone()]);
            continue;
        }
        for note in &mut notes[chord.notes.clone()] {
            note.confidence = alignment.match_confidence * support.confidence();
        }
    }
    corrections::trust(score, settings, &mut notes);
    for (note, aligned) in score.notes.iter().zip(&mut notes) {
        // An end that was heard is not the warp's to move.
        if passage.holds(note.onset_s) || aligned.offset_confidence.is_none() {
            aligned.offset_s = warp.at(note.offset_s).max(aligned.onset_s);
        }
    }
    notes
}

#[cfg(test)]
#[path = "realign_tests.rs"]
mod tests;
