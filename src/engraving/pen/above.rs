//! What stands above and below notes: ornaments, articulations, lyrics, ties, tuplets.

use super::{Ink, Pen, Tone};
use crate::engraving::columns::LETTER;
use crate::engraving::glyph::HEAD_WIDTH;
use crate::engraving::{Chord, ChordMark, Glyph, Head, Tie, Tuplet};
use crate::score::written::Stem;

/// Size of the letters of syllables, in staff spaces.
const LYRIC_SIZE: f32 = 1.9;

impl Pen<'_> {
    /// Steps above the middle line that a chord reaches, and below.
    fn reach(&self, chord: &Chord) -> (f32, f32) {
        let heads = self.engraving.heads_of(chord);
        let (low, high) = (f32::from(heads[0].position), f32::from(heads[heads.len() - 1].position));
        match chord.stem {
            Some(Stem::Up) => (high.max(chord.stem_end), low),
            Some(Stem::Down) => (high, low.min(chord.stem_end)),
            None => (high, low),
        }
    }

    pub(super) fn chord_marks(&mut self, index: u32, chord: &Chord, heads: &[Head]) {
        if chord.marks.is_empty() {
            return;
        }
        let (x, staff) = (self.chord_x(index, chord), usize::from(chord.staff));
        let (space, tone) = (self.space(), self.tone_of(chord));
        // Articulations stand at the heads; where there are two voices, outside.
        let above = match (chord.rank, chord.stem) {
            (Some(rank), _) => rank % 2 == 0,
            (None, stem) => stem != Some(Stem::Up),
        };
        let (top, bottom) = self.reach(chord);
        let mut outwards = match (above, chord.rank) {
            (true, None) => f32::from(heads[heads.len() - 1].position),
            (false, None) => f32::from(heads[0].position),
            (true, Some(_)) => top,
            (false, Some(_)) => bottom,
        };
        let sign = if above { 1.0 } else { -1.0 };
        for mark in &chord.marks {
            if let ChordMark::Articulation(over, under) = mark {
                outwards += 2.0 * sign;
                // In the staff they stand in spaces.
                if outwards.abs() < 5.0 && (outwards as i32) % 2 == 0 && chord.rank.is_none() {
                    outwards += sign;
                }
                let glyph = if above { *over } else { *under };
                let at = [x - 0.5 * glyph.width() * space, self.y(staff, outwards - 0.3 * sign)];
                self.glyph(glyph, at, 1.0, tone, self.detail.signs);
            }
        }
        let mut higher = top.max(if above { outwards } else { top }).max(4.0) + 2.0;
        for mark in &chord.marks {
            if let ChordMark::Above(glyph) = mark {
                let at = [x - 0.5 * glyph.width() * space, self.y(staff, higher)];
                self.glyph(*glyph, at, 1.0, tone, self.detail.signs);
                higher += 3.4;
            }
        }
    }

    pub(super) fn lyrics(&mut self, index: u32, chord: &Chord) {
        let engraving = self.engraving;
        let staff = &engraving.staves[usize::from(chord.staff)];
        let (space, x) = (self.space(), self.placement.chord_x(index));
        for mark in &chord.marks {
            if let ChordMark::Lyric(verse, text) = mark {
                let lines = f32::from(staff.lyric_lines) - f32::from(*verse);
                let y = self.placement.staff_y(chord.staff.into()) + (staff.below - 2.0 * lines + 1.5) * space;
                self.ink.push(Ink::Text {
                    text: text.clone(),
                    at: [x, y],
                    size: LYRIC_SIZE * space,
                    centred: true,
                    tone: Tone::Ink,
                    alpha: self.detail.words,
                });
            }
        }
    }

    pub(super) fn tie(&mut self, tie: &Tie) {
        let engraving = self.engraving;
        let place = |head: u32| {
            let chord = engraving.chord_of(head);
            let index = engraving.chord_of_head[head as usize];
            (self.head_x(index, chord, head), chord, engraving.heads[head as usize].position)
        };
        let ((left, from, position), (right, to, _)) = (place(tie.from), place(tie.to));
        let space = self.space();
        let half = |chord: &Chord| {
            let width = if chord.value.power <= 0 { Glyph::HEAD_WHOLE.width() } else { HEAD_WIDTH };
            0.5 * width * space
        };
        let (start, end) = (left + half(from), right - half(to));
        let length = (end - start) / space;
        if length < 0.4 {
            return;
        }
        let sign = if tie.above { -1.0 } else { 1.0 };
        let y = self.y(from.staff.into(), position.into()) + sign * 0.6 * space;
        let bulge = sign * (0.35 + 0.06 * length).min(1.1) * space;
        let width = 0.22 * space;
        self.ink.push(Ink::Curve { from: [start, y], to: [end, y], bulge, width, alpha: self.detail.signs });
    }

    pub(super) fn tuplet(&mut self, tuplet: &Tuplet) {
        let engraving = self.engraving;
        let chords = engraving.chords.all();
        let first = &chords[tuplet.first as usize];
        let (left, right) = (self.placement.chord_x(tuplet.first), self.placement.chord_x(tuplet.last));
        let space = self.space();
        // On the side of the stems.
        let above = first.stem != Some(Stem::Down);
        let range = tuplet.first.min(tuplet.last)..=tuplet.first.max(tuplet.last);
        let members = range.filter(|&index| {
            let chord = &chords[index as usize];
            chord.voice == first.voice && chord.staff == first.staff
        });
        let middle_line = self.placement.staff_y(first.staff.into());
        // Farthest from the middle line, in staff spaces.
        let farthest = members.fold(2.0f32, |farthest, index| {
            let (top, bottom) = self.reach(&chords[index as usize]);
            let reach = if above { 0.5 * top } else { -0.5 * bottom };
            let beam = self.beam_ends.get(&index).map(|end| (end - middle_line) / space);
            farthest.max(reach).max(beam.map_or(0.0, |beam| if above { -beam } else { beam }))
        });
        let y = middle_line + if above { -(farthest + 0.5) } else { farthest + 2.0 } * space;
        let digits: Vec<u8> = tuplet.number.to_string().bytes().map(|digit| digit - b'0').collect();
        let middle = 0.5 * (left + right);
        let width: f32 = digits.iter().map(|&digit| Glyph::tuplet_digit(digit).width()).sum::<f32>() * space;
        if tuplet.bracket && right - left > width + space {
            let line = y - 0.75 * space;
            let hook = if above { 0.8 * space } else { -0.8 * space };
            let (left, right) = (left - 0.6 * space, right + 0.6 * space);
            let alpha = self.detail.signs;
            let gap = 0.5 * width + 0.3 * space;
            self.line([left, line + hook], [left, line], 0.12, Tone::Ink, alpha);
            self.line([left, line], [middle - gap, line], 0.12, Tone::Ink, alpha);
            self.line([middle + gap, line], [right, line], 0.12, Tone::Ink, alpha);
            self.line([right, line], [right, line + hook], 0.12, Tone::Ink, alpha);
        }
        let mut x = middle - 0.5 * width;
        for digit in digits {
            let glyph = Glyph::tuplet_digit(digit);
            self.glyph(glyph, [x, y], 1.0, Tone::Ink, self.detail.signs);
            x += glyph.width() * space;
        }
    }

    /// How far below the middle line of a staff things reach near a column, in staff spaces.
    pub(super) fn depth_at(&self, staff: usize, bar: u32, column: u32) -> f32 {
        let bar = bar as usize;
        let chords = self.engraving.chords.of(staff, bar..bar + 1).iter();
        let near = chords.filter(|chord| chord.column.abs_diff(column) <= 1);
        near.map(|chord| -0.5 * self.reach(chord).1).fold(2.0, f32::max)
    }

    /// The same above.
    pub(super) fn height_at(&self, staff: usize, bar: u32, column: u32) -> f32 {
        let bar = bar as usize;
        let chords = self.engraving.chords.of(staff, bar..bar + 1).iter();
        let near = chords.filter(|chord| chord.column.abs_diff(column) <= 2);
        near.map(|chord| 0.5 * self.reach(chord).0).fold(2.0, f32::max)
    }

    /// About how wide words are.
    pub(super) fn words_width(&self, text: &str, size: f32) -> f32 {
        text.chars().count() as f32 * LETTER * 0.6 * size
    }
}
