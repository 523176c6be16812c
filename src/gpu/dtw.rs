//! Classic DTW on a card: a whole batch in one submission, of which only the paths come back.
//!
//! Accumulated costs are single, but counted from the least of the last anti-diagonals, so an hour of frames loses
//! nothing.
//! Memory is four bytes per cell of the band: the direction of a cell takes the place of its cost.

use super::card::{Card, Kernel};
use super::pair_costs::CostTiles;
use super::pairs::{Limits, Plan, Settings, Size, batches, groups};
use crate::base::accelerator::{DtwPair, Failure, Outcome};

const SOURCE: &str = concat!(include_str!("pairs.wgsl"), include_str!("ring.wgsl"), include_str!("dtw.wgsl"));
const ACCUMULATE: Kernel = Kernel { source: SOURCE, entry: "accumulate" };
const TRACE: Kernel = Kernel { source: SOURCE, entry: "trace" };
/// Loops over the cells of an anti-diagonal.
const LOOPS: u32 = 5;
/// Anti-diagonals that the way back covers at a time, and how many iterations that takes it.
const WINDOW: u32 = 32;
const WINDOW_ITERATIONS: usize = 50;
/// Values that are kept of a pair besides its path; see `dtw.wgsl`.
const STATE: u32 = 3;

/// The cells (row, column) of the cheapest path of each problem, first to last.
pub(super) fn dtw(card: &Card, problems: &[DtwPair<'_>]) -> Outcome<Vec<Vec<(u32, u32)>>> {
    dtw_within(card, problems, Limits::USUAL)
}

pub(super) fn dtw_within(card: &Card, problems: &[DtwPair<'_>], limits: Limits) -> Outcome<Vec<Vec<(u32, u32)>>> {
    let sizes: Vec<Size> = problems.iter().map(size).collect::<Outcome<_>>()?;
    let mut paths = Vec::with_capacity(problems.len());
    for batch in batches(card, &sizes, limits.budget)? {
        paths.extend(batch_paths(card, &problems[batch], limits)?);
    }
    Ok(paths)
}

fn size(problem: &DtwPair<'_>) -> Outcome<Size> {
    let size = Size::new(&problem.signals, Some((problem.starts, problem.ends)), 1, 1)?;
    if !problem.free_ends && (problem.starts[0] != 0 || problem.ends[size.rows - 1] != size.columns) {
        return Err(Failure::unsuited("pinned ends outside the band"));
    }
    Ok(size)
}

fn batch_paths(card: &Card, problems: &[DtwPair<'_>], limits: Limits) -> Outcome<Vec<Vec<(u32, u32)>>> {
    let (mut plan, mut tiles, mut results) = (Plan::default(), CostTiles::default(), 0);
    for (i, problem) in problems.iter().enumerate() {
        plan.add(&problem.signals, problem.starts, problem.ends, 1, limits.near);
        tiles.add(i, problem.starts, problem.ends);
        let pair = &mut plan.pairs[i];
        pair.free_ends = u32::from(problem.free_ends);
        pair.results = results;
        results += pair.count + STATE;
    }
    let (arrays, path) = (plan.upload(card), card.array(results as usize));
    let mut commands = card.commands();
    tiles.run(card, &mut commands, &arrays);
    let (settings, groups) = (Settings::of(problems.len()), groups(problems.len()));
    for settings in plan.dispatches(settings, LOOPS, limits.iterations) {
        let bound = [&arrays.pairs, &arrays.diagonals, &arrays.cells, &path, &arrays.far];
        commands.run(ACCUMULATE, groups, &settings, &bound);
    }
    let windows = (limits.iterations / WINDOW_ITERATIONS).max(1) as u32;
    for _ in (0..=plan.most_diagonals().div_ceil(WINDOW)).step_by(windows as usize) {
        let bound = [&arrays.pairs, &arrays.diagonals, &arrays.cells, &path];
        commands.run(TRACE, groups, &Settings { end: windows, ..settings }, &bound);
    }
    let path = commands.read(&[&path])?.swap_remove(0);
    plan.pairs
        .iter()
        .map(|pair| {
            // For each anti-diagonal one more than the row of the path, or 0 where it jumps over.
            let crossed = &path[pair.results as usize..][..pair.count as usize];
            let numbers = (pair.first..).zip(crossed).filter(|(_, row)| **row > 0);
            let cells: Vec<(u32, u32)> =
                numbers.map(|(number, row)| (row - 1, (number + 1).wrapping_sub(*row))).collect();
            let ends = cells.first().zip(cells.last()).map(|(first, last)| (first.0, last.0 + 1));
            if ends == Some((0, pair.rows)) {
                Ok(cells)
            } else {
                Err(Failure::new("a path that does not pass all rows"))
            }
        })
        .collect()
}
