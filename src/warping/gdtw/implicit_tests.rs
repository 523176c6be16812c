//! The gradient against central differences of the solver itself.

use super::*;
use crate::warping::Signal;
use crate::warping::gdtw::problem::{EdgeCost, NodeCost};
use crate::warping::gdtw::table::CostTable;
use crate::warping::gdtw::tests::{random, run};

const M: usize = 14;
const N: usize = 17;
const DIM: usize = 3;

/// Everything a small problem is made of, so that each number can be changed.
#[derive(Clone)]
struct Setup {
    t: Vec<f64>,
    tau: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    lambda: Vec<f64>,
    rho: Vec<f64>,
    slope_min: Vec<f64>,
    slope_max: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Setup {
    fn new(seed: u64) -> Self {
        let t: Vec<f64> = (0..M).map(|i| i as f64 / (M - 1) as f64).collect();
        let tau: Vec<f64> = (0..N).map(|i| 1.2 * i as f64 / (N - 1) as f64).collect();
        // A smooth curve, warped, plus noise: the optimum is well inside the pieces.
        let noise = random((M + N) * DIM, seed);
        let curve = |s: f64, c: usize| ((3.0 + c as f64) * s + c as f64).sin();
        let x = (0..M * DIM).map(|i| curve(t[i / DIM].powf(1.3) + 0.05, i % DIM) + 0.1 * noise[i]).collect();
        let y = (0..N * DIM).map(|i| curve(tau[i / DIM], i % DIM) + 0.1 * noise[M * DIM + i]).collect();
        Self {
            t,
            tau,
            x,
            y,
            lambda: vec![0.02; M - 1],
            rho: vec![1.05; M - 1],
            slope_min: vec![0.0; M - 1],
            slope_max: vec![f64::INFINITY; M - 1],
            lower: vec![f64::NEG_INFINITY; M],
            upper: vec![f64::INFINITY; M],
        }
    }

    fn with<R>(&self, f: impl FnOnce(&Problem<'_, f64>) -> R) -> R {
        let x = Signal::new(&self.t, &self.x, DIM).unwrap();
        let y = Signal::new(&self.tau, &self.y, DIM).unwrap();
        let mut problem = Problem::from_signals(x, y, 0.0);
        problem.edges = EdgeCost::Slope { lambda: self.lambda.clone(), rho: self.rho.clone() };
        problem.slope_min.clone_from(&self.slope_min);
        problem.slope_max.clone_from(&self.slope_max);
        problem.lower.clone_from(&self.lower);
        problem.upper.clone_from(&self.upper);
        f(&problem)
    }

    fn solve(&self) -> Solution {
        let solution = self.with(|p| run(p).unwrap());
        assert!(solution.kkt_residual <= crate::warping::gdtw::KKT_TOLERANCE, "{}", solution.kkt_residual);
        solution
    }

    /// Compares the gradient with differences in every number of one part.
    fn check(&self, v: &[f64], what: &str, part: fn(&mut Self) -> &mut Vec<f64>, gradient: &[f64]) -> f64 {
        let mut largest = 0.0_f64;
        for (i, &expected) in gradient.iter().enumerate() {
            let h = 1e-6;
            let loss = |delta: f64| {
                let mut changed = self.clone();
                part(&mut changed)[i] += delta;
                let solution = changed.solve();
                solution.phi.iter().zip(v).map(|(p, v)| p * v).sum::<f64>()
            };
            let difference = (loss(h) - loss(-h)) / (2.0 * h);
            assert!(
                (difference - expected).abs() < 2e-5 * (1.0 + expected.abs()),
                "{what} {i}: {difference} {expected}"
            );
            largest = largest.max(expected.abs());
        }
        largest
    }

    /// Checks all smooth parts; returns the gradient for the constraints.
    fn check_objective_parts(&self, v: &[f64]) -> (Solution, Gradient<f64>) {
        let solution = self.solve();
        let gradient = self.with(|p| gradient(p, &solution, v).unwrap());
        let NodeGradient::Features { x, y } = &gradient.nodes else { unreachable!() };
        let EdgeGradient::Slope { lambda, rho } = &gradient.edges else { unreachable!() };
        self.check(v, "x", |s| &mut s.x, x);
        self.check(v, "y", |s| &mut s.y, y);
        self.check(v, "lambda", |s| &mut s.lambda, lambda);
        self.check(v, "rho", |s| &mut s.rho, rho);
        (solution, gradient)
    }
}

fn count(solution: &Solution, states: &[SegmentState]) -> usize {
    solution.segments.iter().filter(|s| states.contains(s)).count()
}

#[test]
fn free_ends() {
    let setup = Setup::new(1);
    let (solution, _) = setup.check_objective_parts(&random(M, 11));
    assert_eq!(count(&solution, &[SegmentState::Free]), M - 1);
}

/// The slope of a knot's node cost with its kinks rounded over `width`.
fn rounded_slope(problem: &Problem<'_, f64>, tau: &[f64], knot: usize, at: f64, width: f64) -> f64 {
    let slope = |side| problem.piece(knot, at, side).eval(at).1;
    let Some(kink) = tau[1..N - 1].iter().copied().find(|frame| (at - frame).abs() < width / 2.0) else {
        return slope(Side::Right);
    };
    let side = |at: f64, side| problem.piece(knot, at, side).eval(kink).1;
    let share = (at - kink) / width + 0.5;
    (1.0 - share) * side(kink, Side::Left) + share * side(kink, Side::Right)
}

/// The optimum of the problem with rounded kinks, by plain Newton steps from an optimum with sharp ones.
fn rounded_optimum(problem: &Problem<'_, f64>, tau: &[f64], start: &[f64], width: f64) -> Vec<f64> {
    let mut phi = start.to_vec();
    for _ in 0..60 {
        let slope = |i: usize, at: f64| rounded_slope(problem, tau, i, at, width);
        let h = 1e-4 * width;
        let nodes: Vec<f64> = (0..M).map(|i| (slope(i, phi[i] + h) - slope(i, phi[i] - h)) / (2.0 * h)).collect();
        let mut down: Vec<f64> = (0..M).map(|i| -slope(i, phi[i])).collect();
        let mut segments = Vec::new();
        for i in 0..M - 1 {
            let edge = problem.edge(i, phi[i + 1] - phi[i]);
            segments.push(edge.second);
            down[i] += edge.first;
            down[i + 1] -= edge.first;
        }
        let mut step = vec![0.0; M];
        let mut system = BlockSystem::default();
        system.group(&[false; M], &[false; M - 1], &[0.0; M]);
        assert!(system.solve(Hessian { nodes: &nodes, segments: &segments }, &down, 0.0, &mut step));
        // A quarter of the width at most: a longer step would leap over the rounded kinks.
        phi.iter_mut().zip(step).for_each(|(at, step)| *at += step.clamp(-0.25 * width, 0.25 * width));
    }
    phi
}

#[test]
fn knots_on_rounded_kinks_answer_like_the_rounded_problem() {
    const WIDTH: f64 = 1e-3;
    // A zigzag, and knots that want to be where it turns, outside of its corners: there they rest.
    let mut setup = Setup::new(8);
    setup.tau = (0..N).map(|i| i as f64 / (M - 1) as f64).collect();
    setup.y = random(N * DIM, 9);
    setup.rho.fill(1.0);
    for i in 0..M * DIM {
        let [before, at, after] = [0, 1, 2].map(|frame| setup.y[i + frame * DIM]);
        setup.x[i] = at - 0.3 * (before - 2.0 * at + after);
    }
    let solution = setup.solve();
    assert!(solution.knots.iter().filter(|&&state| state == KnotState::Kink).count() >= 3, "{:?}", solution.knots);
    assert_eq!(count(&solution, &[SegmentState::Free]), M - 1);
    let v = random(M, 18);
    let found = setup.with(|p| smoothed_gradient(p, &solution, &v, WIDTH).unwrap());
    let NodeGradient::Features { x, y } = &found.nodes else { unreachable!() };
    let loss = |setup: &Setup| -> f64 {
        let phi = setup.with(|p| rounded_optimum(p, &setup.tau, &solution.phi, WIDTH));
        phi.iter().zip(&v).map(|(p, v)| p * v).sum()
    };
    type Part = fn(&mut Setup) -> &mut Vec<f64>;
    let parts: [(Part, &[f64]); 2] = [(|s| &mut s.x, x), (|s| &mut s.y, y)];
    for (part, gradient) in parts {
        let scale = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
        for (i, &expected) in gradient.iter().enumerate() {
            let at = |h: f64| {
                let mut changed = setup.clone();
                part(&mut changed)[i] += h;
                loss(&changed)
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((difference - expected).abs() < 0.02 * scale, "{i}: {difference} {expected}");
        }
    }
    // Exactly on their kinks the same knots answer to nothing.
    let exact = setup.with(|p| gradient(p, &solution, &v).unwrap());
    let NodeGradient::Features { x: by_x, .. } = &exact.nodes else { unreachable!() };
    let kink = solution.knots.iter().position(|&state| state == KnotState::Kink).unwrap();
    assert!(by_x[kink * DIM..(kink + 1) * DIM].iter().all(|&g| g == 0.0));
    assert!(x[kink * DIM..(kink + 1) * DIM].iter().any(|&g| g != 0.0));
}

#[test]
fn active_slope_limits() {
    let mut setup = Setup::new(4);
    setup.slope_min.fill(0.8);
    setup.slope_max.fill(1.2);
    let v = random(M, 14);
    let (solution, gradient) = setup.check_objective_parts(&v);
    assert!(count(&solution, &[SegmentState::Min]) >= 2 && count(&solution, &[SegmentState::Max]) >= 2, "{solution:?}");
    assert!(setup.check(&v, "slope_min", |s| &mut s.slope_min, &gradient.slope_min) > 1e-3);
    assert!(setup.check(&v, "slope_max", |s| &mut s.slope_max, &gradient.slope_max) > 1e-3);
}

#[test]
fn active_band() {
    let mut setup = Setup::new(5);
    for i in 0..M {
        (setup.lower[i], setup.upper[i]) = (1.05 * setup.t[i] - 0.03, 1.05 * setup.t[i] + 0.02);
    }
    let v = random(M, 15);
    let (solution, gradient) = setup.check_objective_parts(&v);
    assert!(solution.knots.contains(&KnotState::Lower), "{:?}", solution.knots);
    assert!(setup.check(&v, "lower", |s| &mut s.lower, &gradient.lower) > 1e-3);
    setup.check(&v, "upper", |s| &mut s.upper, &gradient.upper);
}

#[test]
fn anchors_and_pinned_ends_with_slope_limits() {
    let mut setup = Setup::new(6);
    (setup.upper[0], setup.lower[M - 1]) = (0.0, 1.2);
    setup.slope_min.fill(0.85);
    setup.slope_max.fill(2.0);
    (setup.lower[6], setup.upper[6]) = (0.47, 0.47);
    let v = random(M, 16);
    let (solution, gradient) = setup.check_objective_parts(&v);
    assert_eq!([solution.knots[0], solution.knots[6], solution.knots[M - 1]], [KnotState::Fixed; 3]);
    setup.check(&v, "slope_min", |s| &mut s.slope_min, &gradient.slope_min);
    // The anchor moves as a whole.
    let loss = |delta: f64| {
        let mut changed = setup.clone();
        changed.lower[6] += delta;
        changed.upper[6] += delta;
        changed.solve().phi.iter().zip(&v).map(|(p, v)| p * v).sum::<f64>()
    };
    let expected = gradient.lower[6] + gradient.upper[6];
    let difference = (loss(1e-6) - loss(-1e-6)) / 2e-6;
    assert!((difference - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{difference} {expected}");
}

#[test]
fn equal_slope_limits() {
    let mut setup = Setup::new(7);
    for i in 4..8 {
        setup.slope_min[i] = 1.1;
        setup.slope_max[i] = 1.1;
    }
    let (solution, _) = setup.check_objective_parts(&random(M, 17));
    assert_eq!(count(&solution, &[SegmentState::Fixed]), 4);
}

#[test]
fn dependent_constraints_give_finite_gradients() {
    let mut setup = Setup::new(8);
    // Three knots at the start of the recording, each held by its bound and tied to the next: nine constraints on five knots.
    for i in 0..4 {
        (setup.lower[i], setup.upper[i]) = (0.0, 0.0);
    }
    let solution = setup.solve();
    let gradient = setup.with(|p| gradient(p, &solution, &random(M, 18)).unwrap());
    let NodeGradient::Features { x, y } = &gradient.nodes else { unreachable!() };
    assert!(x.iter().chain(y).chain(&gradient.slope_min).chain(&gradient.lower).all(|v| v.is_finite()));
    assert!(x[..4 * DIM].iter().all(|&v| v == 0.0));
}

fn table_problem(costs: &[f64], weight: &[f64], reference: &[f64], sigma: f64) -> (CostTable<f64>, EdgeCost) {
    let mut table = CostTable::new(0.0, 0.1).unwrap();
    for (i, row) in costs.chunks_exact(8).enumerate() {
        table.push_row(2 * i, row).unwrap();
    }
    let edges =
        EdgeCost::LogTempo { weight: weight.to_vec(), reference: reference.to_vec(), epsilon: 0.05, sigma, delta: 1.0 };
    (table, edges)
}

#[test]
fn tables_and_log_tempo() {
    let m = 6;
    let noise = random(m * 8, 5);
    // Dips of different depth near a steady tempo.
    let costs: Vec<f64> =
        (0..m * 8).map(|i| 0.4 * ((i % 8) as f64 - 3.6 + noise[i / 8]).powi(2) + 0.3 * noise[i]).collect();
    let weight = vec![3.0, 2.0, 4.0, 1.5, 2.5];
    let reference = vec![0.22, 0.18, 0.25, 0.2, 0.15];
    let v = random(m, 19);
    let solved = |costs: &[f64], weight: &[f64], reference: &[f64], sigma: f64| {
        let (table, edges) = table_problem(costs, weight, reference, sigma);
        let problem = Problem::new((0..m).map(|i| i as f64).collect(), NodeCost::Table(&table), edges);
        let solution = run(&problem).unwrap();
        assert!(solution.kkt_residual <= crate::warping::gdtw::KKT_TOLERANCE, "{}", solution.kkt_residual);
        let gradient = gradient(&problem, &solution, &v).unwrap();
        (solution.phi.iter().zip(&v).map(|(p, v)| p * v).sum::<f64>(), gradient)
    };
    let (_, gradient) = solved(&costs, &weight, &reference, 0.4);
    let NodeGradient::Table(table) = &gradient.nodes else { unreachable!() };
    let EdgeGradient::LogTempo { weight: by_weight, reference: by_reference, sigma } = &gradient.edges else {
        unreachable!()
    };
    let h = 1e-6;
    let close = |what: &str, i: usize, difference: f64, expected: f64| {
        assert!((difference - expected).abs() < 2e-5 * (1.0 + expected.abs()), "{what} {i}: {difference} {expected}");
    };
    let changed = |values: &[f64], i: usize, delta: f64| {
        let mut values = values.to_vec();
        values[i] += delta;
        values
    };
    for (i, &expected) in table.iter().enumerate() {
        let at = |d| solved(&changed(&costs, i, d), &weight, &reference, 0.4).0;
        close("cost", i, (at(h) - at(-h)) / (2.0 * h), expected);
    }
    for i in 0..m - 1 {
        let at = |d| solved(&costs, &changed(&weight, i, d), &reference, 0.4).0;
        close("weight", i, (at(h) - at(-h)) / (2.0 * h), by_weight[i]);
        let at = |d| solved(&costs, &weight, &changed(&reference, i, d), 0.4).0;
        close("reference", i, (at(h) - at(-h)) / (2.0 * h), by_reference[i]);
    }
    let at = |d| solved(&costs, &weight, &reference, 0.4 + d).0;
    close("sigma", 0, (at(h) - at(-h)) / (2.0 * h), *sigma);
    assert!(table.iter().any(|v| v.abs() > 1e-3));
}

#[test]
fn wrong_lengths_and_values_are_refused() {
    let setup = Setup::new(9);
    let solution = setup.solve();
    setup.with(|p| {
        assert!(gradient(p, &solution, &[1.0]).is_err());
        assert!(gradient(p, &solution, &[f64::NAN; M]).is_err());
    });
}
