//! Overlap alignment: classic DTW in which the ends of either sequence may be left out, and parts of either in between, at a price
//! per frame.
//!
//! A recording may begin with silence or talk, end with applause, start late or stop early; in between, a cadenza may be played that nobody
//! wrote. Leaving a frame out costs a fixed price, so the path covers what matches better than that price and no more. Every score frame and
//! every performance frame is counted once, matched or left out, which keeps a short path from looking cheap.

use super::cost::Banded;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// Weight of a diagonal step, which covers a frame of both sequences; the others cover one and weigh 1.
const DIAGONAL_WEIGHT: f32 = 1.7;
/// What a step that advances one sequence only costs besides: without it the path loses itself in stairs where a
/// figure or a harmony repeats.
const STAIR_PRICE: f64 = 0.1;

/// What leaving frames out costs, in units of the local cost.
#[derive(Debug, Clone, Copy)]
pub struct SkipPrices<'a> {
    /// For every score frame.
    pub score: f32,
    /// For each performance frame: silence is cheap to leave out, sound is not.
    pub performance: &'a [f32],
    /// For leaving out anything in between, besides.
    pub gap: f32,
}

/// The best overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct OverlapPath {
    /// Matched (score frame, performance frame) pairs; both indices never fall. A step raises one or both by one; one over a gap raises
    /// both, by any number.
    pub pairs: Vec<(usize, usize)>,
    /// Total cost, skipped frames included.
    pub cost: f64,
}

/// How a cell is reached.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum Step {
    Start,
    Diagonal,
    Score,
    Performance,
    /// From a gap that ends one frame before it in both sequences.
    Gap,
}

/// How a gap that ends at a cell came there.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum GapStep {
    /// It begins behind this cell.
    Begins,
    Score,
    Performance,
}

/// Finds the cheapest overlap in a band. `costs` are the local costs of the score's frames against the performance's.
pub fn overlap(ctx: &JobContext, costs: &Banded<f32>, prices: SkipPrices<'_>) -> Result<OverlapPath> {
    let band = costs.band();
    let (rows, width) = (band.rows(), band.columns());
    if prices.performance.len() != width {
        let allowed = format!("{width}, one per performance frame");
        return Err(Error::invalid("number of prices", prices.performance.len(), allowed));
    }
    let skipped_before: Vec<f64> = prefix_sums(prices.performance);
    let total_skip = skipped_before[width];
    let (price, diagonal) = (f64::from(prices.score), f64::from(DIAGONAL_WEIGHT));
    let mut steps = vec![(Step::Start, GapStep::Begins); band.cells()];
    // By column: to be at a cell, and to be in a gap that ends there. What lies outside of the band is never reached.
    let (mut previous, mut current) = (vec![[f64::INFINITY; 2]; width], vec![[f64::INFINITY; 2]; width]);
    let mut best = (f64::INFINITY, 0, 0);
    for i in 0..rows {
        if i % 64 == 0 {
            ctx.check()?;
        }
        let columns = band.row(i);
        let (score_skip, score_left) = (price * i as f64, price * (rows - 1 - i) as f64);
        let row = &mut steps[band.storage(i)];
        let mut left = [f64::INFINITY; 2];
        for ((j, cost), taken) in columns.clone().zip(costs.row(i)).zip(row) {
            let cost = f64::from(*cost);
            // Only a border cell may begin the path: what comes before it in the other sequence is left out.
            let mut value = match (i, j) {
                (0, _) => skipped_before[j] + diagonal * cost,
                (_, 0) => score_skip + diagonal * cost,
                _ => f64::INFINITY,
            };
            let mut step = Step::Start;
            let before = if j > 0 { previous[j - 1] } else { [f64::INFINITY; 2] };
            let stair = cost + STAIR_PRICE;
            let ways = [
                (before[0] + diagonal * cost, Step::Diagonal),
                (previous[j][0] + stair, Step::Score),
                (left[0] + stair, Step::Performance),
                (before[1] + f64::from(prices.gap) + diagonal * cost, Step::Gap),
            ];
            for (way, how) in ways {
                if way < value {
                    (value, step) = (way, how);
                }
            }
            let (mut gap, mut gap_step) = (value, GapStep::Begins);
            if previous[j][1] + price < gap {
                (gap, gap_step) = (previous[j][1] + price, GapStep::Score);
            }
            let passing = left[1] + f64::from(prices.performance[j]);
            if passing < gap {
                (gap, gap_step) = (passing, GapStep::Performance);
            }
            left = [value, gap];
            current[j] = left;
            *taken = (step, gap_step);
        }
        let ends = if i + 1 == rows { columns.clone() } else { (width - 1).max(columns.start)..columns.end };
        for j in ends {
            let total = current[j][0] + score_left + (total_skip - skipped_before[j + 1]);
            if total < best.0 {
                best = (total, i, j);
            }
        }
        if i > 0 {
            previous[band.row(i - 1)].fill([f64::INFINITY; 2]);
        }
        std::mem::swap(&mut previous, &mut current);
    }
    let (cost, mut i, mut j) = best;
    let mut pairs = vec![(i, j)];
    let taken = |i: usize, j: usize| steps[band.storage(i).start + j - band.row(i).start];
    loop {
        match taken(i, j).0 {
            Step::Start => break,
            Step::Diagonal => (i, j) = (i - 1, j - 1),
            Step::Score => i -= 1,
            Step::Performance => j -= 1,
            Step::Gap => {
                (i, j) = (i - 1, j - 1);
                loop {
                    match taken(i, j).1 {
                        GapStep::Begins => break,
                        GapStep::Score => i -= 1,
                        GapStep::Performance => j -= 1,
                    }
                }
            }
        }
        pairs.push((i, j));
    }
    pairs.reverse();
    Ok(OverlapPath { pairs, cost })
}

fn prefix_sums(values: &[f32]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(values.len() + 1);
    let mut total = 0.0;
    sums.push(total);
    for &value in values {
        total += f64::from(value);
        sums.push(total);
    }
    sums
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::warping::cost::Band;

    /// Too dear for the small examples.
    const GAP: f32 = 9.0;

    fn solve(costs: &[Vec<f32>], score: f32, performance: &[f32]) -> OverlapPath {
        solve_with(costs, SkipPrices { score, performance, gap: GAP })
    }

    fn solve_with(costs: &[Vec<f32>], prices: SkipPrices<'_>) -> OverlapPath {
        let costs = Banded::dense(costs.len(), costs[0].len(), costs.concat()).unwrap();
        overlap(&JobContext::new(), &costs, prices).unwrap()
    }

    /// The oracle: walks every path from every border cell.
    fn exhaustive(costs: &[Vec<f32>], prices: SkipPrices<'_>) -> f64 {
        type End<'a> = &'a dyn Fn(usize, usize) -> f64;
        fn walk(costs: &[Vec<f32>], prices: SkipPrices<'_>, i: usize, j: usize, so_far: f64, end: End<'_>) -> f64 {
            let (n, m) = (costs.len(), costs[0].len());
            let mut best = if i + 1 == n || j + 1 == m { so_far + end(i, j) } else { f64::INFINITY };
            for (di, dj, weight, price) in
                [(1, 1, DIAGONAL_WEIGHT, 0.0), (1, 0, 1.0, STAIR_PRICE), (0, 1, 1.0, STAIR_PRICE)]
            {
                if i + di < n && j + dj < m {
                    let cost = f64::from(weight) * f64::from(costs[i + di][j + dj]) + price;
                    best = best.min(walk(costs, prices, i + di, j + dj, so_far + cost, end));
                }
            }
            for (to_i, to_j) in (i + 1..n).flat_map(|to_i| (j + 1..m).map(move |to_j| (to_i, to_j))) {
                let skipped =
                    prices.score * (to_i - i - 1) as f32 + prices.performance[j + 1..to_j].iter().sum::<f32>();
                let cost = f64::from(prices.gap + skipped) + f64::from(DIAGONAL_WEIGHT) * f64::from(costs[to_i][to_j]);
                best = best.min(walk(costs, prices, to_i, to_j, so_far + cost, end));
            }
            best
        }
        let (n, m) = (costs.len(), costs[0].len());
        let sum = |skipped: &[f32]| skipped.iter().map(|&p| f64::from(p)).sum::<f64>();
        let score_price = f64::from(prices.score);
        let end = |i: usize, j: usize| score_price * (n - 1 - i) as f64 + sum(&prices.performance[j + 1..]);
        let starts = (0..n).map(|i| (i, 0)).chain((0..m).map(|j| (0, j)));
        starts
            .map(|(i, j)| {
                let skipped = score_price * i as f64 + sum(&prices.performance[..j]);
                walk(costs, prices, i, j, skipped + f64::from(DIAGONAL_WEIGHT) * f64::from(costs[i][j]), &end)
            })
            .fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn equals_exhaustive_search(
            costs in (1usize..6, 1usize..6).prop_flat_map(|(n, m)| prop::collection::vec(prop::collection::vec(0.0f32..1.0, m), n)),
            price in 0.0f32..1.0,
            gap in 0.0f32..1.0,
        ) {
            let performance = vec![price * 0.7; costs[0].len()];
            let prices = SkipPrices { score: price, performance: &performance, gap };
            let found = solve_with(&costs, prices);
            prop_assert!((found.cost - exhaustive(&costs, prices)).abs() < 1e-5);
            for pair in found.pairs.windows(2) {
                let (di, dj) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
                prop_assert!((di <= 1 && dj <= 1 && di + dj >= 1) || (di >= 1 && dj >= 1));
            }
        }
    }

    #[test]
    fn in_a_band_the_cheapest_path_within_it_is_found() {
        // The diagonal is free but for frame 3, where only a detour that the band forbids would be cheap.
        let costs: Vec<Vec<f32>> =
            (0..7).map(|i| (0..7).map(|j| if i == j && i != 3 { 0.0 } else { 0.9 }).collect()).collect();
        let prices = SkipPrices { score: 0.8, performance: &[0.8; 7], gap: GAP };
        let ranges: Vec<_> = (0..7usize).map(|i| i.saturating_sub(1)..(i + 2).min(7)).collect();
        let band = Band::from_ranges(7, &ranges).unwrap();
        let inside = (0..7usize).flat_map(|i| costs[i][ranges[i].clone()].to_vec()).collect();
        let banded = overlap(&JobContext::new(), &Banded::new(band, inside).unwrap(), prices).unwrap();
        assert_eq!(banded, solve(&costs, 0.8, &[0.8; 7]), "the best path lies in the band");
        let wide: Vec<Vec<f32>> =
            (0..7).map(|i| (0..7).map(|j| if j == i + 2 { 0.0 } else { 0.9 }).collect()).collect();
        let band = Band::from_ranges(7, &ranges).unwrap();
        let inside = (0..7usize).flat_map(|i| wide[i][ranges[i].clone()].to_vec()).collect();
        let confined = overlap(&JobContext::new(), &Banded::new(band, inside).unwrap(), prices).unwrap();
        assert!(confined.pairs.iter().all(|&(i, j)| ranges[i].contains(&j)), "{confined:?}");
        assert!(confined.cost > solve(&wide, 0.8, &[0.8; 7]).cost);
    }

    #[test]
    fn noise_around_the_music_is_left_out() {
        // Ten score frames match performance frames 5 to 14; everything else fits nothing.
        let costs: Vec<Vec<f32>> =
            (0..10).map(|i| (0..22).map(|j| if j == i + 5 { 0.1 } else { 0.8 }).collect()).collect();
        let path = solve(&costs, 0.6, &[0.5; 22]);
        assert_eq!(path.pairs.first(), Some(&(0, 5)));
        assert_eq!(path.pairs.last(), Some(&(9, 14)));
    }

    #[test]
    fn what_was_played_besides_in_the_middle_is_left_out() {
        // Score frames 0 to 4 match performance frames 0 to 4, the others 15 to 19; between them nothing fits.
        let fits = |i: usize, j: usize| j == if i < 5 { i } else { i + 10 };
        let costs: Vec<Vec<f32>> =
            (0..10).map(|i| (0..20).map(|j| if fits(i, j) { 0.1 } else { 0.8 }).collect()).collect();
        let path = solve_with(&costs, SkipPrices { score: 0.6, performance: &[0.5; 20], gap: 2.0 });
        assert!(path.pairs.iter().all(|&(i, j)| fits(i, j)), "{path:?}");
        assert!((path.cost - (10.0 * 0.17 + 5.0 + 2.0)).abs() < 1e-5, "{path:?}");
    }

    #[test]
    fn a_recording_that_stops_early_leaves_the_rest_of_the_score_out() {
        let costs: Vec<Vec<f32>> = (0..10).map(|i| (0..6).map(|j| if j == i { 0.1 } else { 0.8 }).collect()).collect();
        let path = solve(&costs, 0.6, &[0.5; 6]);
        assert_eq!(path.pairs.last(), Some(&(5, 5)));
    }
}
