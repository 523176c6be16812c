//! A path of frames and its readings as a warp in seconds.

use crate::base::error::{Error, Result};
use crate::warping::Warp;

/// The cells of an alignment path, from the first score frame to the last, each one step after the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct DtwPath {
    cells: Vec<(usize, usize)>,
    cost: f64,
}

/// How a path of frames, which may stand still on either axis, becomes a function of score time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathReading {
    /// Each score frame takes the last performance frame that it meets: the convention of the published comparisons.
    /// It is late by half of every rest on the performance axis.
    LastFrame,
    /// Every rest of the path, on either axis, is crossed in its middle: a score frame that meets several performance
    /// frames takes the centre of them, and score frames that share one performance time become one knot at their
    /// centre. The first and the last score frame stay knots.
    #[default]
    RunCentres,
}

impl DtwPath {
    pub(super) fn from_cells(cells: Vec<(usize, usize)>, cost: f64) -> Self {
        Self { cells, cost }
    }

    /// Pairs (score frame, performance frame).
    pub fn cells(&self) -> &[(usize, usize)] {
        &self.cells
    }

    /// Cost of the path.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// The path as a warp, given the times of all frames. Needs at least two score frames.
    pub fn warp(&self, score_s: &[f64], performance_s: &[f64], reading: PathReading) -> Result<Warp> {
        let (rows, columns) = self.cells.last().map_or((0, 0), |&(row, column)| (row + 1, column + 1));
        if score_s.len() != rows {
            return Err(Error::invalid("number of score times", score_s.len(), rows.to_string()));
        }
        if performance_s.len() < columns {
            return Err(Error::invalid(
                "number of performance times",
                performance_s.len(),
                format!("at least {columns}"),
            ));
        }
        let runs = self.cells.chunk_by(|a, b| a.0 == b.0);
        let ends = runs.map(|run| (performance_s[run[0].1], performance_s[run[run.len() - 1].1]));
        match reading {
            PathReading::LastFrame => Warp::new(score_s.to_vec(), ends.map(|(_, last)| last).collect()),
            PathReading::RunCentres => {
                let readings: Vec<f64> = ends.map(|(first, last)| (first + last) / 2.0).collect();
                let (knots, values) = centre_flat_runs(score_s, &readings);
                Warp::new(knots, values)
            }
        }
    }
}

/// Replaces score frames of equal reading by one knot at their centre, and keeps the two ends.
fn centre_flat_runs(score_s: &[f64], readings: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let last = score_s.len() - 1;
    let (mut knots, mut values) = (Vec::with_capacity(last + 1), Vec::with_capacity(last + 1));
    let mut push = |knot: f64, value: f64| {
        knots.push(knot);
        values.push(value);
    };
    let mut first_of_run = 0;
    for run in readings.chunk_by(|a, b| a == b) {
        let last_of_run = first_of_run + run.len() - 1;
        let centre = (score_s[first_of_run] + score_s[last_of_run]) / 2.0;
        if first_of_run == 0 && centre > score_s[0] {
            push(score_s[0], run[0]);
        }
        push(centre, run[0]);
        if last_of_run == last && centre < score_s[last] {
            push(score_s[last], run[0]);
        }
        first_of_run = last_of_run + 1;
    }
    (knots, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> DtwPath {
        DtwPath::from_cells(vec![(0, 0), (0, 1), (0, 2), (1, 3), (2, 3), (3, 3), (4, 4), (5, 4)], 0.0)
    }

    const SCORE_S: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    const PERFORMANCE_S: [f64; 5] = [0.0, 10.0, 20.0, 30.0, 40.0];

    #[test]
    fn the_published_reading_takes_the_last_performance_frame_of_each_score_frame() {
        let warp = path().warp(&SCORE_S, &PERFORMANCE_S, PathReading::LastFrame).unwrap();
        assert_eq!(warp.score_s(), SCORE_S);
        assert_eq!(warp.performance_s(), [20.0, 30.0, 30.0, 30.0, 40.0, 40.0]);
    }

    #[test]
    fn rests_on_either_axis_are_crossed_in_their_middle() {
        let warp = path().warp(&SCORE_S, &PERFORMANCE_S, PathReading::RunCentres).unwrap();
        assert_eq!(warp.score_s(), [0.0, 2.0, 4.5, 5.0]);
        assert_eq!(warp.performance_s(), [10.0, 30.0, 40.0, 40.0]);
    }

    #[test]
    fn times_must_cover_the_path() {
        assert!(path().warp(&SCORE_S[..5], &PERFORMANCE_S, PathReading::LastFrame).is_err());
        assert!(path().warp(&SCORE_S, &PERFORMANCE_S[..4], PathReading::LastFrame).is_err());
        let single = DtwPath::from_cells(vec![(0, 0)], 0.0);
        assert!(single.warp(&[0.0], &[0.0], PathReading::RunCentres).is_err());
    }
}
