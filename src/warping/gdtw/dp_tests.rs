use super::*;
use crate::warping::Signal;
use crate::warping::gdtw::bounds::Reach;
use crate::warping::gdtw::problem::NodeCost;
use crate::warping::gdtw::table::CostTable;
use proptest::prelude::*;

/// Every path through the grid, one after the other.
fn exhaustive(problem: &Problem<'_, f32>, grid: &[KnotGrid]) -> f64 {
    let mut best = f64::INFINITY;
    let mut index = vec![0; grid.len()];
    loop {
        let phi: Vec<f64> = index.iter().zip(grid).map(|(&j, g): (&usize, _)| g.at(j)).collect();
        let allowed = phi.windows(2).enumerate().all(|(i, pair)| {
            let (min, max) = problem.steps(i);
            (min - 1e-9..=max + 1e-9).contains(&(pair[1] - pair[0]))
        });
        if allowed {
            best = best.min(problem.objective(&phi));
        }
        let Some(i) = (0..index.len()).find(|&i| index[i] + 1 < grid[i].count) else { return best };
        index[..i].fill(0);
        index[i] += 1;
    }
}

fn path(problem: &Problem<'_, f32>, grid: &[KnotGrid]) -> Vec<f64> {
    let ctx = JobContext::new();
    let mut frames = FrameTable::default();
    let reach = Reach::of(problem).unwrap();
    frames.lay_out(problem, &reach);
    frames.fill(&ctx, problem).unwrap();
    let mut phi = vec![0.0; grid.len()];
    cheapest_path(&ctx, problem, &frames, grid, Unreachable::Forbid, &mut DpScratch::default(), &mut phi).unwrap();
    phi
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn no_path_through_the_grid_is_cheaper(
        values in prop::collection::vec(-1.0_f32..1.0, 24),
        lambda in prop_oneof![Just(0.0), Just(1e6), 0.001_f64..2.0],
        rho in 0.5_f64..2.0,
        (min, max) in prop_oneof![Just((0.0, f64::INFINITY)), Just((0.4, 2.5)), Just((0.0, 1.5))],
        counts in prop::collection::vec(3_usize..6, 5),
        pinned in any::<bool>(),
        irregular in any::<bool>(),
        log_tempo in any::<bool>(),
    ) {
        let x_times = [0.0, 0.2, 0.5, 0.7, 1.0];
        let y_times = if irregular { [0.0, 0.1, 0.25, 0.45, 0.5, 0.8, 1.0] } else { [0.0, 1.0 / 6.0, 2.0 / 6.0, 0.5, 4.0 / 6.0, 5.0 / 6.0, 1.0] };
        let x = Signal::new(&x_times, &values[..10], 2).unwrap();
        let y = Signal::new(&y_times, &values[10..24], 2).unwrap();
        let mut problem = Problem::from_signals(x, y, lambda).with_slope_limits(min, max);
        problem.edges = EdgeCost::Slope { lambda: vec![lambda; 4], rho: vec![rho; 4] };
        if pinned {
            problem = problem.with_pinned_ends();
        }
        if log_tempo {
            let reference = x_times.windows(2).map(|p| rho * (p[1] - p[0])).collect();
            problem.edges = EdgeCost::LogTempo { weight: vec![lambda; 4], reference, epsilon: 0.05, sigma: 0.4, delta: 1.0 };
        }
        let grid: Vec<KnotGrid> = (0..5)
            .map(|i| {
                let (lo, hi) = problem.limits(i);
                let count = if lo == hi { 1 } else if log_tempo { 6 } else { counts[i] };
                KnotGrid { lo, step: 1.0 / (if log_tempo { 5.0 } else { (counts[i] - 1) as f64 }), count }
            })
            .collect();
        let expected = exhaustive(&problem, &grid);
        prop_assume!(expected.is_finite());
        let phi = path(&problem, &grid);
        let found = problem.objective(&phi);
        let tolerance = 2e-5 * (1.0 + expected.abs());
        let excess = phi.windows(2).enumerate().fold(0.0_f64, |worst, (i, pair)| {
            let (min, max) = problem.steps(i);
            worst.max(min - (pair[1] - pair[0])).max(pair[1] - pair[0] - max)
        });
        if excess < 1e-5 {
            prop_assert!((found - expected).abs() <= tolerance, "{found} {expected} {phi:?}");
        } else {
            // A slope window between two grid points was stretched to the nearer one.
            prop_assert!(found <= expected + tolerance && excess <= 0.5 * grid[1..4].iter().map(|g| g.step).fold(0.0, f64::max));
        }
    }

    #[test]
    fn no_path_through_a_cost_table_is_cheaper(
        costs in prop::collection::vec(-2.0_f32..2.0, 24),
        first in prop::collection::vec(0_usize..4, 4),
        weight in 0.01_f64..3.0,
    ) {
        let mut table = CostTable::new(0.5, 0.1).unwrap();
        for (i, &f) in first.iter().enumerate() {
            table.push_row(i * 2 + f, &costs[i * 6..i * 6 + 6]).unwrap();
        }
        let edges = EdgeCost::LogTempo { weight: vec![weight; 3], reference: vec![0.2; 3], epsilon: 0.02, sigma: 0.4, delta: 2.0 };
        let problem = Problem::new(vec![0.0, 1.0, 2.0, 3.0], NodeCost::Table(&table), edges);
        let grid: Vec<KnotGrid> = (0..4).map(|i| KnotGrid { lo: table.span(i).0, step: 0.1, count: 6 }).collect();
        let expected = exhaustive(&problem, &grid);
        prop_assume!(expected.is_finite());
        let found = problem.objective(&path(&problem, &grid));
        prop_assert!((found - expected).abs() <= 2e-5 * (1.0 + expected.abs()), "{found} {expected}");
    }
}
