//! Scores: Standard MIDI Files, tempo maps, bars, synthesis.

mod chunks;
mod in_tune;
mod meter;
mod midi;
mod soundfont;
mod synth;
mod tempo;
#[cfg(test)]
mod test_score;
mod track;
mod types;

pub(crate) use in_tune::play_in_tune;
pub use meter::{BarPosition, Beat, MeterMap, TimeSignature};
pub use midi::{LARGEST_MIDI_BYTES, LONGEST_SCORE_S, SHORTEST_NOTE_S};
pub use soundfont::{SoundFont, system_soundfonts};
pub use synth::{SynthParams, synthesise, synthesise_mapped};
pub use tempo::{DEFAULT_MICROS_PER_BEAT, Division, TempoChange, TempoMap};
#[cfg(test)]
pub(crate) use test_score::plain_score;
pub use types::{KeySignature, Note, PedalChange, ProgramChange, Score, ScoreBeat};
