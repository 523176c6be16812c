//! The engine as a whole.

use proptest::prelude::*;

use super::*;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::warping::Signal;
use crate::warping::test_noise::unit_noise;

/// Reproducible numbers in −0.5 .. 0.5.
pub(super) fn random(count: usize, seed: u64) -> Vec<f64> {
    unit_noise(count, seed).into_iter().map(|v| v - 0.5).collect()
}

pub(super) fn run<T: Real>(problem: &Problem<'_, T>) -> Result<Solution> {
    solve(&JobContext::new(), problem, &SolveOptions::default(), &mut Workspace::default())
}

fn ramp(count: usize, step: f64) -> Vec<f64> {
    (0..count).map(|i| i as f64 * step).collect()
}

/// Every constraint holds, the warp is no worse than any pass, and it is stationary.
fn assert_sound<T: Real>(problem: &Problem<'_, T>, solution: &Solution) {
    let phi = &solution.phi;
    let tiny = 1e-9 * (1.0 + phi.iter().fold(0.0_f64, |a, v| a.max(v.abs())));
    for (i, &at) in phi.iter().enumerate() {
        let (lo, hi) = problem.limits(i);
        assert!(at >= lo - tiny && at <= hi + tiny, "knot {i} at {at}, bounds {lo} {hi}");
    }
    for (i, pair) in phi.windows(2).enumerate() {
        let (min, max) = problem.steps(i);
        let advance = pair[1] - pair[0];
        assert!(advance >= min - tiny && advance <= max + tiny, "segment {i}: {advance}, limits {min} {max}");
    }
    let objective = problem.objective(phi);
    let rounding = 1e-12 * (1.0 + objective.abs());
    assert!((objective - solution.objective).abs() <= rounding, "{objective} {}", solution.objective);
    let best_pass = solution.passes.iter().map(|p| p.objective).fold(f64::INFINITY, f64::min);
    assert!(solution.objective <= best_pass + rounding, "{} {best_pass}", solution.objective);
    assert!(
        solution.kkt_residual <= KKT_TOLERANCE,
        "residual {} after {}",
        solution.kkt_residual,
        solution.newton_steps
    );
}

#[test]
fn a_signal_aligned_with_itself_is_the_identity() {
    let times = ramp(40, 0.1);
    let values = random(120, 3);
    let signal = Signal::new(&times, &values, 3).unwrap();
    let problem = Problem::from_signals(signal, signal, 0.1);
    let solution = run(&problem).unwrap();
    assert_sound(&problem, &solution);
    assert!(solution.objective.abs() < 1e-12, "{}", solution.objective);
    assert!(solution.phi.iter().zip(&times).all(|(a, b)| (a - b).abs() < 1e-7));
}

#[test]
fn a_known_warp_is_recovered() {
    let curve = |s: f64| [(5.0 * s).sin(), (3.0 * s).cos(), (0.7 * s).sin()];
    let warp = |t: f64| t + 0.4 * (0.8 * t).sin();
    let (t, tau) = (ramp(120, 0.05), ramp(300, 0.022));
    let x: Vec<f32> = t.iter().flat_map(|&t| curve(warp(t))).map(|v| v as f32).collect();
    let y: Vec<f32> = tau.iter().flat_map(|&s| curve(s)).map(|v| v as f32).collect();
    let problem = Problem::from_signals(Signal::new(&t, &x, 3).unwrap(), Signal::new(&tau, &y, 3).unwrap(), 1e-4);
    let solution = run(&problem).unwrap();
    assert_sound(&problem, &solution);
    for (&t, &phi) in t.iter().zip(&solution.phi) {
        assert!((phi - warp(t)).abs() < 0.004, "{t}: {phi} {}", warp(t));
    }
}

/// Objectives by SLSQP (scipy 1.x) from ten starts, best taken:
/// ```python
/// m, n = 12, 15
/// t, tau = np.linspace(0, 1, m), np.linspace(0, 1, n)
/// x = np.stack([np.sin(7*t) + 0.3*np.cos(40*t), np.cos(5*t)], 1)
/// y = np.stack([np.sin(7*tau**1.4), np.cos(5*tau**1.4) + 0.2*np.sin(33*tau)], 1)
/// w = np.r_[.5, np.ones(m-2), .5]/(m-1)
/// f = lambda p: (w*((x - np.stack([np.interp(p, tau, y[:, c]) for c in (0, 1)], 1))**2).sum(1)).sum() \
///     + lam*((np.diff(p)*(m-1) - 1)**2).sum()/(m-1)
/// minimize(f, start, method="SLSQP", bounds=[(0, 0)] + [(0, 1)]*(m-2) + [(1, 1)],
///          constraints=[{"type": "ineq", "fun": np.diff}], options={"maxiter": 2000, "ftol": 1e-15})
/// ```
#[test]
fn objectives_are_not_above_those_of_a_general_solver() {
    let (t, tau) = (ramp(12, 1.0 / 11.0), ramp(15, 1.0 / 14.0));
    let x: Vec<f64> = t.iter().flat_map(|t| [(7.0 * t).sin() + 0.3 * (40.0 * t).cos(), (5.0 * t).cos()]).collect();
    let y: Vec<f64> = tau
        .iter()
        .flat_map(|s: &f64| [(7.0 * s.powf(1.4)).sin(), (5.0 * s.powf(1.4)).cos() + 0.2 * (33.0 * s).sin()])
        .collect();
    let (x, y) = (Signal::new(&t, &x, 2).unwrap(), Signal::new(&tau, &y, 2).unwrap());
    for (lambda, reference) in SLSQP {
        let problem = Problem::from_signals(x, y, lambda).with_pinned_ends();
        let solution = run(&problem).unwrap();
        assert_sound(&problem, &solution);
        assert!(solution.objective <= reference * (1.0 + 1e-9), "λ {lambda}: {} {reference}", solution.objective);
    }
}

const SLSQP: [(f64, f64); 4] = [
    (0.001, 0.019_156_746_912_176_55),
    (0.01, 0.021_305_096_491_815_737),
    (0.1, 0.040_764_108_161_424_07),
    (1.0, 0.105_513_311_115_921_83),
];

#[test]
fn times_need_no_scaling() {
    let (t, tau) = (ramp(20, 0.1), ramp(25, 0.09));
    let (x, y) = (random(40, 5), random(50, 6));
    let solved = |scale: f64| {
        let (t, tau): (Vec<f64>, Vec<f64>) =
            (t.iter().map(|v| v * scale).collect(), tau.iter().map(|v| v * scale).collect());
        let problem = Problem::from_signals(Signal::new(&t, &x, 2).unwrap(), Signal::new(&tau, &y, 2).unwrap(), 0.3);
        run(&problem).unwrap()
    };
    let (one, thousand) = (solved(1.0), solved(1000.0));
    assert!((thousand.objective / 1000.0 - one.objective).abs() < 1e-9 * one.objective);
    assert!(one.phi.iter().zip(&thousand.phi).all(|(a, b)| (a - b / 1000.0).abs() < 1e-7));
}

#[test]
fn flat_and_extreme_problems_are_solved() {
    let times = ramp(30, 0.1);
    let noise = random(60, 8);
    let constant = vec![1.0; 60];
    let zero = vec![0.0; 60];
    for (x, y) in [(&constant, &constant), (&zero, &zero), (&noise, &zero), (&noise, &noise)] {
        for lambda in [0.0, 1e-9, 1.0, 1e9] {
            let problem =
                Problem::from_signals(Signal::new(&times, x, 2).unwrap(), Signal::new(&times, y, 2).unwrap(), lambda);
            for problem in [problem.clone(), problem.clone().with_pinned_ends(), problem.with_slope_limits(1.0, 1.0)] {
                assert_sound(&problem, &run(&problem).unwrap());
            }
        }
    }
}

#[test]
fn slope_limits_finer_than_the_grid_are_met() {
    let times = ramp(40, 0.1);
    let noise = random(80, 9);
    let signal = Signal::new(&times, &noise, 2).unwrap();
    for (min, max) in [(0.99, 1.01), (0.999_99, 1.000_01), (1.0, 1.0)] {
        let mut problem = Problem::from_signals(signal, signal, 0.1).with_slope_limits(min, max);
        problem.edges = EdgeCost::Slope { lambda: vec![0.1; 39], rho: vec![1.3; 39] };
        assert_sound(&problem, &run(&problem).unwrap());
    }
}

#[test]
fn a_single_admissible_time_is_a_solution() {
    let times = ramp(3, 1.0);
    let values = random(3, 4);
    let signal = Signal::new(&times, &values, 1).unwrap();
    let problem = Problem::from_signals(signal, signal, 0.1).with_anchors(&[(0, 0.0), (1, 0.5), (2, 2.0)]).unwrap();
    assert_eq!(run(&problem).unwrap().phi, [0.0, 0.5, 2.0]);
}

#[test]
fn a_long_banded_problem_needs_memory_for_its_band_only() {
    let m = 6000;
    let times = ramp(m, 0.05);
    let values: Vec<f32> = random(m * 4, 2).iter().map(|&v| v as f32).collect();
    let signal = Signal::new(&times, &values, 4).unwrap();
    let centre: Vec<f64> = times.iter().map(|t| t + 0.5 * (t / 20.0).sin()).collect();
    let problem = Problem::from_signals(signal, signal, 0.5).with_band(&centre, &vec![2.0; m]).unwrap();
    let options = SolveOptions { max_nodes: 170 * m, ..SolveOptions::default() };
    let solution = solve(&JobContext::new(), &problem, &options, &mut Workspace::default()).unwrap();
    assert_sound(&problem, &solution);
    assert!(solution.phi.iter().zip(&times).all(|(a, b)| (a - b).abs() < 1e-6));
    // Without the band the grid would be 3,700 times as large: refused before it is allocated.
    let free = Problem::from_signals(signal, signal, 0.5);
    let refused = solve(&JobContext::new(), &free, &options, &mut Workspace::default()).unwrap_err().to_string();
    assert!(refused.contains("narrow the band"), "{refused}");
}

#[test]
fn cancellation_and_contradictions_are_errors() {
    let times = ramp(5, 1.0);
    let values = random(5, 4);
    let signal = Signal::new(&times, &values, 1).unwrap();
    let ctx = JobContext::new();
    ctx.cancel();
    let problem = Problem::from_signals(signal, signal, 0.1);
    let cancelled = solve(&ctx, &problem, &SolveOptions::default(), &mut Workspace::default());
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    let contradiction = problem.with_anchors(&[(1, 3.0), (2, 1.0)]).unwrap();
    assert!(matches!(run(&contradiction), Err(Error::Infeasible { .. })));
}

#[test]
fn fewer_passes_end_on_the_same_optimum() {
    let times = ramp(60, 0.1);
    let curve = |s: f64| [(2.0 * s).sin(), (1.3 * s).cos()];
    let x: Vec<f64> = times.iter().flat_map(|&t| curve(1.1 * t)).collect();
    let y: Vec<f64> = times.iter().flat_map(|&t| curve(t)).collect();
    let problem = Problem::from_signals(Signal::new(&times, &x, 2).unwrap(), Signal::new(&times, &y, 2).unwrap(), 0.01);
    let full = run(&problem).unwrap();
    for refinements in 0..3 {
        let options = SolveOptions { refinements, ..SolveOptions::default() };
        let solution = solve(&JobContext::new(), &problem, &options, &mut Workspace::default()).unwrap();
        assert_sound(&problem, &solution);
        assert!((solution.objective - full.objective).abs() < 1e-9 * full.objective, "{refinements}");
    }
}

fn arbitrary_constraints() -> impl Strategy<Value = (f64, f64, u8, bool)> {
    (prop_oneof![Just(0.0), Just(0.5), 0.0..0.9], prop_oneof![Just(f64::INFINITY), 1.3..3.0], 0_u8..4, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn warps_are_feasible_stationary_and_no_worse_than_any_pass(
        (m, n, dim, seed) in (2_usize..40, 2_usize..40, 1_usize..6, any::<u64>()),
        lambda in prop_oneof![Just(0.0), Just(1e3), 1e-6..1e-3, 0.01..1.0],
        (min, max, band, pinned) in arbitrary_constraints(),
        smooth in any::<bool>(),
    ) {
        let (t, tau) = (ramp(m, 1.0 / (m - 1) as f64), ramp(n, 1.0 / (n - 1) as f64));
        let value = |noise: f64, s: f64| if smooth { (6.0 * s).sin() + 0.2 * noise } else { noise };
        let x: Vec<f64> = random(m * dim, seed).iter().enumerate().map(|(i, &v)| value(v, t[i / dim])).collect();
        let y: Vec<f64> = random(n * dim, seed ^ 77).iter().enumerate().map(|(i, &v)| value(v, tau[i / dim])).collect();
        let mut problem = Problem::from_signals(
            Signal::new(&t, &x, dim).unwrap(), Signal::new(&tau, &y, dim).unwrap(), lambda,
        ).with_slope_limits(min, max);
        if pinned {
            problem = problem.with_pinned_ends();
        }
        problem = match band {
            0 => problem.with_band(&t, &vec![0.1; m]).unwrap(),
            1 => problem.with_end_slack(0.2, 0.1),
            2 => problem.with_anchors(&[(m / 2, t[m / 2])]).unwrap(),
            _ => problem,
        };
        let solution = run(&problem).unwrap();
        assert_sound(&problem, &solution);
    }

    #[test]
    fn onset_warps_are_feasible_and_stationary(
        (m, width, seed) in (2_usize..25, 1_usize..60, any::<u64>()),
        weight in prop_oneof![Just(0.0), 0.01_f64..3.0],
        quadratic in any::<bool>(),
    ) {
        let mut table = CostTable::<f64>::new(0.3, 0.01).unwrap();
        for (i, row) in random(m * width, seed).chunks_exact(width).enumerate() {
            table.push_row(20 * i, row).unwrap();
        }
        let edges = if quadratic {
            EdgeCost::Slope { lambda: vec![weight; m - 1], rho: vec![0.22; m - 1] }
        } else {
            EdgeCost::LogTempo { weight: vec![weight; m - 1], reference: vec![0.2; m - 1], epsilon: 0.02, sigma: 0.4, delta: 2.0 }
        };
        let problem = Problem::new(ramp(m, 1.0), NodeCost::Table(&table), edges);
        let solution = run(&problem).unwrap();
        assert_sound(&problem, &solution);
    }
}
