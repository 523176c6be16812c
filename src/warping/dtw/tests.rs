use proptest::prelude::*;

use super::*;
use crate::warping::cost::Band;

/// Cheapest of all paths, by trying each one.
fn exhaustive(cost: &Banded<f64>, params: &DtwParams) -> f64 {
    fn onward(cost: &Banded<f64>, params: &DtwParams, row: usize, column: usize, so_far: f64) -> f64 {
        let band = cost.band();
        let free = params.ends == Ends::Subsequence;
        let at_end = row + 1 == band.rows() && (free || column + 1 == band.columns());
        let steps = [(1, 1, params.steps.diagonal), (1, 0, params.steps.score), (0, 1, params.steps.performance)];
        steps.iter().fold(if at_end { so_far } else { f64::INFINITY }, |best, &(down, right, weight)| {
            match cost.get(row + down, column + right) {
                Some(local) => {
                    let total = so_far + weight.factor * local + weight.penalty;
                    best.min(onward(cost, params, row + down, column + right, total))
                }
                None => best,
            }
        })
    }
    let starts = if params.ends == Ends::Subsequence { cost.band().row(0) } else { 0..1 };
    starts
        .map(|column| onward(cost, params, 0, column, cost.row(0)[column - cost.band().row(0).start]))
        .fold(f64::INFINITY, f64::min)
}

/// The textbook double loop over rows and columns, unit weights, pinned ends.
fn naive(cost: &Banded<f64>) -> f64 {
    let (rows, columns) = (cost.band().rows(), cost.band().columns());
    let mut table = vec![vec![f64::INFINITY; columns + 1]; rows + 1];
    table[0][0] = 0.0;
    for row in 1..=rows {
        for column in 1..=columns {
            let best = table[row - 1][column - 1].min(table[row - 1][column]).min(table[row][column - 1]);
            table[row][column] = best + cost.get(row - 1, column - 1).unwrap_or(f64::INFINITY);
        }
    }
    table[rows][columns]
}

fn check_path(cost: &Banded<f64>, params: &DtwParams, path: &DtwPath) {
    let cells = path.cells();
    let band = cost.band();
    let (first, last) = (cells[0], cells[cells.len() - 1]);
    assert_eq!((first.0, last.0), (0, band.rows() - 1));
    if params.ends == Ends::Pinned {
        assert_eq!((first.1, last.1), (0, band.columns() - 1));
    }
    let mut total = cost.get(first.0, first.1).unwrap();
    for pair in cells.windows(2) {
        let weight = match (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1) {
            (1, 1) => params.steps.diagonal,
            (1, 0) => params.steps.score,
            (0, 1) => params.steps.performance,
            step => panic!("illegal step {step:?}"),
        };
        total += weight.factor * cost.get(pair[1].0, pair[1].1).expect("inside the band") + weight.penalty;
    }
    assert!((total - path.cost()).abs() <= 1e-12 * total.abs().max(1.0), "{total} {}", path.cost());
}

fn solve(cost: &Banded<f64>, params: &DtwParams) -> DtwPath {
    dtw(&JobContext::new(), cost, params).unwrap()
}

/// Small whole numbers make ties frequent, which is where directions go wrong.
fn dense(max: usize) -> impl Strategy<Value = Banded<f64>> {
    (1..=max, 1..=max).prop_flat_map(|(rows, columns)| {
        prop::collection::vec((0i32..6).prop_map(f64::from), rows * columns)
            .prop_map(move |values| Banded::dense(rows, columns, values).unwrap())
    })
}

fn weights() -> impl Strategy<Value = StepWeights> {
    let weight =
        || (0u8..4, 0u8..3).prop_map(|(f, p)| StepWeight { factor: f64::from(f) * 0.5, penalty: f64::from(p) });
    let weighted = (weight(), weight(), weight()).prop_map(|(diagonal, score, performance)| StepWeights {
        diagonal,
        score,
        performance,
    });
    prop_oneof![Just(StepWeights::default()), weighted]
}

fn ends() -> impl Strategy<Value = Ends> {
    prop_oneof![Just(Ends::Pinned), Just(Ends::Subsequence)]
}

proptest! {
    #[test]
    fn the_path_is_the_cheapest_of_all_paths(cost in dense(5), steps in weights(), ends in ends()) {
        let params = DtwParams { ends, steps };
        let path = solve(&cost, &params);
        check_path(&cost, &params, &path);
        prop_assert_eq!(path.cost(), exhaustive(&cost, &params));
    }

    #[test]
    fn banded_paths_are_the_cheapest_inside_the_band(
        cost in dense(6),
        steps in weights(),
        ends in ends(),
        edges in prop::collection::vec((0usize..6, 1usize..7), 6),
    ) {
        let (rows, columns) = (cost.band().rows(), cost.band().columns());
        let ranges: Vec<_> = edges[..rows].iter().map(|&(start, len)| start..(start + len).min(columns)).collect();
        let params = DtwParams { ends, steps };
        if let Ok(band) = Band::from_ranges(columns, &ranges) {
            let values = (0..rows).flat_map(|row| cost.row(row)[band.row(row)].to_vec()).collect();
            let banded = Banded::new(band, values).unwrap();
            match dtw(&JobContext::new(), &banded, &params) {
                Ok(path) => {
                    check_path(&banded, &params, &path);
                    prop_assert_eq!(path.cost(), exhaustive(&banded, &params));
                }
                Err(error) => {
                    let infeasible = matches!(error, Error::Infeasible { .. });
                    prop_assert!(infeasible && ends == Ends::Pinned);
                    prop_assert!(banded.get(0, 0).is_none() || banded.get(rows - 1, columns - 1).is_none());
                }
            }
        }
    }

    #[test]
    fn larger_matrices_match_the_double_loop_and_a_free_path_is_never_dearer(cost in dense(40)) {
        let pinned = solve(&cost, &DtwParams::default());
        let params = DtwParams { ends: Ends::Subsequence, ..DtwParams::default() };
        let free = solve(&cost, &params);
        check_path(&cost, &params, &free);
        prop_assert_eq!(pinned.cost(), naive(&cost));
        prop_assert!(free.cost() <= pinned.cost());
    }

    #[test]
    fn a_band_that_covers_everything_changes_nothing(cost in dense(20)) {
        let (rows, columns) = (cost.band().rows(), cost.band().columns());
        let band = Band::sakoe_chiba(rows, columns, columns).unwrap();
        let banded = Banded::new(band, cost.values().to_vec()).unwrap();
        prop_assert_eq!(solve(&cost, &DtwParams::default()), solve(&banded, &DtwParams::default()));
    }
}

#[test]
fn ties_prefer_the_diagonal_then_the_score_step() {
    let flat = |rows, columns| Banded::dense(rows, columns, vec![0.0; rows * columns]).unwrap();
    let path = solve(&flat(3, 3), &DtwParams::default());
    assert_eq!(path.cells(), [(0, 0), (1, 1), (2, 2)]);
    // Traced from the end, diagonal steps come last in time and the leftover step first.
    assert_eq!(solve(&flat(2, 3), &DtwParams::default()).cells(), [(0, 0), (0, 1), (1, 2)]);
    let free = DtwParams { ends: Ends::Subsequence, ..DtwParams::default() };
    assert_eq!(solve(&flat(2, 3), &free).cells(), [(0, 0), (1, 0)]);
}

#[test]
fn a_known_subsequence_is_found_where_it_is() {
    let (rows, columns, at) = (6, 20, 9);
    let values = (0..rows * columns).map(|cell| (cell % columns) as f64 - (cell / columns + at) as f64).map(f64::abs);
    let cost = Banded::dense(rows, columns, values.collect()).unwrap();
    let path = solve(&cost, &DtwParams { ends: Ends::Subsequence, ..DtwParams::default() });
    assert_eq!(path.cost(), 0.0);
    assert_eq!(path.cells().first(), Some(&(0, at)));
    assert_eq!(path.cells().last(), Some(&(rows - 1, at + rows - 1)));
}

#[test]
fn an_hour_of_frames_keeps_small_differences() {
    // A constant cost of 1000 and, near the end of 80,000 frames, a detour over two cells that is cheaper by 0.001: a
    // sum of 8e7 in f32 would not see it.
    let frames = 80_000;
    let band = Band::sakoe_chiba(frames, frames, 3).unwrap();
    let mut values: Vec<f32> = vec![1000.0; band.cells()];
    let layout = band.clone();
    let cell = |row: usize, column: usize| layout.storage(row).start + column - layout.row(row).start;
    let row = frames - 5;
    values[cell(row - 1, row)] = 500.0;
    values[cell(row, row + 1)] = 499.999;
    let cost = Banded::new(band, values).unwrap();
    let path = dtw(&JobContext::new(), &cost, &DtwParams::default()).unwrap();
    assert!(path.cells().contains(&(row, row + 1)));
    let sum: f64 = path.cells().iter().map(|&(row, column)| f64::from(cost.get(row, column).unwrap())).sum();
    assert_eq!(path.cost(), sum);
}

#[test]
fn bad_weights_and_cancellation_are_reported() {
    let cost = Banded::dense(2, 2, vec![0.0f32; 4]).unwrap();
    let mut params = DtwParams::default();
    params.steps.score.penalty = f64::NAN;
    assert!(dtw(&JobContext::new(), &cost, &params).unwrap_err().to_string().contains("penalty of the score step"));
    let ctx = JobContext::new();
    ctx.cancel();
    assert!(matches!(dtw(&ctx, &cost, &DtwParams::default()), Err(Error::Cancelled)));
}
