use candle_core::{Device, Var};

use super::*;
use crate::learning::losses::{WarpLoss, warp_loss};
use crate::learning::method::{EncodedSlice, Method, slice_loss};
use crate::learning::slices::SliceTruth;
use crate::warping::gdtw::Workspace;

const SCORE: usize = 24;
const PERFORMANCE: usize = 27;
const DIM: usize = 3;
const SEQUENCES: usize = 2;

fn times(count: usize) -> Vec<f64> {
    (0..count).map(|i| 0.05 * i as f64).collect()
}

fn features(count: usize, faster: f64, later: f64) -> Vec<f64> {
    let point = |t: f64| [(4.0 * t).sin(), (3.0 * t).cos(), (7.0 * t + 1.0).sin()];
    (0..SEQUENCES)
        .flat_map(|k| (0..count).flat_map(move |i| point(faster * 0.05 * i as f64 - later + k as f64)))
        .collect()
}

fn truth() -> SliceTruth {
    let score_s: Vec<f64> = (1..10).map(|i| 0.11 * f64::from(i)).collect();
    let performance_s = score_s.iter().map(|s| 0.07 + 0.93 * s).collect();
    SliceTruth { score_s, performance_s }
}

fn var(values: Vec<f64>, frames: usize) -> Var {
    Var::from_vec(values, (SEQUENCES, frames, DIM), &Device::Cpu).unwrap()
}

fn layer(score: &Tensor, performance: &Tensor, limits: &Tensor) -> candle_core::Result<Tensor> {
    let (score_s, performance_s) = (times(SCORE), times(PERFORMANCE));
    let times = FrameTimes { score_s: &score_s, performance_s: &performance_s };
    let params = LayerParams { solve: SolveOptions::default(), rounding_s: 0.0 };
    decdtw_layer(score, performance, limits, times, &params)
}

/// A loss whose gradient by the warp is `weights`.
fn weighted(warps: &Tensor, weights: &[f64]) -> Tensor {
    let weights = Tensor::from_slice(weights, warps.shape(), &Device::Cpu).unwrap();
    (warps * weights).unwrap().sum_all().unwrap()
}

fn flat(tensor: &Tensor) -> Vec<f64> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn the_layer_has_the_values_and_gradients_of_the_plain_path() {
    let (x, y) = (features(SCORE, 1.0, 0.0), features(PERFORMANCE, 1.08, 0.06));
    let (score, performance) = (var(x.clone(), SCORE), var(y.clone(), PERFORMANCE));
    let limits = Var::from_vec(vec![0.1], 1, &Device::Cpu).unwrap();
    let warps = layer(&score, &performance, &limits).unwrap();
    assert_eq!(warps.dims(), [SEQUENCES, SCORE]);
    let (score_s, performance_s, truth) = (times(SCORE), times(PERFORMANCE), truth());
    let losses: Vec<_> =
        flat(&warps).chunks(SCORE).map(|phi| warp_loss(WarpLoss::TimeErr, &score_s, phi, &truth)).collect();
    let by_warp: Vec<f64> = losses.iter().flat_map(|loss| loss.gradient.clone()).collect();
    let gradients = weighted(&warps, &by_warp).backward().unwrap();

    let mut plain = Vec::new();
    for (x, y) in x.chunks(SCORE * DIM).zip(y.chunks(PERFORMANCE * DIM)) {
        let slice = EncodedSlice {
            score: Signal::new(&score_s, x, DIM).unwrap(),
            performance: Signal::new(&performance_s, y, DIM).unwrap(),
            truth: &truth,
        };
        let method = Method::DecDtw { loss: WarpLoss::TimeErr, rounding: 0.0, regret: 0.0 };
        plain.push(slice_loss(&JobContext::new(), method, 0.1, &slice, &mut Workspace::default()).unwrap());
    }
    assert!(losses.iter().zip(&plain).all(|(a, b)| a.value == b.value));
    let joined = |pick: fn(&crate::learning::SliceLoss<f64>) -> &Vec<f64>| {
        plain.iter().flat_map(pick).copied().collect::<Vec<_>>()
    };
    assert_eq!(flat(gradients.get(&score).unwrap()), joined(|p| &p.score));
    assert_eq!(flat(gradients.get(&performance).unwrap()), joined(|p| &p.performance));
    let by_lambda = flat(gradients.get(&limits).unwrap())[0];
    assert!((by_lambda - plain.iter().map(|p| p.lambda).sum::<f64>()).abs() < 1e-12);
}

#[test]
fn lambda_and_slope_limits_learn_what_finite_differences_say() {
    // The performance is a third faster and slower in turn: limits this tight hold segments on both sides.
    let point = |t: f64| [(4.0 * t).sin(), (3.0 * t).cos(), (7.0 * t + 1.0).sin()];
    let uneven = |p: f64| p - 0.06 + 0.06 * (6.0 * p).sin();
    let y = (0..SEQUENCES).flat_map(|k| times(PERFORMANCE).into_iter().flat_map(move |p| point(uneven(p) + k as f64)));
    let (score, performance) = (var(features(SCORE, 1.0, 0.0), SCORE), var(y.collect(), PERFORMANCE));
    let weights: Vec<f64> = (0..SEQUENCES * SCORE).map(|i| (0.3 * i as f64).sin()).collect();
    let value = |limits: &[f64]| {
        let limits = Tensor::from_slice(limits, 3, &Device::Cpu).unwrap();
        let loss = weighted(&layer(&score, &performance, &limits).unwrap(), &weights);
        loss.to_scalar::<f64>().unwrap()
    };
    let base = [0.02, 0.85, 1.15];
    let limits = Var::from_slice(&base, 3, &Device::Cpu).unwrap();
    let loss = weighted(&layer(&score, &performance, &limits).unwrap(), &weights);
    let found = flat(loss.backward().unwrap().get(&limits).unwrap());
    for i in 0..3 {
        let at = |h: f64| {
            let mut changed = base;
            changed[i] += h;
            value(&changed)
        };
        let h = 1e-6;
        let difference = (at(h) - at(-h)) / (2.0 * h);
        assert!((difference - found[i]).abs() < 1e-4 * (1.0 + difference.abs()), "{i}: {difference} {}", found[i]);
    }
    assert!(found.iter().all(|g| g.abs() > 1e-6), "a limit holds nothing: {found:?}");
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (score, performance) =
        (var(features(SCORE, 1.0, 0.0), SCORE), var(features(PERFORMANCE, 1.0, 0.0), PERFORMANCE));
    let one = Tensor::from_slice(&[0.1], 1, &Device::Cpu).unwrap();
    let two = Tensor::from_slice(&[0.1, 0.2], 2, &Device::Cpu).unwrap();
    assert!(layer(&score, &score, &one).is_err());
    assert!(layer(&score, &performance, &two).is_err());
    assert!(layer(&score.to_dtype(DType::U8).unwrap(), &performance.to_dtype(DType::U8).unwrap(), &one).is_err());
    let negative = Tensor::from_slice(&[-0.1], 1, &Device::Cpu).unwrap();
    assert!(layer(&score, &performance, &negative).is_err());
}
