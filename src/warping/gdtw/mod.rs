//! GDTW: continuous-time, regularised, constrained time warping, and its gradient.
//!
//! # The problem
//! A warp gives each knot `t_i` of one signal a time `φ_i` in another. [`solve()`] finds the warp that minimises
//! `Σ node_i(φ_i) + Σ edge_i(φ_{i+1} − φ_i)` within limits on every slope and bounds on every knot. One engine, several modes:
//! - **Nodes** ([`NodeCost`]): how badly the features `x_i` fit `y(φ_i)`, with `y` interpolated linearly, or a banded table of costs on a time grid ([`CostTable`]). A cost of what lies between two neighbouring knots is a
//!   difference of node costs: [`CostTable::add_segment_integral`].
//! - **Edges** ([`EdgeCost`]): a quadratic penalty on the slope, or a robust one on the logarithm of the tempo.
//! - **Constraints** ([`Problem`]): slope limits per segment, bounds per knot; bands, anchors and pinned ends are bounds. Contradictions
//!   are reported with the bounds that conflict, before anything is solved.
//!
//! ```
//! use agogic::JobContext;
//! use agogic::engine::{Problem, Signal, SolveOptions, Workspace, gradient, solve};
//!
//! let times: Vec<f64> = (0..50).map(|i| f64::from(i) * 0.1).collect();
//! let x: Vec<f32> = times.iter().map(|t| (2.0 * t).sin() as f32).collect();
//! let y: Vec<f32> = times.iter().map(|t| (2.0 * t - 0.3).sin() as f32).collect();
//! let problem = Problem::from_signals(Signal::new(&times, &x, 1)?, Signal::new(&times, &y, 1)?, 0.1);
//! let solution = solve(&JobContext::new(), &problem, &SolveOptions::default(), &mut Workspace::default())?;
//! assert!((solution.phi[20] - 2.15).abs() < 0.01);
//! let toward_later = gradient(&problem, &solution, &vec![1.0; 50])?;
//! # let _ = toward_later;
//! # Ok::<(), agogic::Error>(())
//! ```
//!
//! # How it is solved
//! 1. *Search.* Each knot gets a grid over all times it can reach; dynamic programming finds the cheapest path, exactly. Node costs
//!    come from one matrix product of `x` and `y` inside the band, O(1) per grid point. The quadratic edge is convex,
//!    so the best predecessor never moves back: O(M) vector operations per knot with M grid points, O(M log M) in the worst case. The
//!    log-tempo edge is searched outwards from its reference: as wide as it can win, O(M²) at worst.
//! 2. *Refine.* The same on ever finer grids round the best warp so far. A worse pass is dropped.
//! 3. *Finish.* Active-set Newton on the continuous problem, O(m) per step, mostly one or two steps: until the steepest feasible
//!    move would lower the objective at less than [`KKT_TOLERANCE`](newton::KKT_TOLERANCE) of the largest single derivative. Kinks of `y` at its frames are
//!    honoured: a knot may rest on one. [`Solution::kkt_residual`] says what was reached.
//!
//! The search works in f32 and decides between warps; the finish, the objective and the gradient are f64. Memory is four bytes per
//! grid point and per distance inside the band: bounds keep long problems linear, and [`SolveOptions::max_nodes`] refuses what would
//! not fit. Results do not depend on the number of threads.
//!
//! # Whole pieces
//! [`solve_in_band`] solves round a rough warp, in time and memory that grow linearly with length. [`find_structure`] finds which
//! sections of a score were played, where repeats and cuts leave a choice.
//!
//! # The gradient
//! [`gradient`] turns the derivative of a loss with respect to the warp into derivatives with respect to features, table, edge parameters,
//! slope limits and bounds, in O(m·dim), by differentiating the optimality conditions.

mod averaging;
mod band;
mod blocks;
mod bounds;
mod dp;
mod edges;
mod frames;
mod grid;
mod implicit;
mod jumps;
mod kernels;
mod newton;
mod on_device;
mod options;
mod pieces;
mod problem;
mod sensitivity;
mod solve;
mod stationarity;
mod table;
mod tempo;

pub use band::{WideningBand, solve_in_band};
pub use implicit::{Gradient, gradient, smoothed_gradient};
pub use jumps::{Coverage, FreeJumps, JumpOption, Structure, StructureParams, find_structure};
#[cfg(test)]
use newton::KKT_TOLERANCE;
#[cfg(feature = "gpu")]
pub(crate) use on_device::search_work;
pub use options::{FirstGrid, SolveOptions};
pub use problem::{EdgeCost, NodeCost, Problem};
pub use sensitivity::{EdgeGradient, NodeGradient};
pub use solve::{Solution, Workspace, solve, solve_many};
pub use table::CostTable;

#[cfg(test)]
mod test_signals;
#[cfg(test)]
mod tests;
