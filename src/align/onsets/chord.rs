//! The score's distinct onsets, each with the pitches that begin there.

use std::ops::Range;

use crate::base::time::SAME_MOMENT_S;
use crate::features::{LOWEST_SEMITONE, SEMITONE_BANDS};
use crate::score::Score;

/// Notes that begin at one moment of the score.
#[derive(Debug, Clone, PartialEq)]
pub struct Chord {
    /// Seconds of the score's own tempo.
    pub onset_s: f64,
    /// The notes, as indices into [`Score::notes`].
    pub notes: Range<usize>,
    /// Bands of the distinct pitches, without those that no band holds.
    pub bands: Vec<usize>,
}

/// Groups the notes of a score by onset, in order.
pub fn chords(score: &Score) -> Vec<Chord> {
    let mut chords = Vec::new();
    let mut first = 0;
    while first < score.notes.len() {
        let onset_s = score.notes[first].onset_s;
        let length = score.notes[first..].partition_point(|note| note.onset_s - onset_s < SAME_MOMENT_S);
        let notes = first..first + length.max(1);
        let mut bands: Vec<usize> = score.notes[notes.clone()].iter().filter_map(|note| band_of(note.pitch)).collect();
        bands.sort_unstable();
        bands.dedup();
        first = notes.end;
        chords.push(Chord { onset_s, notes, bands });
    }
    chords
}

/// The band of a pitch; none beyond the range of the semitone spectrum.
pub(super) fn band_of(pitch: u8) -> Option<usize> {
    usize::from(pitch).checked_sub(LOWEST_SEMITONE).filter(|&band| band < SEMITONE_BANDS)
}
