//! Which way stems go, how far, and on which side of them heads stand.

use crate::score::written::Stem;

/// Usual length of a stem, in steps of half a staff space.
pub const STEM_STEPS: f32 = 7.0;
/// Of a grace note.
pub const GRACE_STEM_STEPS: f32 = 5.0;

/// The direction of a stem that only the heads decide, by the one farthest from the middle line; downwards if both ends are equally far.
pub fn by_middle_line(positions: impl Iterator<Item = i16> + Clone) -> Stem {
    let (low, high) = (positions.clone().min().unwrap_or(0), positions.max().unwrap_or(0));
    if high >= -low { Stem::Down } else { Stem::Up }
}

/// The direction of the stems of a voice where there are several on a staff, by its place from the top.
pub fn by_voice(rank: usize) -> Stem {
    if rank.is_multiple_of(2) { Stem::Up } else { Stem::Down }
}

/// Where a stem that carries no beam ends, in steps from the middle line. Stems of heads on ledger lines reach the middle line.
pub fn stem_end(low: i16, high: i16, stem: Stem, length: f32) -> f32 {
    match stem {
        Stem::Up => (f32::from(high) + length).max(if high < -7 { 0.0 } else { f32::MIN }),
        Stem::Down => (f32::from(low) - length).min(if low > 7 { 0.0 } else { f32::MAX }),
    }
}

/// Which heads of a chord stand on the wrong side of the stem, since a neighbour a second away has the right one. `positions` rise.
pub fn displaced(positions: &[i16], stem: Stem) -> Vec<bool> {
    let mut wrong = vec![false; positions.len()];
    let mut last: Option<usize> = None;
    let order: Vec<usize> = match stem {
        // The head nearest to where the stem begins has the right side.
        Stem::Up => (0..positions.len()).collect(),
        Stem::Down => (0..positions.len()).rev().collect(),
    };
    for index in order {
        if let Some(before) = last {
            let is_second = (positions[index] - positions[before]).abs() <= 1;
            wrong[index] = is_second && !wrong[before];
        }
        last = Some(index);
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_point_to_the_middle_and_the_farthest_head_decides() {
        assert_eq!(by_middle_line([1].into_iter()), Stem::Down);
        assert_eq!(by_middle_line([-1].into_iter()), Stem::Up);
        assert_eq!(by_middle_line([0].into_iter()), Stem::Down, "on the middle line");
        assert_eq!(by_middle_line([-4, 3].into_iter()), Stem::Up);
        assert_eq!(by_middle_line([-3, 4].into_iter()), Stem::Down);
        assert_eq!(by_middle_line([-3, 3].into_iter()), Stem::Down);
        assert_eq!([by_voice(0), by_voice(1), by_voice(2)], [Stem::Up, Stem::Down, Stem::Up]);
    }

    #[test]
    fn stems_of_ledger_notes_reach_the_middle_line() {
        assert_eq!(stem_end(-12, -12, Stem::Up, STEM_STEPS), 0.0);
        assert_eq!(stem_end(12, 12, Stem::Down, STEM_STEPS), 0.0);
        assert_eq!(stem_end(-2, 2, Stem::Up, STEM_STEPS), 9.0);
        assert_eq!(stem_end(-2, 2, Stem::Down, STEM_STEPS), -9.0);
    }

    #[test]
    fn of_a_second_one_head_changes_sides() {
        assert_eq!(displaced(&[0, 1], Stem::Up), [false, true]);
        assert_eq!(displaced(&[0, 1], Stem::Down), [true, false]);
        assert_eq!(displaced(&[0, 1, 2], Stem::Up), [false, true, false]);
        assert_eq!(displaced(&[0, 2, 4], Stem::Up), [false; 3]);
    }
}
