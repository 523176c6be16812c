//! Stretches of scores through the whole chain: network, evidence, onset problem, error, and all the way back.

use std::ops::Range;

use candle_core::Tensor;
use rayon::prelude::*;

use super::super::extractor::SliceTruth;
use super::super::loss_op::{Loss, loss_of};
use super::super::losses::{WarpLoss, warp_loss};
use super::sounds::AlignedSound;
use crate::align::onsets::{Evidence, OnsetParams, chord_patterns, onset_problem, softplus};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::base::time::ANALYSIS_RATE;
use crate::networks::ear::{CHANNELS, CONTEXT, NETWORK_HOP, logits};
use crate::networks::ops::{Element, failed};
use crate::warping::gdtw::{CostTable, FirstGrid, NodeGradient, Problem, Solution, SolveOptions, gradient, solve_many};

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
/// Frames of the network that this takes at most, and those beside them that are read between two.
const MOMENTS: usize = (2.0 * REACH_S * ANALYSIS_RATE as f64 / NETWORK_HOP as f64) as usize + 4;

/// The truth of a stretch; `None` if it has fewer than two rows there.
pub(super) fn truth_of(sound: &AlignedSound, stretch: &Stretch) -> Option<SliceTruth> {
    const SAME_S: f64 = 1e-4;
    let (truth, chords) = (&sound.truth, &sound.chords[stretch.chords.clone()]);
    let (first_s, last_s) = (chords.first()?.onset_s, chords.last()?.onset_s);
    let from = truth.score_s.partition_point(|&s| s < first_s - SAME_S);
    let until = truth.score_s.partition_point(|&s| s <= last_s + SAME_S);
    (until >= from + 2).then(|| SliceTruth {
        score_s: truth.score_s[from..until].to_vec(),
        performance_s: truth.performance_s[from..until].to_vec(),
    })
}

/// Stretches with the inputs of the network: a sequence of [`MOMENTS`] for every pitch of every chord.
pub(super) struct StretchBatch {
    stretches: Vec<Placing>,
    inputs: Vec<f32>,
}

/// The onset problem of one stretch, but for what the network says.
struct Placing {
    chords: Vec<ChordCosts>,
    knots: Vec<f64>,
    /// The time expected from each knot to the next.
    tempo_s: Vec<f64>,
    truth: SliceTruth,
    /// Its part of the logits.
    logits: Range<usize>,
}

/// What one chord costs at each place, but for what the network says.
struct ChordCosts {
    /// Frame of the evidence that the first cost is of.
    low: usize,
    costs: Vec<f64>,
    pitches: usize,
    /// Weight of what the network says of each pitch.
    weight: f64,
}

impl StretchBatch {
    /// Stretches for which there is a [truth](truth_of).
    pub fn new(sounds: &[AlignedSound], plan: &[Stretch]) -> Self {
        let parts: Vec<(Placing, Vec<f32>)> =
            plan.par_iter().filter_map(|stretch| prepare(&sounds[stretch.sound], stretch)).collect();
        let (mut stretches, mut inputs, mut first) = (Vec::new(), Vec::new(), 0);
        for (mut stretch, part) in parts {
            let count = stretch.logits.len();
            stretch.logits = first..first + count;
            first += count;
            inputs.extend(part);
            stretches.push(stretch);
        }
        Self { stretches, inputs }
    }

    fn logits(&mut self, ctx: &JobContext, parameters: &Tensor) -> candle_core::Result<Tensor> {
        const FRAMES: usize = MOMENTS + 2 * CONTEXT;
        let inputs = std::mem::take(&mut self.inputs);
        let dims = (inputs.len() / (FRAMES * CHANNELS), FRAMES, CHANNELS);
        let inputs = Tensor::from_vec(inputs, dims, parameters.device())?.to_dtype(parameters.dtype())?;
        logits(ctx, &inputs, parameters)
    }

    /// Mean TimeErr in seconds, from which gradients flow back to the parameters of the ear.
    pub fn loss(mut self, ctx: &JobContext, parameters: &Tensor) -> candle_core::Result<Tensor> {
        let logits = self.logits(ctx, parameters)?;
        loss_of(&logits, AlignmentLoss { ctx: ctx.quiet(), stretches: self.stretches })
    }

    /// TimeErr and TimeDev of each stretch, in seconds.
    pub fn errors(mut self, ctx: &JobContext, parameters: &Tensor) -> Result<Vec<[f64; 2]>> {
        let logits = self.logits(ctx, parameters).and_then(|logits| logits.flatten_all()?.to_vec1::<f32>());
        let logits = logits.map_err(|e| failed(ctx, &e))?;
        let (tables, stretches) = (tables(&self.stretches, &logits)?, &self.stretches);
        let placed = place(ctx, &problems(stretches, &tables))?;
        let errors = |(stretch, solution): (&Placing, &Solution)| {
            let of = |loss: WarpLoss| warp_loss(loss, &stretch.knots, &solution.phi, &stretch.truth).value;
            [WarpLoss::TimeErr, WarpLoss::TimeDev].map(of)
        };
        Ok(stretches.iter().zip(&placed).map(errors).collect())
    }
}

fn prepare(sound: &AlignedSound, stretch: &Stretch) -> Option<(Placing, Vec<f32>)> {
    let truth = truth_of(sound, stretch)?;
    let chords = &sound.chords[stretch.chords.clone()];
    let centre: Vec<f64> = chords.iter().map(|chord| sound.warp.at(chord.onset_s) + stretch.shift_s).collect();
    let last = sound.evidence.frames() - 1;
    let frame_of = |time: f64| ((time / Evidence::step_s()).max(0.0) as usize).min(last);
    let mut inputs = Vec::new();
    let (mut costs, mut voices) = (Vec::new(), 0);
    for (pattern, centre) in chord_patterns(chords, &centre, &OnsetParams::default()).iter().zip(&centre) {
        let (low, high) = (frame_of(centre - REACH_S), frame_of(centre + REACH_S));
        for &band in &pattern.pitches {
            let from = inputs.len();
            inputs.resize(from + (MOMENTS + 2 * CONTEXT) * CHANNELS, 0.0);
            sound.levels.inputs(band, (low / 2) as isize - CONTEXT as isize, &mut inputs[from..]);
        }
        voices += pattern.pitches.len();
        let of_frame = |frame: usize| -f64::from(sound.evidence.at(frame, pattern));
        costs.push(ChordCosts {
            low,
            costs: (low..=high).map(of_frame).collect(),
            pitches: pattern.pitches.len(),
            weight: f64::from(pattern.learned),
        });
    }
    let knots: Vec<f64> = chords.iter().map(|chord| chord.onset_s).collect();
    let tempo_s = knots.windows(2).map(|pair| sound.tempo.at(pair[1]) - sound.tempo.at(pair[0])).collect();
    Some((Placing { chords: costs, knots, tempo_s, truth, logits: 0..voices * MOMENTS }, inputs))
}

impl Placing {
    /// The costs of all chords with what the network says.
    fn table<F: Real>(&self, logits: &[F]) -> Result<CostTable<F>> {
        let mut table = CostTable::new(0.0, Evidence::step_s())?;
        let mut voices = logits.chunks_exact(MOMENTS);
        for chord in &self.chords {
            let mut row = chord.costs.clone();
            for voice in voices.by_ref().take(chord.pitches) {
                for (offset, cost) in row.iter_mut().enumerate() {
                    for (moment, share) in chord.moments(offset) {
                        *cost -= chord.weight * share * softplus(voice[moment].to_f64()).0;
                    }
                }
            }
            let row: Vec<F> = row.into_iter().map(F::from_f64).collect();
            table.push_row(chord.low, &row)?;
        }
        Ok(table)
    }

    fn problem<'t, F: Real>(&self, table: &'t CostTable<F>) -> Problem<'t, F> {
        onset_problem(self.knots.clone(), self.tempo_s.clone(), table, &OnsetParams::default())
    }

    /// TimeErr in seconds, and its gradient with respect to the logits, when it is solved.
    fn loss<F: Real>(
        &self,
        logits: &[F],
        table: &CostTable<F>,
        (problem, solution): (&Problem<'_, F>, &Solution),
    ) -> Result<(f64, Vec<f64>)> {
        let loss = warp_loss(WarpLoss::TimeErr, &problem.knots, &solution.phi, &self.truth);
        let NodeGradient::Table(by_cost) = gradient(problem, solution, &loss.gradient)?.nodes else {
            unreachable!("the problem was made from a table")
        };
        let mut flow = vec![0.0; logits.len()];
        let mut voices = flow.chunks_exact_mut(MOMENTS).zip(logits.chunks_exact(MOMENTS));
        for (index, chord) in self.chords.iter().enumerate() {
            let by_cost = &by_cost[table.offset(index)..][..table.row(index).len()];
            for (flow, voice) in voices.by_ref().take(chord.pitches) {
                for (offset, by_cost) in by_cost.iter().enumerate() {
                    for (moment, share) in chord.moments(offset) {
                        flow[moment] -= chord.weight * share * by_cost.to_f64() * softplus(voice[moment].to_f64()).1;
                    }
                }
            }
        }
        Ok((loss.value, flow))
    }
}

impl ChordCosts {
    /// The moments of a voice that a cost is read from, with their shares: every other frame of the evidence lies between two.
    fn moments(&self, offset: usize) -> impl Iterator<Item = (usize, f64)> + use<> {
        let (frame, first) = (self.low + offset, self.low / 2);
        let between = !frame.is_multiple_of(2);
        let share = if between { 0.5 } else { 1.0 };
        (frame / 2..=frame / 2 + usize::from(between)).map(move |frame| (frame - first, share))
    }
}

/// Unlike the placing of onsets, learning needs the exact optimum: elsewhere the gradient is none.
fn place<F: Real>(ctx: &JobContext, problems: &[Problem<'_, F>]) -> Result<Vec<Solution>> {
    let options = SolveOptions { first_grid: FirstGrid::StepsPerFrame(1.0), refinements: 0, ..SolveOptions::default() };
    solve_many(ctx, problems, &options)
}

fn tables<F: Real>(stretches: &[Placing], logits: &[F]) -> Result<Vec<CostTable<F>>> {
    stretches.par_iter().map(|stretch| stretch.table(&logits[stretch.logits.clone()])).collect()
}

fn problems<'t, F: Real>(stretches: &[Placing], tables: &'t [CostTable<F>]) -> Vec<Problem<'t, F>> {
    stretches.iter().zip(tables).map(|(stretch, table)| stretch.problem(table)).collect()
}

struct AlignmentLoss {
    ctx: JobContext,
    stretches: Vec<Placing>,
}

impl Loss for AlignmentLoss {
    fn value_and_gradient<F: Element>(&self, inputs: &[&[F]]) -> Result<(f64, Vec<Vec<F>>)> {
        let tables = tables(&self.stretches, inputs[0])?;
        let problems = problems(&self.stretches, &tables);
        let placed = place(&self.ctx, &problems)?;
        let of_one = |(stretch, (table, solved)): (&Placing, (&CostTable<F>, _))| {
            stretch.loss(&inputs[0][stretch.logits.clone()], table, solved)
        };
        let solved = tables.par_iter().zip(problems.par_iter().zip(&placed));
        let parts = self.stretches.par_iter().zip(solved).map(of_one).collect::<Result<Vec<_>>>()?;
        let share = 1.0 / parts.len().max(1) as f64;
        let gradient =
            parts.iter().flat_map(|(_, flow)| flow).map(|flow| <F as Real>::from_f64(share * flow)).collect();
        Ok((share * parts.iter().map(|(loss, _)| loss).sum::<f64>(), vec![gradient]))
    }
}
