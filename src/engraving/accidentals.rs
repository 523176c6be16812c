//! Which notes carry an accidental: those that differ from the key and from what stands before them in the bar.

use super::clef::{diatonic, step_index};
use crate::score::written::WrittenPitch;

/// What holds in a bar of a staff.
#[derive(Debug, Clone)]
pub struct BarAccidentals {
    key: i8,
    /// Pitches without accidental that were altered in this bar, with how.
    altered: Vec<(i16, i8)>,
}

impl BarAccidentals {
    /// At the bar line only the key holds.
    pub fn new(key: i8) -> Self {
        Self { key, altered: Vec::new() }
    }

    /// Whether a note must carry its accidental; from then on it holds.
    pub fn must_show(&mut self, pitch: WrittenPitch) -> bool {
        let place = diatonic(pitch);
        match self.altered.iter_mut().find(|(altered, _)| *altered == place) {
            Some((_, alter)) => std::mem::replace(alter, pitch.alter) != pitch.alter,
            None => {
                let differs = of_key(self.key, pitch.step) != pitch.alter;
                if differs {
                    self.altered.push((place, pitch.alter));
                }
                differs
            }
        }
    }
}

/// What a key signature makes of a step.
pub fn of_key(accidentals: i8, step: char) -> i8 {
    // F, C, G … is the order in which sharps come.
    const ORDER: [u8; 7] = [3, 0, 4, 1, 5, 2, 6];
    let place = ORDER.iter().position(|&index| index == step_index(step)).unwrap_or(0) as i8;
    match accidentals {
        1.. if place < accidentals => 1,
        ..=-1 if 6 - place < -accidentals => -1,
        _ => 0,
    }
}

/// Stacks accidentals of one chord so that none covers another: of positions from high to low, the column of each, 0 next to the heads.
pub fn columns(positions: &[i16]) -> Vec<u8> {
    /// Two accidentals in one column are at least this many steps apart.
    const APART: i16 = 6;
    let mut lowest: Vec<i16> = Vec::new();
    let mut columns = Vec::with_capacity(positions.len());
    for &position in positions {
        let free = lowest.iter().position(|low| low - position >= APART);
        let column = free.unwrap_or(lowest.len());
        match lowest.get_mut(column) {
            Some(low) => *low = position,
            None => lowest.push(position),
        }
        columns.push(column.min(250) as u8);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pitch(step: char, alter: i8, octave: i8) -> WrittenPitch {
        WrittenPitch { step, alter, octave }
    }

    #[test]
    fn keys_alter_their_steps() {
        assert_eq!(of_key(2, 'F'), 1);
        assert_eq!(of_key(2, 'C'), 1);
        assert_eq!(of_key(2, 'G'), 0);
        assert_eq!(of_key(-3, 'B'), -1);
        assert_eq!(of_key(-3, 'A'), -1);
        assert_eq!(of_key(-3, 'D'), 0);
        assert_eq!("CDEFGAB".chars().map(|step| of_key(-7, step)).sum::<i8>(), -7);
    }

    #[test]
    fn an_accidental_holds_for_its_octave_until_the_bar_line() {
        let mut bar = BarAccidentals::new(1);
        assert!(!bar.must_show(pitch('F', 1, 4)), "in the key");
        assert!(bar.must_show(pitch('F', 0, 4)), "natural against the key");
        assert!(!bar.must_show(pitch('F', 0, 4)), "it still holds");
        assert!(!bar.must_show(pitch('F', 1, 5)), "in another octave the key holds");
        assert!(bar.must_show(pitch('F', 1, 4)), "back to the key");
        assert!(!bar.must_show(pitch('F', 1, 4)));
        let mut next = BarAccidentals::new(1);
        assert!(next.must_show(pitch('F', 0, 4)), "the bar line has ended it");
    }

    #[test]
    fn accidentals_of_a_chord_keep_clear_of_one_another() {
        assert_eq!(columns(&[4, 2, -3]), [0, 1, 0]);
        assert_eq!(columns(&[4, 3, 2, 1]), [0, 1, 2, 3]);
        assert_eq!(columns(&[]), [0u8; 0]);
    }
}
