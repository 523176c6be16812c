//! A small learned ear: the odds that a note of a given pitch begins, from the semitone levels round the moment.
//!
//! Three convolutions over time with about 10,000 weights, the same for every pitch, see the pitch's partials, the octave
//! below, its neighbours and the attack as a whole, 70 ms to either side. On its own it is no better than the rises of the
//! spectrum; added to them it tells the played pitch from the octave and the resonance.

mod disguise;
mod examples;
mod levels;
mod network;
mod store;
mod trainer;

pub use examples::{LabelledSound, levels_of, load_sounds};
pub use levels::{CHANNELS, Levels, NETWORK_HOP};
pub use network::{Activations, CONTEXT, OnsetNetwork};
pub use store::{OnsetCard, load, save, shipped};
pub use trainer::{OnsetTraining, train_onsets};

#[cfg(test)]
mod tests;
