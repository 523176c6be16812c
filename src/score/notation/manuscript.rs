//! The score as its file has it, kept beside the notes that are aligned: exports add times to it.

use std::sync::Arc;

use super::from_midi::from_midi;
use super::playing::Played;
use super::quarters::Quarters;
use super::written::WrittenScore;
use crate::base::error::{Error, Result};
use crate::score::midi::MOST_BARS;
use crate::score::types::Score;

/// What the notes of a score were read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Manuscript {
    /// The score as it is written.
    pub written: WrittenScore,
    /// The text of its file, if it is XML.
    pub source: Option<Source>,
    /// Bars in playing order.
    pub bars: Vec<BarPass>,
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Which kind of file it is.
    pub kind: SourceKind,
    /// Everything that it says.
    pub text: String,
}

/// The kinds of files that times can be added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// MusicXML.
    MusicXml,
    /// MEI.
    Mei,
}

/// A bar at one of the times that it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarPass {
    /// Index of the written bar.
    pub bar: u32,
    /// Where it begins in the score as it is played.
    pub start_tick: u64,
}

impl Manuscript {
    pub(super) fn new(
        written: WrittenScore,
        source: Option<Source>,
        played: &Played,
        to_ticks: impl Fn(Quarters) -> u64,
    ) -> Self {
        let bars = played.bars.iter().map(|one| BarPass { bar: one.bar, start_tick: to_ticks(one.start) }).collect();
        Self { written, source, bars }
    }

    /// The manuscript of a score; of MIDI, what MIDI tells of it.
    pub fn of(score: &Score) -> Result<Arc<Self>> {
        if let Some(manuscript) = &score.notation.manuscript {
            return Ok(Arc::clone(manuscript));
        }
        let end = score.notes.iter().map(|note| note.offset_tick).max().unwrap_or(0);
        if score.meter.bars_until(end) > MOST_BARS {
            let cause = format!("it has more than {MOST_BARS} bars");
            return Err(Error::unsuitable("the score", cause, "choose a format without bars, such as csv"));
        }
        let written = from_midi(score);
        let starts = written.bars.iter().map(|bar| score.tempo.beat_to_tick(bar.start.as_f64()).round() as u64);
        let bars = (0..).zip(starts).map(|(bar, start_tick)| BarPass { bar, start_tick }).collect();
        Ok(Arc::new(Self { written, source: None, bars }))
    }
}
