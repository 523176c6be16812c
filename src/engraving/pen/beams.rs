//! Beams and the stems under them.

use super::{Ink, Pen, Tone};
use crate::engraving::glyph::{BEAM, BEAM_STEP, STEM_LINE};
use crate::engraving::value::flags;
use crate::engraving::{Beam, Chord};
use crate::score::written::Stem;

/// The least length of a stem under a beam, in staff spaces, and what each further beam adds.
const LEAST_STEM: f32 = 2.5;
/// How steep a beam may be: staff spaces from end to end, and of its length.
const MOST_RISE: f32 = 1.2;
const MOST_SLOPE: f32 = 0.22;

/// A chord under a beam.
struct Member<'a> {
    index: u32,
    chord: &'a Chord,
    x: f32,
    /// The heads nearest to the beam.
    near: f32,
    up: bool,
    flags: u8,
}

impl Pen<'_> {
    pub(super) fn beam(&mut self, beam: &Beam) {
        let engraving = self.engraving;
        let members: Vec<Member<'_>> = beam
            .chords
            .iter()
            .map(|&index| {
                let chord = &engraving.chords.all()[index as usize];
                let heads = engraving.heads_of(chord);
                let up = chord.stem == Some(Stem::Up);
                let nearest = if up { heads[heads.len() - 1].position } else { heads[0].position };
                Member {
                    index,
                    chord,
                    x: self.stem_x(index, chord),
                    near: self.y(chord.staff.into(), nearest.into()),
                    up,
                    flags: flags(chord.value).max(1),
                }
            })
            .collect();
        let (first, last) = (&members[0], &members[members.len() - 1]);
        let (left, width) = (first.x, (last.x - first.x).max(1.0));
        let scale = Self::scale(first.chord);
        let (start, rise) = self.beam_line(&members, width, scale);
        let at = |x: f32| start + rise * ((x - left) / width).clamp(-0.5, 1.5);
        for member in &members {
            let tone = self.tone_of(member.chord);
            let end = at(member.x);
            self.beam_ends.insert(member.index, end);
            self.line([member.x, self.stem_from(member.chord)], [member.x, end], STEM_LINE, tone, self.detail.stems);
            self.strokes(member.chord, member.x, end, tone);
        }
        let half = 0.5 * STEM_LINE * self.space();
        let thick = BEAM * scale * self.space();
        let step = BEAM_STEP * scale * self.space();
        let most = members.iter().map(|member| member.flags).max().unwrap_or(1);
        for level in 1..=most {
            let mut index = 0;
            while index < members.len() {
                let run = members[index..].iter().take_while(|member| member.flags >= level).count();
                if run == 0 {
                    index += 1;
                    continue;
                }
                let (from, to) = (&members[index], &members[index + run - 1]);
                let (mut a, mut b) = (from.x - half, to.x + half);
                if run == 1 {
                    // A short beam that points to the note that it is joined with.
                    let length = 1.1 * self.space() * scale;
                    if index == 0 { b = (a + length).min(b + width) } else { a = (b - length).max(a - width) }
                }
                // Further beams lie towards the heads of the first chord.
                let inwards = if from.up { 1.0 } else { -1.0 };
                let shift = inwards * step * f32::from(level - 1);
                let (top, bottom) = if from.up { (shift, shift + thick) } else { (shift - thick, shift) };
                let corners = [[a, at(a) + top], [b, at(b) + top], [b, at(b) + bottom], [a, at(a) + bottom]];
                self.ink.push(Ink::Quad { corners, tone: Tone::Ink, alpha: self.detail.stems });
                index += run;
            }
        }
    }

    /// Where the outer edge of a beam begins, and how far it goes down until its end.
    fn beam_line(&self, members: &[Member<'_>], width: f32, scale: f32) -> (f32, f32) {
        let space = self.space() * scale;
        let (first, last) = (&members[0], &members[members.len() - 1]);
        let up = first.up;
        if members.iter().any(|member| member.up != up) {
            // Between heads above and heads below.
            let above = members.iter().filter(|member| !member.up).map(|member| member.near).fold(f32::MIN, f32::max);
            let below = members.iter().filter(|member| member.up).map(|member| member.near).fold(f32::MAX, f32::min);
            return (0.5 * (above + below), 0.0);
        }
        let sign = if up { -1.0 } else { 1.0 };
        let ends = if up { first.near.min(last.near) } else { first.near.max(last.near) };
        let inner = members[1..members.len() - 1].iter();
        let is_arch = inner.clone().any(|member| sign * (member.near - ends) > 0.1 * space);
        let most = (MOST_RISE * space).min(MOST_SLOPE * width);
        let rise = if is_arch { 0.0 } else { (0.5 * (last.near - first.near)).clamp(-most, most) };
        let mut start = first.near + sign * 3.5 * space;
        let at = |start: f32, x: f32| start + rise * (x - first.x) / width;
        for member in members {
            let least = (LEAST_STEM + BEAM_STEP * f32::from(member.flags.saturating_sub(1))) * space;
            let short = least - sign * (at(start, member.x) - member.near);
            start += sign * short.max(0.0);
            // Stems of heads on ledger lines reach the middle line.
            if member.chord.grace.is_none() {
                let middle = self.placement.staff_y(member.chord.staff.into());
                let off = sign * (middle - at(start, member.x));
                start += sign * off.max(0.0);
            }
        }
        (start, rise)
    }
}
