//! Whole pieces in a band: the time per frame must not grow with the length.

use super::inputs::pair;
use super::measure::{Contestant, take_turns};
use super::{Measurement, on_one_thread};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, frame_to_seconds};
use crate::warping::gdtw::{Problem, SolveOptions, Workspace, solve};

const HOP: usize = 1024;
const DIM: usize = 48;
const BAND_S: f64 = 1.5;
const LAMBDA: f64 = 0.1;

/// One minute, ten and sixty, at the settings of the pipeline.
pub(super) fn long_pieces(ctx: &JobContext) -> Result<Vec<Measurement>> {
    on_one_thread(|| [1.0, 10.0, 60.0].map(|minutes| minutes_in_a_band(ctx, minutes)).into_iter().collect())
}

fn minutes_in_a_band(ctx: &JobContext, minutes: f64) -> Result<Measurement> {
    let end_s = 60.0 * minutes;
    let frames = (end_s / frame_to_seconds(1, HOP, ANALYSIS_RATE)) as usize;
    let (score, performance) = pair(frames, frames, DIM, end_s);
    let problem = Problem::from_signals(score.signal()?, performance.signal()?, LAMBDA).with_pinned_ends();
    let problem = problem.with_band(&score.times, &vec![BAND_S; frames])?;
    let mut workspace = Workspace::default();
    let options = SolveOptions::default();
    let mut alone = [Contestant::new("gdtw forward, in a band", || solve(ctx, &problem, &options, &mut workspace))];
    let size = format!("{minutes:.0} min, {frames} frames, d={DIM}");
    let mut results = take_turns(ctx, &size, 1, &mut alone)?;
    let result = results.remove(0);
    Ok(Measurement { us_per_frame: Some(1e3 * result.median_ms / frames as f64), ..result })
}
