//! Plain data that the panes draw, made on worker threads from recordings, scores and alignments.

mod attacks;
mod change;
mod differences;
mod doubts;
mod peaks;
mod piece;
mod roll;
pub mod route;
mod solution;
mod spectrum;
mod staff;

pub use change::Change;
pub use differences::{Difference, DifferenceKind};
pub use doubts::Doubt;
pub use piece::{Fingerprints, Piece, PieceParts};
pub use roll::{Roll, RollSpan, Support};
pub use solution::{PlacedBeat, PlacedOnset, Reference, Solution};
pub use spectrum::{Spectrum, TILE};
