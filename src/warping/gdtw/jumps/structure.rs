//! What was played, in order.

use std::ops::Range;

use super::JumpOption;
use super::search::Path;

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
    /// The jumps between the sections, in order.
    pub jumps_taken: Vec<JumpTaken>,
}

impl Structure {
    pub(super) fn read(
        path: &Path,
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
        Self { sections, cost: path.cost, jumps_taken }
    }
}
