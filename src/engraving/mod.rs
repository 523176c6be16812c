//! Staff notation of a score: what stands on which staff, without places along time. Those depend on where the score is drawn: above
//! its performance, or wrapped in systems.

mod accidentals;
mod beams;
mod build;
mod by_bar;
mod clef;
mod columns;
mod draft;
mod glyph;
mod groups;
mod midi;
pub mod pen;
mod rests;
mod signs;
mod stems;
mod systems;
mod tuplets;
mod value;
mod voices;

#[cfg(test)]
mod tests;

pub use by_bar::ByBar;
pub use clef::StaffClef;
pub use columns::GRACE_STEP;
pub use glyph::Glyph;
pub use systems::{StaffHeights, System, Systems};

use crate::score::written::{Grace, Meter, NoteValue, Stem, WrittenPitch};

/// A score in staff notation, as it is played: repeats written out.
#[derive(Debug, Clone, PartialEq)]
pub struct Engraving {
    /// Staves from the top.
    pub staves: Vec<Staff>,
    /// Bars in playing order.
    pub bars: Vec<EngravedBar>,
    /// Moments at which something stands, in order.
    pub columns: Vec<Column>,
    /// Heads of all chords, those of a chord from low to high.
    pub heads: Vec<Head>,
    /// Notes and chords, by time.
    pub chords: ByBar<Chord>,
    /// Rests.
    pub rests: ByBar<Rest>,
    /// Beams, at the bar where they begin.
    pub beams: ByBar<Beam>,
    /// Ties, at the bar where they begin.
    pub ties: ByBar<Tie>,
    /// Tuplets whose number is printed.
    pub tuplets: ByBar<Tuplet>,
    /// Changes of clef, key and meter.
    pub signs: ByBar<Sign>,
    /// Dynamics, words, pedal.
    pub words: ByBar<Words>,
    /// Clef and key at the beginning of each bar, by staff and bar.
    standing: Vec<(StaffClef, i8)>,
    /// How many columns have notes, by staff and bar.
    crowds: Vec<u16>,
    /// Of each note of the score, its head.
    head_of_note: Vec<u32>,
    /// Of each head, its chord.
    chord_of_head: Vec<u32>,
}

/// A staff.
#[derive(Debug, Clone, PartialEq)]
pub struct Staff {
    /// Index of its part.
    pub part: u16,
    /// Name of the part.
    pub name: String,
    /// The first of its part.
    pub is_first: bool,
    /// The last of its part.
    pub is_last: bool,
    /// How far things reach above its middle line, in staff spaces.
    pub above: f32,
    /// How far below.
    pub below: f32,
    /// Lines of text that is sung, below everything else.
    pub lyric_lines: u8,
}

/// A bar as it is played.
#[derive(Debug, Clone, PartialEq)]
pub struct EngravedBar {
    /// Its number as printed.
    pub label: String,
    /// Where it begins, in seconds of the score.
    pub start_s: f64,
    /// Where it ends.
    pub end_s: f64,
    /// How long it is, in quarters.
    pub length: f64,
    /// A repeat begins here.
    pub repeat_start: bool,
    /// A repeat ends here.
    pub repeat_end: bool,
    /// The piece ends here.
    pub is_last: bool,
    /// What the key and time signature at its beginning take, in staff spaces.
    pub signs_width: f32,
    /// Its first column.
    pub first_column: u32,
}

/// A moment at which something stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Index of the bar.
    pub bar: u32,
    /// Seconds of the score.
    pub second: f64,
    /// Quarter notes from the bar line.
    pub at: f64,
    /// What stands left of its heads, in staff spaces: accidentals, grace notes, clefs.
    pub before: f32,
    /// What stands right of their left edge.
    pub after: f32,
}

/// A note or chord: heads on one stem.
#[derive(Debug, Clone, PartialEq)]
pub struct Chord {
    /// Index of the staff.
    pub staff: u16,
    /// Index of the bar.
    pub bar: u32,
    /// Index of the column.
    pub column: u32,
    /// Seconds of the score at which it stands.
    pub second: f64,
    /// Voice of the part.
    pub voice: u16,
    /// Its place among the voices of the staff in its bar, from the top; none if it is alone.
    pub rank: Option<u8>,
    /// As it is drawn.
    pub value: NoteValue,
    /// A grace note.
    pub grace: Option<Grace>,
    /// Its stem; none for what has none.
    pub stem: Option<Stem>,
    /// Where a stem without a beam ends, in steps above the middle line.
    pub stem_end: f32,
    /// It stands under a beam.
    pub beamed: bool,
    /// How far it stands right of its column, since another voice has its place, in staff spaces.
    pub shift: f32,
    /// Its heads among all.
    pub first_head: u32,
    /// How many.
    pub head_count: u8,
    /// Strokes of a tremolo through the stem.
    pub tremolo: u8,
    /// The chord is broken.
    pub arpeggio: bool,
    /// What is written at it.
    pub marks: Vec<ChordMark>,
}

/// What is written at a chord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChordMark {
    /// An ornament or fermata above the staff.
    Above(Glyph),
    /// An articulation: as it looks above and below a note.
    Articulation(Glyph, Glyph),
    /// A syllable, in a line by its verse, from 0.
    Lyric(u8, String),
}

/// A notehead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Head {
    /// Steps above the middle line.
    pub position: i16,
    /// As it is spelled.
    pub pitch: WrittenPitch,
    /// Its accidental if one is printed, with the column that it stands in: 0 next to the heads.
    pub accidental: Option<u8>,
    /// It stands on the wrong side of the stem.
    pub displaced: bool,
    /// The note of the score that it belongs to.
    pub note: u32,
    /// That note begins here; otherwise a tie leads here.
    pub begins: bool,
}

/// A rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rest {
    /// Index of the bar.
    pub bar: u32,
    /// Index of the column.
    pub column: u32,
    /// Seconds of the score at which it begins.
    pub second: f64,
    /// As it is drawn.
    pub value: NoteValue,
    /// It stands for the whole bar, in its middle.
    pub whole_bar: bool,
    /// Steps above the middle line.
    pub position: i16,
}

/// A beam.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beam {
    /// Its chords in order.
    pub chords: Vec<u32>,
}

/// A tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tie {
    /// The head that it leads from.
    pub from: u32,
    /// The head that it leads to.
    pub to: u32,
    /// It is curved upwards.
    pub above: bool,
}

/// A tuplet with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuplet {
    /// The first chord.
    pub first: u32,
    /// The last chord.
    pub last: u32,
    /// What is printed.
    pub number: u8,
    /// It has a bracket, since no beam joins its notes.
    pub bracket: bool,
}

/// A change of clef, key or meter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sign {
    /// Seconds of the score before which it stands.
    pub second: f64,
    /// The column before which it stands.
    pub column: u32,
    /// It stands at a bar line.
    pub at_bar_line: bool,
    /// What changes.
    pub kind: SignKind,
}

/// What changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SignKind {
    /// The clef.
    Clef(StaffClef),
    /// The key.
    Key {
        /// The clef that it stands under.
        clef: StaffClef,
        /// What held before.
        before: i8,
        /// What holds now.
        now: i8,
    },
    /// The meter.
    Meter(Meter),
}

/// Words and signs that stand above or below a staff.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    /// Index of the bar.
    pub bar: u32,
    /// The column that they stand at or before.
    pub column: u32,
    /// Seconds of the score.
    pub second: f64,
    /// What they are.
    pub kind: WordsKind,
}

/// What is written above or below a staff.
#[derive(Debug, Clone, PartialEq)]
pub enum WordsKind {
    /// A dynamic mark in letters of the music font.
    Dynamic(String),
    /// A tempo mark: its words, and its quarter notes per minute.
    Tempo(String, Option<u32>),
    /// The number of a bracket, segno, coda, fine.
    Jump(String),
    /// A sign of the music font above the staff.
    Sign(Glyph),
    /// The pedal goes down (or up).
    Pedal(bool),
}

impl Engraving {
    /// Clef and key that hold at the beginning of a bar.
    pub fn standing(&self, staff: usize, bar: usize) -> (StaffClef, i8) {
        let index = staff * self.bars.len() + bar;
        self.standing.get(index).copied().unwrap_or((StaffClef::TREBLE, 0))
    }

    /// How many columns of a bar have notes on a staff.
    pub fn crowd(&self, staff: usize, bar: usize) -> u16 {
        self.crowds.get(staff * self.bars.len() + bar).copied().unwrap_or(0)
    }

    /// The heads of a chord, from low to high.
    pub fn heads_of(&self, chord: &Chord) -> &[Head] {
        let first = chord.first_head as usize;
        &self.heads[first..first + usize::from(chord.head_count)]
    }

    /// The chord of a head.
    pub fn chord_of(&self, head: u32) -> &Chord {
        &self.chords.all()[self.chord_of_head[head as usize] as usize]
    }

    /// The head of a note of the score.
    pub fn head_of(&self, note: usize) -> Option<u32> {
        self.head_of_note.get(note).copied().filter(|&head| head != u32::MAX)
    }

    /// The note after (1) or before (-1) another in the same voice: of a chord the one whose place from the top is the same.
    pub fn neighbour(&self, note: usize, step: i8) -> Option<usize> {
        let head = self.head_of(note)?;
        let index = self.chord_of_head[head as usize] as usize;
        let here = &self.chords.all()[index];
        let place = (here.first_head + u32::from(here.head_count)).saturating_sub(head + 1);
        let same = |chord: &&Chord| {
            chord.staff == here.staff
                && chord.voice == here.voice
                && self.heads_of(chord).iter().any(|head| head.begins)
        };
        let next = match step {
            1.. => self.chords.all()[index + 1..].iter().take_while(|chord| chord.staff == here.staff).find(same),
            _ => self.chords.all()[..index].iter().rev().take_while(|chord| chord.staff == here.staff).find(same),
        }?;
        let beginning: Vec<&Head> = self.heads_of(next).iter().rev().filter(|head| head.begins).collect();
        beginning.get((place as usize).min(beginning.len() - 1)).map(|head| head.note as usize)
    }
}
