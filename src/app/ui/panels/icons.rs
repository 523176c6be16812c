//! Buttons with icons that are drawn, not taken from a font.

use eframe::egui::{
    CornerRadius, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use crate::app::ui::theme::Palette;

/// What a button shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// A triangle.
    Play,
    /// Two bars.
    Pause,
    /// A bar and a triangle to the left.
    ToStart,
    /// A ring of arrows.
    Loop,
    /// A metronome.
    Clicks,
    /// Two ears.
    Split,
    /// An arrow back.
    Undo,
    /// An arrow forward.
    Redo,
    /// A panel on the right.
    Side,
}

/// A square button with an icon; `active` shows that it is switched on.
pub fn icon_button(ui: &mut Ui, icon: Icon, name: &str, active: bool, enabled: bool) -> Response {
    let size = if matches!(icon, Icon::Play | Icon::Pause) { vec2(38.0, 30.0) } else { vec2(30.0, 28.0) };
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let palette = Palette::of(ui);
    let primary = matches!(icon, Icon::Play | Icon::Pause);
    let fill = if primary {
        if response.hovered() { palette.accent.gamma_multiply(0.85) } else { palette.accent }
    } else if active {
        palette.accent.gamma_multiply(0.3)
    } else if response.hovered() && enabled {
        palette.button_hover
    } else {
        eframe::egui::Color32::TRANSPARENT
    };
    let ink = match (enabled, primary, active) {
        (false, ..) => palette.soft_ink.gamma_multiply(0.4),
        (_, true, _) => palette.on_accent,
        (_, _, true) => palette.accent,
        _ => palette.ink,
    };
    ui.painter().rect_filled(rect, CornerRadius::same(6), fill);
    paint(ui.painter(), rect, icon, Stroke::new(1.6, ink));
    response.widget_info(|| WidgetInfo::selected(Role::Button, enabled, active, name));
    response
}

fn paint(painter: &Painter, rect: Rect, icon: Icon, stroke: Stroke) {
    let centre = rect.center();
    let at = |x: f32, y: f32| centre + vec2(x, y);
    let filled = |points: Vec<Pos2>| {
        painter.add(Shape::convex_polygon(points, stroke.color, Stroke::NONE));
    };
    let line = |points: Vec<Pos2>| {
        painter.add(Shape::line(points, stroke));
    };
    match icon {
        Icon::Play => filled(vec![at(-4.5, -7.0), at(7.0, 0.0), at(-4.5, 7.0)]),
        Icon::Pause => {
            for x in [-3.5, 3.5] {
                painter.rect_filled(Rect::from_center_size(at(x, 0.0), vec2(3.6, 13.0)), 1.0, stroke.color);
            }
        }
        Icon::ToStart => {
            painter.rect_filled(Rect::from_center_size(at(-6.0, 0.0), vec2(2.2, 11.0)), 0.0, stroke.color);
            filled(vec![at(6.0, -5.5), at(-3.5, 0.0), at(6.0, 5.5)]);
        }
        Icon::Loop => {
            line(vec![at(-7.0, 1.0), at(-7.0, -4.0), at(5.0, -4.0)]);
            filled(vec![at(4.0, -7.0), at(8.0, -4.0), at(4.0, -1.0)]);
            line(vec![at(7.0, -1.0), at(7.0, 4.0), at(-5.0, 4.0)]);
            filled(vec![at(-4.0, 1.0), at(-8.0, 4.0), at(-4.0, 7.0)]);
        }
        Icon::Clicks => {
            line(vec![at(-6.0, 7.0), at(-2.5, -7.0), at(2.5, -7.0), at(6.0, 7.0), at(-6.0, 7.0)]);
            line(vec![at(0.0, 4.0), at(6.0, -5.0)]);
        }
        Icon::Split => {
            painter.circle_filled(at(-5.5, 0.0), 3.6, stroke.color);
            painter.circle_stroke(at(5.5, 0.0), 3.2, stroke);
            line(vec![at(0.0, -6.0), at(0.0, 6.0)]);
        }
        Icon::Undo => arrow_back(painter, centre, 1.0, stroke),
        Icon::Redo => arrow_back(painter, centre, -1.0, stroke),
        Icon::Side => {
            let frame = Rect::from_center_size(centre, vec2(15.0, 12.0));
            painter.rect_stroke(frame, 2.0, stroke, eframe::egui::StrokeKind::Middle);
            line(vec![at(2.5, -6.0), at(2.5, 6.0)]);
        }
    }
}

/// A bent arrow to the left, or to the right if `side` is -1.
fn arrow_back(painter: &Painter, centre: Pos2, side: f32, stroke: Stroke) {
    let at = |x: f32, y: f32| pos2(centre.x + side * x, centre.y + y);
    let bend = (0..=12).map(|k| {
        let angle = std::f32::consts::PI * (-0.5 + k as f32 / 12.0);
        at(2.0 + 4.0 * angle.cos(), 1.0 + 4.0 * angle.sin())
    });
    let points = [at(-4.0, -3.0)].into_iter().chain(bend).chain([at(-2.0, 5.0)]);
    painter.add(Shape::line(points.collect(), stroke));
    painter.add(Shape::line(vec![at(-1.5, -6.5), at(-5.0, -3.0), at(-1.5, 0.5)], stroke));
}
