//! Scores for tests.

use super::{Division, MeterMap, Notation, Note, Score, TempoMap};

/// A score of (onset, length, pitch) in seconds, with ticks of a thousandth of a second.
pub(crate) fn plain_score(notes: &[(f64, f64, u8)]) -> Score {
    let note = |&(onset_s, length, pitch): &(f64, f64, u8)| Note {
        pitch,
        velocity: 80,
        channel: 0,
        track: 0,
        onset_tick: (onset_s * 1000.0).round() as u64,
        offset_tick: ((onset_s + length) * 1000.0).round() as u64,
        onset_s,
        offset_s: onset_s + length,
    };
    Score {
        title: None,
        notes: notes.iter().map(note).collect(),
        meter: MeterMap::new(500.0, &[]),
        tempo: TempoMap::new(Division::PerSecond(1000.0), &[]).expect("a rate above zero"),
        keys: vec![],
        pedal: vec![],
        programs: vec![],
        notation: Notation::default(),
    }
}
