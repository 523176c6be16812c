//! One stretch of a score through the whole chain: network, evidence, onset problem, error, and all the way back.

use std::ops::Range;

use super::sounds::AlignedSound;
use crate::align::onsets::{Evidence, OnsetParams, Pattern, chord_patterns, heard};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::learning::{SliceTruth, WarpLoss, warp_loss};
use crate::networks::ear::{Activations, CHANNELS, CONTEXT, OnsetNetwork};
use crate::warping::gdtw::{
    CostTable, EdgeCost, FirstGrid, NodeCost, NodeGradient, Problem, SolveOptions, Workspace, gradient, solve,
};

/// Chords that are placed together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stretch {
    pub sound: usize,
    pub chords: Range<usize>,
    /// How far from the truth the middle of the band is.
    pub shift_s: f64,
}

/// How far from the middle of the band a chord may be placed.
const REACH_S: f64 = 0.4;

/// The network's view of one pitch of one chord.
struct Voice<T> {
    chord: usize,
    /// Frame of the network that its first logit is of.
    first: usize,
    inputs: Vec<T>,
    activations: Activations<T>,
}

/// TimeErr of a stretch in seconds; its gradient in the network's weights is added to `into`, if that is wanted. `None` if
/// the truth has fewer than two rows there.
pub(super) fn stretch_loss<T: Real>(
    ctx: &JobContext,
    sound: &AlignedSound,
    network: &OnsetNetwork<T>,
    stretch: &Stretch,
    into: Option<&mut [T]>,
) -> Result<Option<f64>> {
    let params = OnsetParams::default();
    let chords = &sound.chords[stretch.chords.clone()];
    let Some(truth) = truth_between(sound, chords[0].onset_s, chords[chords.len() - 1].onset_s) else {
        return Ok(None);
    };
    let centre: Vec<f64> = chords.iter().map(|chord| sound.warp.at(chord.onset_s) + stretch.shift_s).collect();
    let patterns = chord_patterns(chords, &centre, &params);
    let (table, voices) = listen(sound, network, &patterns, &centre)?;
    let problem = problem(sound, chords.iter().map(|chord| chord.onset_s).collect(), &table, &params);
    // Unlike the placing of onsets, learning needs the exact optimum: elsewhere the gradient is none.
    let options = SolveOptions { first_grid: FirstGrid::StepsPerFrame(1.0), refinements: 0, ..SolveOptions::default() };
    let solution = solve(ctx, &problem, &options, &mut Workspace::default())?;
    let loss = warp_loss(WarpLoss::TimeErr, &problem.knots, &solution.phi, &truth);
    if let Some(into) = into {
        let NodeGradient::Table(by_cost) = gradient(&problem, &solution, &loss.gradient)?.nodes else {
            unreachable!("the problem was made from a table")
        };
        for voice in &voices {
            let row = &by_cost[table.offset(voice.chord)..][..table.row(voice.chord).len()];
            teach(network, voice, row, table.first(voice.chord), patterns[voice.chord].learned, into);
        }
    }
    Ok(Some(loss.value))
}

fn truth_between(sound: &AlignedSound, first_s: f64, last_s: f64) -> Option<SliceTruth> {
    const SAME_S: f64 = 1e-4;
    let truth = &sound.truth;
    let from = truth.score_s.partition_point(|&s| s < first_s - SAME_S);
    let until = truth.score_s.partition_point(|&s| s <= last_s + SAME_S);
    (until >= from + 2).then(|| SliceTruth {
        score_s: truth.score_s[from..until].to_vec(),
        performance_s: truth.performance_s[from..until].to_vec(),
    })
}

/// The costs of all chords, and what the network saw on the way.
fn listen<T: Real>(
    sound: &AlignedSound,
    network: &OnsetNetwork<T>,
    patterns: &[Pattern],
    centre: &[f64],
) -> Result<(CostTable<T>, Vec<Voice<T>>)> {
    let step = Evidence::step_s();
    let last = sound.evidence.frames() - 1;
    let frame_of = |time: f64| ((time / step).max(0.0) as usize).min(last);
    let mut table = CostTable::new(0.0, step)?;
    let mut voices = Vec::new();
    for (chord, (pattern, centre)) in patterns.iter().zip(centre).enumerate() {
        let (low, high) = (frame_of(centre - REACH_S), frame_of(centre + REACH_S));
        let mut row: Vec<f64> = (low..=high).map(|frame| -f64::from(sound.evidence.at(frame, pattern))).collect();
        for &band in &pattern.pitches {
            let voice = Voice::new(sound, network, chord, band, low / 2..high / 2 + 2);
            let logits = voice.activations.logits();
            for (offset, cost) in row.iter_mut().enumerate() {
                for (frame, share) in halves(low + offset) {
                    let logit: f64 = logits[frame - voice.first].to_f64();
                    *cost -= f64::from(pattern.learned) * share * heard(logit).0;
                }
            }
            voices.push(voice);
        }
        let row: Vec<T> = row.into_iter().map(T::from_f64).collect();
        table.push_row(low, &row)?;
    }
    Ok((table, voices))
}

/// The frames of the network that a frame of the evidence is read from, with their shares.
fn halves(frame: usize) -> impl Iterator<Item = (usize, f64)> {
    let between = !frame.is_multiple_of(2);
    let share = if between { 0.5 } else { 1.0 };
    (frame / 2..=frame / 2 + usize::from(between)).map(move |frame| (frame, share))
}

impl<T: Real> Voice<T> {
    fn new(sound: &AlignedSound, network: &OnsetNetwork<T>, chord: usize, band: usize, frames: Range<usize>) -> Self {
        let mut levels = vec![0.0; (frames.len() + 2 * CONTEXT) * CHANNELS];
        sound.levels.inputs(band, frames.start as isize - CONTEXT as isize, &mut levels);
        let inputs: Vec<T> = levels.into_iter().map(|level| T::from_f64(f64::from(level))).collect();
        let mut activations = Activations::default();
        network.logits(&inputs, &mut activations);
        Self { chord, first: frames.start, inputs, activations }
    }
}

/// Carries the gradient of a chord's costs back into the weights, through one of its pitches.
fn teach<T: Real>(network: &OnsetNetwork<T>, voice: &Voice<T>, by_cost: &[T], low: usize, weight: f32, into: &mut [T]) {
    let logits = voice.activations.logits();
    let mut flow = vec![0.0; logits.len()];
    for (offset, &by_cost) in by_cost.iter().enumerate() {
        let by_cost: f64 = by_cost.to_f64();
        for (frame, share) in halves(low + offset) {
            let logit: f64 = logits[frame - voice.first].to_f64();
            flow[frame - voice.first] -= f64::from(weight) * share * by_cost * heard(logit).1;
        }
    }
    if flow.iter().any(|&flow| flow != 0.0) {
        let flow: Vec<T> = flow.into_iter().map(T::from_f64).collect();
        network.backward(&voice.inputs, &voice.activations, &flow, into);
    }
}

fn problem<'a, T: Real>(
    sound: &AlignedSound,
    knots: Vec<f64>,
    table: &'a CostTable<T>,
    params: &OnsetParams,
) -> Problem<'a, T> {
    let reference = knots.windows(2).map(|pair| sound.tempo.at(pair[1]) - sound.tempo.at(pair[0])).collect();
    let edges = EdgeCost::LogTempo {
        weight: vec![1.0; knots.len() - 1],
        reference,
        epsilon: params.epsilon_s,
        sigma: params.sigma,
        delta: params.delta,
    };
    Problem::new(knots, NodeCost::Table(table), edges)
}
