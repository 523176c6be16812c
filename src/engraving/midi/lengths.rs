//! Places and lengths that music is written in.

use crate::engraving::value::value_of;
use crate::score::written::{NoteValue, Quarters};

/// Parts of a quarter note that music is written in, those first that are thought of first.
const GRIDS: [i64; 10] = [1, 2, 4, 3, 8, 6, 5, 16, 12, 24];
/// How far a place may be off, in quarters.
const OFF: f64 = 0.02;

/// The place that is meant by another.
pub(super) fn on_grid(place: Quarters) -> Quarters {
    let quarters = place.as_f64();
    let nearest = |parts: i64| Quarters::ratio((quarters * parts as f64).round() as i64, parts);
    let meant = GRIDS.into_iter().map(nearest).find(|near| (near.as_f64() - quarters).abs() < OFF);
    meant.unwrap_or_else(|| nearest(24))
}

/// Whether one note can be that long.
fn is_one(length: Quarters) -> bool {
    let value = value_of(length);
    value.length() == length && value.dots <= 2
}

/// Cuts a stretch into lengths that can be written: first up to the beat, then as long as possible.
pub(super) fn pieces(at: Quarters, length: Quarters) -> Vec<(Quarters, Quarters)> {
    let (mut at, mut left) = (at, length);
    let mut pieces = Vec::new();
    while left.is_positive() && pieces.len() < 16 {
        let to_beat = Quarters::ratio(at.as_f64().floor() as i64 + 1, 1) - at;
        let piece = if is_one(left) {
            left
        } else if to_beat < left && to_beat < Quarters::ONE && is_one(to_beat) {
            to_beat
        } else {
            longest_within(left)
        };
        if piece == Quarters::ZERO {
            break;
        }
        pieces.push((at, piece));
        (at, left) = (at + piece, left - piece);
    }
    if pieces.is_empty() {
        pieces.push((at, length));
    }
    pieces
}

/// The longest plain value that is not longer.
pub(super) fn longest_within(length: Quarters) -> Quarters {
    let mut values = (-1..=6).map(|power| NoteValue { power, dots: 0, tuplet: (1, 1) }.length());
    values.find(|value| *value <= length).unwrap_or(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_they_are_meant() {
        assert_eq!(on_grid(Quarters::nearest(0.99)), Quarters::ONE);
        assert_eq!(on_grid(Quarters::nearest(0.3333)), Quarters::ratio(1, 3));
        assert_eq!(on_grid(Quarters::ratio(1, 8)), Quarters::ratio(1, 8));
    }

    #[test]
    fn pieces_fill_their_stretch_and_meet_on_beats() {
        let lengths = |at: (i64, i64), length: (i64, i64)| {
            let found = pieces(Quarters::ratio(at.0, at.1), Quarters::ratio(length.0, length.1));
            found.into_iter().map(|(_, length)| length.as_f64()).collect::<Vec<_>>()
        };
        assert_eq!(lengths((0, 1), (3, 1)), [3.0]);
        assert_eq!(lengths((0, 1), (5, 2)), [2.0, 0.5]);
        assert_eq!(lengths((3, 4), (5, 4)), [0.25, 1.0]);
        assert_eq!(lengths((0, 1), (5, 1)), [4.0, 1.0]);
    }
}
