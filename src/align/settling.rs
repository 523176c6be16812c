//! The onsets of a performance that is known note by note: exactly those of its notes.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::align::heard::PlayedNote;
use crate::align::matching::Matching;
use crate::align::onsets::{Chord, Placed, median};
use crate::align::settings::FixedNote;
use crate::base::error::Result;
use crate::score::Score;
use crate::warping::Warp;

/// How far from where the onset problem put it a note is looked for, round by round: each round expects the notes where the one
/// before found their chord.
const REACHES_S: [f64; 3] = [0.4, 0.25, 0.25];
/// Chords of which nothing was found are looked for so far from where they were expected, between those that were.
const FAR_S: f64 = 2.0;
/// Notes of a chord that are farther apart than this do not belong together …
const MOST_SPREAD_S: f64 = 0.25;
/// … unless it is rolled: three or more, one after the other, within this.
const MOST_ROLL_S: f64 = 1.2;

/// Chords that are out of order by more than this were taken for others; less is the freedom of two hands.
const STRAY_S: f64 = 0.1;

/// Moves what was placed to the notes that were played: each note to its partner, each chord to the median of its notes.
/// What the user fixed stays.
pub(super) fn settle(
    score: &Score,
    played: &[PlayedNote],
    fixed_notes: &[FixedNote],
    placed: Placed,
) -> Result<Placed> {
    let old: Vec<f64> = placed.chords.iter().map(|chord| placed.warp.at(chord.onset_s)).collect();
    let mut times = old.clone();
    let mut matching = Matching { partners: vec![None; score.notes.len()] };
    for reach_s in REACHES_S {
        let at_chord = |(chord, &time): (&Chord, &f64)| chord.notes.clone().map(move |note| (note, time));
        let expected: Vec<(usize, f64)> = placed.chords.iter().zip(&times).flat_map(at_chord).collect();
        matching = Matching::find(score, &expected, played, reach_s);
        times = chord_times(score, &placed, &mut matching, played, &old);
    }
    look_farther(score, &placed, played, &mut matching, &times);
    times = chord_times(score, &placed, &mut matching, played, &old);
    let is_fixed = |note: usize| fixed_notes.binary_search_by_key(&note, |fixed| fixed.note).is_ok();
    let mut notes = Vec::with_capacity(placed.notes.len());
    let mut support = placed.support.clone();
    let mut before = placed.notes.iter();
    for ((chord, support), &time) in placed.chords.iter().zip(&mut support).zip(&times) {
        let mut found = 0;
        for (note, &(index, at_s)) in chord.notes.clone().zip(before.by_ref()) {
            let partner = matching.partners[note].map(|partner| played[partner].onset_s);
            found += usize::from(partner.is_some());
            let keeps = support.is_fixed || is_fixed(note);
            notes.push((index, if keeps { at_s } else { partner.unwrap_or(time) }));
        }
        // What was played is known: how much of the chord was found says more than what was heard of it before it moved.
        support.hearing = None;
        support.strength = found as f64 / chord.notes.len().max(1) as f64;
    }
    let partners = matching.partners.iter().enumerate();
    let ends = partners.filter_map(|(note, partner)| Some((note, played[(*partner)?].offset_s))).collect();
    Ok(Placed { warp: moved(&placed.warp, &old, &times)?, notes, support, ends, ..placed })
}

/// Looks for chords of which nothing was found among the notes that are no other's, as far as their neighbours leave room: after a
/// hold or a long ritardando they are farther off than any reach.
fn look_farther(score: &Score, placed: &Placed, played: &[PlayedNote], matching: &mut Matching, times: &[f64]) {
    let taken: BTreeSet<usize> = matching.partners.iter().flatten().copied().collect();
    let is_found = |at: &usize| {
        let chord = &placed.chords[*at];
        placed.support[*at].is_fixed || matching.partners[chord.notes.clone()].iter().any(Option::is_some)
    };
    let mut found: Vec<(usize, Option<usize>)> = Vec::new();
    let mut at = 0;
    while at < times.len() {
        let end = (at..times.len()).find(is_found).unwrap_or(times.len());
        if end > at {
            let after_s = at.checked_sub(1).map_or(f64::NEG_INFINITY, |before| times[before]);
            let before_s = times.get(end).copied().unwrap_or(f64::INFINITY);
            let free: Vec<usize> = (0..played.len())
                .filter(|index| !taken.contains(index))
                .filter(|&index| played[index].onset_s > after_s && played[index].onset_s < before_s)
                .collect();
            let notes: Vec<PlayedNote> = free.iter().map(|&index| played[index]).collect();
            let at_chord = |chord: usize| placed.chords[chord].notes.clone().map(move |note| (note, times[chord]));
            let expected: Vec<(usize, f64)> = (at..end).flat_map(at_chord).collect();
            let farther = Matching::find(score, &expected, &notes, FAR_S);
            found.extend(expected.iter().map(|&(note, _)| (note, farther.partners[note].map(|place| free[place]))));
        }
        at = end + 1;
    }
    for (note, partner) in found {
        matching.partners[note] = partner;
    }
}

/// The time of each chord: the median of its partners' onsets; of one without any, as far from where it was as its neighbours are.
/// Notes that are too far from the others of their chord lose their partner.
fn chord_times(
    score: &Score,
    placed: &Placed,
    matching: &mut Matching,
    played: &[PlayedNote],
    old: &[f64],
) -> Vec<f64> {
    let mut found: Vec<Option<f64>> = Vec::with_capacity(old.len());
    for ((chord, support), &old) in placed.chords.iter().zip(&placed.support).zip(old) {
        let mut partners = partners_of(chord.notes.clone(), matching, played);
        if support.is_fixed {
            found.push(Some(old));
            continue;
        }
        if !is_together(score, &chord.notes, matching, &partners) {
            partners = nearest_together(played, &partners, old);
            for partner in &mut matching.partners[chord.notes.clone()] {
                *partner = partner.filter(|partner| partners.iter().any(|kept| kept.0 == *partner));
            }
        }
        found.push(median(partners.iter().map(|partner| partner.1).collect()));
    }
    for stray in strays(&found) {
        if !placed.support[stray].is_fixed {
            found[stray] = None;
            matching.partners[placed.chords[stray].notes.clone()].fill(None);
        }
    }
    let known: Vec<usize> = (0..found.len()).filter(|&index| found[index].is_some()).collect();
    let moved_by = |index: usize| found[index].map_or(0.0, |time| time - old[index]);
    let mut times: Vec<f64> = (0..found.len())
        .map(|index| {
            let after = known.partition_point(|&other| other < index);
            let moved = match (after.checked_sub(1).map(|place| known[place]), known.get(after)) {
                (_, Some(&here)) if here == index => moved_by(index),
                (Some(a), Some(&b)) => {
                    let share = (index - a) as f64 / (b - a) as f64;
                    moved_by(a) + share * (moved_by(b) - moved_by(a))
                }
                (Some(a), None) => moved_by(a),
                (None, Some(&b)) => moved_by(b),
                (None, None) => 0.0,
            };
            (old[index] + moved).max(0.0)
        })
        .collect();
    let weights: Vec<Weight> = (placed.chords.iter().zip(&placed.support))
        .zip(&found)
        .map(|((chord, support), found)| match score.notes.get(chord.notes.start) {
            _ if support.is_fixed => Weight::Fixed,
            _ if found.is_none() => Weight::Ornament,
            Some(first) if score.is_on_grid(first.onset_tick) => Weight::Beat,
            _ => Weight::Ornament,
        })
        .collect();
    put_in_order(&mut times, &weights);
    times
}

/// The distinct partners of some notes with their onsets, from the first to the last.
fn partners_of(notes: Range<usize>, matching: &Matching, played: &[PlayedNote]) -> Vec<(usize, f64)> {
    let mut partners: Vec<(usize, f64)> =
        matching.partners[notes].iter().flatten().map(|&partner| (partner, played[partner].onset_s)).collect();
    partners.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    partners.dedup();
    partners
}

/// Whether partners, in order of time, can be one chord: near together, or rolled from the lowest to the highest or back.
fn is_together(score: &Score, notes: &Range<usize>, matching: &Matching, partners: &[(usize, f64)]) -> bool {
    let spread_s = partners.last().zip(partners.first()).map_or(0.0, |(last, first)| last.1 - first.1);
    if spread_s <= MOST_SPREAD_S {
        return true;
    }
    let pitch = |partner: usize| {
        let mut notes = notes.clone();
        notes.find(|&note| matching.partners[note] == Some(partner)).map(|note| score.notes[note].pitch)
    };
    let pitches: Vec<Option<u8>> = partners.iter().map(|partner| pitch(partner.0)).collect();
    let goes = |up: bool| pitches.windows(2).all(|pair| (pair[0] < pair[1]) == up && pair[0] != pair[1]);
    spread_s <= MOST_ROLL_S && partners.len() >= 3 && (goes(true) || goes(false))
}

/// The partners that are near together and have the most pitches; of as many, those nearest to `at_s`.
fn nearest_together(played: &[PlayedNote], partners: &[(usize, f64)], at_s: f64) -> Vec<(usize, f64)> {
    let from = |first: usize| {
        let count = partners[first..].partition_point(|partner| partner.1 - partners[first].1 <= MOST_SPREAD_S);
        &partners[first..first + count]
    };
    let away = |group: &[(usize, f64)]| median(group.iter().map(|partner| (partner.1 - at_s).abs()).collect());
    let pitches =
        |group: &[(usize, f64)]| group.iter().map(|partner| played[partner.0].pitch).collect::<BTreeSet<_>>().len();
    let groups = (0..partners.len()).map(from);
    let better = |a: &&[(usize, f64)], b: &&[(usize, f64)]| {
        pitches(a).cmp(&pitches(b)).then(away(b).unwrap_or(0.0).total_cmp(&away(a).unwrap_or(0.0)))
    };
    groups.max_by(better).unwrap_or_default().to_vec()
}

/// Chords that lie before those before them or after those after them: they were taken for others.
fn strays(found: &[Option<f64>]) -> Vec<usize> {
    /// Chords to either side that are asked.
    const NEIGHBOURS: usize = 3;
    let known: Vec<(usize, f64)> =
        found.iter().enumerate().filter_map(|(index, time)| Some((index, (*time)?))).collect();
    let middle = |places: Range<usize>| median(known[places].iter().map(|known| known.1).collect());
    let is_stray = |place: &usize| {
        let time = known[*place].1;
        let before = middle(place.saturating_sub(NEIGHBOURS)..*place);
        let after = middle(place + 1..(place + 1 + NEIGHBOURS).min(known.len()));
        before.is_some_and(|before| time < before - STRAY_S) || after.is_some_and(|after| time > after + STRAY_S)
    };
    (0..known.len()).filter(is_stray).map(|place| known[place].0).collect()
}

/// What the time of a chord counts where chords are out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The user fixed it.
    Fixed,
    /// It is on the beat, or a part of one.
    Beat,
    /// It is not, as ornaments and rolled chords that a notation program has played out are: it gives way.
    Ornament,
}

/// Makes times go forward: those that go back meet in their mean. Fixed ones stay, and the others do not pass them.
fn put_in_order(times: &mut [f64], weights: &[Weight]) {
    /// Runs of equal times: weighted sum, weight, and length.
    type Run = (f64, f64, usize);
    let mut runs: Vec<Run> = Vec::new();
    let mean = |run: &Run| run.0 / run.1;
    for (&time, &weight) in times.iter().zip(weights) {
        let weight = if weight == Weight::Ornament { 0.01 } else { 1.0 };
        let mut run = (weight * time, weight, 1);
        while let Some(before) = runs.pop_if(|before| mean(before) > mean(&run)) {
            run = (before.0 + run.0, before.1 + run.1, before.2 + run.2);
        }
        runs.push(run);
    }
    let is_fixed = |at: &usize| weights[*at] == Weight::Fixed;
    let fixed: Vec<(usize, f64)> = (0..times.len()).filter(is_fixed).map(|at| (at, times[at])).collect();
    let even = runs.iter().flat_map(|run| std::iter::repeat_n(mean(run), run.2));
    times.iter_mut().zip(even).for_each(|(time, even)| *time = even);
    for (at, time) in fixed {
        times[..at].iter_mut().for_each(|before| *before = before.min(time));
        times[at] = time;
        times[at..].iter_mut().for_each(|after| *after = after.max(time));
    }
}

/// The warp with its chords at new times; what follows the last one follows it.
fn moved(warp: &Warp, old: &[f64], times: &[f64]) -> Result<Warp> {
    let mut moved = times.to_vec();
    let shift = times.last().zip(old.last()).map_or(0.0, |(new, old)| new - old);
    moved.extend(warp.performance_s().iter().skip(times.len()).map(|time| time + shift));
    Warp::new(warp.score_s().to_vec(), moved)
}

#[cfg(test)]
#[path = "settling_tests.rs"]
mod tests;
