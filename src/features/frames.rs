//! Fills feature rows in parallel, with progress and cancellation.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::base::error::Result;
use crate::base::job::JobContext;

/// Frames between two progress reports: a few hundred microseconds of work.
const BLOCK: usize = 32;

/// Calls `fill(scratch, frame, row)` for every row of `dim` values, in parallel. Scratch made by `scratch` is reused.
pub(super) fn fill_rows<S>(
    ctx: &JobContext,
    rows: &mut [f32],
    dim: usize,
    scratch: impl Fn() -> S + Sync + Send,
    fill: impl Fn(&mut S, usize, &mut [f32]) + Sync,
) -> Result<()> {
    fill_blocks(ctx, rows, dim, BLOCK, scratch, |scratch, first, rows| {
        for (offset, row) in rows.chunks_exact_mut(dim).enumerate() {
            fill(scratch, first + offset, row);
        }
    })
}

/// Calls `fill(scratch, first_frame, rows)` for every run of up to `block` rows of `dim` values, in parallel.
pub(super) fn fill_blocks<S>(
    ctx: &JobContext,
    rows: &mut [f32],
    dim: usize,
    block: usize,
    scratch: impl Fn() -> S + Sync + Send,
    fill: impl Fn(&mut S, usize, &mut [f32]) + Sync,
) -> Result<()> {
    let total = rows.len();
    let done = AtomicUsize::new(0);
    rows.par_chunks_mut(block * dim).enumerate().try_for_each_init(scratch, |scratch, (index, rows)| {
        ctx.check()?;
        fill(scratch, index * block, rows);
        let done = done.fetch_add(rows.len(), Ordering::Relaxed) + rows.len();
        ctx.report("features", done as f32 / total as f32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;

    #[test]
    fn every_row_is_filled_once_with_its_own_index() {
        let mut rows = vec![0.0; 3 * 101];
        let add_index = |(): &mut (), frame: usize, row: &mut [f32]| row.iter_mut().for_each(|v| *v += frame as f32);
        fill_rows(&JobContext::new(), &mut rows, 3, || (), add_index).unwrap();
        assert!(rows.chunks(3).enumerate().all(|(frame, row)| row == [frame as f32; 3]));
    }

    #[test]
    fn cancellation_stops_the_work() {
        let ctx = JobContext::new();
        let inner = ctx.clone();
        let mut rows = vec![0.0; 10_000];
        let cancel = |(): &mut (), _: usize, row: &mut [f32]| {
            inner.cancel();
            row[0] = 1.0;
        };
        assert!(matches!(fill_rows(&ctx, &mut rows, 1, || (), cancel), Err(Error::Cancelled)));
        assert!(rows.contains(&0.0));
    }
}
