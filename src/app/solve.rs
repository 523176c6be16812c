//! The one place where the window asks the engine for an alignment.

use super::document::view_model::Piece;
use crate::align::result::Alignment;
use crate::align::settings::{Anchor, Settings};
use crate::align::{self, Named, Stopwatch};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::warping::Warp;

/// Aligns a piece under `settings`, whose anchors are kept exactly.
pub fn solve(ctx: &JobContext, piece: &Piece, settings: &Settings) -> Result<Alignment> {
    let recording = Named { name: &piece.recording_name, content: &*piece.recording };
    let score = Named { name: &piece.score_name, content: &piece.score };
    align::align(ctx, recording, score, settings, &mut Stopwatch::default())
}

/// What a warp would look like with one moment moved, the stretch to its neighbour anchors following: shown while a point
/// is dragged, until the engine has solved it properly.
pub fn preview(warp: &Warp, anchors: &[Anchor], moved: Anchor) -> Option<Warp> {
    let others = || anchors.iter().filter(|anchor| anchor.score_s != moved.score_s);
    let (scores, times) = (warp.score_s(), warp.performance_s());
    let last = scores.len() - 1;
    let before = others().filter(|a| a.score_s < moved.score_s).max_by(|a, b| a.score_s.total_cmp(&b.score_s));
    let after = others().filter(|a| a.score_s > moved.score_s).min_by(|a, b| a.score_s.total_cmp(&b.score_s));
    let low = before.map_or((scores[0], times[0]), |a| (a.score_s, a.performance_s));
    let high = after.map_or((scores[last], times[last]), |a| (a.score_s, a.performance_s));
    let old = warp.at(moved.score_s);
    let bent = |score_s: f64, time_s: f64| {
        let (from, to, edge) = if score_s < moved.score_s { (low, old, low.1) } else { (high, old, high.1) };
        let inside = if score_s < moved.score_s { score_s > from.0 } else { score_s < from.0 };
        if !inside || (to - edge).abs() < 1e-9 {
            return time_s;
        }
        let share = ((time_s - edge) / (to - edge)).clamp(0.0, 1.0);
        edge + share * (moved.performance_s - edge)
    };
    let mut knots: Vec<(f64, f64)> = scores.iter().zip(times).map(|(&s, &t)| (s, bent(s, t))).collect();
    knots.retain(|knot| (knot.0 - moved.score_s).abs() > 1e-9);
    let place = knots.partition_point(|knot| knot.0 < moved.score_s);
    knots.insert(place, (moved.score_s, moved.performance_s));
    let (scores, times) = knots.into_iter().unzip();
    Warp::new(scores, times).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_passes_through_the_moved_point_and_stays_put_beyond_its_neighbours() {
        let knots: Vec<f64> = (0..=100).map(|k| f64::from(k) * 0.1).collect();
        let warp = Warp::new(knots.clone(), knots.iter().map(|k| 2.0 * k).collect()).unwrap();
        let anchors = [2.0, 8.0].map(|s| Anchor { score_s: s, performance_s: 2.0 * s });
        let moved = Anchor { score_s: 5.05, performance_s: 10.6 };
        let bent = preview(&warp, &anchors, moved).unwrap();
        assert!((bent.at(5.05) - 10.6).abs() < 1e-9);
        for fixed in [0.0, 1.0, 2.0, 8.0, 9.5] {
            assert!((bent.at(fixed) - 2.0 * fixed).abs() < 1e-9, "{fixed}");
        }
        assert!(bent.at(4.0) > 8.0 && bent.at(6.0) > 12.0);
        assert!(preview(&warp, &anchors, Anchor { score_s: 5.0, performance_s: 30.0 }).is_none(), "backwards");
    }
}
