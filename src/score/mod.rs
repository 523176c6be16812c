//! Scores: Standard MIDI Files, tempo maps, bars, synthesis.

mod meter;
mod tempo;
mod types;

pub use meter::{BarPosition, MeterMap, TimeSignature};
pub use tempo::{DEFAULT_MICROS_PER_BEAT, Division, TempoChange, TempoMap};
pub use types::{KeySignature, Note, PedalChange, ProgramChange, Score};
