//! Slices: a stretch of the score of fixed length, and a window of the recording, a tenth longer, that holds it.
//!
//! Slices are cut with the truth's help, as in the published protocol, but the truth's last row is used and no row
//! lies outside its window.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::pieces::Piece;
use crate::base::error::{Error, Result};
use crate::base::random::Random;

/// How long slices are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceParams {
    /// Frames of the score.
    pub score_frames: usize,
}

impl Default for SliceParams {
    fn default() -> Self {
        Self { score_frames: 256 }
    }
}

impl SliceParams {
    /// Frames of the recording: a tenth more than of the score.
    pub fn performance_frames(&self) -> usize {
        (self.score_frames * 11).div_ceil(10)
    }

    /// Refuses slices that are too short to warp or too long for the memory.
    pub(in crate::learning) fn validate(&self) -> Result<()> {
        if (8..=8192).contains(&self.score_frames) {
            return Ok(());
        }
        Err(Error::invalid("frames of a slice", self.score_frames, "between 8 and 8192"))
    }
}

/// Where a slice lies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SlicePlan {
    /// Index of its piece.
    pub piece: usize,
    /// The score's times are multiplied by this before it is cut; 1 leaves its frames as they are.
    pub tempo: f64,
    /// First score frame, at the scaled tempo.
    pub score_start: usize,
    /// First frame of the recording.
    pub performance_start: usize,
    /// Rows of the truth that the slice holds, two or more.
    pub rows: Range<usize>,
}

/// A slice cut out: raw features and the truth, both times counted from the first frame.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slice {
    /// Row-major frames of the score.
    pub score: Vec<f32>,
    /// Row-major frames of the recording.
    pub performance: Vec<f32>,
    /// Where the score's moments are in the recording.
    pub truth: SliceTruth,
}

/// The truth of a slice, in seconds from the first frame of either side.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceTruth {
    /// Strictly increasing score times, two or more.
    pub score_s: Vec<f64>,
    /// Their performance times.
    pub performance_s: Vec<f64>,
}

/// How the slices of a piece are placed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    /// Where the first slice begins, as a share of a slice's length.
    pub first: f64,
    /// Factor on the score's times.
    pub tempo: f64,
}

impl Placement {
    /// One after the other from the beginning, as for tests.
    pub const FIXED: Self = Self { first: 0.0, tempo: 1.0 };
}

/// Plans the slices of one piece: consecutive stretches of the score, without those whose performance does not fit its
/// window or that hold fewer than two rows of the truth. `random` places each window round its performance.
pub(super) fn plan_slices(
    index: usize,
    piece: &Piece,
    params: &SliceParams,
    placement: Placement,
    random: &mut Random,
) -> Vec<SlicePlan> {
    let (length, window) = (params.score_frames, params.performance_frames());
    let (frames, performance_frames) = (piece.score.frames(), piece.performance.frames());
    if frames < 2 || performance_frames < window {
        return Vec::new();
    }
    let step = piece.score.times[1] - piece.score.times[0];
    let score_s = |row: usize| piece.truth.score_s[row] * placement.tempo;
    let performance_s = |row: usize| piece.truth.performance_s[row];
    let rows = piece.truth.len();
    let scaled_frames = (frames as f64 * placement.tempo) as usize;
    let mut plans = Vec::new();
    let mut start = (placement.first * length as f64) as usize;
    while start + length <= scaled_frames && (start as f64 * step) < score_s(rows - 1) {
        let (from, until) = (start as f64 * step, (start + length) as f64 * step);
        let first = piece.truth.score_s.partition_point(|&s| s * placement.tempo <= from);
        let end = piece.truth.score_s.partition_point(|&s| s * placement.tempo < until);
        // Drawn for every stretch, kept or not, so that one piece's truth does not move the other windows.
        let share = random.unit() / 2.0;
        if end >= first + 2 {
            let margin = performance_s(first) + window as f64 * step - performance_s(end - 1);
            let begin = ((performance_s(first) - share * margin) / step).max(0.0) as usize;
            let fits = margin > 0.0 && performance_s(end - 1) >= performance_s(first);
            let ends = begin + window;
            if fits && ends <= performance_frames && (ends as f64) * step < performance_s(rows - 1) {
                let plan = SlicePlan {
                    piece: index,
                    tempo: placement.tempo,
                    score_start: start,
                    performance_start: begin,
                    rows: first..end,
                };
                plans.push(plan);
            }
        }
        start += length;
    }
    plans
}

/// Cuts a planned slice out of its piece.
pub(super) fn cut(piece: &Piece, plan: &SlicePlan, params: &SliceParams) -> Slice {
    let dim = piece.score.dim;
    let step = piece.score.times[1] - piece.score.times[0];
    let score = if plan.tempo == 1.0 {
        piece.score.values[plan.score_start * dim..(plan.score_start + params.score_frames) * dim].to_vec()
    } else {
        let mut values = Vec::with_capacity(params.score_frames * dim);
        for frame in plan.score_start..plan.score_start + params.score_frames {
            piece.score.interpolate_into(frame as f64 * step / plan.tempo, &mut values);
        }
        values
    };
    let from = plan.performance_start * dim;
    let performance = piece.performance.values[from..from + params.performance_frames() * dim].to_vec();
    let (score_from, performance_from) = (plan.score_start as f64 * step, plan.performance_start as f64 * step);
    let truth = SliceTruth {
        score_s: piece.truth.score_s[plan.rows.clone()].iter().map(|s| s * plan.tempo - score_from).collect(),
        performance_s: piece.truth.performance_s[plan.rows.clone()].iter().map(|p| p - performance_from).collect(),
    };
    Slice { score, performance, truth }
}

/// The slices that accuracy is measured on: always the same for a seed.
pub(super) fn fixed_plans(pieces: &[Piece], params: &SliceParams, seed: u64) -> Vec<SlicePlan> {
    let of_piece = |(index, piece): (usize, &Piece)| {
        let mut random = Random::at(seed, &[u64::MAX, index as u64]);
        plan_slices(index, piece, params, Placement::FIXED, &mut random)
    };
    pieces.iter().enumerate().flat_map(of_piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GroundTruth;
    use crate::features::FeatureSeq;

    const STEP: f64 = 0.05;

    /// Feature values that tell their own frame: score frames count up, performance frames count down.
    fn piece(frames: usize, truth: Vec<(f64, f64)>) -> Piece {
        let features = |sign: f32| FeatureSeq {
            times: (0..frames).map(|i| i as f64 * STEP).collect(),
            values: (0..frames).map(|i| sign * i as f32).collect(),
            dim: 1,
        };
        let (score_s, performance_s) = truth.into_iter().unzip();
        let truth = GroundTruth { score_s, performance_s };
        Piece { name: "p".into(), score: features(1.0), performance: features(-1.0), truth }
    }

    fn regular(frames: usize) -> Piece {
        let rows = (frames as f64 * STEP / 0.31) as usize;
        piece(frames, (0..rows).map(|i| (i as f64 * 0.31, 0.4 + i as f64 * 0.31)).collect())
    }

    const PARAMS: SliceParams = SliceParams { score_frames: 40 };

    fn plans(piece: &Piece, placement: Placement, seed: u64) -> Vec<SlicePlan> {
        plan_slices(0, piece, &PARAMS, placement, &mut Random::at(seed, &[]))
    }

    #[test]
    fn the_default_sizes_are_those_of_the_protocol() {
        assert_eq!(SliceParams::default().performance_frames(), 282);
        assert!(SliceParams { score_frames: 0 }.validate().is_err());
    }

    #[test]
    fn every_slice_holds_its_truth_whole_including_the_last_row() {
        let piece = regular(400);
        for seed in 0..20 {
            for placement in [Placement::FIXED, Placement { first: 0.37, tempo: 1.05 }] {
                let plans = plans(&piece, placement, seed);
                assert!(plans.len() >= 7, "{}", plans.len());
                for plan in &plans {
                    let slice = cut(&piece, plan, &PARAMS);
                    assert_eq!((slice.score.len(), slice.performance.len()), (40, 44));
                    let (s, p) = (&slice.truth.score_s, &slice.truth.performance_s);
                    assert!(s[0] > 0.0 && s[s.len() - 1] < 40.0 * STEP);
                    assert!(p[0] >= 0.0 && p[p.len() - 1] <= 44.0 * STEP, "{p:?}");
                    // The next row would lie outside: none is missing.
                    let next = piece.truth.score_s.get(plan.rows.end);
                    assert!(next.is_none_or(|n| n * plan.tempo - plan.score_start as f64 * STEP >= 40.0 * STEP));
                }
            }
        }
    }

    #[test]
    fn a_stretched_score_is_sampled_between_its_frames() {
        let piece = regular(400);
        let plan = &plans(&piece, Placement { first: 0.5, tempo: 1.25 }, 3)[1];
        let slice = cut(&piece, plan, &PARAMS);
        for (i, value) in slice.score.iter().enumerate() {
            let expected = (plan.score_start + i) as f32 / 1.25;
            assert!((value - expected).abs() < 1e-3, "{value} {expected}");
        }
        let row = plan.rows.start;
        let expected = piece.truth.score_s[row] * 1.25 - plan.score_start as f64 * STEP;
        assert!((slice.truth.score_s[0] - expected).abs() < 1e-12);
        assert_eq!(slice.performance[0], -(plan.performance_start as f32));
    }

    #[test]
    fn slices_with_a_long_pause_or_too_few_rows_are_left_out() {
        let pause =
            piece(400, (0..60).map(|i| (i as f64 * 0.3, i as f64 * 0.3 + if i > 3 { 1.0 } else { 0.0 })).collect());
        assert!(plans(&pause, Placement::FIXED, 1).iter().all(|plan| plan.score_start > 0));
        let sparse = piece(400, (0..8).map(|i| (i as f64 * 2.5, i as f64 * 2.5)).collect());
        assert!(plans(&sparse, Placement::FIXED, 1).is_empty());
        assert!(plans(&regular(20), Placement::FIXED, 1).is_empty());
    }
}
