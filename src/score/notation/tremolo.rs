//! Tremolos that are an abbreviation: one or two strokes through a stem stand for eighths and sixteenths, and are written out as such. More
//! strokes mean as fast as can be: such a note stays one.

use super::playing::PlayedNote;
use super::quarters::Quarters;
use super::written::{Between, Mark, WrittenNote, WrittenScore};

/// Most notes that one is written out as.
const MOST: i64 = 256;

/// Writes the tremolos of a score out.
pub(super) fn write_out(score: &WrittenScore, played: &mut Vec<PlayedNote>) {
    if !score.notes.iter().any(|note| strokes_of(note).is_some()) {
        return;
    }
    let mut written_out = Vec::with_capacity(played.len());
    for one in played.drain(..) {
        match strokes_of(&score.notes[one.note as usize]).and_then(|(strokes, between)| repeated(one, strokes, between))
        {
            Some(repeated) => written_out.extend(repeated),
            None => written_out.push(one),
        }
    }
    *played = written_out;
}

/// The strokes of a note's tremolo, if they are an abbreviation.
fn strokes_of(note: &WrittenNote) -> Option<(u8, Option<Between>)> {
    note.marks.iter().find_map(|mark| match mark {
        Mark::Tremolo { strokes: strokes @ 1..=2, between } => Some((*strokes, *between)),
        _ => None,
    })
}

/// The notes that a tremolo stands for, if they fill its time.
fn repeated(one: PlayedNote, strokes: u8, between: Option<Between>) -> Option<Vec<PlayedNote>> {
    // Both notes of a tremolo between two are written with the length of the whole.
    let written = if between.is_some() { one.duration.scaled(2, 1) } else { one.duration };
    let flags = match written {
        length if length >= Quarters::ONE => 0,
        length if length >= Quarters::ratio(1, 2) => 1,
        _ => 2,
    };
    let unit = Quarters::ratio(1, 1 << (i64::from(strokes) + flags));
    let count = (written.as_f64() / unit.as_f64()).round() as i64;
    if !(2..=MOST).contains(&count) || unit.scaled(count, 1) != written {
        return None;
    }
    let start = if between == Some(Between::Second) { one.onset - one.duration } else { one.onset };
    let mine = (0..count).filter(|index| match between {
        None => true,
        Some(Between::First) => index % 2 == 0,
        Some(Between::Second) => index % 2 == 1,
    });
    let stroke = |(number, index): (u16, i64)| PlayedNote {
        onset: start + unit.scaled(index, 1),
        duration: unit,
        stroke: number,
        ..one
    };
    Some((1u16..).zip(mine).map(stroke).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn onsets(duration: (i64, i64), strokes: u8, between: Option<Between>) -> Option<Vec<f64>> {
        let (onset, duration) = (Quarters::ONE, Quarters::ratio(duration.0, duration.1));
        let notes = repeated(PlayedNote { note: 0, onset, duration, time: 1, stroke: 1 }, strokes, between)?;
        Some(notes.iter().map(|note| note.onset.as_f64()).collect())
    }

    #[test]
    fn strokes_count_from_the_flags_of_the_note() {
        assert_eq!(onsets((1, 1), 1, None).unwrap(), [1.0, 1.5]);
        assert_eq!(onsets((1, 1), 2, None).unwrap(), [1.0, 1.25, 1.5, 1.75]);
        assert_eq!(onsets((1, 2), 1, None).unwrap(), [1.0, 1.25]);
        assert_eq!(onsets((3, 2), 1, None).unwrap(), [1.0, 1.5, 2.0]);
        assert_eq!(onsets((1, 3), 1, None), None, "what does not fill its time stays one note");
    }

    #[test]
    fn two_notes_take_turns() {
        assert_eq!(onsets((1, 1), 1, Some(Between::First)).unwrap(), [1.0, 2.0]);
        // The second is written where the first one's half ends.
        assert_eq!(onsets((1, 1), 1, Some(Between::Second)).unwrap(), [0.5, 1.5]);
    }
}
