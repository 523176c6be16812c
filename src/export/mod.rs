//! Writing alignments: one file per format, each an [`Exporter`] that renders bytes. Whoever calls writes them to a file.

mod agogic_csv;
mod asap;
mod audacity;
mod events;
mod format;
mod jams;
mod json;
mod match_file;
mod mei;
mod mei_writing;
mod midi;
mod midi_clock;
mod mir_eval;
mod musicxml;
#[cfg(test)]
mod notation_tests;
#[cfg(test)]
mod odd_scores_tests;
mod parangonada;
mod piano_precision;
pub mod picture;
mod provenance;
mod sonic_visualiser;
mod spelling;
mod svl;
#[cfg(test)]
mod test_piece;
mod text;
mod textgrid;
mod thickstun;
mod xml_edit;

pub use format::Format;
pub use json::read_alignment;

use crate::align::result::Alignment;
use crate::base::error::Result;
use crate::evaluation::{GroundTruth, Metrics};
use crate::score::Score;

/// Samples per second in formats that count samples, unless the recording's own rate is given.
pub const DEFAULT_RATE: u32 = 44_100;

/// What is exported.
#[derive(Debug, Clone, Copy)]
pub struct ExportInput<'a> {
    /// The score that was aligned.
    pub score: &'a Score,
    /// Where its notes are in the recording.
    pub alignment: &'a Alignment,
    /// The true alignment, if known; pictures and JSON show it.
    pub reference: Option<&'a GroundTruth>,
    /// Figures against the reference.
    pub metrics: Option<&'a Metrics>,
    /// Samples per second of the recording, for formats that count samples.
    pub recording_rate: u32,
}

impl<'a> ExportInput<'a> {
    /// An alignment without a reference, of a recording at [`DEFAULT_RATE`].
    pub fn new(score: &'a Score, alignment: &'a Alignment) -> Self {
        Self { score, alignment, reference: None, metrics: None, recording_rate: DEFAULT_RATE }
    }
}

/// One file format.
pub trait Exporter: Sync {
    /// The content of the file.
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>>;
}
