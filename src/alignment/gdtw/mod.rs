//! GDTW: continuous-time, regularised, constrained time warping.

mod bounds;
mod dp;
mod edges;
mod frames;
mod grid;
mod kernels;
mod options;
mod pieces;
mod problem;
mod real;
mod solve;
mod table;
mod tempo;

pub use options::{FirstGrid, SolveOptions};
pub use problem::{EdgeCost, NodeCost, Penalty, Problem, trapezoid_weights};
pub use real::Real;
pub use solve::{Pass, Solution, Workspace, solve, solve_batch};
pub use table::{CostTable, Interpolation};

#[cfg(test)]
mod tests;
