use proptest::prelude::*;

use super::*;
use crate::warping::Signal;
use crate::warping::cost::{Band, LocalCost, local_cost};
use crate::warping::dtw::{DtwParams, dtw};
use crate::warping::test_noise::unit_noise;

/// Costs of all paths from `(row, column)` to the last cell, with the cells of each.
fn all_paths(cost: &Banded<f64>) -> Vec<(f64, Vec<(usize, usize)>)> {
    fn onward(
        cost: &Banded<f64>,
        path: &mut Vec<(usize, usize)>,
        total: f64,
        out: &mut Vec<(f64, Vec<(usize, usize)>)>,
    ) {
        let &(row, column) = path.last().unwrap();
        if (row + 1, column + 1) == (cost.band().rows(), cost.band().columns()) {
            out.push((total, path.clone()));
        }
        for next in [(row + 1, column + 1), (row + 1, column), (row, column + 1)] {
            if let Some(local) = cost.get(next.0, next.1) {
                path.push(next);
                onward(cost, path, total + local, out);
                path.pop();
            }
        }
    }
    let mut out = Vec::new();
    onward(cost, &mut vec![(0, 0)], cost.get(0, 0).unwrap(), &mut out);
    out
}

/// Value, expected path and its change along `direction`, straight from the definition.
fn naive(cost: &Banded<f64>, direction: &Banded<f64>, gamma: f64) -> (f64, Vec<f64>, Vec<f64>) {
    let paths = all_paths(cost);
    let band = cost.band();
    let index = |&(row, column): &(usize, usize)| band.storage(row).start + column - band.row(row).start;
    let least = paths.iter().map(|(total, _)| *total).fold(f64::INFINITY, f64::min);
    let weights: Vec<f64> = paths.iter().map(|(total, _)| (-(total - least) / gamma).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let lateness: Vec<f64> =
        paths.iter().map(|(_, cells)| cells.iter().map(|cell| direction.values()[index(cell)]).sum()).collect();
    let mean: f64 = weights.iter().zip(&lateness).map(|(weight, late)| weight / sum * late).sum();
    let (mut expected, mut change) = (vec![0.0; band.cells()], vec![0.0; band.cells()]);
    for (((_, cells), weight), late) in paths.iter().zip(&weights).zip(&lateness) {
        for cell in cells {
            expected[index(cell)] += weight / sum;
            change[index(cell)] -= weight / sum * (late - mean) / gamma;
        }
    }
    (least - gamma * sum.ln(), expected, change)
}

fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    let scale = expected.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!((a - e).abs() <= tolerance * scale, "cell {i}: {a} against {e}");
    }
}

/// A random problem in a random band that joins both corners.
fn problem(max: usize) -> impl Strategy<Value = (Banded<f64>, Banded<f64>, f64)> {
    let gamma = prop_oneof![Just(1e-3), Just(0.1), Just(1.0), Just(30.0)];
    (1..=max, 1..=max, 0..=max, any::<u32>(), gamma).prop_map(|(rows, columns, radius, seed, gamma)| {
        let band = Band::sakoe_chiba(rows, columns, radius).unwrap();
        let seed = u64::from(seed) + 1;
        let cost = unit_noise(band.cells(), seed).iter().map(|v| 3.0 * v - 0.5).collect();
        let direction = unit_noise(band.cells(), seed + 7);
        (Banded::new(band.clone(), cost).unwrap(), Banded::new(band, direction).unwrap(), gamma)
    })
}

proptest! {
    #[test]
    fn value_expected_path_and_curvature_match_the_sum_over_all_paths((cost, direction, gamma) in problem(6)) {
        let ctx = JobContext::new();
        let (value, expected, change) = naive(&cost, &direction, gamma);
        let soft = soft_dtw(&ctx, &cost, gamma).unwrap();
        assert_close(&[soft.value], &[value], 1e-12);
        assert_close(soft.expected_path.values(), &expected, 1e-12);

        let cells = (cost.band().rows() * cost.band().columns()) as f64;
        let late: f64 = expected.iter().zip(direction.values()).map(|(e, d)| e * d).sum();
        let temporal = dilate(&ctx, &cost, &direction, &DilateParams { alpha: 0.0, gamma }).unwrap();
        assert_close(&[temporal.loss * cells], &[late], 1e-12);
        let gradient: Vec<f64> = temporal.gradient.values().iter().map(|g| g * cells).collect();
        assert_close(&gradient, &change, 1e-11 / gamma.min(1.0));

        let shape = dilate(&ctx, &cost, &direction, &DilateParams { alpha: 1.0, gamma }).unwrap();
        assert_close(&[shape.loss], &[value], 1e-12);
        assert_close(shape.gradient.values(), &expected, 1e-12);
    }

    #[test]
    fn the_soft_minimum_is_below_the_hard_one_and_meets_it_as_gamma_vanishes((cost, _, gamma) in problem(20)) {
        let ctx = JobContext::new();
        let hard = dtw(&ctx, &cost, &DtwParams::default()).unwrap().cost();
        prop_assert!(soft_dtw(&ctx, &cost, gamma).unwrap().value <= hard + 1e-9);
        let sharp = soft_dtw(&ctx, &cost, 1e-8).unwrap();
        prop_assert!((sharp.value - hard).abs() < 1e-5);
    }

    #[test]
    fn the_expected_path_crosses_every_row_and_column((cost, _, gamma) in problem(24)) {
        let soft = soft_dtw(&JobContext::new(), &cost, gamma).unwrap();
        let expected = soft.expected_path;
        prop_assert!(expected.values().iter().all(|&p| (0.0..=1.0 + 1e-12).contains(&p)));
        for row in 0..expected.band().rows() {
            prop_assert!(expected.row(row).iter().sum::<f64>() > 1.0 - 1e-12);
        }
        prop_assert_eq!(expected.get(0, 0).map(|p| (p - 1.0).abs() < 1e-12), Some(true));
    }
}

#[test]
fn derivatives_match_central_differences_on_a_larger_problem() {
    let (rows, columns, gamma) = (17, 23, 0.1);
    let ctx = JobContext::new();
    let base = unit_noise(rows * columns, 11);
    let direction = Banded::dense(rows, columns, unit_noise(rows * columns, 12)).unwrap();
    let params = DilateParams { alpha: 0.3, gamma };
    let at = |values: Vec<f64>| {
        let cost = Banded::dense(rows, columns, values).unwrap();
        dilate(&ctx, &cost, &direction, &params).unwrap()
    };
    let here = at(base.clone());
    let h = 1e-5;
    let differences: Vec<f64> = (0..base.len())
        .map(|cell| {
            let moved = |by: f64| {
                let mut values = base.clone();
                values[cell] += by;
                at(values).loss
            };
            (moved(h) - moved(-h)) / (2.0 * h)
        })
        .collect();
    assert_close(here.gradient.values(), &differences, 1e-8);
}

fn signals<'a>(times: &'a [f64], x: &'a [f64], y: &'a [f64], dim: usize) -> (Signal<'a, f64>, Signal<'a, f64>) {
    let signal = |values: &'a [f64]| Signal::new(&times[..values.len() / dim], values, dim).unwrap();
    (signal(x), signal(y))
}

#[test]
fn feature_gradients_match_central_differences_in_full_and_banded_problems() {
    let (rows, columns, dim, gamma) = (40, 45, 3, 0.5);
    let ctx = JobContext::new();
    let (x, y) = (unit_noise(rows * dim, 21), unit_noise(columns * dim, 22));
    let times: Vec<f64> = (0..columns).map(|i| i as f64).collect();
    for band in [Band::full(rows, columns).unwrap(), Band::sakoe_chiba(rows, columns, 4).unwrap()] {
        let cost = |x: &[f64], y: &[f64]| {
            let (score, performance) = signals(&times, x, y, dim);
            local_cost(&ctx, &score, &performance, LocalCost::SquaredEuclidean, &band).unwrap()
        };
        let value = |x: &[f64], y: &[f64]| soft_dtw(&ctx, &cost(x, y), gamma).unwrap().value;
        let expected = soft_dtw(&ctx, &cost(&x, &y), gamma).unwrap().expected_path;
        let (score, performance) = signals(&times, &x, &y, dim);
        let gradient = squared_euclidean_gradient(&score, &performance, &expected).unwrap();
        let h = 1e-5;
        let nudge = |values: &[f64], at: usize, by: f64| {
            let mut values = values.to_vec();
            values[at] += by;
            values
        };
        for at in (0..x.len()).step_by(7) {
            let difference = (value(&nudge(&x, at, h), &y) - value(&nudge(&x, at, -h), &y)) / (2.0 * h);
            assert!((gradient.score[at] - difference).abs() < 1e-8, "{at}");
        }
        for at in (0..y.len()).step_by(7) {
            let difference = (value(&x, &nudge(&y, at, h)) - value(&x, &nudge(&y, at, -h))) / (2.0 * h);
            assert!((gradient.performance[at] - difference).abs() < 1e-8, "{at}");
        }
    }
}

#[test]
fn long_paths_neither_underflow_nor_lose_the_only_way_through() {
    // The cheap corridor ends in a wall, so the mass must come from cells a factor exp(-50000) behind.
    let n = 300;
    let mut values = vec![0.0; n * n];
    for row in 0..n {
        for column in 0..n {
            values[row * n + column] = if row == column { 0.0 } else { 500.0 };
        }
    }
    values[(n / 2) * n + n / 2] = 1e6;
    let cost = Banded::dense(n, n, values).unwrap();
    let soft = soft_dtw(&JobContext::new(), &cost, 1.0).unwrap();
    let hard = dtw(&JobContext::new(), &cost, &DtwParams::default()).unwrap().cost();
    // Two detours of two cells, above and below the wall, cost the same.
    assert!((soft.value - (hard - 2.0f64.ln())).abs() < 1e-9, "{} {hard}", soft.value);
    assert!((soft.expected_path.get(n / 2 - 1, n / 2).unwrap() - 0.5).abs() < 1e-9);
}

#[test]
fn penalties_fill_the_row_of_the_first_score_frame_at_or_after_each_change_point() {
    let band = Band::full(4, 3).unwrap();
    let truth = [(0.5, 1.0), (1.0, 2.0), (3.0, 0.0), (3.5, 9.0)];
    let penalty = temporal_penalty(&band, &[0.0, 1.0, 2.0, 3.0], &[0.0, 1.5, 3.0], &truth).unwrap();
    assert_eq!(penalty.values(), [0.0, 0.0, 0.0, 2.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.5, 3.0]);
    assert!(temporal_penalty(&band, &[0.0; 3], &[0.0; 3], &truth).is_err());
}

#[test]
fn unusable_parameters_are_refused() {
    let ctx = JobContext::new();
    let cost = Banded::dense(2, 2, vec![1.0f32; 4]).unwrap();
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-12] {
        assert!(soft_dtw(&ctx, &cost, gamma).unwrap_err().to_string().contains("gamma"));
    }
    let penalty = Banded::dense(2, 3, vec![0.0; 6]).unwrap();
    assert!(dilate(&ctx, &cost, &penalty, &DilateParams::default()).is_err());
    let penalty = Banded::dense(2, 2, vec![0.0; 4]).unwrap();
    assert!(dilate(&ctx, &cost, &penalty, &DilateParams { alpha: 1.5, gamma: 1.0 }).is_err());
    ctx.cancel();
    assert!(matches!(soft_dtw(&ctx, &cost, 1.0), Err(Error::Cancelled)));
}
