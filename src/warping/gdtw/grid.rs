//! The times each knot may take in one pass of the search.

use super::bounds::Reach;
use super::options::FirstGrid;
use super::problem::{EdgeCost, NodeCost, Problem};
use crate::base::number::Real;

/// Equidistant times of one knot: `lo + j·step` for `j < count`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KnotGrid {
    pub lo: f64,
    pub step: f64,
    pub count: usize,
}

impl KnotGrid {
    /// One time only.
    fn point(at: f64) -> Self {
        Self { lo: at, step: 1.0, count: 1 }
    }

    pub fn at(&self, j: usize) -> f64 {
        self.lo + j as f64 * self.step
    }
}

/// Number of nodes of a grid.
pub(super) fn total(grid: &[KnotGrid]) -> usize {
    grid.iter().map(|g| g.count).sum()
}

/// Whether all knots need the same distance of grid points: costs of a difference are then tabulated once per segment.
fn needs_common_step<T: Real>(problem: &Problem<'_, T>) -> bool {
    matches!(problem.edges, EdgeCost::LogTempo { .. })
}

/// The grid of the first pass: the whole reachable interval of each knot.
pub(super) fn first<T: Real>(problem: &Problem<'_, T>, reach: &Reach, choice: FirstGrid, grid: &mut Vec<KnotGrid>) {
    grid.clear();
    let spans = || reach.lo.iter().zip(&reach.hi).map(|(&lo, &hi)| (lo, hi));
    let widest = spans().map(|(lo, hi)| hi - lo).fold(0.0, f64::max);
    let per_frame = |steps: f64| natural_step(problem) / steps;
    match choice {
        _ if widest == 0.0 => grid.extend(spans().map(|(lo, _)| KnotGrid::point(lo))),
        FirstGrid::Points(points) if !needs_common_step(problem) => {
            let points = points.max(2);
            grid.extend(spans().map(|(lo, hi)| uniform(lo, hi, points)));
        }
        _ => {
            let step = match choice {
                FirstGrid::Points(points) => widest / (points.max(2) - 1) as f64,
                FirstGrid::StepsPerFrame(steps) => per_frame(steps),
            };
            let lattice = lattice_origin(problem);
            if needs_common_step(problem) || matches!(problem.nodes, NodeCost::Table(_)) {
                grid.extend(spans().map(|(lo, hi)| on_lattice(lo, hi, step, lattice)));
            } else {
                grid.extend(spans().map(|(lo, hi)| uniform(lo, hi, ((hi - lo) / step).ceil() as usize + 1)));
            }
        }
    }
}

/// The grid of a later pass: `reach_steps` finer steps to either side of the last warp, which stays on the grid.
pub(super) fn refined<T: Real>(
    problem: &Problem<'_, T>,
    reach: &Reach,
    phi: &[f64],
    shrink: f64,
    reach_steps: usize,
    grid: &mut [KnotGrid],
) {
    let common = needs_common_step(problem);
    for ((knot, &at), (&lo, &hi)) in grid.iter_mut().zip(phi).zip(reach.lo.iter().zip(&reach.hi)) {
        let mut step = knot.step * shrink;
        if hi <= lo {
            *knot = KnotGrid { step, ..KnotGrid::point(at) };
            continue;
        }
        let half = reach_steps as f64 * step;
        // A bound inside the window becomes a grid point too, if the step may be changed a little for it.
        let (below, above) = (at - lo, hi - at);
        let near = if below < half && below <= above {
            below
        } else if above < half {
            above
        } else {
            0.0
        };
        if !common && near >= 0.5 * step {
            step = near / (near / step).round();
        }
        let steps = |room: f64| ((room / step + 1e-6).floor().max(0.0) as usize).min(reach_steps);
        let (down, up) = (steps(below), steps(above));
        *knot = KnotGrid { lo: at - down as f64 * step, step, count: down + up + 1 };
    }
}

fn uniform(lo: f64, hi: f64, points: usize) -> KnotGrid {
    if hi <= lo || points < 2 {
        return KnotGrid::point(lo);
    }
    KnotGrid { lo, step: (hi - lo) / (points - 1) as f64, count: points }
}

/// Lattice points in `[lo, hi]`; where there is none, the interval's start and what fits.
fn on_lattice(lo: f64, hi: f64, step: f64, origin: f64) -> KnotGrid {
    const ROUNDING: f64 = 1e-9;
    let start = origin + ((lo - origin) / step - ROUNDING).ceil() * step;
    let start = if start <= hi { start.max(lo) } else { lo };
    KnotGrid { lo: start, step, count: ((hi - start) / step + ROUNDING).floor().max(0.0) as usize + 1 }
}

/// Mean distance of frames, or the step of the cost table.
fn natural_step<T: Real>(problem: &Problem<'_, T>) -> f64 {
    match &problem.nodes {
        NodeCost::Features { y, .. } => {
            let last = y.frames() - 1;
            (y.times()[last] - y.times()[0]) / last as f64
        }
        NodeCost::Table(table) => table.step(),
    }
}

fn lattice_origin<T: Real>(problem: &Problem<'_, T>) -> f64 {
    match &problem.nodes {
        NodeCost::Features { y, .. } => y.times()[0],
        NodeCost::Table(table) => table.origin(),
    }
}
