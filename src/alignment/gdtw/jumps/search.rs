//! The cheapest way through a score with jumps, one performance frame after the other.

use std::collections::HashMap;

use super::super::dp::smallest;
use crate::error::Result;

/// Score positions that the typical tempo passes per performance frame.
pub(super) const STEPS_PER_FRAME: usize = 2;
/// Most positions passed per frame: double tempo.
pub(super) const MOST_STEPS: usize = 2 * STEPS_PER_FRAME;
/// Marks a position that was reached by a jump.
const JUMPED: u8 = u8::MAX;

/// A jump between score positions: an advance that would pass `from` goes on at `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Jump {
    /// First position after the section that is left, above 0.
    pub from: usize,
    pub to: usize,
    pub cost: f32,
}

/// What moving on costs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edges<'a> {
    /// Cost of an advance by 0, 1, … positions.
    pub advance: [f32; MOST_STEPS + 1],
    pub jumps: &'a [Jump],
}

impl<'a> Edges<'a> {
    /// `weight·(ratio − 1)²` per frame, with the ratio of the tempo to the typical one.
    pub fn new(weight: f64, jumps: &'a [Jump]) -> Self {
        let ratio = |steps: usize| steps as f64 / STEPS_PER_FRAME as f64;
        Self { advance: std::array::from_fn(|a| (weight * (ratio(a) - 1.0).powi(2)) as f32), jumps }
    }
}

/// The cheapest path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Path {
    /// Score position of each performance frame.
    pub positions: Vec<usize>,
    /// `(frame, jump)`: the jump taken from the frame before.
    pub jumps: Vec<(usize, usize)>,
    pub cost: f64,
}

/// Finds the cheapest path over `n` performance frames and `m` positions, whose costs `row` gives frame by frame. With pinned ends it
/// starts at the first position and ends at the last; `None` if there is no such path.
pub(super) fn cheapest(
    (n, m): (usize, usize),
    mut row: impl FnMut(usize, &mut [f32]) -> Result<()>,
    edges: &Edges<'_>,
    pinned: bool,
) -> Result<Option<Path>> {
    let mut steps = vec![0_u8; n * m];
    // Few positions are ever reached by a jump: their origin is kept apart. Values: jump and position before.
    let mut landings: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    let (mut reached, mut next, mut costs) = (vec![f32::INFINITY; m], vec![0.0_f32; m], vec![0.0_f32; m]);
    row(0, &mut costs)?;
    if pinned {
        reached[0] = costs[0];
    } else {
        reached.copy_from_slice(&costs);
    }
    let mut total = settle(&mut reached);
    for k in 1..n {
        row(k, &mut costs)?;
        let step = &mut steps[k * m..(k + 1) * m];
        next.iter_mut().zip(&reached).for_each(|(to, from)| *to = from + edges.advance[0]);
        for (a, &price) in edges.advance.iter().enumerate().skip(1).filter(|(a, _)| *a < m) {
            for ((to, from), step) in next[a..].iter_mut().zip(&reached).zip(&mut step[a..]) {
                let cost = from + price;
                if cost < *to {
                    (*to, *step) = (cost, a as u8);
                }
            }
        }
        for (index, jump) in edges.jumps.iter().enumerate() {
            for (a, &price) in edges.advance.iter().enumerate().skip(1) {
                // An advance by `a` passes `from` from the last `a` positions before it.
                for over in (0..a).filter(|over| jump.from + over >= a && jump.to + over < m) {
                    let (before, to) = (jump.from + over - a, jump.to + over);
                    let cost = reached[before] + price + jump.cost;
                    if cost < next[to] {
                        (next[to], step[to]) = (cost, JUMPED);
                        landings.insert((k, to), (index, before));
                    }
                }
            }
        }
        next.iter_mut().zip(&costs).for_each(|(to, cost)| *to += cost);
        total += settle(&mut next);
        std::mem::swap(&mut reached, &mut next);
    }
    let end = if pinned { m - 1 } else { smallest(&reached) };
    if !reached[end].is_finite() {
        return Ok(None);
    }
    let mut path = Path { positions: vec![end; n], jumps: Vec::new(), cost: total + f64::from(reached[end]) };
    for k in (1..n).rev() {
        let at = path.positions[k];
        path.positions[k - 1] = match steps[k * m + at] {
            JUMPED => {
                let (jump, before) = landings[&(k, at)];
                path.jumps.push((k, jump));
                before
            }
            a => at - usize::from(a),
        };
    }
    path.jumps.reverse();
    Ok(Some(path))
}

/// Subtracts the smallest cost, so that single precision stays exact enough, and returns it.
fn settle(row: &mut [f32]) -> f64 {
    let least = row[smallest(row)];
    if !least.is_finite() {
        return 0.0;
    }
    row.iter_mut().for_each(|v| *v -= least);
    f64::from(least)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::random;
    use super::*;

    /// Cost of the best path from `(frame, position)` to the end, by trying everything.
    fn naive(costs: &[f32], (n, m): (usize, usize), edges: &Edges<'_>, pinned: bool, k: usize, at: usize) -> f64 {
        let here = f64::from(costs[k * m + at]);
        if k + 1 == n {
            return if pinned && at + 1 != m { f64::INFINITY } else { here };
        }
        let mut best = f64::INFINITY;
        for (a, &price) in edges.advance.iter().enumerate() {
            let mut go = |to: usize, extra: f32| {
                if to < m {
                    let rest = naive(costs, (n, m), edges, pinned, k + 1, to);
                    best = best.min(f64::from(price) + f64::from(extra) + rest);
                }
            };
            go(at + a, 0.0);
            for jump in edges.jumps {
                if at < jump.from && at + a >= jump.from {
                    go(jump.to + at + a - jump.from, jump.cost);
                }
            }
        }
        here + best
    }

    #[test]
    fn cheapest_path_equals_exhaustive_search() {
        let mut jumped = 0;
        for seed in 0..40 {
            let (n, m) = (6, 9);
            let costs: Vec<f32> = random(n * m, seed).iter().map(|&v| v as f32 + 0.5).collect();
            let jumps = [
                Jump { from: 5, to: 1, cost: 0.1 },
                Jump { from: 3, to: 7, cost: 0.2 },
                Jump { from: m, to: 0, cost: 0.05 },
            ];
            let edges = Edges::new(0.2, &jumps);
            for pinned in [true, false] {
                let row = |k: usize, out: &mut [f32]| {
                    out.copy_from_slice(&costs[k * m..(k + 1) * m]);
                    Ok(())
                };
                let path = cheapest((n, m), row, &edges, pinned).unwrap().unwrap();
                let starts = if pinned { 0..1 } else { 0..m };
                let expected =
                    starts.map(|at| naive(&costs, (n, m), &edges, pinned, 0, at)).fold(f64::INFINITY, f64::min);
                assert!((path.cost - expected).abs() < 1e-5, "{seed} {pinned}: {} {expected}", path.cost);
                let nodes: f64 = path.positions.iter().enumerate().map(|(k, &j)| f64::from(costs[k * m + j])).sum();
                assert!(nodes <= path.cost + 1e-5);
                jumped += path.jumps.len();
            }
        }
        assert!(jumped > 20, "the jumps must have been worth while: {jumped}");
    }

    #[test]
    fn a_score_too_long_for_the_performance_has_no_straight_reading() {
        let flat = |_: usize, out: &mut [f32]| {
            out.fill(1.0);
            Ok(())
        };
        assert!(cheapest((3, 20), flat, &Edges::new(0.1, &[]), true).unwrap().is_none());
        let cut = [Jump { from: 4, to: 17, cost: 0.0 }];
        assert!(cheapest((3, 20), flat, &Edges::new(0.1, &cut), true).unwrap().is_some());
    }
}
