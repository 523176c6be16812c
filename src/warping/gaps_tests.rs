use proptest::prelude::*;

use super::*;

/// Rows of a table, each with its first grid index.
type Rows = Vec<(usize, Vec<f32>)>;

fn table(rows: &Rows) -> CostTable {
    let mut table = CostTable::new(0.0, 1.0).unwrap();
    rows.iter().for_each(|(first, costs)| table.push_row(*first, costs).unwrap());
    table
}

fn solve(rows: &Rows, edges: &[f32], held: &[bool], prices: GapPrices) -> Followed {
    let fill = |_: usize, into: &mut Vec<f32>| into.extend_from_slice(edges);
    follow(&JobContext::new(), &table(rows), fill, |knot| held[knot], prices).unwrap()
}

/// What a way costs; infinite if it is none.
fn cost_of(rows: &Rows, edges: &[f32], held: &[bool], prices: GapPrices, at: &[Option<usize>]) -> f32 {
    let mut cost = 0.0;
    let mut before: Option<usize> = None;
    // Knots left out since then, and the time at which the last of them is passed.
    let (mut open, mut passed) = (0, 0);
    for (knot, place) in at.iter().enumerate() {
        let Some(time) = *place else {
            cost += if held[knot] { f32::INFINITY } else { prices.knot };
            (open, passed) = (open + 1, passed.max(rows[knot].0));
            continue;
        };
        cost += rows[knot].1[time - rows[knot].0];
        cost += match before {
            None if open == 0 => 0.0,
            None => prices.open,
            Some(earlier) if time < earlier.max(passed) => f32::INFINITY,
            Some(earlier) => {
                let gap = prices.open + prices.step * (time - earlier) as f32;
                let edge = edges.get(time - earlier).copied().unwrap_or(f32::INFINITY);
                if open > 0 { gap } else { gap.min(edge) }
            }
        };
        (before, open, passed) = (Some(time), 0, 0);
    }
    let waited = before.map_or(0, |earlier| passed.saturating_sub(earlier));
    cost + if open > 0 { prices.open + prices.step * waited as f32 } else { 0.0 }
}

/// The oracle: tries every way.
fn exhaustive(rows: &Rows, edges: &[f32], held: &[bool], prices: GapPrices) -> f32 {
    fn walk(rows: &Rows, at: &mut Vec<Option<usize>>, cost: &dyn Fn(&[Option<usize>]) -> f32) -> f32 {
        let Some((first, costs)) = rows.get(at.len()) else { return cost(at) };
        let mut best = f32::INFINITY;
        for place in (*first..first + costs.len()).map(Some).chain([None]) {
            at.push(place);
            best = best.min(walk(rows, at, cost));
            at.pop();
        }
        best
    }
    walk(rows, &mut Vec::new(), &|at| cost_of(rows, edges, held, prices, at))
}

/// Rows that neither begin nor end before the one before them, from how much later each begins.
fn in_order(steps: Vec<(usize, Vec<f32>)>) -> Rows {
    let mut rows = Rows::new();
    for (later, mut costs) in steps {
        let (first, end) = rows.last().map_or((0, 0), |(first, costs)| (*first, first + costs.len()));
        costs.resize(costs.len().max(end.saturating_sub(first + later)), 0.5);
        rows.push((first + later, costs));
    }
    rows
}

proptest! {
    #[test]
    fn equals_exhaustive_search(
        rows in prop::collection::vec((0usize..4, prop::collection::vec(-3.0f32..1.0, 1..5)), 1..6).prop_map(in_order),
        edges in prop::collection::vec(0.0f32..2.0, 0..4),
        held in prop::collection::vec(prop::bool::weighted(0.1), 6),
        (open, knot, step) in (0.1f32..3.0, 0.01f32..1.0, 0.01f32..0.3),
    ) {
        let prices = GapPrices { open, knot, step };
        let best = exhaustive(&rows, &edges, &held, prices);
        prop_assume!(best.is_finite());
        let found = solve(&rows, &edges, &held, prices);
        prop_assert!((found.cost as f32 - best).abs() < 1e-4, "{} is not {best}", found.cost);
        prop_assert!((cost_of(&rows, &edges, &held, prices, &found.at) - best).abs() < 1e-4, "{:?}", found.at);
        prop_assert!(found.behind_gaps.iter().all(|&knot| found.at[knot].is_some()));
    }
}

#[test]
fn time_that_passes_and_knots_that_are_left_out_cost_one_gap_each() {
    // Knots 0, 1, 2 at 0, 2, 4; then ten steps pass; knots 5 and 6 are nowhere.
    let spots = [Some(0), Some(2), Some(4), Some(16), Some(18), None, None, Some(20), Some(22)];
    let missing = |spot: &Option<usize>| if spot.is_none() { 1.0 } else { 0.0 };
    let row =
        |spot: &Option<usize>| (0..24).map(|time| if Some(time) == *spot { -4.0 } else { missing(spot) }).collect();
    let rows: Rows = spots.iter().map(|spot| (0, row(spot))).collect();
    let prices = GapPrices { open: 3.0, knot: 0.5, step: 0.01 };
    let edges = [6.0, 2.0, 0.0, 2.0, 6.0];
    let found = solve(&rows, &edges, &[false; 9], prices);
    assert_eq!(found.at, spots);
    assert_eq!(found.behind_gaps, [3, 7]);
    assert!((found.cost - (-28.0 + 6.0 + 1.0 + 0.14)).abs() < 1e-4, "{}", found.cost);
}
