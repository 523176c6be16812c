//! How well the recording supports each onset where it was placed.

use crate::score::Score;
use crate::warping::Warp;

use super::chord::{Chord, chords};
use super::evidence::Evidence;
use super::hearing::Hearing;
use super::params::OnsetParams;
use super::pattern;

/// What speaks for an onset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// Mean rise of the chord's pitches at the onset, 0 to 1.5.
    pub strength: f64,
    /// Evidence at the onset less the best that the neighbourhood offers elsewhere, per square root of the notes.
    pub margin: f64,
    /// Logarithm of the local tempo against the expected one, the greater of both sides.
    pub tempo: f64,
    /// Seconds between it and the rough start, where that is a second opinion: of a warp found from frames.
    pub astray_s: f64,
    /// What an ear heard there and round it, where one listened.
    pub hearing: Option<Hearing>,
    /// Whether it lies at the edge of the band: it may be kept from where it belongs.
    pub at_limit: bool,
    /// Whether the user fixed it.
    pub is_fixed: bool,
}

impl Support {
    /// The chance that the onset is right to within 50 ms.
    ///
    /// Where an ear listened, what it heard there and in the passage tells: see [`Hearing`]. Else the rises do, by a logistic
    /// regression on 21,203 onsets of four real piano recordings and 44 rendered ones with four timbres,
    /// reverberation and noise, shifted by what the learned ear brings (eleven rendered recordings). Checked on the real
    /// ones, the share of right onsets agrees to within 0.03 in classes of its value from 0.8 up.
    pub fn confidence(&self) -> f64 {
        /// Even the clearest onset is another's now and then, such as in a trill.
        const MOST_ODDS: f64 = 5.8;
        if self.is_fixed {
            return 1.0;
        }
        let limit = if self.at_limit { LIMIT_ODDS } else { 0.0 };
        if let Some(hearing) = &self.hearing {
            return 1.0 / (1.0 + (limit - hearing.odds(self.tempo)).exp());
        }
        let evidence = 4.71 * self.strength.min(1.0) + 0.19 * self.margin.clamp(-3.0, 1.0);
        let mut odds = (3.10 + evidence - 3.98 * self.tempo.min(1.5)).min(MOST_ODDS);
        odds -= self.astray_s / ASTRAY_S + limit;
        1.0 / (1.0 + (-odds).exp())
    }
}

/// So far from the rough start a warp found from frames has odds lower by one: the start itself is a few hundredths off.
const ASTRAY_S: f64 = 0.08;
/// What lying at the edge of the band takes from the odds.
const LIMIT_ODDS: f64 = 4.0;

/// Weights of the evidence that the regression was made with.
const ATTACK_WEIGHT: f64 = 1.3;
const LEARNED_WEIGHT: f64 = 0.1;
/// Evidence this near to the onset is the onset's own …
const OWN_S: f64 = 0.05;
/// … and beyond this it is another's.
const NEAR_S: f64 = 0.3;
/// The strength is the best within this, for notes of a chord do not begin at quite the same moment …
pub(super) const PRECISE_S: f64 = 0.012;
/// … and within this for times that come from frames, which are as coarse.
const COARSE_S: f64 = 0.035;

/// The support of a warp that was found without looking at onsets: its chords and what speaks for each.
pub fn support_of_warp(evidence: &Evidence, score: &Score, warp: &Warp, rough: &Warp) -> (Vec<Chord>, Vec<Support>) {
    let (first, last) = (warp.score_s()[0], warp.score_s()[warp.score_s().len() - 1]);
    let mut chords = chords(score);
    chords.retain(|chord| (first..=last).contains(&chord.onset_s));
    let at = |warp: &Warp| chords.iter().map(|chord| warp.at(chord.onset_s)).collect::<Vec<f64>>();
    let (times, expected) = (at(warp), at(rough));
    let mut support = support(evidence, &chords, &times, &expected, COARSE_S, &OnsetParams::suiting(evidence));
    for (support, (time, expected)) in support.iter_mut().zip(times.iter().zip(&expected)) {
        support.astray_s = (time - expected).abs();
    }
    (chords, support)
}

/// The support of each chord at its time, given the times expected.
pub(super) fn support(
    evidence: &Evidence,
    chords: &[Chord],
    times: &[f64],
    expected: &[f64],
    slack_s: f64,
    params: &OnsetParams,
) -> Vec<Support> {
    let step = Evidence::step_s();
    let last = evidence.frames() - 1;
    let heard = OnsetParams {
        attack_weight: ATTACK_WEIGHT,
        learned_weight: LEARNED_WEIGHT,
        rival_share: 0.0,
        ..params.clone()
    };
    let patterns = pattern::of_chords(chords, times, &heard);
    let pitched = pattern::of_chords(chords, times, &OnsetParams { attack_weight: 0.0, learned_weight: 0.0, ..heard });
    let frame = |time: f64| ((time / step).round().max(0.0) as usize).min(last);
    (0..chords.len())
        .map(|index| {
            let (at, notes) = (times[index], chords[index].bands.len().max(1) as f64);
            let strongest = |range: std::ops::RangeInclusive<usize>, pattern| {
                range.map(|f| f64::from(evidence.at(f, pattern))).fold(0.0, f64::max)
            };
            let near = || frame(at - slack_s)..=frame(at + slack_s);
            let strength = strongest(near(), &pitched[index]) / (params.evidence_weight * notes.sqrt());
            let own = strongest(near(), &patterns[index]);
            let before = strongest(frame(at - NEAR_S)..=frame(at - OWN_S), &patterns[index]);
            let after = strongest(frame(at + OWN_S)..=frame(at + NEAR_S), &patterns[index]);
            let ratio = |a: usize, b: usize| {
                let (found, wanted) = (times[b] - times[a], expected[b] - expected[a]);
                ((found + params.epsilon_s) / (wanted.max(0.0) + params.epsilon_s)).ln().abs()
            };
            let left = index.checked_sub(1).map_or(0.0, |i| ratio(i, index));
            let right = if index + 1 < times.len() { ratio(index, index + 1) } else { 0.0 };
            let margin = (own - before.max(after)) / notes.sqrt();
            Support {
                strength,
                margin,
                tempo: left.max(right),
                astray_s: 0.0,
                hearing: None,
                at_limit: false,
                is_fixed: false,
            }
        })
        .collect()
}
