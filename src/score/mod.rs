//! Scores: MIDI, MusicXML, MEI and Humdrum **kern, tempo maps, bars, synthesis.

mod bar_count;
mod chunks;
mod in_tune;
mod meter;
mod midi;
mod notation;
mod note_player;
mod parts;
mod reading;
mod soundfont;
mod synth;
mod take;
mod tempo;
#[cfg(test)]
mod test_score;
mod track;
mod types;

pub use bar_count::BarCount;
pub(crate) use in_tune::play_in_tune;
pub use meter::{BarPosition, TimeSignature};
pub use notation::{
    BarPass, Form, FormPass, FormSection, Manuscript, Source, SourceKind, WrittenPitch, WrittenScore, written,
};
#[cfg(any(feature = "gui", fuzzing))]
pub(crate) use notation::{HEAD_BYTES, score_kind};
pub(crate) use notation::{Played, Reading, play_out};
#[cfg(feature = "gui")]
pub(crate) use notation::{from_midi as written_from_midi, spelled};
pub(crate) use note_player::{NoteOrder, NotePlayer};
pub(crate) use reading::is_score;
pub use soundfont::{SoundFont, system_soundfonts};
pub use synth::{SynthParams, synthesise, synthesise_mapped};
pub use take::{Take, is_midi};
pub use tempo::{Division, TempoChange, TempoMap};
pub use types::{KeySignature, Liberty, Notation, Note, NoteName, NoteOrigin, PedalChange, Score, ScoreBeat};
#[cfg(test)]
pub(crate) use {
    meter::MeterMap,
    midi::{LONGEST_SCORE_S, SHORTEST_NOTE_S},
    test_score::plain_score,
    types::ProgramChange,
};
