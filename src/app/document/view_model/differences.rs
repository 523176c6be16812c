//! What was played differently, as a list: notes that were not played, notes that the score does not have, other pitches.

use super::piece::Piece;
use crate::align::result::{Alignment, Verdict};

/// Notes of one kind that begin within this are one row: the notes of a chord, or a section that was left out.
const TOGETHER_S: f64 = 0.03;

/// In what way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// In the score, not played.
    Missing,
    /// Played, not in the score.
    Extra,
    /// Another pitch than the written one.
    OtherPitch,
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// In what way.
    pub kind: DifferenceKind,
    /// Seconds of the recording.
    pub at_s: f64,
    /// Bar of the score, from 1.
    pub bar: u32,
    /// Beat in the bar, from 1.
    pub beat: f64,
    /// MIDI pitches: of the score, or of what it does not have.
    pub pitches: Vec<u8>,
    /// What was played in place of the written pitch.
    pub played: Option<u8>,
    /// How likely it is so, of the surest of its notes.
    pub confidence: f64,
}

/// All rows, in order of time. What lies outside the recording is not listed: the result's warnings tell.
pub fn differences(piece: &Piece, alignment: &Alignment) -> Vec<Difference> {
    let score = &piece.score;
    let mut found: Vec<Difference> = Vec::new();
    for (note, aligned) in score.notes.iter().zip(&alignment.notes) {
        let Some(judged) = aligned.verdict else { continue };
        let (kind, played) = match judged.verdict {
            Verdict::Played => continue,
            Verdict::Missing => (DifferenceKind::Missing, None),
            Verdict::OtherPitch { pitch } => (DifferenceKind::OtherPitch, Some(pitch)),
        };
        let place = score.position(note);
        found.push(Difference {
            kind,
            at_s: aligned.onset_s,
            bar: place.bar,
            beat: place.beat,
            pitches: vec![note.pitch],
            played,
            confidence: judged.confidence,
        });
    }
    for extra in alignment.extra_notes.iter().filter(|extra| extra.instead_of.is_none()) {
        let tick = score.tempo.seconds_to_tick(alignment.warp.inverse(extra.onset_s));
        let place = score.meter.position(tick.max(0.0));
        found.push(Difference {
            kind: DifferenceKind::Extra,
            at_s: extra.onset_s,
            bar: place.bar,
            beat: place.beat,
            pitches: vec![extra.pitch],
            played: None,
            confidence: extra.confidence,
        });
    }
    found.retain(|difference| (0.0..=piece.duration_s()).contains(&difference.at_s));
    found.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    joined(found)
}

/// Joins notes that begin together; another pitch stands for itself.
fn joined(sorted: Vec<Difference>) -> Vec<Difference> {
    let mut rows: Vec<Difference> = Vec::new();
    for difference in sorted {
        let together = |row: &&mut Difference| {
            row.kind == difference.kind && difference.at_s - row.at_s < TOGETHER_S && row.played.is_none()
        };
        // Another kind may lie between.
        match rows.iter_mut().rev().take(3).find(together) {
            Some(row) => {
                row.pitches.extend(&difference.pitches);
                row.confidence = row.confidence.max(difference.confidence);
            }
            None => rows.push(difference),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(kind: DifferenceKind, at_s: f64, pitch: u8) -> Difference {
        let played = (kind == DifferenceKind::OtherPitch).then_some(pitch + 1);
        Difference { kind, at_s, bar: 1, beat: 1.0, pitches: vec![pitch], played, confidence: f64::from(pitch) / 100.0 }
    }

    #[test]
    fn the_notes_of_a_chord_are_one_row_and_kinds_are_not_mixed() {
        use DifferenceKind::{Extra, Missing, OtherPitch};
        let rows = joined(vec![
            difference(Missing, 1.0, 60),
            difference(Extra, 1.005, 61),
            difference(Missing, 1.01, 64),
            difference(OtherPitch, 1.01, 66),
            difference(OtherPitch, 1.01, 68),
            difference(Missing, 1.2, 60),
        ]);
        let shown: Vec<(DifferenceKind, &[u8])> = rows.iter().map(|row| (row.kind, row.pitches.as_slice())).collect();
        let expected: [(DifferenceKind, &[u8]); 5] =
            [(Missing, &[60, 64]), (Extra, &[61]), (OtherPitch, &[66]), (OtherPitch, &[68]), (Missing, &[60])];
        assert_eq!(shown, expected);
        assert_eq!(rows[0].confidence, 0.64);
    }
}
