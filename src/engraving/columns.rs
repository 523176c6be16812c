//! How much room what stands at a moment takes.

use super::glyph::HEAD_WIDTH;
use super::value::flags;
use super::{Chord, ChordMark, EngravedBar, Engraving, Glyph, SignKind};
use crate::score::written::Stem;

/// A grace note is this much smaller than others.
pub const GRACE_SCALE: f32 = 0.65;
/// Grace notes are this far apart, in staff spaces.
pub const GRACE_STEP: f32 = 1.35;
/// Accidentals are this far apart.
pub const ACCIDENTAL_STEP: f32 = 1.1;
/// An accidental stands this far from its head.
pub const ACCIDENTAL_GAP: f32 = 0.2;
/// A letter of a syllable is about this wide.
pub const LETTER: f32 = 0.85;

/// Room for the dots of a repeat sign.
const REPEAT_SIGN: f32 = 1.3;

impl EngravedBar {
    /// What stands between its line and its first notes, in staff spaces.
    pub fn lead(&self) -> f32 {
        self.signs_width + if self.repeat_start { REPEAT_SIGN } else { 0.0 }
    }
}

impl Engraving {
    /// How far accidentals reach left of the heads of a chord, in staff spaces.
    pub fn accidentals_width(&self, chord: &Chord) -> f32 {
        let columns = self.heads_of(chord).iter().filter_map(|head| head.accidental).max();
        let displaced = chord.stem == Some(Stem::Down) && self.heads_of(chord).iter().any(|head| head.displaced);
        let left = if displaced { HEAD_WIDTH } else { 0.0 };
        columns.map_or(left, |last| left + ACCIDENTAL_GAP + ACCIDENTAL_STEP * (f32::from(last) + 1.0))
    }

    /// Measures what stands left and right of every column.
    pub(super) fn measure_columns(&mut self) {
        let mut columns = std::mem::take(&mut self.columns);
        for chord in self.chords.all() {
            let column = &mut columns[chord.column as usize];
            let accidentals = self.accidentals_width(chord);
            if let Some(grace) = chord.grace {
                let before = GRACE_STEP * f32::from(grace.steps_before) + GRACE_SCALE * accidentals + 0.4;
                column.before = column.before.max(before);
                continue;
            }
            let arpeggio = if chord.arpeggio { 1.1 } else { 0.0 };
            column.before = column.before.max(accidentals + arpeggio);
            let displaced = chord.stem == Some(Stem::Up) && self.heads_of(chord).iter().any(|head| head.displaced);
            let head = if chord.value.power <= 0 { 1.7 } else { HEAD_WIDTH };
            let mut after = head + if displaced { HEAD_WIDTH } else { 0.0 } + 0.6 * f32::from(chord.value.dots);
            if flags(chord.value) > 0 && !chord.beamed && chord.stem == Some(Stem::Up) {
                after += 0.9;
            }
            for mark in &chord.marks {
                if let ChordMark::Lyric(_, text) = mark {
                    let half = 0.5 * LETTER * text.chars().count() as f32;
                    after = after.max(half + 1.0);
                    column.before = column.before.max(half - 0.6);
                }
            }
            column.after = column.after.max(after);
        }
        for rest in self.rests.all() {
            let column = &mut columns[rest.column as usize];
            column.after = column.after.max(1.2 + 0.6 * f32::from(rest.value.dots));
        }
        let mut widths = vec![0.0f32; self.bars.len()];
        for staff in 0..self.staves.len() {
            for (bar, widest) in widths.iter_mut().enumerate() {
                let mut width = 0.0;
                for sign in self.signs.of(staff, bar..bar + 1) {
                    match sign.kind {
                        SignKind::Clef(_) if sign.at_bar_line => {}
                        SignKind::Clef(clef) => {
                            let column = &mut columns[sign.column as usize];
                            column.before = column.before.max(0.75 * clef.glyph().width() + 0.5);
                        }
                        kind => width += sign_width(kind),
                    }
                }
                *widest = f32::max(*widest, width);
            }
        }
        for (bar, width) in self.bars.iter_mut().zip(widths) {
            bar.signs_width = width;
        }
        self.columns = columns;
    }
}

/// How wide a change of key or meter, or a clef, is.
pub fn sign_width(kind: SignKind) -> f32 {
    match kind {
        SignKind::Clef(clef) => 0.75 * clef.glyph().width() + 0.4,
        SignKind::Key { before, now, .. } => {
            let (count, glyph) =
                if now == 0 { (before, Glyph::NATURAL) } else { (now, Glyph::accidental(now.signum())) };
            glyph.width() * f32::from(count.unsigned_abs()) + 0.5
        }
        SignKind::Meter(meter) => {
            if meter.beats > 9 || meter.beat_type > 9 {
                3.6
            } else {
                2.1
            }
        }
    }
}
