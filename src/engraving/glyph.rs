//! The signs of the music font, with their measures in staff spaces.

/// A sign of the music font: its code point in SMuFL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Glyph(pub char);

impl Glyph {
    pub const BRACE: Self = Self('\u{E000}');
    pub const SEGNO: Self = Self('\u{E047}');
    pub const CODA: Self = Self('\u{E048}');
    pub const G_CLEF: Self = Self('\u{E050}');
    pub const G_CLEF_8VB: Self = Self('\u{E052}');
    pub const G_CLEF_8VA: Self = Self('\u{E053}');
    pub const C_CLEF: Self = Self('\u{E05C}');
    pub const F_CLEF: Self = Self('\u{E062}');
    pub const F_CLEF_8VB: Self = Self('\u{E064}');
    pub const PERCUSSION_CLEF: Self = Self('\u{E069}');
    pub const HEAD_BREVE: Self = Self('\u{E0A0}');
    pub const HEAD_WHOLE: Self = Self('\u{E0A2}');
    pub const HEAD_HALF: Self = Self('\u{E0A3}');
    pub const HEAD_BLACK: Self = Self('\u{E0A4}');
    pub const HEAD_CROSS: Self = Self('\u{E0A9}');
    pub const PARENTHESIS_LEFT: Self = Self('\u{E0F5}');
    pub const PARENTHESIS_RIGHT: Self = Self('\u{E0F6}');
    pub const DOT: Self = Self('\u{E1E7}');
    pub const FLAT: Self = Self('\u{E260}');
    pub const NATURAL: Self = Self('\u{E261}');
    pub const SHARP: Self = Self('\u{E262}');
    pub const DOUBLE_SHARP: Self = Self('\u{E263}');
    pub const DOUBLE_FLAT: Self = Self('\u{E264}');
    pub const FERMATA: Self = Self('\u{E4C0}');
    pub const TRILL: Self = Self('\u{E566}');
    pub const TURN: Self = Self('\u{E567}');
    pub const TURN_INVERTED: Self = Self('\u{E568}');
    pub const SHORT_TRILL: Self = Self('\u{E56C}');
    pub const MORDENT: Self = Self('\u{E56D}');
    pub const TREMBLEMENT: Self = Self('\u{E56E}');
    pub const PEDAL_DOWN: Self = Self('\u{E650}');
    pub const PEDAL_UP: Self = Self('\u{E655}');
    pub const QUARTER_NOTE: Self = Self('\u{ECA5}');

    /// A digit of a time signature.
    pub fn meter_digit(digit: u8) -> Self {
        Self::beyond('\u{E080}', digit.min(9))
    }

    /// A digit of a tuplet.
    pub fn tuplet_digit(digit: u8) -> Self {
        Self::beyond('\u{E880}', digit.min(9))
    }

    /// So many flags at a stem that goes up or down.
    pub fn flags(count: u8, up: bool) -> Self {
        Self::beyond('\u{E240}', 2 * (count.clamp(1, 5) - 1) + u8::from(!up))
    }

    /// A rest by the power of its value: 0 for a whole note, 2 for a quarter.
    pub fn rest(power: i8) -> Self {
        Self::beyond('\u{E4E3}', power.clamp(0, 7) as u8)
    }

    /// A letter of a dynamic mark; none for what is none.
    pub fn dynamic(letter: char) -> Option<Self> {
        "pmfrszn".find(letter).map(|index| Self::beyond('\u{E520}', index as u8))
    }

    /// An articulation by its name in MusicXML, above or below a note.
    pub fn articulation(name: &str, above: bool) -> Option<Self> {
        let first = match name {
            "accent" => '\u{E4A0}',
            "staccato" | "detached-legato" => '\u{E4A2}',
            "tenuto" => '\u{E4A4}',
            "staccatissimo" | "spiccato" => '\u{E4A6}',
            "strong-accent" => '\u{E4AC}',
            _ => return None,
        };
        Some(Self::beyond(first, u8::from(!above)))
    }

    /// An ornament by its name in MusicXML.
    pub fn ornament(name: &str) -> Option<Self> {
        match name {
            "trill-mark" | "wavy-line" | "trill" => Some(Self::TRILL),
            "turn" | "delayed-turn" => Some(Self::TURN),
            "inverted-turn" | "delayed-inverted-turn" => Some(Self::TURN_INVERTED),
            "inverted-mordent" | "shake" => Some(Self::SHORT_TRILL),
            "mordent" => Some(Self::MORDENT),
            "schleifer" | "other-ornament" => Some(Self::TREMBLEMENT),
            _ => None,
        }
    }

    /// An accidental by its semitones.
    pub fn accidental(alter: i8) -> Self {
        match alter {
            ..=-2 => Self::DOUBLE_FLAT,
            -1 => Self::FLAT,
            0 => Self::NATURAL,
            1 => Self::SHARP,
            2.. => Self::DOUBLE_SHARP,
        }
    }

    /// Letters of the font follow one another.
    fn beyond(first: char, by: u8) -> Self {
        Self(char::from_u32(first as u32 + u32::from(by)).unwrap_or(first))
    }

    /// How far it reaches to the right, in staff spaces.
    pub fn width(self) -> f32 {
        match self {
            Self::HEAD_BREVE => 2.396,
            Self::HEAD_WHOLE => 1.688,
            Self::HEAD_HALF | Self::HEAD_BLACK | Self::HEAD_CROSS => HEAD_WIDTH,
            Self::FLAT => 0.904,
            Self::NATURAL => 0.672,
            Self::SHARP | Self::DOUBLE_SHARP => 1.0,
            Self::DOUBLE_FLAT => 1.652,
            Self::G_CLEF | Self::G_CLEF_8VA | Self::G_CLEF_8VB => 2.684,
            Self::C_CLEF => 2.796,
            Self::F_CLEF | Self::F_CLEF_8VB => 2.736,
            Self::PERCUSSION_CLEF => 1.528,
            Self::DOT => 0.4,
            Self::FERMATA => 2.42,
            Self::TRILL => 2.084,
            Self::TURN | Self::TURN_INVERTED => 1.84,
            Self::SHORT_TRILL | Self::MORDENT => 2.916,
            Self::TREMBLEMENT => 3.94,
            Self::PEDAL_DOWN => 4.076,
            Self::PEDAL_UP => 1.8,
            Self::SEGNO => 2.228,
            Self::CODA => 3.816,
            Self::QUARTER_NOTE => 1.328,
            Self('\u{E080}'..='\u{E089}') => METER_DIGITS[(self.0 as usize - 0xE080) % 10],
            Self('\u{E880}'..='\u{E889}') => 1.25,
            Self('\u{E520}'..='\u{E526}') => DYNAMICS[(self.0 as usize - 0xE520) % 7],
            Self('\u{E4A0}'..='\u{E4A1}') | Self('\u{E4A4}'..='\u{E4A5}') => 1.354,
            Self('\u{E4A2}'..='\u{E4A3}') => 0.336,
            Self('\u{E4A6}'..='\u{E4A9}') => 0.4,
            Self('\u{E4AC}'..='\u{E4AD}') => 0.944,
            Self('\u{E4E3}'..='\u{E4EA}') => RESTS[(self.0 as usize - 0xE4E3) % 8],
            _ => 1.0,
        }
    }
}

/// Width of the usual notehead, in staff spaces.
pub const HEAD_WIDTH: f32 = 1.18;
/// Where a stem leaves a notehead, above or below its middle, in staff spaces.
pub const STEM_INSET: f32 = 0.168;
/// Thicknesses in staff spaces, as the makers of the font recommend them.
pub const STAFF_LINE: f32 = 0.13;
pub const STEM_LINE: f32 = 0.12;
pub const LEDGER_LINE: f32 = 0.16;
pub const LEDGER_REACH: f32 = 0.4;
pub const BEAM: f32 = 0.5;
pub const BEAM_STEP: f32 = 0.75;
pub const THIN_BAR_LINE: f32 = 0.16;
pub const THICK_BAR_LINE: f32 = 0.5;

const METER_DIGITS: [f32; 10] = [1.88, 1.336, 1.784, 1.684, 1.88, 1.612, 1.736, 1.764, 1.744, 1.736];
const DYNAMICS: [f32; 7] = [1.46, 1.748, 1.456, 1.108, 0.916, 0.976, 1.232];
const RESTS: [f32; 8] = [1.132, 1.132, 1.08, 1.0, 1.28, 1.452, 1.696, 1.94];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_rests_and_accidentals_are_those_of_smufl() {
        assert_eq!(Glyph::flags(1, true).0, '\u{E240}');
        assert_eq!(Glyph::flags(1, false).0, '\u{E241}');
        assert_eq!(Glyph::flags(3, true).0, '\u{E244}');
        assert_eq!(Glyph::flags(5, false).0, '\u{E249}');
        assert_eq!(Glyph::rest(2).0, '\u{E4E5}');
        assert_eq!(Glyph::dynamic('z').unwrap().0, '\u{E525}');
        assert_eq!(Glyph::articulation("accent", false).unwrap().0, '\u{E4A1}');
    }
}
