//! Soft-DTW on a card: values and gradients of a whole batch in one submission.
//!
//! The same kernels serve DILATE, which adds a penalty to each cell; see `soft_dtw.wgsl` for the formulas.

use super::card::{Card, Kernel, THREADS};
use super::pair_costs::{CostTiles, feature_gradient};
use super::pairs::{Limits, Plan, Settings, Size, batches, groups};
use crate::base::accelerator::{Failure, Outcome, PairGradient, SignalPair};

const SOURCE: &str = concat!(include_str!("pairs.wgsl"), include_str!("ring.wgsl"), include_str!("soft_dtw.wgsl"));
const FORWARD: Kernel = Kernel { source: SOURCE, entry: "forward" };
const BACKWARD: Kernel = Kernel { source: SOURCE, entry: "backward" };
/// Mantissa and exponent of the sum over all paths.
const HEAD: usize = 2;
/// Sums of binary logarithms along a path stay below this: whole exponents are 32 bits wide.
const MAX_EXPONENT: f64 = (1 << 30) as f64;

/// Soft-DTW of every pair with pinned ends, and its gradient.
pub(super) fn soft_dtw(card: &Card, pairs: &[SignalPair<'_>], gamma: f64) -> Outcome<Vec<PairGradient>> {
    soft_dtw_within(card, pairs, gamma, Limits::USUAL)
}

pub(super) fn soft_dtw_within(
    card: &Card,
    pairs: &[SignalPair<'_>],
    gamma: f64,
    limits: Limits,
) -> Outcome<Vec<PairGradient>> {
    let sizes: Vec<Size> = pairs.iter().map(|signals| size(signals, gamma, false)).collect::<Outcome<_>>()?;
    let mut found = Vec::with_capacity(pairs.len());
    for batch in batches(card, &sizes, limits.budget)? {
        let passes = Passes { gamma, shape: 1.0, temporal: 0.0, times: Vec::new() };
        found.extend(passes.run(card, &pairs[batch], limits)?.into_iter().map(|soft| soft.gradient));
    }
    Ok(found)
}

/// The size of a pair; fails where γ is too small against the costs for 32 bits of exponent.
pub(super) fn size(signals: &SignalPair<'_>, gamma: f64, penalised: bool) -> Outcome<Size> {
    let steps = values_of_steps(penalised);
    let size = Size::new(signals, None, 1 + steps, steps)?;
    let longest = |values: &[f32]| {
        let norm = |frame: &[f32]| frame.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
        values.chunks_exact(signals.dim).map(norm).fold(0.0, f64::max).sqrt()
    };
    let cost = (longest(signals.x) + longest(signals.y)).powi(2);
    let exponent = cost * size.diagonals as f64 / (gamma * std::f64::consts::LN_2);
    if gamma > 0.0 && exponent < MAX_EXPONENT {
        Ok(size)
    } else {
        Err(Failure::unsuited("gamma of soft-DTW too small against the costs"))
    }
}

/// Values that are kept of the steps into a cell: two probabilities, and their changes.
fn values_of_steps(penalised: bool) -> usize {
    if penalised { 4 } else { 2 }
}

/// What a pass over a batch gives for each pair.
pub(super) struct Soft {
    /// The value of soft-DTW, and the gradient that was asked for.
    pub gradient: PairGradient,
    /// `Σ E∘Ω`, the expected penalty of a path.
    pub penalty: f64,
}

/// The forward and backward passes over a batch.
pub(super) struct Passes<'a> {
    pub gamma: f64,
    /// Weight of the value in the gradient.
    pub shape: f64,
    /// Weight of the mean penalty in the gradient.
    pub temporal: f64,
    /// For each pair the truth of each row with its weight, then the time of each column. Nothing: no penalties.
    pub times: Vec<&'a [f32]>,
}

impl Passes<'_> {
    /// All passes in one submission.
    pub fn run(&self, card: &Card, signals: &[SignalPair<'_>], limits: Limits) -> Outcome<Vec<Soft>> {
        let penalised = !self.times.is_empty();
        let (mut plan, mut tiles) = (Plan::default(), CostTiles::default());
        // With penalties each thread adds its part of the expected one.
        let each = if penalised { HEAD + THREADS as usize } else { HEAD };
        let (mut results, mut times) = (0, 0);
        for (i, signals) in signals.iter().enumerate() {
            let (rows, columns) = (signals.x.len() / signals.dim, signals.y.len() / signals.dim);
            let (starts, ends) = (vec![0; rows], vec![columns; rows]);
            plan.add(signals, &starts, &ends, if penalised { 4 } else { 2 }, limits.near);
            tiles.add(i, &starts, &ends);
            let pair = &mut plan.pairs[i];
            (pair.results, pair.times) = (results as u32, times as u32);
            results += each;
            times += 2 * rows + columns;
        }
        let arrays = plan.upload(card);
        let steps = card.array(values_of_steps(penalised) * plan.cells);
        let times = card.upload(&self.times.concat());
        let results = card.array(results);
        let to_log2 = (-1.0 / (self.gamma * std::f64::consts::LN_2)) as f32;
        let settings = Settings {
            penalised: u32::from(penalised),
            to_log2,
            shape: self.shape as f32,
            temporal: self.temporal as f32,
            inverse_gamma: (1.0 / self.gamma) as f32,
            ..Settings::of(signals.len())
        };
        let mut commands = card.commands();
        tiles.run(card, &mut commands, &arrays);
        let bound = [&arrays.pairs, &arrays.diagonals, &arrays.cells, &steps, &arrays.far, &times, &results];
        for kernel in [FORWARD, BACKWARD] {
            for settings in plan.dispatches(settings, 1, limits.iterations) {
                commands.run(kernel, groups(signals.len()), &settings, &bound);
            }
        }
        let gradient = feature_gradient(card, &mut commands, &plan, &arrays);
        let read = commands.read(&[&results, &gradient])?;
        let (results, gradient) = (&read[0], &read[1]);
        let soft = plan.pairs.iter().map(|pair| {
            let results = &results[pair.results as usize..][..each];
            let float = |bits: &u32| f64::from(f32::from_bits(*bits));
            let log2 = f64::from(results[1] as i32) + float(&results[0]).log2();
            let [x, y] = pair.values().map(|at| gradient[at].iter().copied().map(f32::from_bits).collect());
            let penalty = results[HEAD..].iter().map(float).sum();
            Soft { gradient: PairGradient { value: log2 / f64::from(to_log2), x, y }, penalty }
        });
        Ok(soft.collect())
    }
}
