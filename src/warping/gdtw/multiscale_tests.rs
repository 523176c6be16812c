use proptest::prelude::*;

use super::super::test_signals::{Curve, DIM};
use super::super::{EdgeCost, KKT_TOLERANCE};
use super::*;
use crate::warping::Signal;

const STEP: f64 = 0.05;

/// Knots, frame times, both signals; `warp` maps knots to times.
struct Pair {
    knots: Vec<f64>,
    frames: Vec<f64>,
    x: Vec<f32>,
    y: Vec<f32>,
}

impl Pair {
    fn new(knots: usize, frames: usize, seed: u64, warp: impl Fn(f64) -> f64) -> Self {
        let ramp = |n: usize| (0..n).map(|i| i as f64 * STEP).collect::<Vec<f64>>();
        let (knots, frames) = (ramp(knots), ramp(frames));
        let curve = Curve::new(frames.len() as f64 * STEP, seed);
        let x = knots.iter().flat_map(|&t| curve.at(warp(t))).collect();
        let y = frames.iter().flat_map(|&t| curve.at(t)).collect();
        Self { knots, frames, x, y }
    }

    fn problem(&self, lambda: f64) -> Problem<'_> {
        let x = Signal::new(&self.knots, &self.x, DIM).unwrap();
        Problem::from_signals(x, Signal::new(&self.frames, &self.y, DIM).unwrap(), lambda)
    }
}

fn run(problem: &Problem<'_>) -> Result<Solution> {
    solve_multiscale(&JobContext::new(), problem, &MultiscaleParams { coarsest_cells: 5_000, ..Default::default() })
}

fn rubato(t: f64) -> f64 {
    1.1 * t + 1.5 * (0.2 * t).sin() + 0.3 * (0.9 * t).sin()
}

#[test]
fn the_warp_of_a_long_signal_is_the_one_found_without_levels() {
    let pair = Pair::new(1200, 1400, 7, rubato);
    let problem = pair.problem(1e-4).with_nominal_slope(1.1);
    let found = run(&problem).unwrap();
    let whole = solve(&JobContext::new(), &problem, &SolveOptions::default(), &mut Workspace::default()).unwrap();
    assert!(
        found.objective <= whole.objective + 1e-9 * (1.0 + whole.objective),
        "{} {}",
        found.objective,
        whole.objective
    );
    assert!(found.kkt_residual <= KKT_TOLERANCE);
    let worst = found.phi.iter().zip(&pair.knots).map(|(p, &t)| (p - rubato(t)).abs()).fold(0.0, f64::max);
    assert!(worst < 0.02, "{worst}");
}

#[test]
fn a_subsequence_is_found_in_a_much_longer_signal() {
    let pair = Pair::new(300, 6000, 11, |t| 187.3 + 1.05 * t);
    let found = run(&pair.problem(1e-3)).unwrap();
    assert!(found.phi.iter().zip(&pair.knots).all(|(p, t)| (p - 187.3 - 1.05 * t).abs() < 0.03));
}

#[test]
fn anchors_pinned_ends_and_slope_limits_hold() {
    let pair = Pair::new(1000, 1100, 3, rubato);
    let end = pair.frames[1099];
    let problem = pair
        .problem(1e-3)
        .with_pinned_ends()
        .with_slope_limits(0.4, 2.0)
        .with_anchors(&[(333, 20.0), (700, 36.0)])
        .unwrap();
    let found = run(&problem).unwrap();
    assert_eq!((found.phi[0], found.phi[333], found.phi[700], found.phi[999]), (0.0, 20.0, 36.0, end));
    assert!(found.phi.windows(2).all(|p| (0.4 * STEP - 1e-9..=2.0 * STEP + 1e-9).contains(&(p[1] - p[0]))));
    let contradiction = pair.problem(1e-3).with_anchors(&[(333, 20.0), (334, 19.0)]).unwrap();
    assert!(matches!(run(&contradiction), Err(Error::Infeasible { .. })));
}

#[test]
fn other_kinds_of_problems_and_bad_settings_are_refused() {
    let pair = Pair::new(500, 500, 3, |t| t);
    let mut problem = pair.problem(1e-3);
    let tempo = vec![1.0; 499];
    problem.edges =
        EdgeCost::LogTempo { weight: tempo.clone(), reference: tempo, epsilon: 0.01, sigma: 0.2, delta: 2.0 };
    assert!(run(&problem).unwrap_err().to_string().contains("slope"));
    let params = MultiscaleParams { factor: 1, ..Default::default() };
    assert!(solve_multiscale(&JobContext::new(), &pair.problem(1.0), &params).is_err());
}

#[test]
fn cancellation_stops_it() {
    let pair = Pair::new(500, 500, 3, |t| t);
    let ctx = JobContext::new();
    ctx.cancel();
    let result = solve_multiscale(&ctx, &pair.problem(1e-3), &MultiscaleParams::default());
    assert!(matches!(result, Err(Error::Cancelled)));
}

#[test]
fn work_per_knot_does_not_grow_with_length() {
    let work = |knots: usize| {
        let pair = Pair::new(knots, knots, 5, |t| t + 1.0 - (0.1 * t).cos());
        let found = run(&pair.problem(1e-3)).unwrap();
        found.passes.iter().map(|pass| pass.nodes).sum::<usize>() as f64 / knots as f64
    };
    let (short, long) = (work(800), work(12_000));
    assert!((long / short - 1.0).abs() < 0.1, "{short} {long}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn known_warps_are_recovered(seed in 1_u64..1000, slope in 0.7..1.5_f64, sway in 0.0..2.0_f64, offset in 0.0..4.0_f64) {
        let warp = |t: f64| offset + slope * t + sway * (1.0 - (0.15 * t).cos());
        let pair = Pair::new(800, 1500, seed, warp);
        // The coarsest level of the default tells the turns of the signal apart.
        let params = MultiscaleParams::default();
        let problem = pair.problem(1e-4).with_nominal_slope(slope);
        let found = solve_multiscale(&JobContext::new(), &problem, &params).unwrap();
        let errors = found.phi.iter().zip(&pair.knots).map(|(p, &t)| (p - warp(t)).abs());
        let worst = errors.fold(0.0, f64::max);
        prop_assert!(worst < 0.05, "{worst}");
    }
}
