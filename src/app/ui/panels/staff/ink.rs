//! From signs, lines and curves to shapes of the toolkit.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui::{Color32, FontId, Galley, Painter, Pos2, Rect, Shape, Stroke, pos2, vec2};

use crate::app::ui::theme;
use crate::engraving::Glyph;
use crate::engraving::pen::{Ink, Tone};

/// Parts of a tie's curve.
const PARTS: usize = 10;
/// The thinnest line, in points.
const THINNEST: f32 = 0.7;

/// Paints ink; what was laid out once is kept.
pub struct InkPainter<'a> {
    painter: &'a Painter,
    colour: &'a dyn Fn(Tone) -> Color32,
    signs: HashMap<(Glyph, u32), Arc<Galley>>,
}

impl<'a> InkPainter<'a> {
    /// Paints with `painter` in the colours of `colour`.
    pub fn new(painter: &'a Painter, colour: &'a dyn Fn(Tone) -> Color32) -> Self {
        Self { painter, colour, signs: HashMap::new() }
    }

    /// Paints everything that can be seen.
    pub fn paint(&mut self, ink: &[Ink]) {
        let clip = self.painter.clip_rect().expand(40.0);
        for ink in ink {
            self.paint_one(ink, clip);
        }
    }

    fn shade(&self, tone: Tone, alpha: f32) -> Color32 {
        let colour = (self.colour)(tone);
        if alpha >= 1.0 { colour } else { colour.gamma_multiply(alpha.max(0.0)) }
    }

    fn paint_one(&mut self, ink: &Ink, clip: Rect) {
        match ink {
            Ink::Glyph { glyph, at, size, tone, alpha } => {
                if clip.contains((*at).into()) {
                    let colour = self.shade(*tone, *alpha);
                    self.sign(*glyph, (*at).into(), *size, colour);
                }
            }
            Ink::Line { from, to, width, tone, alpha } => {
                let (from, to): (Pos2, Pos2) = ((*from).into(), (*to).into());
                if Rect::from_two_pos(from, to).expand(1.0).intersects(clip) {
                    let stroke = Stroke::new(width.max(THINNEST), self.shade(*tone, *alpha));
                    self.painter.line_segment([from, to], stroke);
                }
            }
            Ink::Quad { corners, tone, alpha } => {
                let corners: Vec<Pos2> = corners.iter().map(|&corner| corner.into()).collect();
                if Rect::from_points(&corners).intersects(clip) {
                    let colour = self.shade(*tone, *alpha);
                    self.painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
                }
            }
            Ink::Curve { from, to, bulge, width, alpha } => {
                let (from, to): (Pos2, Pos2) = ((*from).into(), (*to).into());
                if Rect::from_two_pos(from, to).expand(bulge.abs()).intersects(clip) {
                    let points = (0..=PARTS).map(|part| {
                        let share = part as f32 / PARTS as f32;
                        from.lerp(to, share) + vec2(0.0, 4.0 * share * (1.0 - share) * bulge)
                    });
                    let stroke = Stroke::new(width.max(THINNEST), self.shade(Tone::Ink, *alpha));
                    self.painter.add(Shape::line(points.collect(), stroke));
                }
            }
            Ink::Text { text, at, size, centred, tone, alpha } => {
                if clip.expand(200.0).contains((*at).into()) {
                    let colour = self.shade(*tone, *alpha);
                    let galley = self.painter.layout_no_wrap(text.clone(), FontId::proportional(*size), colour);
                    let left = if *centred { at[0] - 0.5 * galley.size().x } else { at[0] };
                    let base = base_line(&galley);
                    self.painter.galley(pos2(left, at[1] - base), galley, colour);
                }
            }
        }
    }

    /// A sign with its origin.
    pub fn sign(&mut self, glyph: Glyph, at: Pos2, size: f32, colour: Color32) {
        let painter = self.painter;
        let galley = self.signs.entry((glyph, size.to_bits())).or_insert_with(|| {
            painter.layout_no_wrap(glyph.0.to_string(), FontId::new(size, theme::music_family()), Color32::PLACEHOLDER)
        });
        let base = base_line(galley);
        self.painter.galley(pos2(at.x, at.y - base), Arc::clone(galley), colour);
    }
}

/// How far below its top the base line of a line of text is.
fn base_line(galley: &Galley) -> f32 {
    let row = galley.rows.first();
    row.and_then(|row| row.row.glyphs.first().map(|glyph| row.pos.y + glyph.pos.y)).unwrap_or(0.0)
}
