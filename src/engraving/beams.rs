//! Which notes stand under one beam: as the file says, or else by the meter.

use crate::score::written::{BeamPlace, Meter, Quarters};

/// A note or chord of one voice in a bar, in order of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BeamNote {
    /// Which one.
    pub chord: u32,
    /// From the bar line.
    pub at: Quarters,
    /// How long.
    pub length: Quarters,
    /// How many flags it would have.
    pub flags: u8,
    /// What the file says.
    pub place: Option<BeamPlace>,
}

/// The beams that the file writes: from a beginning to an end.
pub(super) fn as_written(notes: &[BeamNote]) -> Vec<Vec<u32>> {
    let mut beams = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for note in notes {
        match note.place {
            Some(BeamPlace::Begin) => {
                close(&mut open, &mut beams);
                open.push(note.chord);
            }
            Some(BeamPlace::End) if !open.is_empty() => {
                open.push(note.chord);
                close(&mut open, &mut beams);
            }
            // Kern writes beginnings and ends only.
            Some(BeamPlace::Inside) | None if !open.is_empty() && note.flags > 0 => open.push(note.chord),
            _ => close(&mut open, &mut beams),
        }
    }
    close(&mut open, &mut beams);
    beams
}

/// Beams by the meter: over no beat, and over no rest.
pub(super) fn by_meter(notes: &[BeamNote], meter: Meter, bar_length: Quarters) -> Vec<Vec<u32>> {
    // A pickup is counted from the end of the bar.
    let shift = if bar_length < meter.bar() { meter.bar() - bar_length } else { Quarters::ZERO };
    let mut beams = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut last: Option<(usize, Quarters)> = None;
    let group = |note: &BeamNote, only_eighths: bool| {
        let unit = beat(meter, only_eighths);
        ((note.at + shift).as_f64() / unit + 1e-9).floor() as usize
    };
    for note in notes {
        let wide = group(note, true);
        // Eighths alone may be joined over two beats of a common bar.
        let only_eighths = notes.iter().filter(|other| group(other, true) == wide).all(|other| other.flags <= 1);
        let here = 1000 * wide + if only_eighths { 999 } else { group(note, false) % 999 };
        let follows = last.is_some_and(|(group, end)| group == here && meet(end, note.at));
        if note.flags == 0 || !follows {
            close(&mut open, &mut beams);
        }
        if note.flags > 0 {
            open.push(note.chord);
        }
        last = Some((here, note.at + note.length));
    }
    close(&mut open, &mut beams);
    beams
}

/// How long a group under a beam is at most, in quarters.
fn beat(meter: Meter, only_eighths: bool) -> f64 {
    let unit = 4.0 / f64::from(meter.beat_type);
    match (meter.beats, meter.beat_type) {
        (3, 8..) => 3.0 * unit,
        (beats, 8..) if beats.is_multiple_of(3) => 3.0 * unit,
        (2 | 4, 4) if only_eighths => 2.0,
        (3, 4) if only_eighths => 3.0,
        (_, 1 | 2) if only_eighths => 2.0,
        _ => 1.0,
    }
}

fn meet(end: Quarters, onset: Quarters) -> bool {
    end.max(onset) - end.min(onset) < Quarters::ratio(1, 100)
}

fn close(open: &mut Vec<u32>, beams: &mut Vec<Vec<u32>>) {
    let group = std::mem::take(open);
    if group.len() > 1 {
        beams.push(group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes of (length as a fraction of a quarter, is a note), one after another.
    fn notes(lengths: &[(i64, i64)]) -> Vec<BeamNote> {
        let mut at = Quarters::ZERO;
        let mut chord = 0;
        let mut notes = Vec::new();
        for &(numerator, denominator) in lengths {
            let length = Quarters::ratio(numerator.abs(), denominator);
            if numerator > 0 {
                let flags = crate::engraving::value::flags(crate::engraving::value::value_of(length));
                notes.push(BeamNote { chord, at, length, flags, place: None });
                chord += 1;
            }
            at += length;
        }
        notes
    }

    fn meter(beats: u32, unit: u32) -> Meter {
        Meter::new(beats, unit).unwrap()
    }

    #[test]
    fn eighths_of_a_common_bar_are_joined_by_halves_and_sixteenths_by_beats() {
        let four = meter(4, 4);
        assert_eq!(by_meter(&notes(&[(1, 2); 8]), four, four.bar()), [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
        let sixteenths = by_meter(&notes(&[(1, 4); 8]), four, four.bar());
        assert_eq!(sixteenths, [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
        let mixed = by_meter(&notes(&[(1, 2), (1, 4), (1, 4), (1, 2), (1, 2)]), four, four.bar());
        assert_eq!(mixed, [vec![0, 1, 2], vec![3, 4]]);
    }

    #[test]
    fn compound_meters_are_joined_by_three() {
        let six = meter(6, 8);
        assert_eq!(by_meter(&notes(&[(1, 2); 6]), six, six.bar()), [vec![0, 1, 2], vec![3, 4, 5]]);
        let siciliano = by_meter(&notes(&[(3, 4), (1, 4), (1, 2), (1, 1), (1, 2)]), six, six.bar());
        assert_eq!(siciliano, [vec![0, 1, 2]]);
    }

    #[test]
    fn rests_and_long_notes_end_a_beam_and_no_beam_has_one_note() {
        let four = meter(4, 4);
        let beams = by_meter(&notes(&[(1, 2), (-1, 2), (1, 2), (1, 2), (1, 1), (1, 2), (-1, 2)]), four, four.bar());
        assert_eq!(beams, [vec![1, 2]]);
    }

    #[test]
    fn a_pickup_is_counted_from_the_end_of_the_bar() {
        let three = meter(3, 4);
        let beams = by_meter(&notes(&[(1, 4); 6]), three, Quarters::ratio(3, 2));
        assert_eq!(beams, [vec![0, 1], vec![2, 3, 4, 5]]);
    }

    #[test]
    fn beams_of_the_file_go_before() {
        let mut notes = notes(&[(1, 2); 6]);
        for (note, place) in notes.iter_mut().zip([
            Some(BeamPlace::Begin),
            Some(BeamPlace::Inside),
            Some(BeamPlace::End),
            None,
            Some(BeamPlace::Begin),
            Some(BeamPlace::End),
        ]) {
            note.place = place;
        }
        assert_eq!(as_written(&notes), [vec![0, 1, 2], vec![4, 5]]);
    }
}
