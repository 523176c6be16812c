//! Which note value a length is drawn with.

use crate::score::written::{NoteValue, Quarters};

/// Note values from breve to 256th.
const POWERS: std::ops::RangeInclusive<i8> = -1..=8;
/// Tuplets in the order in which they are thought of: (so many, in the time of so many).
const TUPLETS: [(u8, u8); 9] = [(3, 2), (5, 4), (6, 4), (7, 4), (9, 8), (7, 8), (11, 8), (13, 8), (15, 8)];

/// The value of a length: plain or dotted if there is such a one, else in a tuplet, else the longest that is not longer.
pub fn value_of(length: Quarters) -> NoteValue {
    let plain = |dots, tuplet| {
        let mut values = POWERS.map(move |power| NoteValue { power, dots, tuplet });
        values.find(|value| value.length() == length)
    };
    let exact = (0..=3).find_map(|dots| plain(dots, (1, 1)));
    let exact = exact.or_else(|| TUPLETS.into_iter().find_map(|tuplet| plain(0, tuplet).or_else(|| plain(1, tuplet))));
    exact.unwrap_or_else(|| {
        let mut values = POWERS.map(|power| NoteValue { power, dots: 0, tuplet: (1, 1) });
        let last = NoteValue { power: *POWERS.end(), dots: 0, tuplet: (1, 1) };
        values.find(|value| value.length() <= length).unwrap_or(last)
    })
}

/// How many flags or beams a value has.
pub fn flags(value: NoteValue) -> u8 {
    (value.power - 2).clamp(0, 6) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_values_that_musicians_give_them() {
        let value = |numerator, denominator| {
            let value = value_of(Quarters::ratio(numerator, denominator));
            (value.power, value.dots, value.tuplet)
        };
        assert_eq!(value(4, 1), (0, 0, (1, 1)));
        assert_eq!(value(3, 1), (1, 1, (1, 1)));
        assert_eq!(value(7, 8), (3, 2, (1, 1)));
        assert_eq!(value(1, 3), (3, 0, (3, 2)));
        assert_eq!(value(2, 3), (2, 0, (3, 2)));
        assert_eq!(value(1, 5), (4, 0, (5, 4)));
        assert_eq!(value(5, 4), (2, 0, (1, 1)), "the longest that is not longer");
        assert_eq!(value(0, 1).0, 8);
    }

    #[test]
    fn every_value_is_found_by_its_length() {
        for power in POWERS {
            for dots in 0..=2 {
                let value = NoteValue { power, dots, tuplet: (1, 1) };
                assert_eq!(value_of(value.length()), value);
            }
        }
    }
}
