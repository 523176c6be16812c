//! Rests, clefs, keys, meters, bar lines, dynamics and words.

use super::{Ink, Pen, Tone};
use crate::engraving::columns::sign_width;
use crate::engraving::glyph::{STAFF_LINE, THICK_BAR_LINE, THIN_BAR_LINE};
use crate::engraving::{Glyph, Rest, Sign, SignKind, StaffClef, Words, WordsKind};

/// A bar line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BarLine {
    /// A repeat ends here.
    pub ends_repeat: bool,
    /// A repeat begins here.
    pub starts_repeat: bool,
    /// The piece ends here.
    pub is_last: bool,
}

impl Pen<'_> {
    /// The five lines of a staff.
    pub fn staff_lines(&mut self, staff: usize, left: f32, right: f32) {
        for line in [-4.0, -2.0, 0.0, 2.0, 4.0] {
            let y = self.y(staff, line);
            self.line([left, y], [right, y], STAFF_LINE, Tone::Soft, 1.0);
        }
    }

    pub(super) fn rest(&mut self, staff: usize, rest: &Rest) {
        let space = self.space();
        let power = if rest.whole_bar { 0 } else { rest.value.power };
        let glyph = if power < 0 { Glyph::rest(0) } else { Glyph::rest(power) };
        let x = if rest.whole_bar {
            self.placement.bar_middle(rest.bar)
        } else {
            self.placement.moment_x(rest.column, rest.second)
        };
        // A whole rest hangs from the line above the one that a half rest lies on.
        let position = rest.position + if power <= 0 { 2 } else { 0 };
        let at = [x - 0.5 * glyph.width() * space, self.y(staff, position.into())];
        self.glyph(glyph, at, 1.0, Tone::Ink, self.detail.rests);
        if !rest.whole_bar {
            for dot in 0..rest.value.dots {
                let x = x + (0.5 * glyph.width() + 0.3 + 0.6 * f32::from(dot)) * space;
                self.glyph(
                    Glyph::DOT,
                    [x, self.y(staff, f32::from(rest.position) + 1.0)],
                    1.0,
                    Tone::Ink,
                    self.detail.rests,
                );
            }
        }
    }

    /// A small clef before the notes that it holds for.
    pub(super) fn clef_within(&mut self, staff: usize, sign: &Sign) {
        let SignKind::Clef(clef) = sign.kind else { return };
        let space = self.space();
        let chords = self.engraving.chords.of(staff, 0..self.engraving.bars.len());
        let first = chords.partition_point(|chord| chord.column < sign.column);
        let here = chords[first..].iter().take_while(|chord| chord.column == sign.column);
        let before = here.map(|chord| self.engraving.accidentals_width(chord)).fold(0.0, f32::max);
        let right = self.placement.moment_x(sign.column, sign.second) - (0.8 + before) * space;
        self.clef(staff, clef, right - 0.75 * clef.glyph().width() * space, 0.75);
    }

    /// A clef with its left edge.
    pub fn clef(&mut self, staff: usize, clef: StaffClef, x: f32, scale: f32) {
        let y = self.y(staff, clef.sign_position().into());
        self.glyph(clef.glyph(), [x, y], scale, Tone::Ink, 1.0);
    }

    /// A key signature from its left edge; `step` is how far its accidentals are apart. Says where it ends.
    pub fn key(&mut self, staff: usize, clef: StaffClef, accidentals: i8, natural: bool, x: f32, step: f32) -> f32 {
        let glyph = if natural { Glyph::NATURAL } else { Glyph::accidental(accidentals.signum()) };
        let mut x = x;
        for position in clef.key_positions(accidentals) {
            self.glyph(glyph, [x, self.y(staff, position.into())], 1.0, Tone::Ink, 1.0);
            x += step * glyph.width() * self.space();
        }
        x
    }

    /// What changes at a bar line, from left to right from `x`: keys and meters of a staff.
    pub fn signs_at_bar(&mut self, staff: usize, bar: usize, x: f32, with_key: bool) {
        let engraving = self.engraving;
        let mut x = x;
        for sign in engraving.signs.of(staff, bar..bar + 1).iter().filter(|sign| sign.at_bar_line) {
            match sign.kind {
                SignKind::Clef(_) => continue,
                SignKind::Key { .. } if !with_key => continue,
                SignKind::Key { clef, before, now } => {
                    let shown = if now == 0 { before } else { now };
                    self.key(staff, clef, shown, now == 0, x, 1.0);
                }
                SignKind::Meter(meter) => {
                    self.meter_number(staff, meter.beats.into(), 2.0, x);
                    self.meter_number(staff, meter.beat_type, -2.0, x);
                }
            }
            x += sign_width(sign.kind) * self.space();
        }
    }

    fn meter_number(&mut self, staff: usize, number: u16, position: f32, x: f32) {
        let digits = number.to_string();
        let glyphs = digits.bytes().map(|digit| Glyph::meter_digit(digit - b'0'));
        let wide = if digits.len() > 1 { 0.0 } else { 0.1 };
        let mut x = x + wide * self.space();
        for glyph in glyphs {
            self.glyph(glyph, [x, self.y(staff, position)], 1.0, Tone::Ink, 1.0);
            x += glyph.width() * self.space();
        }
    }

    /// A clef that changes at a bar line stands before it.
    pub fn clef_at_bar(&mut self, staff: usize, bar: usize, right: f32) {
        let engraving = self.engraving;
        for sign in engraving.signs.of(staff, bar..bar + 1).iter().filter(|sign| sign.at_bar_line) {
            if let SignKind::Clef(clef) = sign.kind {
                self.clef(staff, clef, right - (0.75 * clef.glyph().width() + 0.4) * self.space(), 0.75);
            }
        }
    }

    /// A bar line through the staves from `first` to `last`.
    pub fn bar_line(&mut self, x: f32, first: usize, last: usize, line: BarLine) {
        let space = self.space();
        let (top, bottom) = (self.y(first, 4.0), self.y(last, -4.0));
        let stroke = |pen: &mut Self, x: f32, width: f32| pen.line([x, top], [x, bottom], width, Tone::Ink, 0.8);
        if !line.ends_repeat && !line.starts_repeat && !line.is_last {
            stroke(self, x, THIN_BAR_LINE);
            return;
        }
        stroke(self, x, THICK_BAR_LINE);
        let (near, dots) = (0.65 * space, 1.2 * space);
        if line.ends_repeat || line.is_last {
            stroke(self, x - near, THIN_BAR_LINE);
        }
        if line.starts_repeat {
            stroke(self, x + near, THIN_BAR_LINE);
        }
        for (side, shown) in [(-dots, line.ends_repeat), (dots, line.starts_repeat)] {
            for staff in (first..=last).filter(|_| shown) {
                for position in [1.0, -1.0] {
                    self.glyph(Glyph::DOT, [x + side - 0.2 * space, self.y(staff, position)], 1.0, Tone::Ink, 0.8);
                }
            }
        }
    }

    pub(super) fn words(&mut self, staff: usize, words: &Words) {
        let space = self.space();
        let x = self.placement.moment_x(words.column, words.second);
        let middle = self.placement.staff_y(staff);
        let alpha = self.detail.words;
        match &words.kind {
            WordsKind::Dynamic(mark) => {
                let glyphs: Option<Vec<Glyph>> = mark.chars().map(Glyph::dynamic).collect();
                let y = middle + (self.depth_at(staff, words.bar, words.column) + 2.6) * space;
                match glyphs {
                    Some(glyphs) => {
                        let width: f32 = glyphs.iter().map(|glyph| glyph.width()).sum();
                        let mut x = x - 0.5 * width * space;
                        for glyph in glyphs {
                            self.glyph(glyph, [x, y], 1.0, Tone::Ink, alpha);
                            x += glyph.width() * space;
                        }
                    }
                    None => self.text(mark, [x - 0.6 * space, y], 1.9, alpha),
                }
            }
            WordsKind::Tempo(text, rate) => {
                let y = middle - (self.height_at(staff, words.bar, words.column) + 1.8).max(4.2) * space;
                let x = x - 0.6 * space;
                self.text(text, [x, y], 2.1, alpha);
                if let Some(rate) = rate {
                    let x = x + self.words_width(text, 2.1) * space;
                    self.glyph(Glyph::QUARTER_NOTE, [x, y - 0.1 * space], 0.6, Tone::Ink, alpha);
                    self.text(&format!("= {rate}"), [x + 1.3 * space, y], 1.9, alpha);
                }
            }
            WordsKind::Jump(text) => {
                let y = middle - (self.height_at(staff, words.bar, words.column) + 1.8).max(5.6) * space;
                self.text(text, [x - 0.6 * space, y], 2.0, alpha);
            }
            WordsKind::Sign(glyph) => {
                let y = middle - (self.height_at(staff, words.bar, words.column) + 1.4).max(5.0) * space;
                self.glyph(*glyph, [x - 0.6 * space, y], 0.8, Tone::Ink, alpha);
            }
            WordsKind::Pedal(down) => {
                let glyph = if *down { Glyph::PEDAL_DOWN } else { Glyph::PEDAL_UP };
                let y = middle + (self.engraving.staves[staff].below + 0.8) * space;
                self.glyph(glyph, [x - 0.4 * space, y], 0.7, Tone::Ink, alpha);
            }
        }
    }

    fn text(&mut self, text: &str, at: [f32; 2], size: f32, alpha: f32) {
        if !text.is_empty() {
            let size = size * self.space();
            self.ink.push(Ink::Text { text: text.to_owned(), at, size, centred: false, tone: Tone::Ink, alpha });
        }
    }
}
