//! GDTW: continuous-time, regularised, constrained time warping.

mod blocks;
mod bounds;
mod dp;
mod edges;
mod frames;
mod grid;
mod implicit;
mod kernels;
mod newton;
mod options;
mod pieces;
mod problem;
mod real;
mod sensitivity;
mod solve;
mod stationarity;
mod table;
mod tempo;

pub use implicit::{Gradient, gradient};
pub use newton::KKT_TOLERANCE;
pub use options::{FirstGrid, SolveOptions};
pub use problem::{EdgeCost, NodeCost, Penalty, Problem, trapezoid_weights};
pub use real::Real;
pub use sensitivity::{EdgeGradient, NodeGradient};
pub use solve::{Pass, Solution, Workspace, solve, solve_batch};
pub use stationarity::{KnotState, SegmentState};
pub use table::{CostTable, Interpolation};

#[cfg(test)]
mod tests;
