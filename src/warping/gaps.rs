//! Sequence alignment on a time grid: each knot is put at a time, or left out; between two knots time passes as its cost says, or as
//! it likes for the price of a gap.
//!
//! A gap goes from any knot to any later one: what lies between is left out, and any time may pass. So a pause or a cadenza that nobody
//! wrote, notes that nobody played, and a passage played otherwise than written all cost a price that is known, however long they are,
//! and what comes after is as cheap as if nothing had happened.

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

use super::gdtw::CostTable;

/// What gaps cost, in the unit of the node costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GapPrices {
    /// Any gap.
    pub open: f32,
    /// Each knot that is left out.
    pub knot: f32,
    /// Each grid step of time that passes in a gap.
    pub step: f32,
}

/// The cheapest way.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    /// The grid index of each knot; none where it is left out.
    pub at: Vec<Option<usize>>,
    /// Knots that are reached through a gap, in order. What is left out at the start counts as one, too.
    pub behind_gaps: Vec<usize>,
    /// Total cost.
    pub cost: f64,
}

/// Finds the cheapest way through the rows of a table. `edge` fills in what it costs to go on to the next knot of a segment by 0, 1, 2, …
/// grid steps; what it does not list only a gap can do. Knots that `is_held` are never left out; the rows of the others neither begin nor
/// end before that of the knot before.
///
/// Time grows with the number of nodes times the edges of each: gaps of any length cost O(1) a node.
pub fn follow(
    ctx: &JobContext,
    table: &CostTable,
    edge: impl Fn(usize, &mut Vec<f32>),
    is_held: impl Fn(usize) -> bool,
    prices: GapPrices,
) -> Result<Followed> {
    let knots = table.rows();
    if knots == 0 {
        return Err(Error::invalid("number of knots", 0, "one or more"));
    }
    let price = |knot: usize| if is_held(knot) { f32::INFINITY } else { prices.knot };
    let mut ways = Ways { from: vec![FIRST; table.costs().len()], gaps: Vec::new() };
    let (mut costs, mut edges) = (Vec::new(), Vec::new());
    let mut here = Row { first: table.first(0), costs: table.row(0).to_vec() };
    let mut gaps = GapRow::beginning(&here, price(0), prices.step);
    for knot in 1..knots {
        if knot.is_multiple_of(64) {
            ctx.check()?;
        }
        edges.clear();
        edge(knot - 1, &mut edges);
        let first = table.first(knot);
        let nodes = table.row(knot).len();
        let from = &mut ways.from[table.offset(knot)..][..nodes];
        costs.clear();
        costs.resize(nodes, f32::INFINITY);
        step_on(&here, &edges, first, &mut costs, from);
        for (node, (cost, from)) in costs.iter_mut().zip(from).enumerate() {
            let (through, origin) = gaps.at(first + node, prices.step);
            if through + prices.open < *cost {
                *cost = through + prices.open;
                *from = GAP | ways.gaps.len() as u32;
                ways.gaps.push(origin);
            }
        }
        costs.iter_mut().zip(table.row(knot)).for_each(|(cost, node)| *cost += node);
        here.first = first;
        std::mem::swap(&mut here.costs, &mut costs);
        gaps = gaps.next(&here, knot, price(knot), prices.step);
    }
    let last = smallest(&here.costs);
    let left_out = smallest(&gaps.costs);
    let ends_in_gap = gaps.costs[left_out] + prices.open < here.costs[last];
    let (cost, end) = if ends_in_gap {
        (gaps.costs[left_out] + prices.open, gaps.origins[left_out])
    } else {
        (here.costs[last], Some((knots as u32 - 1, last as u32)))
    };
    let (at, behind_gaps) = ways.back(table, end);
    Ok(Followed { at, behind_gaps, cost: f64::from(cost) })
}

/// A node: knot, and index in its row.
type Node = (u32, u32);

/// The way begins at this knot.
const FIRST: u32 = u32::MAX >> 1;
/// The way comes through a gap: the rest is an index into [`Ways::gaps`].
const GAP: u32 = 1 << 31;

/// How each node is reached.
struct Ways {
    /// By node: its predecessor's index in its row, or a mark.
    from: Vec<u32>,
    /// Where gaps begin; none at the start of all.
    gaps: Vec<Option<Node>>,
}

impl Ways {
    fn back(&self, table: &CostTable, end: Option<Node>) -> (Vec<Option<usize>>, Vec<usize>) {
        let mut at = vec![None; table.rows()];
        let mut behind_gaps = Vec::new();
        let mut next = end;
        while let Some((knot, node)) = next {
            let (knot, node) = (knot as usize, node as usize);
            at[knot] = Some(table.first(knot) + node);
            let from = self.from[table.offset(knot) + node];
            next = if from & GAP != 0 {
                behind_gaps.push(knot);
                self.gaps[(from & !GAP) as usize]
            } else {
                (from != FIRST).then(|| (knot as u32 - 1, from))
            };
        }
        behind_gaps.reverse();
        (at, behind_gaps)
    }
}

/// What it costs to be at one knot, by time.
struct Row {
    first: usize,
    costs: Vec<f32>,
}

/// What it costs to have been at a knot or to have left it out, at a time or before. Who leaves it out passes it all the same, not before
/// its row begins.
struct GapRow {
    first: usize,
    costs: Vec<f32>,
    /// Where each gap begins.
    origins: Vec<Option<Node>>,
    /// What it costs to have left out everything so far.
    nothing: f32,
}

impl GapRow {
    fn beginning(row: &Row, price: f32, step: f32) -> Self {
        let nowhere = Self { first: usize::MAX, costs: Vec::new(), origins: Vec::new(), nothing: 0.0 };
        nowhere.next(row, 0, price, step)
    }

    /// At the next knot: whoever leaves it out pays for it.
    fn next(&self, row: &Row, knot: usize, price: f32, step: f32) -> Self {
        let nothing = self.nothing + price;
        let (mut costs, mut origins) = (Vec::with_capacity(row.costs.len()), Vec::with_capacity(row.costs.len()));
        let mut best = (nothing, None);
        for (node, &cost) in row.costs.iter().enumerate() {
            best.0 += step;
            let left_out = self.at(row.first + node, step);
            let ways = [(nothing, None), (left_out.0 + price, left_out.1), (cost, Some((knot as u32, node as u32)))];
            for way in ways {
                if way.0 < best.0 {
                    best = way;
                }
            }
            costs.push(best.0);
            origins.push(best.1);
        }
        Self { first: row.first, costs, origins, nothing }
    }

    /// Behind the end of the row time passes on; before it, nothing has happened yet.
    fn at(&self, time: usize, step: f32) -> (f32, Option<Node>) {
        let Some(node) = time.checked_sub(self.first) else { return (self.nothing, None) };
        let last = self.costs.len() - 1;
        let beyond = node.saturating_sub(last);
        let passed = (self.costs[node.min(last)] + beyond as f32 * step, self.origins[node.min(last)]);
        if self.nothing < passed.0 { (self.nothing, None) } else { passed }
    }
}

/// The cheapest steps from one row to the next, which begins at grid index `first`.
fn step_on(before: &Row, edges: &[f32], first: usize, costs: &mut [f32], from: &mut [u32]) {
    for (steps, &edge) in edges.iter().enumerate() {
        // Nodes of the next row that are so many steps behind a node of this one.
        let low = (before.first + steps).max(first);
        let high = (before.first + steps + before.costs.len()).min(first + costs.len());
        if low >= high {
            continue;
        }
        let source = low - steps - before.first;
        let sources = &before.costs[source..source + high - low];
        let targets = costs[low - first..high - first].iter_mut().zip(&mut from[low - first..high - first]);
        for ((index, &reached), (cost, from)) in (source as u32..).zip(sources).zip(targets) {
            let is_better = reached + edge < *cost;
            *cost = if is_better { reached + edge } else { *cost };
            *from = if is_better { index } else { *from };
        }
    }
}

/// Index of the first of the smallest values.
fn smallest(values: &[f32]) -> usize {
    let smaller = |best: usize, index: usize| if values[index] < values[best] { index } else { best };
    (0..values.len()).fold(0, smaller)
}

#[cfg(test)]
#[path = "gaps_tests.rs"]
mod tests;
