//! Heads with their accidentals, dots, ledger lines and stems.

use super::{HeadSpot, Ink, Pen, Tone};
use crate::engraving::columns::{ACCIDENTAL_GAP, ACCIDENTAL_STEP, GRACE_SCALE};
use crate::engraving::glyph::{BEAM, BEAM_STEP, HEAD_WIDTH, LEDGER_LINE, LEDGER_REACH, STEM_INSET, STEM_LINE};
use crate::engraving::value::flags;
use crate::engraving::{Chord, Glyph, Head};
use crate::score::written::Stem;

impl Pen<'_> {
    /// How large the signs of a chord are.
    pub(super) fn scale(chord: &Chord) -> f32 {
        if chord.grace.is_some() { GRACE_SCALE } else { 1.0 }
    }

    /// The middle of a chord's stem.
    pub(super) fn stem_x(&self, index: u32, chord: &Chord) -> f32 {
        let half = 0.5 * HEAD_WIDTH * Self::scale(chord) * self.space();
        let inset = 0.5 * STEM_LINE * self.space();
        let x = self.chord_x(index, chord);
        if chord.stem == Some(Stem::Up) { x + half - inset } else { x - half + inset }
    }

    /// The middle of a chord's heads, beside those of another voice.
    pub(super) fn chord_x(&self, index: u32, chord: &Chord) -> f32 {
        self.placement.chord_x(index) + chord.shift * self.space()
    }

    /// The middle of one of its heads.
    pub(super) fn head_x(&self, index: u32, chord: &Chord, head: u32) -> f32 {
        self.placement.head_x(index, head) + chord.shift * self.space()
    }

    /// Where the stem of a chord leaves its heads: at the lowest of those whose stem goes up.
    pub(super) fn stem_from(&self, chord: &Chord) -> f32 {
        let heads = self.engraving.heads_of(chord);
        let inset = STEM_INSET * Self::scale(chord) * self.space();
        let staff = usize::from(chord.staff);
        match chord.stem {
            Some(Stem::Up) => self.y(staff, heads[0].position.into()) - inset,
            _ => self.y(staff, heads[heads.len() - 1].position.into()) + inset,
        }
    }

    pub(super) fn chord(&mut self, index: u32) {
        let engraving = self.engraving;
        let chord = &engraving.chords.all()[index as usize];
        let heads = engraving.heads_of(chord);
        let detail = self.detail;
        if detail.heads <= 0.0 {
            return;
        }
        self.ledger_lines(index, chord, heads);
        for (inner, head) in heads.iter().enumerate() {
            self.head(index, chord, chord.first_head + inner as u32, head);
        }
        if chord.stem.is_some() && detail.stems > 0.0 && !chord.beamed {
            self.stem(index, chord);
        }
        if detail.signs > 0.0 {
            self.dots(index, chord, heads);
            self.chord_marks(index, chord, heads);
            if chord.arpeggio {
                self.arpeggio(index, chord, heads);
            }
        }
        if detail.words > 0.0 {
            self.lyrics(index, chord);
        }
    }

    fn head(&mut self, index: u32, chord: &Chord, number: u32, head: &Head) {
        let (space, scale) = (self.space(), Self::scale(chord));
        let glyph = match chord.value.power {
            ..=-1 => Glyph::HEAD_BREVE,
            0 => Glyph::HEAD_WHOLE,
            1 => Glyph::HEAD_HALF,
            2.. => Glyph::HEAD_BLACK,
        };
        let half = 0.5 * glyph.width() * scale * space;
        let own = self.head_x(index, chord, number);
        let side = if !head.displaced {
            0.0
        } else if chord.stem == Some(Stem::Down) {
            STEM_LINE * space - 2.0 * half
        } else {
            2.0 * half - STEM_LINE * space
        };
        let (x, y) = (own + side, self.y(chord.staff.into(), head.position.into()));
        let tone = Tone::Note(head.note);
        let chord_x = self.chord_x(index, chord);
        let reach = own - chord_x;
        if reach.abs() > half && self.detail.stems > 0.0 {
            // A note that was played before or after its chord stays joined to it.
            self.line([chord_x, y], [x, y], 0.1, Tone::Soft, 0.8 * self.detail.stems);
        }
        self.glyph(glyph, [x - half, y], scale, tone, self.detail.heads);
        self.spots.push(HeadSpot { head: number, at: [x, y], half });
        if let Some(column) = head.accidental.filter(|_| self.detail.signs > 0.0) {
            let sign = Glyph::accidental(head.pitch.alter);
            let any_left =
                chord.stem == Some(Stem::Down) && self.engraving.heads_of(chord).iter().any(|other| other.displaced);
            let left = own - half - chord.shift * space - if any_left { 2.0 * half } else { 0.0 };
            let offset = ACCIDENTAL_GAP + f32::from(column) * ACCIDENTAL_STEP + sign.width();
            self.glyph(sign, [left - offset * scale * space, y], scale, tone, self.detail.signs);
        }
    }

    fn ledger_lines(&mut self, index: u32, chord: &Chord, heads: &[Head]) {
        let (low, high) = (heads[0].position, heads[heads.len() - 1].position);
        if low > -6 && high < 6 {
            return;
        }
        let (space, scale) = (self.space(), Self::scale(chord));
        let width = if chord.value.power <= 0 { Glyph::HEAD_WHOLE.width() } else { HEAD_WIDTH };
        let reach = (0.5 * width + LEDGER_REACH) * scale * space;
        let lines = (6..=high).step_by(2).chain(
            (-low).ge(&6).then_some(()).into_iter().flat_map(|()| (6..=-low).step_by(2).map(|position| -position)),
        );
        for position in lines {
            // A line is as wide as the heads that it carries.
            let beyond =
                |head: &&Head| if position > 0 { head.position >= position } else { head.position <= position };
            let carried = heads.iter().zip(chord.first_head..).filter(|(head, _)| beyond(head));
            let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
            for (head, number) in carried {
                let x = self.head_x(index, chord, number);
                let side = match (head.displaced, chord.stem) {
                    (false, _) => 0.0,
                    (true, Some(Stem::Down)) => -width * scale * space,
                    (true, _) => width * scale * space,
                };
                (left, right) = (left.min(x + side - reach), right.max(x + side + reach));
            }
            let y = self.y(chord.staff.into(), position.into());
            self.line([left, y], [right, y], LEDGER_LINE, Tone::Soft, self.detail.heads);
        }
    }

    fn stem(&mut self, index: u32, chord: &Chord) {
        let staff = usize::from(chord.staff);
        let (x, end) = (self.stem_x(index, chord), self.y(staff, chord.stem_end));
        let tone = self.tone_of(chord);
        self.line([x, self.stem_from(chord)], [x, end], STEM_LINE, tone, self.detail.stems);
        let count = flags(chord.value);
        let up = chord.stem == Some(Stem::Up);
        let left = x - 0.5 * STEM_LINE * self.space();
        if count > 0 && self.detail.flags > 0.0 {
            self.glyph(Glyph::flags(count, up), [left, end], Self::scale(chord), tone, self.detail.flags);
        }
        self.strokes(chord, x, end, tone);
    }

    /// What goes through a stem: the strokes of a tremolo, the slash of a grace note.
    pub(super) fn strokes(&mut self, chord: &Chord, x: f32, end: f32, tone: Tone) {
        let space = self.space();
        let inwards = if chord.stem == Some(Stem::Up) { 1.0 } else { -1.0 };
        if chord.tremolo > 0 && self.detail.signs > 0.0 {
            let below_beams = if chord.beamed { BEAM_STEP * f32::from(flags(chord.value)) } else { 0.0 };
            for stroke in 0..chord.tremolo {
                let y = end + inwards * space * (0.9 + below_beams + BEAM_STEP * f32::from(stroke));
                let (half, slant, thick) = (0.6 * space, 0.25 * space, 0.4 * BEAM * space);
                let corners = [
                    [x - half, y + slant - thick],
                    [x + half, y - slant - thick],
                    [x + half, y - slant + thick],
                    [x - half, y + slant + thick],
                ];
                self.ink.push(Ink::Quad { corners, tone, alpha: self.detail.signs });
            }
        }
        if chord.grace.is_some_and(|grace| grace.slashed) && self.detail.signs > 0.0 {
            let y = end + inwards * 0.9 * space;
            let (dx, dy) = (0.55 * space, 0.45 * space * inwards);
            self.line([x - dx, y + dy], [x + 1.4 * dx, y - dy], 0.1, tone, self.detail.signs);
        }
    }

    fn dots(&mut self, index: u32, chord: &Chord, heads: &[Head]) {
        if chord.value.dots == 0 {
            return;
        }
        let (space, scale) = (self.space(), Self::scale(chord));
        let width = if chord.value.power <= 0 { Glyph::HEAD_WHOLE.width() } else { HEAD_WIDTH };
        let displaced = chord.stem != Some(Stem::Down) && heads.iter().any(|head| head.displaced);
        let right = 0.5 * width + if displaced { width } else { 0.0 };
        // Dots stand in spaces: above a head on a line, of a lower voice below it.
        let lower = chord.rank.is_some_and(|rank| rank % 2 == 1);
        let mut taken: Vec<i16> = Vec::new();
        for head in heads.iter().rev() {
            let on_line = head.position % 2 == 0;
            let mut position = head.position
                + if !on_line {
                    0
                } else if lower {
                    -1
                } else {
                    1
                };
            while taken.contains(&position) {
                position -= 2;
            }
            taken.push(position);
            let y = self.y(chord.staff.into(), position.into());
            for dot in 0..chord.value.dots {
                let x = self.chord_x(index, chord) + (right + 0.3 + 0.6 * f32::from(dot)) * scale * space;
                self.glyph(Glyph::DOT, [x, y], scale, Tone::Note(head.note), self.detail.signs);
            }
        }
    }

    fn arpeggio(&mut self, index: u32, chord: &Chord, heads: &[Head]) {
        let (space, staff) = (self.space(), usize::from(chord.staff));
        let left = 0.5 * HEAD_WIDTH + self.engraving.accidentals_width(chord) + 0.7;
        let x = self.placement.chord_x(index) - left * space;
        let (mut y, bottom) = (
            self.y(staff, f32::from(heads[heads.len() - 1].position) + 1.0),
            self.y(staff, f32::from(heads[0].position) - 1.0),
        );
        let tone = self.tone_of(chord);
        let mut side = 0.22 * space;
        while y < bottom {
            self.line([x + side, y], [x - side, y + 0.5 * space], 0.2, tone, self.detail.signs);
            (y, side) = (y + 0.5 * space, -side);
        }
    }
}
