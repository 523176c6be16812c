//! Weights and widths of the onset problem, chosen on real and rendered recordings apart from all test sets.

use super::evidence::Evidence;
use crate::networks::ProblemWeights;

/// Weights and widths of the onset problem.
#[derive(Debug, Clone, PartialEq)]
pub struct OnsetParams {
    /// Weight of the evidence.
    pub evidence_weight: f64,
    /// Weight of what the learned ear says.
    pub learned_weight: f64,
    /// Weight of the attack as a whole, per note.
    pub attack_weight: f64,
    /// How much of the neighbouring onsets' partials counts against an onset.
    pub rival_share: f64,
    /// Neighbours further away than this do not.
    pub rival_reach_s: f64,
    /// The attack's weight when a note is placed near its chord: it may be another note's attack.
    pub voice_attack: f64,
    /// The learned ear's weight when a note is placed near its chord.
    pub voice_learned: f64,
    /// How far a note's time moves from the top of its evidence to where the ear says that it begins, 0 to 1.
    pub ear_time_share: f64,
    /// How much later than its hammer a note is heard, as far as the evidence does not know: by a few milliseconds in real pianos, by
    /// none in rendered ones.
    pub late_s: f64,
    /// Softens the logarithm of short intervals.
    pub epsilon_s: f64,
    /// Typical size of a log tempo ratio.
    pub sigma: f64,
    /// Where the tempo penalty turns linear.
    pub delta: f64,
    /// What it costs to let any time pass, or any onsets be left out, between two onsets: see [`crate::warping::gaps`].
    pub gap_price: f64,
    /// What each onset costs that is left out.
    pub left_out_price: f64,
    /// What each second costs that passes.
    pub gap_second_price: f64,
    /// How far from the rough start the score is followed.
    pub reach_s: f64,
    /// How far an onset may be from where it was followed to.
    pub band_s: f64,
    /// How far a note may be from its chord.
    pub spread_s: f64,
    /// What 30 ms away from the chord cost.
    pub spread_price: f64,
    /// Least and greatest slope relative to the whole.
    pub slope: Option<(f64, f64)>,
}

impl Default for OnsetParams {
    fn default() -> Self {
        Self {
            evidence_weight: 1.2,
            learned_weight: 1.0,
            attack_weight: 0.0,
            rival_share: 0.2,
            rival_reach_s: 0.25,
            voice_attack: 0.0,
            voice_learned: 1.0,
            ear_time_share: 1.0,
            late_s: 0.0017,
            epsilon_s: 0.02,
            sigma: 0.3,
            delta: 2.0,
            gap_price: 8.0,
            left_out_price: 0.5,
            gap_second_price: 0.1,
            reach_s: 8.0,
            band_s: 1.0,
            spread_s: 0.12,
            spread_price: 0.1,
            slope: None,
        }
    }
}

impl OnsetParams {
    /// What an interval costs where another one is expected: see [`EdgeCost::LogTempo`](crate::warping::gdtw::EdgeCost::LogTempo).
    pub(super) fn tempo_penalty(&self, interval_s: f64, expected_s: f64) -> f64 {
        let z = ((interval_s + self.epsilon_s) / (expected_s + self.epsilon_s)).ln().abs() / self.sigma;
        if z <= self.delta { 0.5 * z * z } else { self.delta * (z - 0.5 * self.delta) }
    }

    /// The same with other weights of its parts.
    pub(crate) fn weighted(self, weights: ProblemWeights) -> Self {
        Self {
            evidence_weight: weights.rises * self.evidence_weight,
            learned_weight: weights.ear * self.learned_weight,
            sigma: weights.tempo * self.sigma,
            ..self
        }
    }

    /// What suits evidence of that kind: without an ear the rises of the spectrum and the attack as a whole must do all of it.
    pub fn suiting(evidence: &Evidence) -> Self {
        match evidence.heard() {
            Some(heard) => Self::default().weighted(heard.problem()),
            None => Self {
                evidence_weight: 2.5,
                attack_weight: 0.9,
                voice_attack: 0.3,
                late_s: 0.0005,
                sigma: 0.4,
                ..Self::default()
            },
        }
    }
}
