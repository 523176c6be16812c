use super::dilate::{dilate, dilate_within};
use super::pairs::Limits;
use super::test_card;
use crate::base::accelerator::{SignalPair, TruePair};

/// A pair of signals with the truth of some rows.
pub(super) struct Case {
    x: Vec<f32>,
    y: Vec<f32>,
    dim: usize,
    truth: Vec<Option<f32>>,
    times: Vec<f32>,
}

/// Between −1 and 1, without any order.
fn noise(seed: &mut u64) -> f32 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 40) as f32 / (1 << 23) as f32 - 1.0
}

impl Case {
    /// Frames of length one that change by and by, `slip` seconds away from the truth, with some noise. Two rows in
    /// three have a truth; columns follow each other in steps of 12 s / columns.
    pub fn new((rows, columns, dim): (usize, usize, usize), slip: f32, noisy: f32) -> Self {
        let mut seed = 1 + rows as u64;
        let mut frames = |times: Vec<f32>| -> Vec<f32> {
            let mut all = Vec::new();
            for time in times {
                let value =
                    |k: usize| (time * (0.3 + k as f32 * 0.05) + (k * k) as f32).sin() + noisy * noise(&mut seed);
                let frame: Vec<f32> = (0..dim).map(value).collect();
                let length = frame.iter().map(|v| v * v).sum::<f32>().sqrt().max(1e-3);
                all.extend(frame.into_iter().map(|v| v / length));
            }
            all
        };
        let times: Vec<f32> = (0..columns).map(|j| 12.0 * j as f32 / columns as f32).collect();
        // The tempo of the score wavers.
        let place = |i: usize| i as f32 / rows as f32;
        let truth: Vec<f32> = (0..rows).map(|i| 12.0 * place(i) + 0.5 * (7.0 * place(i)).sin()).collect();
        let x = frames(truth.iter().map(|time| time + slip).collect());
        let y = frames(times.clone());
        let truth = truth.into_iter().enumerate().map(|(i, time)| (i % 3 != 1).then_some(time)).collect();
        Self { x, y, dim, truth, times }
    }

    /// Signals that have little in common.
    pub fn unlike(size: (usize, usize, usize)) -> Self {
        Self::new(size, 1.0, 0.7)
    }

    pub fn pair(&self) -> TruePair<'_> {
        let signals = SignalPair { x: &self.x, y: &self.y, dim: self.dim };
        TruePair { signals, truth: &self.truth, times: &self.times }
    }

    pub fn rows(&self) -> usize {
        self.truth.len()
    }

    pub fn columns(&self) -> usize {
        self.times.len()
    }

    fn cost(&self, i: usize, j: usize) -> f64 {
        let (x, y) = (&self.x[i * self.dim..][..self.dim], &self.y[j * self.dim..][..self.dim]);
        x.iter().zip(y).map(|(x, y)| (f64::from(*x) - f64::from(*y)).powi(2)).sum()
    }

    fn penalty(&self, i: usize, j: usize) -> f64 {
        self.truth[i].map_or(0.0, |truth| (f64::from(truth) - f64::from(self.times[j])).abs())
    }
}

/// What DILATE should give, in `f64`.
pub(super) struct Expected {
    pub loss: f64,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
}

/// Over paths on one side of a cell, the cell included: `−γ log Σ exp(−cost/γ)`, and the mean of their penalties.
type Side = Vec<(f64, f64)>;

fn side(case: &Case, gamma: f64, forward: bool) -> Side {
    let (rows, columns) = (case.rows(), case.columns());
    let mut cells = vec![(f64::INFINITY, 0.0); rows * columns];
    for step in 0..rows * columns {
        let (a, b) = (step / columns, step % columns);
        let (i, j) = if forward { (a, b) } else { (rows - 1 - a, columns - 1 - b) };
        let mut from = Vec::new();
        for (di, dj) in [(1, 1), (1, 0), (0, 1)] {
            if a >= di && b >= dj {
                let (i, j) = if forward { (i - di, j - dj) } else { (i + di, j + dj) };
                from.push(cells[i * columns + j]);
            }
        }
        if from.is_empty() {
            from.push((0.0, 0.0));
        }
        let least = from.iter().map(|f| f.0).fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = from.iter().map(|f| ((least - f.0) / gamma).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let mean: f64 = weights.iter().zip(&from).map(|(w, f)| w * f.1).sum::<f64>() / sum;
        cells[i * columns + j] = (case.cost(i, j) + least - gamma * sum.ln(), case.penalty(i, j) + mean);
    }
    cells
}

impl Expected {
    pub fn new(case: &Case, alpha: f64, gamma: f64) -> Self {
        let (rows, columns, dim) = (case.rows(), case.columns(), case.dim);
        let (before, after) = (side(case, gamma, true), side(case, gamma, false));
        let (shape, penalty) = before[rows * columns - 1];
        let per_cell = 1.0 / (rows * columns) as f64;
        let (mut x, mut y) = (vec![0.0; rows * dim], vec![0.0; columns * dim]);
        for i in 0..rows {
            for j in 0..columns {
                let (before, after) = (before[i * columns + j], after[i * columns + j]);
                let visits = ((shape - before.0 - after.0 + case.cost(i, j)) / gamma).exp();
                let through = before.1 + after.1 - case.penalty(i, j);
                let temporal = -visits / gamma * (through - penalty);
                let gradient = alpha * visits + (1.0 - alpha) * per_cell * temporal;
                for k in 0..dim {
                    let part = 2.0 * gradient * (f64::from(case.x[i * dim + k]) - f64::from(case.y[j * dim + k]));
                    x[i * dim + k] += part;
                    y[j * dim + k] -= part;
                }
            }
        }
        Self { loss: alpha * shape + (1.0 - alpha) * penalty * per_cell, x, y }
    }
}

/// The norm of the difference, relative to the expected norm (or absolute if that is tiny).
pub(super) fn distance(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let squared: f64 = found.iter().zip(expected).map(|(f, e)| (f64::from(*f) - e).powi(2)).sum();
    squared.sqrt() / expected.iter().map(|e| e * e).sum::<f64>().sqrt().max(1e-9)
}

#[test]
fn the_expected_gradient_is_the_slope_of_the_expected_loss() {
    let case = Case::new((5, 6, 2), 1.0, 0.3);
    let (alpha, gamma, step) = (0.3, 0.2, 1e-3);
    let expected = Expected::new(&case, alpha, gamma);
    for k in 0..case.y.len() {
        let loss = |by: f32| {
            let mut y = case.y.clone();
            y[k] += by;
            let case = Case { x: case.x.clone(), y, dim: 2, truth: case.truth.clone(), times: case.times.clone() };
            (f64::from(case.y[k]), Expected::new(&case, alpha, gamma).loss)
        };
        let ((low, below), (high, above)) = (loss(-step), loss(step));
        let slope = (above - below) / (high - low);
        assert!((slope - expected.y[k]).abs() < 1e-5, "{slope} {}", expected.y[k]);
    }
}

#[test]
fn losses_and_gradients_agree_with_double_precision() {
    let Some(card) = test_card() else { return };
    // At the usual size: seconds away from the truth, and lost; then smaller and odd ones.
    let mut cases = vec![Case::new((256, 282, 128), 3.0, 0.1), Case::new((256, 282, 128), 0.0, 30.0)];
    cases.extend([(1, 1, 1), (1, 6, 2), (7, 1, 3), (65, 130, 5), (90, 33, 7)].map(Case::unlike));
    let pairs: Vec<TruePair<'_>> = cases.iter().map(Case::pair).collect();
    for (alpha, gamma, first) in [(0.0, 0.1, 0), (0.0, 1.0, 1), (0.3, 1.0, 2)] {
        let found = dilate(&card, &pairs[first..], alpha, gamma).unwrap();
        for (case, found) in cases[first..].iter().zip(&found) {
            let expected = Expected::new(case, alpha, gamma);
            let name = format!("{} x {}, {gamma}", case.rows(), case.columns());
            assert!((found.value - expected.loss).abs() < 2e-6 * (1e-3 + expected.loss.abs()), "{name}");
            let errors = [distance(&found.x, &expected.x), distance(&found.y, &expected.y)];
            assert!(errors.iter().all(|error| *error < 1e-4), "{name}: {errors:?}");
        }
    }
    let pairs = &pairs[2..];
    let found = dilate(&card, pairs, 0.2, 0.1).unwrap();
    assert_eq!(found, dilate(&card, pairs, 0.2, 0.1).unwrap());
    let cuts = [Limits { budget: 40_000, near: 0, ..Limits::USUAL }, Limits { iterations: 300, ..Limits::USUAL }];
    for cut in cuts {
        assert_eq!(found, dilate_within(&card, pairs, 0.2, 0.1, cut).unwrap());
    }
    let short = TruePair { truth: &cases[2].truth[1..], ..cases[2].pair() };
    assert!(dilate(&card, &[short], 0.5, 1.0).is_err());
}
