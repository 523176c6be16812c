//! The alignment engine: knows feature vectors and times, nothing about audio or scores.

pub mod gdtw;
pub mod overlap;
mod signal;
mod warp;

pub use signal::Signal;
pub use warp::Warp;
