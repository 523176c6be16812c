use proptest::prelude::*;

use super::devices_for_tests::gpu_context;
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::warping::Signal;
use crate::warping::cost::Band;
use crate::warping::dtw::{Ends, dtw_of_pairs};
use crate::warping::gdtw::{CostTable, EdgeCost, FirstGrid, NodeCost, Problem, SolveOptions, gradient, solve_many};
use crate::warping::soft_dtw::{DilateParams, PairLoss, dilate_of_pairs, soft_dtw_of_pairs};

/// Features that wander, and the times of their frames.
fn wander(seed: u64, frames: usize, dim: usize) -> (Vec<f64>, Vec<f32>) {
    let mut random = Random::at(seed, &[frames as u64]);
    let mut at = vec![0.0; dim];
    let mut values = Vec::new();
    for _ in 0..frames {
        at.iter_mut().for_each(|v| *v += random.between(-0.4, 0.4));
        let length = at.iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-3);
        values.extend(at.iter().map(|v| (v / length) as f32));
    }
    ((0..frames).map(|i| 0.046 * i as f64).collect(), values)
}

/// CPU and device agree on the optimum, and on the gradient there.
fn assert_same(gpu: &JobContext, problems: &[Problem<'_>], options: &SolveOptions) {
    let on_cpu = solve_many(&JobContext::new(), problems, options);
    let on_gpu = solve_many(gpu, problems, options);
    let (on_cpu, on_gpu) = match (on_cpu, on_gpu) {
        (Ok(on_cpu), Ok(on_gpu)) => (on_cpu, on_gpu),
        (on_cpu, on_gpu) => return assert_eq!(on_cpu.is_ok(), on_gpu.is_ok(), "{on_cpu:?} {on_gpu:?}"),
    };
    for (problem, (a, b)) in problems.iter().zip(on_cpu.iter().zip(&on_gpu)) {
        assert!((a.objective - b.objective).abs() <= 1e-5 * a.objective.abs(), "{} {}", a.objective, b.objective);
        let worst = a.phi.iter().zip(&b.phi).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-4, "{worst}");
        let loss: Vec<f64> = problem.knots.iter().map(|t| 1.0 + t.sin()).collect();
        let (Ok(a), Ok(b)) = (gradient(problem, a, &loss), gradient(problem, b, &loss)) else { continue };
        if let (
            crate::warping::gdtw::NodeGradient::Features { x: a, .. },
            crate::warping::gdtw::NodeGradient::Features { x: b, .. },
        ) = (&a.nodes, &b.nodes)
        {
            assert_near(a, b, 1e-3);
        }
    }
}

fn assert_near(expected: &[f32], found: &[f32], tolerance: f64) {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let size = norm(&mut expected.iter().map(|&v| f64::from(v)));
    let off = norm(&mut expected.iter().zip(found).map(|(a, b)| f64::from(*a) - f64::from(*b)));
    assert!(off <= tolerance * size.max(1e-9), "off by {off} of {size}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_problem_of_two_signals_has_the_same_optimum_on_the_gpu(
        seed in 0_u64..1_000_000,
        (rows, columns, dim) in (2_usize..70, 2_usize..90, 1_usize..6),
        lambda in prop::option::of(-3.0_f64..1.0),
        slope in prop::option::of((0.0_f64..0.8, 1.2_f64..4.0)),
        pinned in any::<bool>(),
        points in prop::option::of(2_usize..300),
    ) {
        let (score_s, score) = wander(seed, rows, dim);
        let (performance_s, performance) = wander(seed + 1, columns, dim);
        let x = Signal::new(&score_s, &score, dim).unwrap();
        let y = Signal::new(&performance_s, &performance, dim).unwrap();
        let mut problem = Problem::from_signals(x, y, lambda.map_or(0.05, |power| 10_f64.powf(power)));
        if let Some((least, most)) = slope {
            problem = problem.with_slope_limits(least, most);
        }
        if pinned {
            problem = problem.with_pinned_ends();
        }
        let options = SolveOptions {
            first_grid: points.map_or(FirstGrid::StepsPerFrame(2.0), FirstGrid::Points),
            ..SolveOptions::default()
        };
        if let Some(gpu) = gpu_context() {
            assert_same(&gpu, &[problem.clone(), problem], &options);
        }
    }
}

#[test]
fn tables_with_tempo_edges_bands_and_anchors_have_the_same_optimum() {
    let Some(gpu) = gpu_context() else { return };
    let mut table = CostTable::new(0.0, 0.01).unwrap();
    for i in 0..40 {
        let cost = |k: usize| {
            let t = 0.01 * k as f32 - 0.7 + 0.1 * (i as f32).sin();
            -(-t * t * 900.0).exp() - 0.3 * (-(t - 0.2).powi(2) * 500.0).exp()
        };
        table.push_row(20 * i, &(0..100 + i).map(cost).collect::<Vec<f32>>()).unwrap();
    }
    let knots = (0..40).map(|i| 0.25 * f64::from(i)).collect();
    let edges =
        EdgeCost::LogTempo { weight: vec![0.5; 39], reference: vec![0.2; 39], epsilon: 0.02, sigma: 0.3, delta: 2.0 };
    let tempo = Problem::new(knots, NodeCost::Table(&table), edges);
    let (score_s, score) = wander(7, 150, 4);
    let (performance_s, performance) = wander(8, 180, 4);
    let (x, y) = (Signal::new(&score_s, &score, 4).unwrap(), Signal::new(&performance_s, &performance, 4).unwrap());
    let frames = Problem::from_signals(x, y, 0.1);
    let banded = frames.clone().with_band(&score_s, &vec![0.7; 150]).unwrap();
    let anchored = frames.clone().with_anchors(&[(30, 1.6), (100, 5.0)]).unwrap();
    let coarse = SolveOptions { first_grid: FirstGrid::StepsPerFrame(1.0), refinements: 0, ..SolveOptions::default() };
    assert_same(&gpu, &[tempo.clone(), tempo.clone()], &coarse);
    assert_same(&gpu, &[tempo, frames, banded, anchored], &SolveOptions::default());
}

#[test]
fn classic_paths_cost_the_same() {
    let Some(gpu) = gpu_context() else { return };
    for (rows, columns) in [(1, 5), (60, 47), (130, 150)] {
        let ((score_s, score), (performance_s, performance)) = (wander(3, rows, 5), wander(4, columns, 5));
        let x = Signal::new(&score_s, &score, 5).unwrap();
        let y = Signal::new(&performance_s, &performance, 5).unwrap();
        for ends in [Ends::Pinned, Ends::Subsequence] {
            let pair = (x, y, Band::full(rows, columns).unwrap());
            let cost = |ctx: &JobContext| dtw_of_pairs(ctx, std::slice::from_ref(&pair), ends).unwrap()[0].cost();
            let (a, b) = (cost(&JobContext::new()), cost(&gpu));
            assert!((a - b).abs() <= 1e-5 * a, "{rows}x{columns}: {a} {b}");
        }
    }
}

#[test]
fn soft_losses_and_their_gradients_are_the_same() {
    let Some(gpu) = gpu_context() else { return };
    let ((score_s, score), (performance_s, performance)) = (wander(3, 120, 16), wander(4, 133, 16));
    let x = Signal::new(&score_s, &score, 16).unwrap();
    let y = Signal::new(&performance_s, &performance, 16).unwrap();
    let truth: Vec<(f64, f64)> = (1..20).map(|i| (0.2 * f64::from(i), 0.23 * f64::from(i))).collect();
    let same = |of: &dyn Fn(&JobContext) -> PairLoss| {
        let (a, b) = (of(&JobContext::new()), of(&gpu));
        assert!((a.value - b.value).abs() <= 1e-5 * a.value.abs().max(1e-6), "{} {}", a.value, b.value);
        assert_near(&a.gradient.score, &b.gradient.score, 1e-3);
        assert_near(&a.gradient.performance, &b.gradient.performance, 1e-3);
    };
    for gamma in [1.0, 0.1] {
        same(&|ctx| soft_dtw_of_pairs(ctx, &[(x, y)], gamma).unwrap().remove(0));
        let params = DilateParams { alpha: 0.3, gamma };
        same(&|ctx| dilate_of_pairs(ctx, &[(x, y)], std::slice::from_ref(&truth), &params).unwrap().remove(0));
    }
}

#[test]
fn the_same_device_gives_the_same_bits() {
    let Some(gpu) = gpu_context() else { return };
    let ((score_s, score), (performance_s, performance)) = (wander(3, 80, 8), wander(4, 90, 8));
    let x = Signal::new(&score_s, &score, 8).unwrap();
    let y = Signal::new(&performance_s, &performance, 8).unwrap();
    let problems = vec![Problem::from_signals(x, y, 0.1); 3];
    let solved = || solve_many(&gpu, &problems, &SolveOptions::default()).unwrap();
    assert_eq!(solved(), solved());
    let soft = || soft_dtw_of_pairs(&gpu, &[(x, y); 3], 0.5).unwrap();
    assert_eq!(soft(), soft());
}
