use super::card_tests::test_card;
use super::grid_search::grid_search;
use crate::base::accelerator::{GridEdges, GridKnot, GridPass, GridSearch, NodeCosts};
use crate::base::random::Random;

/// Costs of knots with some times each, and edges `(0.3 j + shift − 0.3 k)²` from any earlier time of the knot before.
struct Example {
    costs: Vec<f32>,
    offsets: Vec<usize>,
    pass: GridPass,
}

fn example(seed: u64, counts: &[usize]) -> Example {
    let mut random = Random::at(seed, &[]);
    let mut offsets = vec![0];
    counts.iter().for_each(|count| offsets.push(offsets[offsets.len() - 1] + count));
    // A row is read where the costs themselves are control points of a spline: linear in three of them.
    let costs = (0..offsets[counts.len()]).map(|_| random.between(0.0, 1.0) as f32).collect();
    let knot = |count: &usize| GridKnot {
        count: *count as u32,
        step: 1.0,
        shift: 0.2,
        from_scale: 0.3,
        to_scale: 0.3,
        first: -1_000_000_000,
        ratio: 1.0,
        ..GridKnot::default()
    };
    let knots = counts.iter().map(knot).collect();
    Example { costs, offsets, pass: GridPass { knots, edges: GridEdges::Slope, forbids: false } }
}

/// The cost of a time as the spline has it.
fn node(example: &Example, knot: usize, j: usize) -> f64 {
    let row = &example.costs[example.offsets[knot]..example.offsets[knot + 1]];
    let at = |k: usize| f64::from(row[k]);
    if row.len() == 1 {
        return at(0);
    }
    let here = at(j);
    let (before, after) = match (j == 0, j + 1 == row.len()) {
        (true, _) => (2.0 * here - at(1), at(1)),
        (_, true) => (at(j - 1), 2.0 * here - at(j - 1)),
        _ => (at(j - 1), at(j + 1)),
    };
    (before + 6.0 * here + after) / 8.0
}

fn edge(k: usize, j: usize) -> f64 {
    (0.2 + 0.3 * (j as f64 - k as f64)).powi(2)
}

/// The cost of the cheapest path, by trying every predecessor of every time.
fn cheapest(example: &Example) -> f64 {
    let counts: Vec<usize> = example.pass.knots.iter().map(|knot| knot.count as usize).collect();
    let mut reached: Vec<f64> = (0..counts[0]).map(|j| node(example, 0, j)).collect();
    for (knot, &count) in counts.iter().enumerate().skip(1) {
        let of =
            |j: usize| (0..=j.min(reached.len() - 1)).map(|k| reached[k] + edge(k, j)).fold(f64::INFINITY, f64::min);
        reached = (0..count).map(|j| node(example, knot, j) + of(j)).collect();
    }
    reached.into_iter().fold(f64::INFINITY, f64::min)
}

fn cost_of(example: &Example, path: &[u32]) -> f64 {
    let nodes: f64 = path.iter().enumerate().map(|(knot, &j)| node(example, knot, j as usize)).sum();
    nodes + path.windows(2).map(|pair| edge(pair[0] as usize, pair[1] as usize)).sum::<f64>()
}

fn paths(examples: &[Example], most_values: usize) -> Vec<Option<Vec<u32>>> {
    let card = test_card().unwrap();
    let costs: Vec<NodeCosts<'_>> =
        examples.iter().map(|e| NodeCosts::Table { costs: &e.costs, offsets: &e.offsets }).collect();
    let passes: Vec<GridPass> = examples.iter().map(|e| e.pass.clone()).collect();
    grid_search(&card, &costs, most_values).unwrap().cheapest_paths(&passes).unwrap()
}

#[test]
fn paths_of_all_sizes_are_the_cheapest_and_the_same_in_small_batches() {
    if test_card().is_none() {
        return;
    }
    // The last one is wider than a workgroup; the one before needs more loop iterations than one dispatch may take.
    let sizes: [Vec<usize>; 5] =
        [vec![1, 1], vec![3, 1, 4, 2], vec![40; 30], (0..4000).map(|i| 5 + i % 7).collect(), vec![300; 20]];
    let examples: Vec<Example> = sizes.iter().zip(1..).map(|(counts, seed)| example(seed, counts)).collect();
    let found = paths(&examples, 1 << 26);
    for (example, path) in examples.iter().zip(&found) {
        let (best, cost) = (cheapest(example), cost_of(example, path.as_ref().unwrap()));
        assert!((cost - best).abs() <= 1e-5 * best.abs().max(1.0), "{cost} {best}");
    }
    assert_eq!(found, paths(&examples, 40_000));
}

#[test]
fn what_cannot_be_reached_and_what_does_not_fit_is_told() {
    let Some(card) = test_card() else { return };
    let mut unreachable = example(1, &[3, 3, 3]);
    unreachable.pass.forbids = true;
    // Every predecessor would lie before the first time.
    unreachable.pass.knots[2].last = -10;
    assert_eq!(paths(&[unreachable], 1 << 26), [None]);
    let large = example(2, &[50; 50]);
    let costs = [NodeCosts::Table { costs: &large.costs, offsets: &large.offsets }];
    assert!(grid_search(&card, &costs, 2_000).is_err());
}
