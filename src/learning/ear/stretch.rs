//! Stretches of scores through the whole chain: network, evidence, onset problem, error, and all the way back.

use std::ops::Range;

use candle_core::Tensor;
use rayon::prelude::*;

use super::super::extractor::SliceTruth;
use super::super::loss_op::{Loss, loss_of};
use super::super::losses::{WarpLoss, warp_loss};
use super::blocks::{Blocks, Voice};
use super::levels::FRAMES_PER_S;
use super::sounds::AlignedSound;
use crate::align::heard::softplus;
use crate::align::onsets::{Evidence, OnsetParams, chord_patterns, onset_problem};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::networks::ear::{PITCHES, Scene, hear};
use crate::networks::ops::Element;
use crate::networks::{Ear, EarSpec, ProblemWeights};
use crate::warping::gdtw::{
    CostTable, EdgeGradient, FirstGrid, NodeGradient, Problem, Solution, SolveOptions, gradient, solve_many,
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

/// Stretches with what the network has to hear for them.
pub(super) struct StretchBatch {
    stretches: Vec<Placing>,
    scenes: Vec<Scene>,
}

/// The onset problem of one stretch, but for what the network says.
struct Placing {
    chords: Vec<ChordCosts>,
    knots: Vec<f64>,
    /// The time expected from each knot to the next.
    tempo_s: Vec<f64>,
    truth: SliceTruth,
}

/// What one chord costs at each place, but for what the network says.
struct ChordCosts {
    /// Frame of the evidence that the first cost is of. There are two to a frame of the network.
    low: usize,
    costs: Vec<f64>,
    voices: Vec<Voice>,
    /// Weight of what the network says of each pitch.
    weight: f64,
}

impl StretchBatch {
    /// Stretches for which there is a [truth](truth_of).
    pub fn new(sounds: &[AlignedSound], plan: &[Stretch]) -> Self {
        let found: Vec<_> = plan
            .par_iter()
            .filter_map(|stretch| Some((stretch.sound, prepare(&sounds[stretch.sound], stretch)?)))
            .collect();
        let (mut stretches, mut scenes, mut first) = (Vec::new(), Vec::new(), 0);
        for (sound, (mut stretch, blocks)) in found {
            stretch
                .chords
                .iter_mut()
                .flat_map(|chord| &mut chord.voices)
                .for_each(|voice| voice.settle(&blocks, first));
            first += blocks.answers();
            scenes.extend(blocks.scenes(&sounds[sound].levels));
            stretches.push(stretch);
        }
        Self { stretches, scenes }
    }

    /// Mean TimeErr in seconds, from which gradients flow back to the parameters of the ear and to the logarithms of the weights of
    /// the problem.
    pub fn loss(
        self,
        ctx: &JobContext,
        spec: &EarSpec,
        parameters: &Tensor,
        problem: &Tensor,
    ) -> candle_core::Result<Tensor> {
        let answers = hear(ctx, spec, parameters, &self.scenes)?.flatten_all()?;
        let problem = problem.to_dtype(answers.dtype())?;
        let all = Tensor::cat(&[&answers, &problem], 0)?;
        loss_of(&all, AlignmentLoss { ctx: ctx.quiet(), stretches: self.stretches })
    }

    /// TimeErr and TimeDev of each stretch, in seconds, when each chord is placed where the ear says that its notes begin.
    pub fn errors(&self, ctx: &JobContext, ear: &Ear) -> Result<Vec<[f64; 2]>> {
        let answers = ear.answers(ctx, &self.scenes)?;
        let (weights, stretches) = (ear.card.spec.problem, &self.stretches);
        let tables = tables(stretches, &answers, weights)?;
        let placed = place(ctx, &problems(stretches, &tables, weights))?;
        let errors = |(stretch, solution): (&Placing, &Solution)| {
            let times = stretch.refined(&solution.phi, &answers);
            let of = |loss: WarpLoss| warp_loss(loss, &stretch.knots, &times, &stretch.truth).value;
            [WarpLoss::TimeErr, WarpLoss::TimeDev].map(of)
        };
        Ok(stretches.iter().zip(&placed).map(errors).collect())
    }
}

fn prepare(sound: &AlignedSound, stretch: &Stretch) -> Option<(Placing, Blocks)> {
    let truth = truth_of(sound, stretch)?;
    let chords = &sound.chords[stretch.chords.clone()];
    let centre: Vec<f64> = chords.iter().map(|chord| sound.warp.at(chord.onset_s) + stretch.shift_s).collect();
    let last = sound.evidence.frames() - 1;
    let frame_of = |time: f64| ((time / Evidence::step_s()).max(0.0) as usize).min(last);
    let (mut costs, mut blocks) = (Vec::new(), Blocks::default());
    for (pattern, centre) in chord_patterns(chords, &centre, &OnsetParams::default()).iter().zip(&centre) {
        let (low, high) = (frame_of(centre - REACH_S), frame_of(centre + REACH_S));
        let keys = pattern.pitches.iter().filter(|&&band| band < PITCHES);
        let voices = keys.map(|&key| blocks.voice(key, low / 2, high / 2 + 1)).collect();
        let of_frame = |frame: usize| -f64::from(sound.evidence.at(frame, pattern));
        let weight = f64::from(pattern.learned);
        costs.push(ChordCosts { low, costs: (low..=high).map(of_frame).collect(), voices, weight });
    }
    let knots: Vec<f64> = chords.iter().map(|chord| chord.onset_s).collect();
    let tempo_s = knots.windows(2).map(|pair| sound.tempo.at(pair[1]) - sound.tempo.at(pair[0])).collect();
    Some((Placing { chords: costs, knots, tempo_s, truth }, blocks))
}

impl Placing {
    /// The costs of all chords with what the network says.
    fn table<F: Real>(&self, answers: &[F], weights: ProblemWeights) -> Result<CostTable<F>> {
        let mut table = CostTable::new(0.0, Evidence::step_s())?;
        for chord in &self.chords {
            let heard = chord.heard(answers);
            let costs =
                chord.costs.iter().zip(&heard).map(|(rises, heard)| weights.rises * rises + weights.ear * heard);
            let row: Vec<F> = costs.map(F::from_f64).collect();
            table.push_row(chord.low, &row)?;
        }
        Ok(table)
    }

    fn problem<'t, F: Real>(&self, table: &'t CostTable<F>, weights: ProblemWeights) -> Problem<'t, F> {
        let params = OnsetParams::default().weighted(weights);
        onset_problem(self.knots.clone(), self.tempo_s.clone(), table, &params)
    }

    /// TimeErr in seconds when it is solved; adds to `flow` a share of its gradient with respect to the answers, and at its end to the
    /// logarithms of the problem's weights.
    fn loss<F: Real>(
        &self,
        answers: &[F],
        table: &CostTable<F>,
        (problem, solution): (&Problem<'_, F>, &Solution),
        (weights, share_of_all): (ProblemWeights, f64),
        flow: &mut [f64],
    ) -> Result<f64> {
        let loss = warp_loss(WarpLoss::TimeErr, &problem.knots, &solution.phi, &self.truth);
        let gradient = gradient(problem, solution, &loss.gradient)?;
        let (NodeGradient::Table(by_cost), EdgeGradient::LogTempo { sigma: by_sigma, .. }) =
            (gradient.nodes, gradient.edges)
        else {
            unreachable!("the problem was made from a table and a tempo")
        };
        let sigma = OnsetParams::default().weighted(weights).sigma;
        let mut by_weight = [0.0, 0.0, by_sigma * sigma];
        for (index, chord) in self.chords.iter().enumerate() {
            let by_cost = &by_cost[table.offset(index)..][..table.row(index).len()];
            for ((by_cost, rises), heard) in by_cost.iter().zip(&chord.costs).zip(chord.heard(answers)) {
                by_weight[0] += by_cost.to_f64() * weights.rises * rises;
                by_weight[1] += by_cost.to_f64() * weights.ear * heard;
            }
            for voice in &chord.voices {
                for (offset, by_cost) in by_cost.iter().enumerate() {
                    for (moment, share) in chord.moments(offset) {
                        let at = voice.begins(moment);
                        let slope = softplus(answers[at].to_f64()).1;
                        flow[at] -= share_of_all * weights.ear * chord.weight * share * by_cost.to_f64() * slope;
                    }
                }
            }
        }
        let end = flow.len() - by_weight.len();
        flow[end..].iter_mut().zip(by_weight).for_each(|(flow, by_weight)| *flow += share_of_all * by_weight);
        Ok(loss.value)
    }

    /// The times of the chords, each moved to where the ear says that its notes begin, by how sure that is.
    fn refined(&self, times: &[f64], answers: &[f32]) -> Vec<f64> {
        let mut refined = Vec::with_capacity(times.len());
        for (chord, &time) in self.chords.iter().zip(times) {
            let found = chord.voices.iter().filter_map(|voice| voice.onset(answers, time * FRAMES_PER_S));
            let (sum, weight) =
                found.fold((0.0, 0.0), |(sum, all), (onset, weight)| (sum + weight * onset, all + weight));
            let here = if weight > 0.0 { sum / weight / FRAMES_PER_S } else { time };
            refined.push(refined.last().map_or(here, |&before: &f64| here.max(before)));
        }
        refined
    }
}

impl ChordCosts {
    /// What the network says costs at each place, before it is weighed against the rest.
    fn heard<F: Real>(&self, answers: &[F]) -> Vec<f64> {
        let mut heard = vec![0.0; self.costs.len()];
        for voice in &self.voices {
            for (offset, cost) in heard.iter_mut().enumerate() {
                for (moment, share) in self.moments(offset) {
                    *cost -= self.weight * share * softplus(answers[voice.begins(moment)].to_f64()).0;
                }
            }
        }
        heard
    }

    /// The frames of the network that a cost is read from, with their shares: every other frame of the evidence lies between two.
    fn moments(&self, offset: usize) -> impl Iterator<Item = (usize, f64)> + use<> {
        let frame = self.low + offset;
        let between = !frame.is_multiple_of(2);
        let share = if between { 0.5 } else { 1.0 };
        (frame / 2..=frame / 2 + usize::from(between)).map(move |frame| (frame, share))
    }
}

/// Unlike the placing of onsets, learning needs the exact optimum: elsewhere the gradient is none.
fn place<F: Real>(ctx: &JobContext, problems: &[Problem<'_, F>]) -> Result<Vec<Solution>> {
    let options = SolveOptions { first_grid: FirstGrid::StepsPerFrame(1.0), refinements: 0, ..SolveOptions::default() };
    solve_many(ctx, problems, &options)
}

fn tables<F: Real>(stretches: &[Placing], answers: &[F], weights: ProblemWeights) -> Result<Vec<CostTable<F>>> {
    stretches.par_iter().map(|stretch| stretch.table(answers, weights)).collect()
}

fn problems<'t, F: Real>(
    stretches: &[Placing],
    tables: &'t [CostTable<F>],
    weights: ProblemWeights,
) -> Vec<Problem<'t, F>> {
    stretches.iter().zip(tables).map(|(stretch, table)| stretch.problem(table, weights)).collect()
}

struct AlignmentLoss {
    ctx: JobContext,
    stretches: Vec<Placing>,
}

impl Loss for AlignmentLoss {
    fn value_and_gradient<F: Element>(&self, inputs: &[&[F]]) -> Result<(f64, Vec<Vec<F>>)> {
        let Some((answers, logarithms)) = inputs[0].split_last_chunk() else {
            unreachable!("the weights of the problem are always there")
        };
        let weights = ProblemWeights::from_logarithms(logarithms.map(Real::to_f64));
        let tables = tables(&self.stretches, answers, weights)?;
        let problems = problems(&self.stretches, &tables, weights);
        let placed = place(&self.ctx, &problems)?;
        let share = 1.0 / self.stretches.len().max(1) as f64;
        let (mut sum, mut flow) = (0.0, vec![0.0; inputs[0].len()]);
        for (stretch, (table, solved)) in self.stretches.iter().zip(tables.iter().zip(problems.iter().zip(&placed))) {
            sum += share * stretch.loss(answers, table, solved, (weights, share), &mut flow)?;
        }
        Ok((sum, vec![flow.into_iter().map(<F as Real>::from_f64).collect()]))
    }
}
