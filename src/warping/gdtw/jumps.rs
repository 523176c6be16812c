//! Repeats taken or skipped, and cuts: which parts of the score were played, and in which order.
//!
//! The score is cut at the given places. Where the reading reaches the end of a section (`from`) it may go on at the start of another
//! (`to`) for a price, instead of straight on: a repeat is a jump back, a skipped repeat or a cut a jump ahead. The search is one
//! Viterbi pass over performance time at a coarse rate, with the position in the score as its state, an advance that tolerates half
//! to double tempo, and the jumps as further edges. Every path accounts for every moment of the performance exactly once, so
//! the costs of different readings compare, and the cheapest is exact, however many jumps it takes.

mod search;
mod structure;

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::warping::Signal;
use crate::warping::cost::{Band, LocalCost, local_cost};

use super::averaging::averaged;
use crate::base::number::Real;
use search::{Edges, Ends, Jump, STEPS_PER_FRAME, Stray, cheapest};
pub use structure::Structure;

/// Most pairs of performance frame and score position; each takes a byte.
const MOST_CELLS: usize = 400_000_000;
const FRAMES_PER_BLOCK: usize = 256;

/// A place where the performance may leave the order of the score.
#[derive(Debug, Clone, PartialEq)]
pub struct JumpOption {
    /// End of a section, in seconds of the score.
    pub from_s: f64,
    /// Start of the section that may follow it.
    pub to_s: f64,
    /// What the jump costs, at least 0, in the unit of the objective: squared feature distance times seconds. A jump is taken if it
    /// saves more than that.
    pub cost: f64,
    /// What it means to the reader, such as "second ending skipped".
    pub label: String,
}

/// How much of the score a performance covers, jumps apart.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Coverage {
    /// It begins with the start of the score and ends with its end.
    #[default]
    Whole,
    /// It may begin and end anywhere in the score, and moments before and after it may belong to no part of the score: each
    /// second costs this.
    PartOfBoth(f64),
}

/// Jumps that are on nobody's list: from anywhere to anywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeJumps<'a> {
    /// What such a jump costs between two of the places.
    pub cost: f64,
    /// Where a section is likely to end or begin, such as bar lines, in score seconds and in order.
    pub places_s: &'a [f64],
    /// What it costs besides to leave, or to land, elsewhere.
    pub elsewhere: f64,
}

/// Settings of [`find_structure`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StructureParams<'a> {
    /// Rate of the search: seconds of performance per frame. Time and memory grow with its inverse square.
    pub frame_s: f64,
    /// Typical performance seconds per score second.
    pub nominal_slope: f64,
    /// Price of a tempo other than the typical one: this times `(ratio − 1)²` per second.
    pub tempo_weight: f64,
    /// How much of the score was played.
    pub coverage: Coverage,
    /// Jumps besides those on offer.
    pub free_jumps: Option<FreeJumps<'a>>,
}

impl Default for StructureParams<'_> {
    fn default() -> Self {
        Self { frame_s: 0.5, nominal_slope: 1.0, tempo_weight: 0.1, coverage: Coverage::Whole, free_jumps: None }
    }
}

/// Finds what was played: `x` is the score as written, `y` the performance. Reports progress as "finding the structure".
pub fn find_structure<T: Real>(
    ctx: &JobContext,
    x: &Signal<'_, T>,
    y: &Signal<'_, T>,
    jumps: &[JumpOption],
    params: &StructureParams<'_>,
) -> Result<Structure> {
    validate(x, y, jumps, params)?;
    let score_step = params.frame_s / (params.nominal_slope * STEPS_PER_FRAME as f64);
    let (score_times, performance_times) = (raster(x.times(), score_step), raster(y.times(), params.frame_s));
    let (m, n) = (score_times.len(), performance_times.len());
    if m.saturating_mul(n) > MOST_CELLS {
        let allowed = format!("longer: the search would need {m} x {n} cells, at most {MOST_CELLS} are allowed");
        return Err(Error::invalid("frame of the structure search", params.frame_s, allowed));
    }
    let score = averaged(x, &score_times);
    let performance = averaged(y, &performance_times);
    let score = Signal::new(&score_times, &score, x.dim())?;
    let position = |time: f64| (((time - score_times[0]) / score_step).round().max(0.0) as usize).min(m);
    let moves: Vec<Jump> = jumps
        .iter()
        .map(|jump| Jump {
            from: position(jump.from_s).max(1),
            to: position(jump.to_s).min(m - 1),
            cost: jump.cost as f32,
        })
        .collect();
    let ends = match params.coverage {
        Coverage::Whole => Ends::Pinned,
        Coverage::PartOfBoth(price) => Ends::Outside((price * params.frame_s) as f32),
    };
    let stray = params.free_jumps.map(|free| {
        let mut price = vec![(0.5 * free.cost + free.elsewhere) as f32; m + 1];
        free.places_s.iter().for_each(|&place| price[position(place)] = (0.5 * free.cost) as f32);
        Stray { land: price[..m].to_vec(), leave: price }
    });
    let tempo = params.tempo_weight * params.frame_s;
    let mut block = Vec::new();
    let row = |k: usize, out: &mut [f32]| {
        let first = k - k % FRAMES_PER_BLOCK;
        if k == first {
            ctx.report("finding the structure", k as f32 / n as f32)?;
            let end = (first + FRAMES_PER_BLOCK).min(n);
            let values = &performance[first * x.dim()..end * x.dim()];
            let frames = Signal::new(&performance_times[first..end], values, x.dim())?;
            let band = Band::full(end - first, m)?;
            block = local_cost(ctx, &frames, &score, LocalCost::SquaredEuclidean, &band)?.into_values();
        }
        let costs = &block[(k - first) * m..(k - first + 1) * m];
        out.iter_mut().zip(costs).for_each(|(o, c)| *o = c * params.frame_s as f32);
        Ok(())
    };
    let edges = Edges { stray: stray.as_ref(), ..Edges::new(tempo, &moves) };
    let Some(best) = cheapest((n, m), row, &edges, ends)? else {
        let reason = "the performance is too short for the score, even with every jump".to_owned();
        return Err(Error::Infeasible { reason });
    };
    Ok(Structure::read(&best, jumps, &score_times, &performance_times, ends == Ends::Pinned))
}

/// Equidistant times from the first to the last, two at least.
fn raster(times: &[f64], step: f64) -> Vec<f64> {
    let (first, last) = (times[0], times[times.len() - 1]);
    let count = ((last - first) / step).round().max(1.0) as usize;
    (0..=count).map(|k| first + k as f64 * step).collect()
}

fn validate<T: Real>(
    x: &Signal<'_, T>,
    y: &Signal<'_, T>,
    jumps: &[JumpOption],
    params: &StructureParams<'_>,
) -> Result<()> {
    if x.dim() != y.dim() {
        return Err(Error::invalid("values per performance frame", y.dim(), format!("{}, as in the score", x.dim())));
    }
    for (name, value) in [("frame of the structure search", params.frame_s), ("nominal slope", params.nominal_slope)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(Error::invalid(name, value, "finite and above 0"));
        }
    }
    if !(params.tempo_weight.is_finite() && params.tempo_weight >= 0.0) {
        return Err(Error::invalid("price of tempo changes", params.tempo_weight, "finite and at least 0"));
    }
    let outside = if let Coverage::PartOfBoth(price) = params.coverage { price } else { 0.0 };
    let free = params.free_jumps.map_or([0.0; 2], |free| [free.cost, free.elsewhere]);
    for (name, price) in
        [("price of what is left out", outside), ("price of jumps", free[0]), ("price of jumps", free[1])]
    {
        if !(price.is_finite() && price >= 0.0) {
            return Err(Error::invalid(name, price, "finite and at least 0"));
        }
    }
    let longest = x.times()[x.frames() - 1].max(y.times()[y.frames() - 1]) - x.times()[0].min(y.times()[0]);
    if longest / params.frame_s > 1e7 {
        return Err(Error::invalid("frame of the structure search", params.frame_s, "longer for signals this long"));
    }
    let (first, last) = (x.times()[0], x.times()[x.frames() - 1]);
    for jump in jumps {
        for (end, time) in [("start", jump.from_s), ("end", jump.to_s)] {
            if !(first..=last).contains(&time) {
                let allowed = format!("within the score, {first} to {last} s");
                return Err(Error::invalid(format!("{end} of the jump \"{}\"", jump.label), time, allowed));
            }
        }
        if !(jump.cost.is_finite() && jump.cost >= 0.0) {
            let name = format!("cost of the jump \"{}\"", jump.label);
            return Err(Error::invalid(name, jump.cost, "finite and at least 0"));
        }
        if jump.from_s == jump.to_s {
            let name = format!("end of the jump \"{}\"", jump.label);
            return Err(Error::invalid(name, jump.to_s, "another place than its start"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "jumps_tests.rs"]
mod tests;
