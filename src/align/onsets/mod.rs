//! The onset stage: GDTW with one knot per score onset.
//!
//! The decision variables are the performance times of the distinct score onsets. A knot's cost is (minus) the evidence that its
//! own pitches begin there, an edge's cost is how far the local tempo is from the expected one. [`crate::warping::gdtw`] solves
//! it; notes of a chord are then placed one by one.

mod chord;
mod coarse;
mod evidence;
mod following;
mod hearing;
mod local;
mod params;
mod pattern;
mod solving;
mod stage;
mod support;
mod voices;

pub use chord::{Chord, chords};
pub use evidence::Evidence;
pub use hearing::ONSET_CLUES;
pub(super) use local::median;
pub use params::OnsetParams;
pub(crate) use pattern::of_chords as chord_patterns;
pub(crate) use solving::onset_problem;
pub use stage::{Placed, Rough, place};
pub use support::{Support, support_of_warp};

#[cfg(test)]
mod tests;
