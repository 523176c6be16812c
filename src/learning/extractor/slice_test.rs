//! The published slice protocol: TimeErr and TimeDev over fixed slices, for base or learned features, under DTW or GDTW.

use candle_core::Tensor;
use serde::{Deserialize, Serialize};

use super::super::losses::{WarpLoss, warp_loss};
use super::method::SliceAligner;
use super::pieces::Piece;
use super::slices::{Slice, SliceParams, cut, fixed_plans};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::features::{FeatureKind, FeatureSeq, rescaled};
use crate::networks::ops::failed;
use crate::networks::{Extractor, Side};
use crate::warping::Signal;
use crate::warping::cost::Band;
use crate::warping::dtw::{DtwPath, Ends, PathReading, dtw_of_pairs};
use crate::warping::gdtw::{Problem, SolveOptions, solve_many};

/// Mean figures over slices.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SliceScores {
    /// Mean TimeErr of the slices, in milliseconds.
    pub time_err_ms: f64,
    /// Mean TimeDev of the slices, in milliseconds.
    pub time_dev_ms: f64,
    /// How many slices there were.
    pub slices: usize,
}

/// What is tested.
#[derive(Debug, Clone, Copy)]
pub(in crate::learning) struct TestSetup<'a> {
    /// The base features that the pieces hold.
    pub features: FeatureKind,
    /// What learns from them; `None`: the base features themselves.
    pub extractor: Option<&'a Extractor>,
    /// How slices are cut.
    pub slices: SliceParams,
    /// Places the windows.
    pub seed: u64,
}

/// Slices that go through the networks together.
const SLICES_AT_ONCE: usize = 16;

/// Tests with one or more aligners; one result for each.
pub(in crate::learning) fn test_slices(
    ctx: &JobContext,
    pieces: &[Piece],
    setup: &TestSetup<'_>,
    aligners: &[SliceAligner],
) -> Result<Vec<SliceScores>> {
    let plans = fixed_plans(pieces, &setup.slices, setup.seed);
    if plans.is_empty() {
        let remedy = "give longer pieces or shorter slices";
        return Err(Error::unsuitable("the test data", "no slice fits into any piece", remedy));
    }
    let step = pieces[plans[0].piece].score.times[1];
    let times = |frames: usize| (0..frames).map(|i| i as f64 * step).collect::<Vec<f64>>();
    let (score_s, performance_s) = (times(setup.slices.score_frames), times(setup.slices.performance_frames()));
    let lambda = setup.extractor.map_or_else(|| setup.features.default_lambda(), |e| e.card.spec.lambda);
    let mut sums = vec![[0.0; 2]; aligners.len()];
    for chunk in plans.chunks(SLICES_AT_ONCE) {
        ctx.check()?;
        let slices: Vec<Slice> = chunk.iter().map(|plan| cut(&pieces[plan.piece], plan, &setup.slices)).collect();
        let encode = |pick: fn(&Slice) -> &Vec<f32>, frames: usize, side: Side| {
            let values: Vec<f32> = slices.iter().flat_map(pick).copied().collect();
            let base = rescale(values, setup.features);
            let Some(extractor) = setup.extractor else { return Ok((base, setup.features.dim())) };
            let network = extractor.network(side);
            Tensor::from_vec(base, (slices.len(), frames, setup.features.dim()), network.device())
                .and_then(|input| network.encode(ctx, &input)?.flatten_all()?.to_vec1())
                .map(|values| (values, network.output_dim()))
                .map_err(|e| failed(ctx, &e))
        };
        let (score, dim) = encode(|slice| &slice.score, score_s.len(), Side::Score)?;
        let (performance, _) = encode(|slice| &slice.performance, performance_s.len(), Side::Performance)?;
        let pair = |i: usize| {
            let part = |frames: usize| i * frames * dim..(i + 1) * frames * dim;
            let x = Signal::new(&score_s, &score[part(score_s.len())], dim)?;
            Ok((x, Signal::new(&performance_s, &performance[part(performance_s.len())], dim)?))
        };
        let pairs = (0..slices.len()).map(pair).collect::<Result<Vec<_>>>()?;
        for (sum, &aligner) in sums.iter_mut().zip(aligners) {
            for (slice, phi) in slices.iter().zip(warps(ctx, aligner, lambda, &pairs)?) {
                for (sum, loss) in sum.iter_mut().zip([WarpLoss::TimeErr, WarpLoss::TimeDev]) {
                    *sum += warp_loss(loss, &score_s, &phi, &slice.truth).value;
                }
            }
        }
    }
    let mean = |sum: f64| 1e3 * sum / plans.len() as f64;
    let scores =
        |sum: [f64; 2]| SliceScores { time_err_ms: mean(sum[0]), time_dev_ms: mean(sum[1]), slices: plans.len() };
    Ok(sums.into_iter().map(scores).collect())
}

/// The constants that the networks and λ expect.
pub(super) fn rescale(values: Vec<f32>, kind: FeatureKind) -> Vec<f32> {
    rescaled(FeatureSeq { times: Vec::new(), values, dim: kind.dim() }, kind).values
}

/// The performance time of every score frame of each slice.
fn warps(
    ctx: &JobContext,
    aligner: SliceAligner,
    lambda: f64,
    pairs: &[(Signal<'_>, Signal<'_>)],
) -> Result<Vec<Vec<f64>>> {
    match aligner {
        SliceAligner::Gdtw => {
            let problems: Vec<Problem<'_>> =
                pairs.iter().map(|&(score, performance)| Problem::from_signals(score, performance, lambda)).collect();
            let solutions = solve_many(ctx, &problems, &SolveOptions::default())?;
            Ok(solutions.into_iter().map(|solution| solution.phi).collect())
        }
        SliceAligner::Dtw => {
            let banded = pairs
                .iter()
                .map(|&(score, performance)| {
                    Ok((score, performance, Band::full(score.frames(), performance.frames())?))
                })
                .collect::<Result<Vec<_>>>()?;
            let warp = |(path, (score, performance)): (DtwPath, &(Signal<'_>, Signal<'_>))| {
                let warp = path.warp(score.times(), performance.times(), PathReading::LastFrame)?;
                Ok(warp.performance_s().to_vec())
            };
            dtw_of_pairs(ctx, &banded, Ends::Pinned)?.into_iter().zip(pairs).map(warp).collect()
        }
    }
}
