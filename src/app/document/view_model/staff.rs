//! Where what stands on the staves was played.

use std::ops::Range;

use super::roll::Roll;
use crate::align::result::Alignment;
use crate::engraving::Engraving;

/// Times of an engraving in seconds of the recording.
#[derive(Debug, Clone, PartialEq)]
pub struct StaffTimes {
    /// Of every chord: its middle note, or where it stands if a tie leads there.
    pub chords: Vec<f64>,
    /// Of every bar line, and of the end.
    pub bars: Vec<f64>,
    /// When the reference has each note begin, if there is a reference.
    pub reference_s: Option<Vec<Option<f64>>>,
}

impl StaffTimes {
    /// Finds all times.
    pub fn new(engraving: &Engraving, alignment: &Alignment, compared: Option<&Roll>) -> Self {
        let chords = engraving.chords.all().iter().map(|chord| {
            let heads = engraving.heads_of(chord).iter().filter(|head| head.begins);
            let mut onsets: Vec<f64> =
                heads.filter_map(|head| alignment.notes.get(head.note as usize)).map(|note| note.onset_s).collect();
            onsets.sort_by(f64::total_cmp);
            onsets.get(onsets.len() / 2).copied().unwrap_or_else(|| alignment.warp.at(chord.second))
        });
        let bars = engraving.bars.iter().map(|bar| alignment.warp.at(bar.start_s));
        let end = engraving.bars.last().map(|bar| alignment.warp.at(bar.end_s));
        Self {
            chords: chords.collect(),
            bars: bars.chain(end).collect(),
            reference_s: compared.map(|roll| roll.reference_onsets_s(alignment.notes.len())),
        }
    }

    /// The bars that a stretch of the recording may show, and one more on either side.
    pub fn bars_between(&self, from_s: f64, to_s: f64) -> Range<usize> {
        let count = self.bars.len().saturating_sub(1);
        let first = self.bars.partition_point(|&start| start <= from_s).saturating_sub(2);
        let last = (self.bars.partition_point(|&start| start < to_s) + 1).min(count);
        first.min(last)..last
    }

    /// When a bar begins and ends.
    pub fn bar(&self, bar: usize) -> (f64, f64) {
        let time = |index: usize| self.bars.get(index).or(self.bars.last()).copied().unwrap_or(0.0);
        (time(bar), time(bar + 1))
    }
}
