//! GDTW: continuous-time, regularised, constrained time warping.

mod band;
mod blocks;
mod bounds;
mod coarsen;
mod dp;
mod edges;
mod frames;
mod grid;
mod implicit;
mod kernels;
mod multiscale;
mod newton;
mod options;
mod part;
mod pieces;
mod problem;
mod real;
mod resolve;
mod sensitivity;
mod solve;
mod stationarity;
mod table;
mod tempo;

pub use band::{WideningBand, solve_in_band};
pub use implicit::{Gradient, gradient};
pub use multiscale::{MultiscaleParams, solve_multiscale};
pub use newton::KKT_TOLERANCE;
pub use options::{FirstGrid, SolveOptions};
pub use problem::{EdgeCost, NodeCost, Penalty, Problem, trapezoid_weights};
pub use real::Real;
pub use resolve::{ResolveParams, Resolved, resolve};
pub use sensitivity::{EdgeGradient, NodeGradient};
pub use solve::{Pass, Solution, Workspace, solve, solve_batch};
pub use stationarity::{KnotState, SegmentState};
pub use table::{CostTable, Interpolation};

#[cfg(test)]
mod tests;
