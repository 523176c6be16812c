//! The rough start as a change of tempo: the score re-timed so that it runs like the recording.

use crate::align::settings::Anchor;
use crate::align::start::Start;
use crate::base::error::Result;
use crate::warping::Warp;

/// The local tempo that the score is played at is the rough one, smoothed over this many score seconds times the ratio.
const SMOOTHING_S: f64 = 0.75;
/// Silence that the synthesised clip begins with, so that the first attack is whole.
const LEAD_S: f64 = 0.5;

/// Score seconds, performance seconds, and seconds of the clip that the re-timed score is played into.
pub(super) struct Retiming {
    warp: Warp,
    clip_start_s: f64,
    anchors: Vec<Anchor>,
}

impl Retiming {
    /// Smooths the rough start and bends it through the anchors.
    pub(super) fn new(start: &Start, anchors: &[Anchor]) -> Result<Self> {
        let ratio = start.warp.mean_slope().max(f64::MIN_POSITIVE);
        let smooth = start.warp.smoothed(SMOOTHING_S / ratio);
        let warp = bend(&smooth, anchors)?;
        let clip_start_s = warp.at(start.covered_s.0) - LEAD_S;
        Ok(Self { warp, clip_start_s, anchors: anchors.to_vec() })
    }

    pub(super) fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    pub(super) fn to_performance(&self, score_s: f64) -> f64 {
        self.warp.at(score_s)
    }

    pub(super) fn to_score(&self, performance_s: f64) -> f64 {
        self.warp.inverse(performance_s)
    }

    pub(super) fn to_clip(&self, score_s: f64) -> f64 {
        self.performance_to_clip(self.warp.at(score_s))
    }

    pub(super) fn clip_to_performance(&self, clip_s: f64) -> f64 {
        clip_s + self.clip_start_s
    }

    pub(super) fn performance_to_clip(&self, performance_s: f64) -> f64 {
        performance_s - self.clip_start_s
    }
}

/// Shifts the warp so that it meets every anchor, by an amount that runs linearly from anchor to anchor.
pub(super) fn bend(warp: &Warp, anchors: &[Anchor]) -> Result<Warp> {
    /// Slope that is kept even where two anchors leave little room.
    const LEAST_SLOPE: f64 = 0.02;
    let (Some(first), Some(last)) = (anchors.first(), anchors.last()) else { return Ok(warp.clone()) };
    let shift_of = |a: &Anchor| a.performance_s - warp.at(a.score_s);
    let shift_at = |score_s: f64| {
        let next = anchors.partition_point(|a| a.score_s <= score_s);
        match (next.checked_sub(1).map(|i| &anchors[i]), anchors.get(next)) {
            (None, _) => shift_of(first),
            (_, None) => shift_of(last),
            (Some(a), Some(b)) => {
                let share = (score_s - a.score_s) / (b.score_s - a.score_s);
                shift_of(a) + share * (shift_of(b) - shift_of(a))
            }
        }
    };
    let mut knots: Vec<f64> = warp.score_s().iter().copied().chain(anchors.iter().map(|a| a.score_s)).collect();
    knots.sort_by(f64::total_cmp);
    knots.dedup_by(|later, earlier| *later - *earlier < 1e-9);
    let mut values: Vec<f64> = Vec::with_capacity(knots.len());
    for (index, &knot) in knots.iter().enumerate() {
        let mut value = warp.at(knot) + shift_at(knot);
        if index > 0 {
            value = value.max(values[index - 1] + LEAST_SLOPE * warp.mean_slope() * (knot - knots[index - 1]));
        }
        values.push(value);
    }
    Warp::new(knots, values)
}
