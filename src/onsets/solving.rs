//! The onset problem: put together, solved in windows, valued.

use std::ops::Range;

use rayon::prelude::*;

use crate::alignment::gdtw::{
    CostTable, EdgeCost, FirstGrid, Interpolation, NodeCost, Problem, SolveOptions, Workspace, solve,
};
use crate::error::Result;
use crate::features::SEMITONE_BANDS;
use crate::job::JobContext;
use crate::start::LogSpectrum;

use super::chord::Chord;
use super::evidence::{Evidence, Pattern};
use super::params::OnsetParams;
use super::segment::Mismatch;
use super::stage::Rough;

/// Longer pieces are solved window by window of about this many grid points, so that memory does not grow with the piece.
const WINDOW_POINTS: usize = 6_000_000;
/// Share of a window that is kept: what follows it must be able to speak for the rest.
const KEPT_SHARE: f64 = 0.8;

/// What the problem is made of.
pub(super) struct Parts<'a> {
    pub evidence: &'a Evidence,
    pub spectrum: &'a LogSpectrum,
    pub norms: Vec<f32>,
    pub chords: &'a [Chord],
    pub patterns: Vec<Pattern>,
    pub templates: Vec<[f32; SEMITONE_BANDS]>,
    /// Middle of the band at each knot.
    pub centre: Vec<f64>,
    pub rough: Rough<'a>,
    /// Knots that are fixed, with their times.
    pub fixed: &'a [(usize, f64)],
    pub params: &'a OnsetParams,
}

impl Parts<'_> {
    /// Finds the best times of all knots within `radius` of the centre, window by window if they are many.
    pub fn solve(&self, ctx: &JobContext, radius: &[f64]) -> Result<Vec<f64>> {
        let count = self.chords.len();
        let mut workspace = Workspace::default();
        let mut found: Vec<f64> = Vec::with_capacity(count);
        let mut first = 0;
        loop {
            let end = window_end(first, radius);
            let mut held = self.fixed.to_vec();
            // The first knot of a later window was settled by the window before it.
            held.extend(found.last().map(|&time| (first, time)));
            held.retain(|(knot, _)| (first..end).contains(knot));
            held.sort_by_key(|&(knot, _)| knot);
            held.dedup_by_key(|&mut (knot, _)| knot);
            held.iter_mut().for_each(|(knot, _)| *knot -= first);
            let table = self.table(first..end, &self.centre[first..end], &radius[first..end])?;
            let problem = self.problem(first..end, &table)?.with_anchors(&held)?;
            let options = SolveOptions {
                first_grid: FirstGrid::StepsPerFrame(1.0),
                refinements: 0,
                newton_steps: 0,
                ..SolveOptions::default()
            };
            let times = solve(ctx, &problem, &options, &mut workspace)?.phi;
            found.extend(&times[usize::from(!found.is_empty())..]);
            if end == count {
                return Ok(found);
            }
            first += (KEPT_SHARE * (end - first) as f64) as usize;
            found.truncate(first + 1);
        }
    }

    /// The objective of a warp of the whole piece.
    pub fn objective(&self, phi: &[f64]) -> Result<f64> {
        // Parabolas read one neighbour to either side; the next ones are for times that lie between grid points.
        let radius = vec![2.0 * Evidence::step_s(); phi.len()];
        let table = self.table(0..phi.len(), phi, &radius)?;
        Ok(self.problem(0..phi.len(), &table)?.objective(phi))
    }

    /// Costs of the knots in `range` within `radius` of `centre`, the sound between them included.
    fn table(&self, range: Range<usize>, centre: &[f64], radius: &[f64]) -> Result<CostTable> {
        let step = Evidence::step_s();
        let last = self.evidence.frames() - 1;
        let mut table = CostTable::new(0.0, step, Interpolation::Parabolic)?;
        let row = |index: usize| {
            let low = (((centre[index] - radius[index]) / step).floor().max(0.0) as usize).min(last);
            let high = (((centre[index] + radius[index]) / step).ceil().max(0.0) as usize).min(last);
            let pattern = &self.patterns[range.start + index];
            (low, (low..=high).map(|frame| -self.evidence.at(frame, pattern)).collect::<Vec<f32>>())
        };
        let rows: Vec<(usize, Vec<f32>)> = (0..range.len()).into_par_iter().map(row).collect();
        for (low, row) in &rows {
            table.push_row(*low, row)?;
        }
        if self.params.segment_weight > 0.0 {
            for (segment, template) in self.templates[range.start..range.end - 1].iter().enumerate() {
                let span = (table.span(segment).0, table.span(segment + 1).1);
                let mismatch = Mismatch::over(self.spectrum, &self.norms, template, span);
                table.add_segment_integral(segment, |k| self.params.segment_weight * mismatch.until(k as f64 * step));
            }
        }
        Ok(table)
    }

    fn problem<'t>(&self, range: Range<usize>, table: &'t CostTable) -> Result<Problem<'t>> {
        let tempo = self.rough.tempo;
        let knots: Vec<f64> = self.chords[range].iter().map(|chord| chord.onset_s).collect();
        let reference = knots.windows(2).map(|pair| tempo.at(pair[1]) - tempo.at(pair[0])).collect();
        let edges = EdgeCost::LogTempo {
            weight: vec![1.0; knots.len() - 1],
            reference,
            epsilon: self.params.epsilon_s,
            sigma: self.params.sigma,
            delta: self.params.delta,
        };
        let problem = Problem::new(knots, NodeCost::Table(table), edges);
        Ok(match self.params.slope {
            Some((least, most)) => {
                let whole = tempo.mean_slope();
                problem.with_slope_limits(least * whole, most * whole)
            }
            None => problem,
        })
    }
}

/// Where a window that begins with knot `first` ends.
fn window_end(first: usize, radius: &[f64]) -> usize {
    /// Fewer knots than this are never parted.
    const LEAST_KNOTS: usize = 64;
    let mut points = 0.0;
    for (knot, radius_s) in radius.iter().enumerate().skip(first) {
        points += 2.0 * radius_s / Evidence::step_s();
        if points > WINDOW_POINTS as f64 && knot - first >= LEAST_KNOTS && radius.len() - knot >= LEAST_KNOTS {
            return knot;
        }
    }
    radius.len()
}
