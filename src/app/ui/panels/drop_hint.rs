//! Says what will happen while files are held over the window.

use eframe::egui::{self, Align, FontId, LayerId, Order, Stroke, StrokeKind, TextFormat, text::LayoutJob};

use crate::app::drop_hint::drop_hint;
use crate::app::state::AppState;
use crate::app::ui::theme::{self, DARK, LIGHT};

/// Draws the hint above everything, if there is reason.
pub fn drop_hint_ui(ctx: &egui::Context, state: &AppState) {
    let held: Vec<_> = ctx.input(|input| input.raw.hovered_files.iter().map(|file| file.path.clone()).collect());
    if held.is_empty() {
        return;
    }
    let hint = drop_hint(&held, state);
    let palette = if ctx.theme() == egui::Theme::Dark { &DARK } else { &LIGHT };
    let painter = ctx.layer_painter(LayerId::new(Order::Tooltip, egui::Id::unique("drop hint")));
    let rect = ctx.content_rect();
    painter.rect_filled(rect, 0.0, palette.window.gamma_multiply(0.92));
    let inner = rect.shrink(24.0);
    painter.rect_stroke(inner, 14.0, Stroke::new(2.0, palette.accent), StrokeKind::Inside);
    let mut text = LayoutJob { halign: Align::Center, ..LayoutJob::default() };
    text.wrap.max_width = inner.width() - 40.0;
    let format = |font: FontId, color| TextFormat { font_id: font, color, ..TextFormat::default() };
    text.append(&hint.title, 0.0, format(FontId::new(20.0, theme::strong_family()), palette.ink));
    for (index, (name, kind)) in hint.files.iter().enumerate() {
        let before = if index == 0 { "\n\n" } else { "\n" };
        text.append(&format!("{before}{name}"), 0.0, format(FontId::proportional(14.0), palette.ink));
        text.append(&format!("   {kind}"), 0.0, format(FontId::proportional(14.0), palette.soft_ink));
    }
    let galley = painter.layout_job(text);
    painter.galley(rect.center() - egui::vec2(0.0, 0.5 * galley.size().y), galley, palette.ink);
}
