//! Written time, exact for every division that music uses.

use std::ops::{Add, AddAssign, Sub};

/// A time or length in quarter notes, counted in parts so small that all tuplets up to 16 and all notes down to 1/1024 are whole
/// numbers of them. Others are rounded to a billionth of a quarter. Sums saturate: no file is that long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Quarters(i64);

const PARTS: i64 = 1024 * 27 * 25 * 7 * 11 * 13;

impl Quarters {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// One quarter note.
    pub const ONE: Self = Self(PARTS);

    /// A fraction of a quarter note; nothing if the denominator is 0.
    pub fn ratio(numerator: i64, denominator: i64) -> Self {
        if denominator == 0 {
            return Self::ZERO;
        }
        let (parts, denominator) = (i128::from(numerator) * i128::from(PARTS), i128::from(denominator));
        let half = denominator / 2;
        let rounded = if (parts < 0) == (denominator < 0) { parts + half } else { parts - half } / denominator;
        Self(rounded.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }

    /// The nearest to a number of quarter notes.
    pub fn nearest(quarters: f64) -> Self {
        Self((quarters * PARTS as f64).round() as i64)
    }

    /// This many times a fraction.
    pub fn scaled(self, numerator: i64, denominator: i64) -> Self {
        if denominator == 0 {
            return self;
        }
        let scaled = i128::from(self.0) * i128::from(numerator) / i128::from(denominator);
        Self(scaled.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }

    /// As a number of quarter notes.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / PARTS as f64
    }

    /// As a whole number of ticks, the nearest; nothing if it is before the start.
    pub fn to_ticks(self, ticks_per_quarter: u16) -> u64 {
        let ticks = (i128::from(self.0) * i128::from(ticks_per_quarter) + i128::from(PARTS / 2)) / i128::from(PARTS);
        u64::try_from(ticks).unwrap_or(0)
    }

    /// Whether it lasts.
    pub fn is_positive(self) -> bool {
        self.0 > 0
    }
}

impl Add for Quarters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Quarters {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Quarters {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl serde::Serialize for Quarters {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuplets_fill_their_beat_to_the_part() {
        for parts in 1..=16 {
            let one = Quarters::ratio(1, parts);
            assert_eq!((0..parts).fold(Quarters::ZERO, |sum, _| sum + one), Quarters::ONE, "{parts}");
        }
        assert_eq!(Quarters::ratio(1, 256).scaled(256, 1), Quarters::ONE);
    }

    #[test]
    fn ticks_are_the_nearest_and_no_number_overflows() {
        assert_eq!(Quarters::ratio(2, 3).to_ticks(480), 320);
        assert_eq!(Quarters::ratio(1, 7).to_ticks(480), 69);
        assert_eq!(Quarters::ratio(-1, 7).to_ticks(480), 0);
        assert_eq!(Quarters::ratio(i64::MAX, 1) + Quarters::ratio(i64::MAX, 1), Quarters(i64::MAX));
        assert_eq!(Quarters::ratio(1, 0), Quarters::ZERO);
        assert_eq!(Quarters::nearest(f64::NAN), Quarters::ZERO);
    }
}
