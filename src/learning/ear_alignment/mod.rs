//! The second lesson of the learned ear: not where notes begin, but what places them right.
//!
//! [`onset_network`](crate::networks::ear) learns the odds that a note begins. Here its weights learn from the error of the
//! alignment itself: stretches of a score are placed by the onset problem, the error of the warp is differentiated through
//! its optimality ([`gdtw::gradient`](crate::warping::gdtw::gradient())), and on through the evidence into the network.

mod sounds;
mod stretch;
mod trainer;

pub use sounds::{AlignedSound, load_aligned_sounds};
pub use trainer::{AlignmentTraining, train_through_alignment};

#[cfg(test)]
mod tests;
