//! Plain data that the panes draw, made on worker threads from recordings, scores and alignments.

mod attacks;
mod change;
mod doubts;
mod peaks;
mod piece;
mod solution;
mod spectrum;

pub use change::Change;
pub use doubts::Doubt;
pub use piece::{Piece, PieceParts};
pub use solution::{PlacedBeat, PlacedOnset, Reference, RollSpan, Solution, Support};
pub use spectrum::{Spectrum, TILE};
