//! Names of pitches: sharps in sharp keys, flats in flat keys.

use crate::score::{Score, WrittenPitch};

/// A pitch as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spelling {
    /// C to B.
    pub step: char,
    /// Semitones: -1 flat, 0 natural, 1 sharp.
    pub alter: i8,
    /// Middle C stands in octave 4.
    pub octave: i8,
}

/// Spells a MIDI pitch in a key with so many sharps (positive) or flats (negative).
pub fn spell(pitch: u8, accidentals: i8) -> Spelling {
    const SHARPS: [(char, i8); 12] = [
        ('C', 0),
        ('C', 1),
        ('D', 0),
        ('D', 1),
        ('E', 0),
        ('F', 0),
        ('F', 1),
        ('G', 0),
        ('G', 1),
        ('A', 0),
        ('A', 1),
        ('B', 0),
    ];
    const FLATS: [(char, i8); 12] = [
        ('C', 0),
        ('D', -1),
        ('D', 0),
        ('E', -1),
        ('E', 0),
        ('F', 0),
        ('G', -1),
        ('G', 0),
        ('A', -1),
        ('A', 0),
        ('B', -1),
        ('B', 0),
    ];
    let names = if accidentals < 0 { &FLATS } else { &SHARPS };
    let (step, alter) = names[usize::from(pitch % 12)];
    Spelling { step, alter, octave: (pitch / 12) as i8 - 1 }
}

/// A note as the score spells it, or else by the key.
pub fn spelling_of(score: &Score, index: usize) -> Spelling {
    let written = score.notation.notes.get(index).and_then(|name| name.spelling);
    let note = &score.notes[index];
    match written {
        Some(WrittenPitch { step, alter, octave }) => Spelling { step, alter, octave },
        None => spell(note.pitch, accidentals_at(score, note.onset_tick)),
    }
}

/// What a note is called: as the score calls it, or else by its place.
pub fn note_id(score: &Score, index: usize) -> String {
    score.note_id(index).map_or_else(|| format!("n{index}"), single_line_id)
}

/// An identifier without what would end it in a match file.
fn single_line_id(id: &str) -> String {
    id.chars().map(|c| if c.is_control() || c.is_whitespace() || "(),[]".contains(c) { '_' } else { c }).collect()
}

/// Sharps or flats of the key at a tick; no key is C major.
pub fn accidentals_at(score: &Score, tick: u64) -> i8 {
    let after = score.keys.partition_point(|key| key.tick <= tick);
    after.checked_sub(1).map_or(0, |index| score.keys[index].accidentals)
}

impl std::fmt::Display for Spelling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let accidental = match self.alter {
            -1 => "b",
            1 => "#",
            _ => "",
        };
        write!(f, "{}{accidental}{}", self.step, self.octave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitches_are_spelled_by_the_key() {
        let names = |pitch: u8| (spell(pitch, 0).to_string(), spell(pitch, -2).to_string());
        assert_eq!(names(60), ("C4".into(), "C4".into()));
        assert_eq!(names(70), ("A#4".into(), "Bb4".into()));
        assert_eq!(names(0), ("C-1".into(), "C-1".into()));
        assert_eq!(names(127), ("G9".into(), "G9".into()));
    }
}
