//! Puts the onset problem together: follows the score, then places its onsets near where that led.

use std::collections::BTreeMap;

use crate::align::settings::{Anchor, FixedNote};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::score::Score;
use crate::warping::Warp;

use super::chord::{Chord, chords};
use super::evidence::Evidence;
use super::following::{Way, way};
use super::hearing::hearing;
use super::local::{between_frames, carry_notes, medians, set_clock};
use super::params::OnsetParams;
use super::pattern;
use super::solving::Parts;
use super::support::{PRECISE_S, Support, support};
use super::voices::place_notes;

/// What is known before: where the onsets are roughly, and at what tempo.
#[derive(Debug, Clone, Copy)]
pub struct Rough<'a> {
    /// Score seconds to performance seconds: the middle of the band.
    pub centre: &'a Warp,
    /// The same, smoother: its slope is the tempo expected.
    pub tempo: &'a Warp,
    /// First and last score time to place.
    pub covered_s: (f64, f64),
    /// Moments that are fixed, in order.
    pub anchors: &'a [Anchor],
    /// Notes that are fixed apart from their chord, in order.
    pub fixed_notes: &'a [FixedNote],
    /// How far notes were from their onset before, by note: those of a fixed onset keep it.
    pub known_spread: &'a BTreeMap<usize, f64>,
}

/// The onsets found.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Score onset to performance onset, one knot per distinct onset (and per anchor).
    pub warp: Warp,
    /// Indices into the score's notes with the performance onset of each.
    pub notes: Vec<(usize, f64)>,
    /// The chords of the warp's knots, in order.
    pub chords: Vec<Chord>,
    /// What speaks for each of them.
    pub support: Vec<Support>,
    /// The problem's objective at the solution.
    pub objective: f64,
    /// Indices into the score's notes with when each ends, where that is known.
    pub ends: Vec<(usize, f64)>,
}

/// Places the onsets of a score in a recording.
pub fn place(
    ctx: &JobContext,
    evidence: &Evidence,
    score: &Score,
    rough: Rough<'_>,
    params: &OnsetParams,
) -> Result<Placed> {
    let (chords, fixed) = knots(score, rough);
    let centre: Vec<f64> = chords.iter().map(|chord| rough.centre.at(chord.onset_s)).collect();
    let parts = Parts {
        evidence,
        chords: &chords,
        patterns: pattern::of_chords(&chords, &centre, params),
        rough,
        fixed: &fixed,
        params,
    };
    // Limits of the slope are the user's word on how the score is followed: then it is not looked for elsewhere.
    let way = match params.slope {
        None => way(ctx, &parts)?,
        Some(_) => Way::of_rough(&chords, rough.centre, rough.tempo),
    };
    let mut times = parts.solve(ctx, &way)?;
    let at_limit = parts.at_limit(&way, &times);
    let objective = parts.objective(ctx, &way, &times)?;
    between_frames(evidence, &parts.patterns, &fixed, &mut times);
    let (mut notes, is_heard) = place_notes(evidence, score, &chords, &times, params);
    set_clock(&mut notes, params.late_s);
    carry_notes(&chords, &fixed, rough, &mut notes);
    let times = medians(&chords, &notes, &is_heard, &fixed, rough.fixed_notes, times);
    let expected: Vec<f64> = chords.iter().map(|chord| rough.tempo.at(chord.onset_s)).collect();
    let mut support = support(evidence, &chords, &times, &expected, PRECISE_S, params);
    if let Some(heard) = evidence.heard() {
        let middle: Vec<f64> = chords.iter().map(|chord| rough.centre.at(chord.onset_s)).collect();
        let hearing = hearing(heard, &chords, &times, &expected, &middle, &notes);
        support.iter_mut().zip(hearing).for_each(|(support, hearing)| support.hearing = Some(hearing));
    }
    at_limit.iter().for_each(|&knot| support[knot].at_limit = true);
    fixed.iter().for_each(|&(knot, _)| support[knot].is_fixed = true);
    let warp = onset_warp(score, &chords, rough, times)?;
    Ok(Placed { warp, notes, chords, support, objective, ends: Vec::new() })
}

/// One knot per chord and one at the end of the score, reached at the tempo expected.
fn onset_warp(score: &Score, chords: &[Chord], rough: Rough<'_>, mut times: Vec<f64>) -> Result<Warp> {
    let mut knots: Vec<f64> = chords.iter().map(|chord| chord.onset_s).collect();
    let (last, time, end) = (knots[knots.len() - 1], times[times.len() - 1], score.end_s());
    if end > last {
        knots.push(end);
        times.push(time + (rough.tempo.at(end) - rough.tempo.at(last)).max(0.0));
    }
    Warp::new(knots, times)
}

/// The chords to place, with an empty one at each anchor that is at no onset; and which knots are fixed.
fn knots(score: &Score, rough: Rough<'_>) -> (Vec<Chord>, Vec<(usize, f64)>) {
    /// An anchor this near to an onset is that onset's.
    const SAME_S: f64 = 1e-3;
    let mut chords = chords(score);
    let first = rough.anchors.first().map_or(rough.covered_s.0, |a| rough.covered_s.0.min(a.score_s));
    let last = rough.anchors.last().map_or(rough.covered_s.1, |a| rough.covered_s.1.max(a.score_s));
    if chords.iter().filter(|chord| (first..=last).contains(&chord.onset_s)).count() >= 2 {
        chords.retain(|chord| (first..=last).contains(&chord.onset_s));
    }
    let end_s = score.end_s();
    if chords.len() < 2 && chords.iter().all(|chord| chord.onset_s < end_s) {
        // One onset alone leaves no interval to place: the end of the score is the other knot.
        chords.push(Chord { onset_s: end_s, notes: score.notes.len()..score.notes.len(), bands: Vec::new() });
    }
    let mut fixed = Vec::new();
    for &Anchor { score_s, performance_s } in rough.anchors {
        let at = chords.partition_point(|chord| chord.onset_s < score_s - SAME_S);
        if chords.get(at).is_none_or(|chord| chord.onset_s > score_s + SAME_S) {
            let notes = chords.get(at).map_or(score.notes.len(), |chord| chord.notes.start);
            chords.insert(at, Chord { onset_s: score_s, notes: notes..notes, bands: Vec::new() });
        }
        fixed.push((at, performance_s));
    }
    (chords, fixed)
}
