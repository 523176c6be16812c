//! The alignment engine: knows feature vectors and times, nothing about audio or scores.

pub mod cost;
mod diagonals;
pub mod dtw;
pub mod gaps;
pub mod gdtw;
pub mod overlap;
mod signal;
pub mod soft_dtw;
#[cfg(test)]
mod test_noise;
mod warp;

pub use signal::Signal;
pub use warp::Warp;
