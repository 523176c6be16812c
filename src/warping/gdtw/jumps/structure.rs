//! What was played, in order, and the score written out accordingly.

use std::ops::Range;

use crate::base::error::Result;
use crate::warping::Signal;

use super::JumpOption;
use super::search::Path;
use crate::base::number::Real;

/// A stretch of the score that was played without a jump.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Seconds of the score.
    pub score_s: Range<f64>,
    /// About when it was played, in seconds of the performance.
    pub performance_s: Range<f64>,
}

/// A jump that the performance took.
#[derive(Debug, Clone, PartialEq)]
pub struct JumpTaken {
    /// Which of the options it is; none if it was on nobody's list.
    pub option: Option<usize>,
    /// What it means.
    pub label: String,
    /// About when, in seconds of the performance.
    pub performance_s: f64,
}

/// The reading of a score that fits a performance best.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// What was played, in order.
    pub sections: Vec<Section>,
    /// Cost of this reading: misfit, tempo changes and jumps.
    pub cost: f64,
    /// Cost of the score as written, without a jump; infinite if the performance is too short for it.
    pub straight_cost: f64,
    /// The jumps between the sections, in order.
    pub jumps_taken: Vec<JumpTaken>,
}

/// A signal written out as played, without jumps.
#[derive(Debug, Clone, PartialEq)]
pub struct Unfolded<T = f32> {
    /// Strictly increasing times: score seconds, with every section moved to where it was played.
    pub times: Vec<f64>,
    /// Features, row-major.
    pub values: Vec<T>,
    /// Values per frame.
    pub dim: usize,
    /// The score time that each frame stands for, as written.
    pub score_s: Vec<f64>,
}

impl<T: Real> Unfolded<T> {
    /// The unfolded score as a signal to align.
    pub fn signal(&self) -> Result<Signal<'_, T>> {
        Signal::new(&self.times, &self.values, self.dim)
    }
}

impl Structure {
    pub(super) fn read(
        path: &Path,
        straight_cost: f64,
        jumps: &[JumpOption],
        score_times: &[f64],
        performance_times: &[f64],
        pinned: bool,
    ) -> Self {
        let last = path.first + path.positions.len() - 1;
        let score_time = |position: usize| score_times[position.min(score_times.len() - 1)];
        let end = if pinned { score_times.len() - 1 } else { path.positions[path.positions.len() - 1] };
        let mut sections = Vec::with_capacity(path.jumps.len() + 1);
        let mut jumps_taken = Vec::with_capacity(path.jumps.len());
        let mut start = (score_time(path.positions[0]), performance_times[path.first]);
        for jump in &path.jumps {
            let performance_s = 0.5 * (performance_times[jump.frame - 1] + performance_times[jump.frame]);
            let offered = jump.offered.map(|option| &jumps[option]);
            let (from_s, to_s) =
                offered.map_or((score_time(jump.from), score_time(jump.to)), |option| (option.from_s, option.to_s));
            sections.push(Section { score_s: start.0..from_s.max(start.0), performance_s: start.1..performance_s });
            let label = offered.map_or(if to_s < from_s { "played again" } else { "cut" }, |option| &option.label);
            jumps_taken.push(JumpTaken { option: jump.offered, label: label.to_owned(), performance_s });
            start = (to_s, performance_s);
        }
        let last = Section { score_s: start.0..score_time(end), performance_s: start.1..performance_times[last] };
        sections.push(last);
        Self { sections, cost: path.cost, straight_cost, jumps_taken }
    }

    /// What was found, in sentences for the reader.
    pub fn report(&self) -> Vec<String> {
        if self.jumps_taken.is_empty() {
            return vec!["the score was played straight through".to_owned()];
        }
        let ends = self.sections.windows(2);
        let sentence = |(jump, pair): (&JumpTaken, &[Section])| {
            let (from, to) = (pair[0].score_s.end, pair[1].score_s.start);
            format!("{}: at {:.1} s, from {from:.1} s of the score to {to:.1} s", jump.label, jump.performance_s)
        };
        self.jumps_taken.iter().zip(ends).map(sentence).collect()
    }

    /// Writes the score `x` out as it was played.
    pub fn unfold<T: Real>(&self, x: &Signal<'_, T>) -> Unfolded<T> {
        let mut unfolded = Unfolded { times: Vec::new(), values: Vec::new(), dim: x.dim(), score_s: Vec::new() };
        let mut offset = x.times()[0];
        for (index, section) in self.sections.iter().enumerate() {
            let Range { start, end } = section.score_s;
            let first = x.times().partition_point(|&t| t < start);
            let is_last = index + 1 == self.sections.len();
            let last = x.times().partition_point(|&t| if is_last { t <= end } else { t < end });
            for i in first..last {
                unfolded.times.push(offset + x.times()[i] - start);
                unfolded.score_s.push(x.times()[i]);
                unfolded.values.extend_from_slice(x.frame(i));
            }
            offset += end - start;
        }
        unfolded
    }
}
