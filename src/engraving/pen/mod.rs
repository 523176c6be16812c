//! Drawing with places: from what stands on the staves to signs, lines and curves in points.

mod above;
mod beams;
mod chords;
mod signs;

pub use signs::BarLine;

use std::collections::HashMap;

use super::{Chord, Engraving, Glyph};

/// Where things are drawn.
pub trait Placement {
    /// Distance of two lines of a staff, in points.
    fn space(&self) -> f32;
    /// The middle line of a staff.
    fn staff_y(&self, staff: usize) -> f32;
    /// The middle of the heads of a chord.
    fn chord_x(&self, chord: u32) -> f32;
    /// The middle of one of its heads, which may be played by itself.
    fn head_x(&self, chord: u32, head: u32) -> f32;
    /// Where heads at a column, or at a moment of the score after it, would have their middle.
    fn moment_x(&self, column: u32, second: f64) -> f32;
    /// The middle between the lines of a bar.
    fn bar_middle(&self, bar: u32) -> f32;
}

/// Whose colour something has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// That of ink.
    Ink,
    /// A softer one.
    Soft,
    /// That of a note of the score.
    Note(u32),
}

/// Something to draw, in points.
#[derive(Debug, Clone, PartialEq)]
pub enum Ink {
    /// A sign of the music font, with its origin.
    Glyph {
        glyph: Glyph,
        at: [f32; 2],
        /// Four staff spaces, in points.
        size: f32,
        tone: Tone,
        alpha: f32,
    },
    /// A straight line.
    Line { from: [f32; 2], to: [f32; 2], width: f32, tone: Tone, alpha: f32 },
    /// A filled four-sided shape.
    Quad { corners: [[f32; 2]; 4], tone: Tone, alpha: f32 },
    /// A tie: a curve that is thickest in its middle, which is `bulge` away from the line between its ends.
    Curve { from: [f32; 2], to: [f32; 2], bulge: f32, width: f32, alpha: f32 },
    /// Words, centred or from the left, on a base line.
    Text { text: String, at: [f32; 2], size: f32, centred: bool, tone: Tone, alpha: f32 },
}

/// A head that was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeadSpot {
    /// Which head.
    pub head: u32,
    /// Its middle.
    pub at: [f32; 2],
    /// How many points wide half of it is.
    pub half: f32,
}

/// How strongly things are drawn, 0 to 1: what is too dense fades.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detail {
    pub heads: f32,
    pub stems: f32,
    pub flags: f32,
    /// Accidentals, dots, articulations, ornaments, ties.
    pub signs: f32,
    pub rests: f32,
    pub words: f32,
}

impl Detail {
    /// Everything.
    pub const ALL: Self = Self { heads: 1.0, stems: 1.0, flags: 1.0, signs: 1.0, rests: 1.0, words: 1.0 };

    /// What can be told apart where chords of a staff are this far apart, in staff spaces: first rests, words and flags go, then
    /// stems, then heads.
    pub fn at_density(spaces: f32) -> Self {
        let fade = |from: f32, to: f32| ((spaces - from) / (to - from)).clamp(0.0, 1.0);
        Self {
            words: fade(1.6, 2.1),
            rests: fade(1.3, 1.8),
            flags: fade(1.0, 1.4),
            signs: fade(0.9, 1.2),
            stems: fade(0.7, 1.0),
            heads: fade(0.5, 0.7),
        }
    }
}

/// Draws an engraving at the places of `placement`.
pub struct Pen<'a> {
    pub engraving: &'a Engraving,
    pub placement: &'a dyn Placement,
    pub detail: Detail,
    /// What was drawn.
    pub ink: Vec<Ink>,
    /// Where heads were drawn.
    pub spots: Vec<HeadSpot>,
    /// Where stems under beams end.
    beam_ends: HashMap<u32, f32>,
}

impl<'a> Pen<'a> {
    /// A pen that has drawn nothing yet.
    pub fn new(engraving: &'a Engraving, placement: &'a dyn Placement) -> Self {
        Self {
            engraving,
            placement,
            detail: Detail::ALL,
            ink: Vec::new(),
            spots: Vec::new(),
            beam_ends: HashMap::new(),
        }
    }

    /// Draws everything of some bars of a staff but bar lines and what stands at them.
    pub fn bars(&mut self, staff: usize, bars: std::ops::Range<usize>) {
        let engraving = self.engraving;
        let chords = engraving.chords.range(staff, bars.clone());
        for index in chords {
            self.chord(index as u32);
        }
        if self.detail.stems > 0.0 {
            engraving.beams.of(staff, bars.clone()).iter().for_each(|beam| self.beam(beam));
        }
        if self.detail.signs > 0.0 {
            engraving.ties.of(staff, bars.clone()).iter().for_each(|tie| self.tie(tie));
            engraving.tuplets.of(staff, bars.clone()).iter().for_each(|tuplet| self.tuplet(tuplet));
            for sign in engraving.signs.of(staff, bars.clone()).iter().filter(|sign| !sign.at_bar_line) {
                self.clef_within(staff, sign);
            }
        }
        if self.detail.rests > 0.0 {
            engraving.rests.of(staff, bars.clone()).iter().for_each(|rest| self.rest(staff, rest));
        }
        if self.detail.words > 0.0 {
            engraving.words.of(staff, bars).iter().for_each(|words| self.words(staff, words));
        }
    }

    fn space(&self) -> f32 {
        self.placement.space()
    }

    /// Where a place so many steps above the middle line of a staff is.
    fn y(&self, staff: usize, steps: f32) -> f32 {
        self.placement.staff_y(staff) - 0.5 * steps * self.space()
    }

    fn glyph(&mut self, glyph: Glyph, at: [f32; 2], scale: f32, tone: Tone, alpha: f32) {
        let size = 4.0 * self.space() * scale;
        self.ink.push(Ink::Glyph { glyph, at, size, tone, alpha });
    }

    fn line(&mut self, from: [f32; 2], to: [f32; 2], width: f32, tone: Tone, alpha: f32) {
        self.ink.push(Ink::Line { from, to, width: width * self.space(), tone, alpha });
    }

    /// The colour of what belongs to a chord as a whole: that of its highest note.
    fn tone_of(&self, chord: &Chord) -> Tone {
        self.engraving.heads_of(chord).last().map_or(Tone::Ink, |head| Tone::Note(head.note))
    }
}
