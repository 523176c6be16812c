//! Clefs, and where pitches stand under them.

use super::glyph::Glyph;
use crate::score::written::{Clef, WrittenPitch};

/// A clef of a staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaffClef {
    /// G, F, C, or P for percussion.
    sign: char,
    /// Line from the bottom, from 1.
    line: i8,
    /// Octaves that the staff sounds higher than the sign says.
    octaves: i8,
}

impl StaffClef {
    /// The treble clef.
    pub const TREBLE: Self = Self { sign: 'G', line: 2, octaves: 0 };
    /// The bass clef.
    pub const BASS: Self = Self { sign: 'F', line: 4, octaves: 0 };

    /// A clef as it is written.
    pub fn of(clef: &Clef) -> Self {
        let sign = match clef.sign.chars().next() {
            Some('F' | 'f') => 'F',
            Some('C' | 'c') => 'C',
            Some('p' | 'P') => 'P',
            _ => 'G',
        };
        Self { sign, line: clef.line.clamp(1, 5), octaves: clef.octaves.clamp(-2, 2) }
    }

    /// The clef that suits pitches around this one.
    pub fn around(pitch: f64) -> Self {
        if pitch >= 59.0 { Self::TREBLE } else { Self::BASS }
    }

    /// Steps above the middle line.
    pub fn position(self, pitch: WrittenPitch) -> i16 {
        let middle = self.reference() - 2 * (i16::from(self.line) - 3);
        diatonic(pitch) - middle
    }

    /// The pitch, without an accidental, that stands so many steps above the middle line.
    fn reference(self) -> i16 {
        let step = match self.sign {
            'F' => 24,
            'C' => 28,
            _ => 32,
        };
        step + 7 * i16::from(self.octaves)
    }

    /// Its sign.
    pub fn glyph(self) -> Glyph {
        match (self.sign, self.octaves) {
            ('G', -2..=-1) => Glyph::G_CLEF_8VB,
            ('G', 1..) => Glyph::G_CLEF_8VA,
            ('F', -2..=-1) => Glyph::F_CLEF_8VB,
            ('F', _) => Glyph::F_CLEF,
            ('C', _) => Glyph::C_CLEF,
            ('P', _) => Glyph::PERCUSSION_CLEF,
            _ => Glyph::G_CLEF,
        }
    }

    /// Steps above the middle line at which its sign stands.
    pub fn sign_position(self) -> i16 {
        if self.sign == 'P' { 0 } else { 2 * (i16::from(self.line) - 3) }
    }

    /// Steps above the middle line of the accidentals of a key signature, from left to right.
    pub fn key_positions(self, accidentals: i8) -> Vec<i16> {
        /// Of sharps under a treble clef: F, C, G, D, A, E, B.
        const SHARPS: [i16; 7] = [4, 1, 5, 2, -1, 3, 0];
        const FLATS: [i16; 7] = [0, 3, -1, 2, -2, 1, -3];
        let (positions, count) = match accidentals {
            0.. => (&SHARPS, accidentals as usize),
            _ => (&FLATS, accidentals.unsigned_abs() as usize),
        };
        // How much lower a pitch stands here than under a treble clef, within an octave.
        let treble = Self::TREBLE.reference() - 2 * (2 - 3);
        let shift = (treble - (self.reference() - 2 * (i16::from(self.line) - 3))).rem_euclid(7);
        let shift = if shift > 3 { shift - 7 } else { shift };
        let lowered = positions.iter().take(count).map(move |position| position + shift);
        // The tenor clef has its sharps in a pattern of its own: none stands above the staff.
        lowered.map(|position| if position > 5 { position - 7 } else { position }).collect()
    }
}

/// Steps above the C of octave 0.
pub fn diatonic(pitch: WrittenPitch) -> i16 {
    i16::from(pitch.octave) * 7 + i16::from(step_index(pitch.step))
}

/// 0 for C to 6 for B.
pub fn step_index(step: char) -> u8 {
    "CDEFGAB".find(step).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pitch(step: char, octave: i8) -> WrittenPitch {
        WrittenPitch { step, alter: 0, octave }
    }

    #[test]
    fn middle_c_stands_below_the_treble_and_above_the_bass() {
        assert_eq!(StaffClef::TREBLE.position(pitch('C', 4)), -6);
        assert_eq!(StaffClef::BASS.position(pitch('C', 4)), 6);
        assert_eq!(StaffClef::TREBLE.position(pitch('B', 4)), 0);
        let alto = StaffClef { sign: 'C', line: 3, octaves: 0 };
        assert_eq!(alto.position(pitch('C', 4)), 0);
        let tenor_voice = StaffClef { octaves: -1, ..StaffClef::TREBLE };
        assert_eq!(tenor_voice.position(pitch('C', 4)), 1);
    }

    #[test]
    fn key_signatures_stand_where_they_are_printed() {
        assert_eq!(StaffClef::TREBLE.key_positions(3), [4, 1, 5]);
        assert_eq!(StaffClef::TREBLE.key_positions(-3), [0, 3, -1]);
        assert_eq!(StaffClef::BASS.key_positions(2), [2, -1]);
        assert_eq!(StaffClef::BASS.key_positions(-2), [-2, 1]);
        let alto = StaffClef { sign: 'C', line: 3, octaves: 0 };
        assert_eq!(alto.key_positions(1), [3]);
        assert_eq!(alto.key_positions(-1), [-1]);
    }
}
