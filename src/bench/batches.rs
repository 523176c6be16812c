//! Many problems at once against one after the other, and on a device beside the CPU if one was asked for.

use super::Measurement;
use super::inputs::pair;
use super::measure::{Contestant, take_turns};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::networks::examples;
use crate::warping::gdtw::{Problem, SolveOptions, Workspace, solve, solve_many};
use crate::warping::soft_dtw::{DilateParams, Pair, dilate_of_pairs, soft_dtw_of_pairs};

/// Slices of a batch, their frames, and values per frame: those of training.
const SLICES: usize = 64;
const FRAMES: [usize; 2] = [256, 282];
const DIM: usize = 128;
const LAMBDA: f64 = 0.1;
/// Gradients of networks are not timed here: `benches/training_step.rs` times a whole step.
const SEQUENCES: usize = 64;

/// Every kind of work of a training step.
pub(super) fn batches(ctx: &JobContext) -> Result<Vec<Measurement>> {
    let (score, performance) = pair(FRAMES[0], FRAMES[1], DIM, 12.0);
    let (x, y) = (score.signal()?, performance.signal()?);
    let problems = vec![Problem::from_signals(x, y, LAMBDA); SLICES];
    let pairs: Vec<Pair<'_, f32>> = vec![(x, y); SLICES];
    let truths = vec![score.times.iter().map(|&t| (t, t)).collect::<Vec<_>>(); SLICES];
    let options = SolveOptions::default();
    let mut workspace = Workspace::default();
    let dilate = DilateParams::default();
    let size = format!("{SLICES} of {}x{} d={DIM}", FRAMES[0], FRAMES[1]);
    let mut results = compare(ctx, "gdtw", &size, &mut |ctx, count| {
        if count == 1 {
            return problems.iter().try_for_each(|p| solve(ctx, p, &options, &mut workspace).map(drop));
        }
        solve_many(ctx, &problems, &options).map(drop)
    })?;
    results.extend(compare(ctx, "soft-dtw", &size, &mut |ctx, count| {
        pairs.chunks(count).try_for_each(|pairs| soft_dtw_of_pairs(ctx, pairs, 1.0).map(drop))
    })?);
    results.extend(compare(ctx, "dilate", &size, &mut |ctx, count| {
        let mut both = pairs.chunks(count).zip(truths.chunks(count));
        both.try_for_each(|(pairs, truths)| dilate_of_pairs(ctx, pairs, truths, &dilate).map(drop))
    })?);
    let size = format!("{SEQUENCES} of {} frames 48->2x64", FRAMES[0]);
    results.extend(compare(ctx, "gru", &size, &mut |ctx, count| {
        (0..SEQUENCES / count).try_for_each(|_| examples::recurrence(ctx, count, FRAMES[0]).map(drop))
    })?);
    let size = format!("{} frames of 88 pitches", 2 * SEQUENCES);
    results.extend(compare(ctx, "ear", &size, &mut |ctx, count| {
        (0..SEQUENCES / count).try_for_each(|_| examples::hearing(ctx, 2 * count).map(drop))
    })?);
    Ok(results)
}

/// Times `work`, which is told how many slices to take at a time: one, then all, then all on the device.
fn compare(
    ctx: &JobContext,
    name: &str,
    size: &str,
    work: &mut dyn FnMut(&JobContext, usize) -> Result<()>,
) -> Result<Vec<Measurement>> {
    let work = std::cell::RefCell::new(work);
    let cpu = ctx.on(None);
    let names = ["one at a time", "all at once", "all at once, gpu"].map(|how| format!("{name}, {how}"));
    let mut contestants = vec![
        Contestant::new(&names[0], || (work.borrow_mut())(&cpu, 1)),
        Contestant::new(&names[1], || (work.borrow_mut())(&cpu, SLICES)),
    ];
    if ctx.has_device() {
        contestants.push(Contestant::new(&names[2], || (work.borrow_mut())(ctx, SLICES)));
    }
    let results = take_turns(ctx, size, rayon::current_num_threads(), &mut contestants)?;
    let alone = results[0].median_ms;
    Ok(results
        .into_iter()
        .map(|result| Measurement { times_faster: Some(alone / result.median_ms), ..result })
        .collect())
}
