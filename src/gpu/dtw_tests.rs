use super::dtw::{dtw, dtw_within};
use super::pairs::Limits;
use super::test_card;
use crate::base::accelerator::{DtwPair, SignalPair};

struct Problem {
    x: Vec<f32>,
    y: Vec<f32>,
    dim: usize,
    starts: Vec<usize>,
    ends: Vec<usize>,
    free_ends: bool,
}

impl Problem {
    /// With a band of `radius` columns around the straight line, widened until a path with pinned ends passes.
    fn new((rows, columns, dim): (usize, usize, usize), radius: usize, free_ends: bool, f: fn(usize) -> f32) -> Self {
        let centre = |row: usize| if rows > 1 { row * (columns - 1) / (rows - 1) } else { 0 };
        let radius = radius.max(columns.div_ceil(rows));
        let mut starts: Vec<usize> = (0..rows).map(|row| centre(row).saturating_sub(radius)).collect();
        let mut ends: Vec<usize> = (0..rows).map(|row| (centre(row) + radius + 1).min(columns)).collect();
        (starts[0], ends[rows - 1]) = (0, columns);
        let values = |count: usize, from: usize| (from..from + count).map(f).collect();
        Self { x: values(rows * dim, 0), y: values(columns * dim, 3), dim, starts, ends, free_ends }
    }

    fn pair(&self) -> DtwPair<'_> {
        let signals = SignalPair { x: &self.x, y: &self.y, dim: self.dim };
        DtwPair { signals, starts: &self.starts, ends: &self.ends, free_ends: self.free_ends }
    }

    fn cost(&self, row: usize, column: usize) -> f64 {
        let (x, y) = (&self.x[row * self.dim..][..self.dim], &self.y[column * self.dim..][..self.dim]);
        x.iter().zip(y).map(|(x, y)| (f64::from(*x) - f64::from(*y)).powi(2)).sum()
    }

    fn path_cost(&self, path: &[(u32, u32)]) -> f64 {
        path.iter().map(|&(row, column)| self.cost(row as usize, column as usize)).sum()
    }

    fn is_path(&self, path: &[(u32, u32)]) -> bool {
        let (first, last) = (path[0], path[path.len() - 1]);
        let columns = (self.y.len() / self.dim) as u32;
        let pinned = self.free_ends || (first.1 == 0 && last.1 + 1 == columns);
        let inside = |&(row, column): &(u32, u32)| {
            (self.starts[row as usize]..self.ends[row as usize]).contains(&(column as usize))
        };
        let steps = path
            .windows(2)
            .all(|two| matches!((two[1].0 - two[0].0, two[1].1.wrapping_sub(two[0].1)), (1, 1) | (1, 0) | (0, 1)));
        first.0 == 0 && last.0 as usize + 1 == self.starts.len() && pinned && path.iter().all(inside) && steps
    }

    /// By rows, in `f64`.
    fn cheapest(&self) -> Vec<(u32, u32)> {
        let (rows, columns) = (self.starts.len(), self.y.len() / self.dim);
        let mut sums = vec![f64::INFINITY; rows * columns];
        let mut steps = vec![(0, 0); rows * columns];
        for row in 0..rows {
            for column in self.starts[row]..self.ends[row] {
                let begins = row == 0 && (self.free_ends || column == 0);
                let mut best = (if begins { 0.0 } else { f64::INFINITY }, (0, 0));
                for (up, left) in [(1, 1), (1, 0), (0, 1)] {
                    if row >= up && column >= left {
                        let sum = sums[(row - up) * columns + column - left];
                        best = if sum < best.0 { (sum, (up, left)) } else { best };
                    }
                }
                sums[row * columns + column] = best.0 + self.cost(row, column);
                steps[row * columns + column] = best.1;
            }
        }
        let last = &sums[(rows - 1) * columns..];
        let least = last.iter().copied().fold(f64::INFINITY, f64::min);
        let first_least = last.iter().position(|&sum| sum == least).unwrap();
        let (mut row, mut column) = (rows - 1, if self.free_ends { first_least } else { columns - 1 });
        let mut path = vec![(row as u32, column as u32)];
        while steps[row * columns + column] != (0, 0) {
            let (up, left) = steps[row * columns + column];
            (row, column) = (row - up, column - left);
            path.push((row as u32, column as u32));
        }
        path.reverse();
        path
    }
}

/// Few different values, so that many paths cost the same.
fn few(i: usize) -> f32 {
    ((i * 7 + i * i % 11) % 4) as f32
}

fn smooth(i: usize) -> f32 {
    (0.37 * i as f32).sin() + 0.3 * (0.011 * (i as f32).powf(1.1)).cos()
}

fn problems() -> Vec<Problem> {
    let sizes = [(1, 1, 1), (1, 7, 3), (9, 1, 2), (2, 30, 1), (65, 70, 2), (40, 200, 5), (270, 260, 1), (70, 64, 17)];
    let all = sizes.iter().flat_map(|&size| {
        [(1000, false), (1000, true), (2, false), (9, true)].map(|(radius, free)| Problem::new(size, radius, free, few))
    });
    all.collect()
}

/// What must not change anything: small batches, long anti-diagonals, and many dispatches.
const CUTS: [Limits; 2] =
    [Limits { budget: 20_000, near: 0, ..Limits::USUAL }, Limits { iterations: 1000, ..Limits::USUAL }];

#[test]
fn paths_are_the_cheapest_with_the_same_choice_among_equals() {
    let Some(card) = test_card() else { return };
    let mut problems = problems();
    // Rows that only touch: an anti-diagonal between them is empty.
    let mut touching = Problem::new((4, 12, 2), 99, false, few);
    (touching.starts, touching.ends) = (vec![0, 5, 6, 6], vec![5, 6, 12, 12]);
    problems.push(touching);
    let pairs: Vec<_> = problems.iter().map(Problem::pair).collect();
    let found = dtw(&card, &pairs).unwrap();
    for (problem, path) in problems.iter().zip(&found) {
        assert!(problem.is_path(path));
        assert_eq!(*path, problem.cheapest());
    }
    assert_eq!(found, dtw(&card, &pairs).unwrap());
    for cut in CUTS {
        assert_eq!(found, dtw_within(&card, &pairs, cut).unwrap());
    }
    assert_eq!(dtw(&card, &[]).unwrap(), Vec::<Vec<_>>::new());
}

#[test]
fn paths_through_smooth_costs_cost_no_more_than_rounding_allows() {
    let Some(card) = test_card() else { return };
    let problems = [((65, 70, 2), 99, true), ((70, 64, 17), 99, false), ((700, 800, 3), 30, false)]
        .map(|(size, radius, free)| Problem::new(size, radius, free, smooth));
    let pairs: Vec<_> = problems.iter().map(Problem::pair).collect();
    let found = dtw(&card, &pairs).unwrap();
    for (problem, path) in problems.iter().zip(&found) {
        assert!(problem.is_path(path));
        let (found, least) = (problem.path_cost(path), problem.path_cost(&problem.cheapest()));
        assert!(found <= least * (1.0 + 1e-6) + 1e-6, "{found} {least}");
    }
    let cut = Limits { near: 0, iterations: 5000, ..Limits::USUAL };
    assert_eq!(found, dtw_within(&card, &pairs, cut).unwrap());
}

#[test]
fn what_cannot_be_aligned_is_a_failure() {
    let Some(card) = test_card() else { return };
    let mut open = Problem::new((5, 6, 1), 9, false, few);
    open.starts[0] = 1;
    assert!(dtw(&card, &[open.pair()]).is_err());
    open.free_ends = true;
    open.starts[1] = 0;
    assert!(dtw(&card, &[open.pair()]).is_err(), "starts must not decrease");
    let mut broken = Problem::new((5, 6, 1), 9, false, few);
    broken.x[2] = f32::INFINITY;
    assert!(dtw(&card, &[broken.pair()]).is_err());
    broken.dim = 0;
    assert!(dtw(&card, &[broken.pair()]).is_err());
}
