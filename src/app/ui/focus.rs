//! A ring around whatever has the keyboard's focus, the same for every control.

use eframe::egui::{self, Stroke, StrokeKind};

use super::theme::{DARK, LIGHT};

/// Draws the ring, above everything else in the layer of what has the focus. To be called at the end of a frame.
pub fn focus_ui(ctx: &egui::Context) {
    let Some(focused) = ctx.memory(egui::Memory::focused).and_then(|id| ctx.read_response(id)) else { return };
    let palette = if ctx.theme() == egui::Theme::Dark { &DARK } else { &LIGHT };
    let painter = ctx.layer_painter(focused.layer_id).with_clip_rect(focused.interact_rect.expand(3.0));
    painter.rect_stroke(focused.rect, 5.0, Stroke::new(2.0, palette.accent), StrokeKind::Outside);
    // A second line inside, so that the ring is seen on a button that has the accent's colour itself.
    painter.rect_stroke(focused.rect.shrink(1.0), 4.0, Stroke::new(1.0, palette.panel), StrokeKind::Inside);
}
