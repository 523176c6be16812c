//! The cheapest way through a score with jumps, one performance frame after the other.

use std::collections::HashMap;

use super::super::dp::smallest;
use crate::base::error::Result;

/// Score positions that the typical tempo passes per performance frame.
pub(super) const STEPS_PER_FRAME: usize = 2;
/// Most positions passed per frame: double tempo.
pub(super) const MOST_STEPS: usize = 2 * STEPS_PER_FRAME;
/// Marks a position that was reached by a jump.
const JUMPED: u8 = u8::MAX;
/// Marks a position that was reached by a jump that nobody offered.
const STRAYED: u8 = u8::MAX - 1;
/// Marks a position where the path begins.
const BEGUN: u8 = u8::MAX - 2;

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
    pub stray: Option<&'a Stray>,
}

/// What jumps from anywhere to anywhere cost.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stray {
    /// For each position as the first after the section that is left; one more than there are positions.
    pub leave: Vec<f32>,
    /// For each position as the first of the section that follows.
    pub land: Vec<f32>,
}

/// Where a path begins and ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ends {
    /// At the first and the last position.
    Pinned,
    /// Anywhere, and frames before and after it may be left out, each at this cost.
    Outside(f32),
}

impl<'a> Edges<'a> {
    /// `weight·(ratio − 1)²` per frame, with the ratio of the tempo to the typical one.
    pub fn new(weight: f64, jumps: &'a [Jump]) -> Self {
        let ratio = |steps: usize| steps as f64 / STEPS_PER_FRAME as f64;
        Self { advance: std::array::from_fn(|a| (weight * (ratio(a) - 1.0).powi(2)) as f32), jumps, stray: None }
    }
}

/// The cheapest path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Path {
    /// First frame that is part of it.
    pub first: usize,
    /// Score position of each of its performance frames.
    pub positions: Vec<usize>,
    pub jumps: Vec<Taken>,
    pub cost: f64,
}

/// A jump of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Taken {
    /// The performance frame that it leads to.
    pub frame: usize,
    /// Which of the jumps on offer it is.
    pub offered: Option<usize>,
    /// First position after the section that was left, and first of the next.
    pub from: usize,
    pub to: usize,
}

/// Finds the cheapest path over `n` performance frames and `m` positions, whose costs `row` gives frame by frame. `None` if there is
/// no path with such ends.
pub(super) fn cheapest(
    (n, m): (usize, usize),
    mut row: impl FnMut(usize, &mut [f32]) -> Result<()>,
    edges: &Edges<'_>,
    ends: Ends,
) -> Result<Option<Path>> {
    let mut steps = vec![0_u8; n * m];
    // Few positions are ever reached by a jump on offer: their origin is kept apart. Values: jump and position before.
    let mut landings: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    // Whoever strays into a frame comes from the same position.
    let mut strayed_from = vec![0; n];
    let (mut reached, mut next, mut costs) = (vec![f32::INFINITY; m], vec![0.0_f32; m], vec![0.0_f32; m]);
    row(0, &mut costs)?;
    if ends == Ends::Pinned {
        reached[0] = costs[0];
    } else {
        reached.copy_from_slice(&costs);
    }
    steps[..m].fill(BEGUN);
    let mut total = settle(&mut reached);
    let mut best = End::default();
    best.consider(0, n, &reached, total, ends);
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
        if let Some(stray) = edges.stray {
            let leaving = |at: usize| reached[at] + stray.leave[(at + STEPS_PER_FRAME).min(m)];
            let from = (0..m).fold(0, |best, at| if leaving(at) < leaving(best) { at } else { best });
            strayed_from[k] = from;
            let left = leaving(from) + edges.advance[STEPS_PER_FRAME];
            for ((to, land), step) in next.iter_mut().zip(&stray.land).zip(step.iter_mut()) {
                if left + land < *to {
                    (*to, *step) = (left + land, STRAYED);
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
        if let Ends::Outside(price) = ends {
            let begun = (f64::from(price) * k as f64 - total) as f32;
            for (to, step) in next.iter_mut().zip(step.iter_mut()).filter(|(to, _)| begun < **to) {
                (*to, *step) = (begun, BEGUN);
            }
        }
        next.iter_mut().zip(&costs).for_each(|(to, cost)| *to += cost);
        total += settle(&mut next);
        std::mem::swap(&mut reached, &mut next);
        best.consider(k, n, &reached, total, ends);
    }
    if !best.cost.is_finite() {
        return Ok(None);
    }
    let (mut k, mut at) = (best.frame, best.position);
    let mut path = Path { first: 0, positions: vec![at], jumps: Vec::new(), cost: best.cost };
    loop {
        at = match steps[k * m + at] {
            BEGUN => break,
            JUMPED => {
                let (jump, before) = landings[&(k, at)];
                let Jump { from, to, .. } = edges.jumps[jump];
                path.jumps.push(Taken { frame: k, offered: Some(jump), from, to });
                before
            }
            STRAYED => {
                let before = strayed_from[k];
                path.jumps.push(Taken { frame: k, offered: None, from: (before + STEPS_PER_FRAME).min(m), to: at });
                before
            }
            a => at - usize::from(a),
        };
        k -= 1;
        path.positions.push(at);
    }
    path.first = k;
    path.positions.reverse();
    path.jumps.reverse();
    Ok(Some(path))
}

/// The best end of a path so far.
struct End {
    frame: usize,
    position: usize,
    cost: f64,
}

impl Default for End {
    fn default() -> Self {
        Self { frame: 0, position: 0, cost: f64::INFINITY }
    }
}

impl End {
    /// Takes the ends that frame `k` of `n` offers.
    fn consider(&mut self, k: usize, n: usize, reached: &[f32], total: f64, ends: Ends) {
        let left_out = match ends {
            Ends::Outside(price) => f64::from(price) * (n - 1 - k) as f64,
            _ if k + 1 < n => return,
            _ => 0.0,
        };
        let position = if ends == Ends::Pinned { reached.len() - 1 } else { smallest(reached) };
        let cost = total + f64::from(reached[position]) + left_out;
        if cost < self.cost {
            *self = Self { frame: k, position, cost };
        }
    }
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
    fn naive(costs: &[f32], (n, m): (usize, usize), edges: &Edges<'_>, ends: Ends, k: usize, at: usize) -> f64 {
        let here = f64::from(costs[k * m + at]);
        if k + 1 == n {
            return if ends == Ends::Pinned && at + 1 != m { f64::INFINITY } else { here };
        }
        let mut best = f64::INFINITY;
        if let Ends::Outside(price) = ends {
            best = f64::from(price) * (n - 1 - k) as f64;
        }
        for to in 0..edges.stray.map_or(0, |_| m) {
            let stray = edges.stray.unwrap();
            let price = stray.leave[(at + STEPS_PER_FRAME).min(m)] + stray.land[to] + edges.advance[STEPS_PER_FRAME];
            best = best.min(f64::from(price) + naive(costs, (n, m), edges, ends, k + 1, to));
        }
        for (a, &price) in edges.advance.iter().enumerate() {
            let mut go = |to: usize, extra: f32| {
                if to < m {
                    let rest = naive(costs, (n, m), edges, ends, k + 1, to);
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
        let (mut jumped, mut strayed) = (0, 0);
        for seed in 0..40 {
            let (n, m) = (6, 9);
            let costs: Vec<f32> = random(n * m, seed).iter().map(|&v| v as f32 + 0.5).collect();
            let jumps = [
                Jump { from: 5, to: 1, cost: 0.1 },
                Jump { from: 3, to: 7, cost: 0.2 },
                Jump { from: m, to: 0, cost: 0.05 },
            ];
            let stray = Stray {
                leave: random(m + 1, seed + 100).iter().map(|&v| 0.05 + 0.2 * v.abs() as f32).collect(),
                land: random(m, seed + 200).iter().map(|&v| 0.2 * v.abs() as f32).collect(),
            };
            let offered = Edges::new(0.2, &jumps);
            let anywhere = Edges { stray: Some(&stray), ..offered.clone() };
            for (edges, ends) in [
                (&offered, Ends::Pinned),
                (&offered, Ends::Outside(0.6)),
                (&anywhere, Ends::Pinned),
                (&anywhere, Ends::Outside(0.6)),
            ] {
                let (n, costs) = if edges.stray.is_some() { (4, &costs[..4 * m]) } else { (n, &costs[..]) };
                let row = |k: usize, out: &mut [f32]| {
                    out.copy_from_slice(&costs[k * m..(k + 1) * m]);
                    Ok(())
                };
                let path = cheapest((n, m), row, edges, ends).unwrap().unwrap();
                let (starts, frames) = match ends {
                    Ends::Pinned => (0..1, 0..1),
                    Ends::Outside(_) => (0..m, 0..n),
                };
                let mut expected = f64::INFINITY;
                for (k, at) in frames.flat_map(|k| starts.clone().map(move |at| (k, at))) {
                    let before = if let Ends::Outside(price) = ends { f64::from(price) * k as f64 } else { 0.0 };
                    expected = expected.min(before + naive(costs, (n, m), edges, ends, k, at));
                }
                assert!((path.cost - expected).abs() < 1e-5, "{seed} {ends:?}: {} {expected}", path.cost);
                let frames = path.first..;
                let nodes: f64 = frames.zip(&path.positions).map(|(k, &j)| f64::from(costs[k * m + j])).sum();
                assert!(nodes <= path.cost + 1e-5);
                jumped += path.jumps.len();
                strayed += path.jumps.iter().filter(|jump| jump.offered.is_none()).count();
            }
        }
        assert!(strayed > 5, "straying must have been worth while: {strayed}");
        assert!(jumped > 20, "the jumps must have been worth while: {jumped}");
    }

    #[test]
    fn a_score_too_long_for_the_performance_has_no_straight_reading() {
        let flat = |_: usize, out: &mut [f32]| {
            out.fill(1.0);
            Ok(())
        };
        assert!(cheapest((3, 20), flat, &Edges::new(0.1, &[]), Ends::Pinned).unwrap().is_none());
        let cut = [Jump { from: 4, to: 17, cost: 0.0 }];
        assert!(cheapest((3, 20), flat, &Edges::new(0.1, &cut), Ends::Pinned).unwrap().is_some());
    }
}
