//! The ruler above the panes: bars and beats of the score, time of the recording, the marked stretch.

use eframe::egui::{
    Align2, CursorIcon, FontFamily, FontId, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::bar_marks::{MarkKind, bar_marks};
use super::canvas::GUTTER;
use super::onset_tag::selected_onset;
use super::{clock, curve};
use crate::app::command::Command;
use crate::app::state::AppState;
use crate::app::ui::theme::{self, Palette};

/// Height of the ruler.
pub const RULER_HEIGHT: f32 = 42.0;
/// Half the width of the playhead's top.
const HEAD: f32 = 6.0;
const HEAD_HEIGHT: f32 = 8.0;
/// How far above the lower edge times are written: above the playhead.
const TIME_LABEL: f32 = 14.0;

/// Draws the ruler. A click moves the playhead, a drag marks a stretch to repeat.
pub fn ruler_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let (whole, _) = ui.allocate_exact_size(vec2(ui.available_width(), RULER_HEIGHT), Sense::hover());
    let plot = Rect::from_min_max(pos2(whole.left() + GUTTER, whole.top()), whole.max);
    let response = ui.allocate_rect(plot, Sense::click_and_drag()).on_hover_cursor(CursorIcon::Text);
    let selected = state.document.as_ref().and_then(selected_onset);
    response.widget_info(|| {
        let about = selected.as_ref().map(|(_, words)| format!("; selected onset at {words}")).unwrap_or_default();
        let label = format!("Ruler: click to move the playhead, drag to mark{about}");
        WidgetInfo::labeled(Role::Canvas, true, label)
    });
    let painter = ui.painter_at(whole);
    painter.rect_filled(whole, 0.0, palette.panel);
    let view = state.view();
    let x = |time: f64| plot.left() + (view.share_of(time) * f64::from(plot.width())) as f32;
    let time = |x: f32| view.time_at(f64::from(x - plot.left()) / f64::from(plot.width()));

    if let Some((from, to)) = state.transport.marked {
        let band = Rect::from_min_max(pos2(x(from), plot.top()), pos2(x(to), plot.bottom())).intersect(plot);
        let strength = if state.transport.looping { 0.45 } else { 0.2 };
        painter.rect_filled(band, 0.0, palette.accent.gamma_multiply(strength));
    }
    let clipped = painter.with_clip_rect(plot);
    // Time of the recording below.
    let step = curve::clock_step(view.span_s, f64::from(plot.width()) / 90.0);
    let decimals = if step < 0.001 {
        4
    } else if step < 0.01 {
        3
    } else if step < 0.1 {
        2
    } else if step < 1.0 {
        1
    } else {
        0
    };
    let marks = if state.document.is_some() { view.end_s() } else { f64::NEG_INFINITY };
    for k in (view.start_s.max(0.0) / step).ceil() as i64..=(marks / step).floor() as i64 {
        let second = k as f64 * step;
        let x = x(second);
        clipped.vline(x, plot.bottom() - 5.0..=plot.bottom(), Stroke::new(1.0, palette.edge));
        let text = clock(second, decimals);
        clipped.text(
            pos2(x + 3.0, plot.bottom() - TIME_LABEL),
            Align2::LEFT_CENTER,
            text,
            theme::label_font(),
            palette.soft_ink,
        );
    }
    // Bars above.
    if let Some(solution) = state.shown() {
        let beats = solution.beats_between(view.start_s, view.end_s());
        let earlier = solution.beats.partition_point(|beat| beat.performance_s < view.start_s);
        let before = earlier.checked_sub(1).and_then(|index| solution.beats.get(index));
        let layout = |text: &str, strong: bool| {
            let family = if strong { theme::strong_family() } else { FontFamily::Proportional };
            let ink = if strong { palette.ink } else { palette.soft_ink };
            clipped.layout_no_wrap(text.to_owned(), FontId::new(12.0, family), ink)
        };
        for mark in bar_marks(beats, before, plot.x_range(), &x, &|text| layout(text, true).size().x) {
            let (top, stroke) = match mark.kind {
                MarkKind::Bar => (2.0, Stroke::new(1.0, palette.soft_ink)),
                MarkKind::Beat => (12.0, Stroke::new(1.0, palette.edge)),
                MarkKind::Continued => (2.0, Stroke::NONE),
            };
            clipped.vline(mark.x, plot.top() + top..=plot.top() + 18.0, stroke);
            let galley = layout(&mark.text, mark.kind == MarkKind::Bar);
            let place = pos2(mark.text_x, plot.top() + 10.0 - 0.5 * galley.size().y);
            clipped.galley(place, galley, palette.soft_ink);
        }
    }
    for (from, to) in state.document.iter().flat_map(|document| &document.accepted) {
        let Some(warp) = state.solution().map(|solution| &solution.alignment.warp) else { break };
        let stretch = Rect::from_min_max(
            pos2(x(warp.at(*from)), plot.bottom() - 4.0),
            pos2(x(warp.at(*to)), plot.bottom() - 1.0),
        );
        clipped.rect_filled(stretch, 1.5, palette.accent);
    }
    let head = pos2(x(state.transport.position_s), plot.bottom());
    let triangle = vec![head + vec2(-HEAD, -HEAD_HEIGHT), head + vec2(HEAD, -HEAD_HEIGHT), head];
    clipped.add(Shape::convex_polygon(triangle, palette.ink, Stroke::NONE));
    if let Some((place, words)) = &selected {
        let galley = clipped.layout_no_wrap(words.clone(), theme::label_font(), palette.on_accent);
        let size = galley.size() + vec2(8.0, 2.0);
        // Beside the onset, but never outside.
        let left = (x(*place) + 2.0).min(plot.right() - size.x).max(plot.left());
        let ground = Rect::from_min_size(pos2(left, plot.bottom() - TIME_LABEL - 0.5 * size.y), size);
        if (view.start_s..=view.end_s()).contains(place) {
            clipped.rect_filled(ground, 3.0, palette.accent);
            clipped.galley(ground.min + vec2(4.0, 1.0), galley, palette.on_accent);
        }
    }
    let label = |y: f32, text: &str| {
        let place = pos2(whole.left() + GUTTER - 6.0, y);
        painter.text(place, Align2::RIGHT_CENTER, text, theme::label_font(), palette.soft_ink);
    };
    label(plot.top() + 10.0, "bar");
    label(plot.bottom() - TIME_LABEL, "time");
    painter.hline(whole.x_range(), whole.bottom() - 0.5, Stroke::new(1.0, palette.edge));

    if let Some(pointer) = response.interact_pointer_pos() {
        if response.clicked() {
            commands.push(Command::Seek(time(pointer.x)));
        } else if response.dragged() {
            let origin = ui.input(|input| input.pointer.press_origin()).unwrap_or(pointer);
            commands.push(Command::Mark(Some((time(origin.x), time(pointer.x)))));
        }
    }
    if response.double_clicked() {
        commands.push(Command::Mark(None));
    }
}
