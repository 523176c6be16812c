//! Classic DTW of many pairs of signals at once.

use rayon::prelude::*;

use super::{DtwParams, DtwPath, Ends, dtw};
use crate::base::accelerator::{DtwPair, SignalPair, Work, WorkKind};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::warping::Signal;
use crate::warping::cost::{Band, LocalCost, local_cost};

/// Multiplications that the recursion takes per cell, roughly.
const PER_CELL: usize = 8;

/// A score and a performance, and the band that the path stays in.
pub type BandedPair<'a> = (Signal<'a>, Signal<'a>, Band);

/// The cheapest path of each pair with squared distances as local costs and unit steps, on all threads or on the device of the context.
pub fn dtw_of_pairs(ctx: &JobContext, pairs: &[BandedPair<'_>], ends: Ends) -> Result<Vec<DtwPath>> {
    if ctx.has_device() {
        if ends == Ends::Pinned {
            pairs.iter().try_for_each(|(.., band)| band.check_pinned())?;
        }
        let problems: Vec<DtwPair<'_>> = pairs.iter().map(|pair| problem(pair, ends)).collect();
        let cells = |(score, _, band): &BandedPair<'_>| (band.cells() * (score.dim() + PER_CELL)) as f64;
        let work = Work { kind: WorkKind::Wavefront, amount: pairs.iter().map(cells).sum() };
        if let Some(paths) = ctx.accelerate(work, |device| device.dtw(&problems)) {
            return Ok(pairs.iter().zip(paths).map(|(pair, cells)| path(pair, &cells)).collect());
        }
    }
    let of_one = |(score, performance, band): &BandedPair<'_>| {
        let cost = local_cost(ctx, score, performance, LocalCost::SquaredEuclidean, band)?;
        dtw(ctx, &cost, &DtwParams { ends, ..DtwParams::default() })
    };
    pairs.par_iter().map(of_one).collect()
}

fn problem<'a>((score, performance, band): &'a BandedPair<'_>, ends: Ends) -> DtwPair<'a> {
    let signals = SignalPair { x: score.values(), y: performance.values(), dim: score.dim() };
    let (starts, ends_of_rows) = band.limits();
    DtwPair { signals, starts, ends: ends_of_rows, free_ends: ends == Ends::Subsequence }
}

/// A path that a device found, with its cost in double precision.
fn path((score, performance, _): &BandedPair<'_>, cells: &[(u32, u32)]) -> DtwPath {
    let cells: Vec<(usize, usize)> = cells.iter().map(|&(row, column)| (row as usize, column as usize)).collect();
    let square = |(x, y): (&f32, &f32)| (f64::from(*x) - f64::from(*y)).powi(2);
    let local = |&(row, column): &(usize, usize)| {
        score.frame(row).iter().zip(performance.frame(column)).map(square).sum::<f64>()
    };
    let cost = cells.iter().map(local).sum();
    DtwPath::from_cells(cells, cost)
}
