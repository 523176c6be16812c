//! The ruler above the panes: bars and beats of the score, time of the recording, the marked stretch.

use eframe::egui::{Align2, CursorIcon, FontId, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::canvas::GUTTER;
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
/// Numbers of bars are at least this far apart.
const BAR_ROOM: f32 = 36.0;

/// Draws the ruler. A click moves the playhead, a drag marks a stretch to repeat.
pub fn ruler_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let (whole, _) = ui.allocate_exact_size(vec2(ui.available_width(), RULER_HEIGHT), Sense::hover());
    let plot = Rect::from_min_max(pos2(whole.left() + GUTTER, whole.top()), whole.max);
    let response = ui.allocate_rect(plot, Sense::click_and_drag()).on_hover_cursor(CursorIcon::Text);
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "Ruler: click to move the playhead, drag to mark"));
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
    let decimals = if step < 0.01 {
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
        let bars = beats.iter().filter(|beat| beat.beat == 1).count();
        let step = curve::bar_step(plot.width() / bars.max(1) as f32, BAR_ROOM);
        for beat in beats {
            let x = x(beat.performance_s);
            if beat.beat == 1 && (beat.bar % step == 0 || (step > 1 && beat.bar == 1)) {
                clipped.vline(x, plot.top() + 2.0..=plot.top() + 18.0, Stroke::new(1.0, palette.soft_ink));
                let font = FontId::new(12.0, theme::strong_family());
                clipped.text(pos2(x + 4.0, plot.top() + 10.0), Align2::LEFT_CENTER, beat.bar, font, palette.ink);
            } else if step == 1 && beats.len() as f32 * 10.0 < plot.width() {
                clipped.vline(x, plot.top() + 12.0..=plot.top() + 18.0, Stroke::new(1.0, palette.edge));
            }
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
