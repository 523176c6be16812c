//! Small curves over epochs.

use eframe::egui::{Align2, Color32, FontId, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::app::ui::theme::Palette;

/// A curve with its name and how its values are written.
pub struct Series<'a> {
    /// What it shows.
    pub name: &'a str,
    /// Epoch and value, in order.
    pub points: Vec<[f64; 2]>,
    /// The point to mark.
    pub marked: Option<[f64; 2]>,
    /// The unit after its values.
    pub unit: &'a str,
    /// Its colour.
    pub colour: Color32,
    /// Whether single points are drawn.
    pub dots: bool,
}

const HEIGHT: f32 = 100.0;

/// Draws one curve over `epochs` epochs.
pub fn chart_ui(ui: &mut Ui, series: &Series<'_>, epochs: f64) {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let last = series.points.last().map_or(f64::NAN, |point| point[1]);
    let summary = format!("{}: {}", series.name, written(last, series.unit));
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, summary.clone()));
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 6.0, palette.canvas);
    painter.rect_stroke(rect, 6.0, Stroke::new(1.0, palette.edge), eframe::egui::StrokeKind::Inside);
    let small = FontId::proportional(10.5);
    painter.text(rect.left_top() + vec2(9.0, 7.0), Align2::LEFT_TOP, series.name, small.clone(), palette.soft_ink);
    let finite = || series.points.iter().filter(|point| point[1].is_finite());
    let low = finite().map(|point| point[1]).fold(f64::INFINITY, f64::min);
    let high = finite().map(|point| point[1]).fold(f64::NEG_INFINITY, f64::max);
    if !low.is_finite() {
        painter.text(rect.center(), Align2::CENTER_CENTER, "nothing yet", small, palette.soft_ink);
        return;
    }
    painter.text(
        rect.right_top() + vec2(-9.0, 7.0),
        Align2::RIGHT_TOP,
        written(last, series.unit),
        FontId::new(11.0, crate::app::ui::theme::strong_family()),
        palette.ink,
    );
    let plot = Rect::from_min_max(rect.min + vec2(10.0, 26.0), rect.max - vec2(10.0, 25.0));
    let span = (high - low).max(1e-9 * high.abs()).max(1e-12);
    let place = |point: &[f64; 2]| {
        let x = plot.left() + (point[0] / epochs.max(1.0)) as f32 * plot.width();
        let share = if high > low { ((point[1] - low) / span) as f32 } else { 0.5 };
        pos2(x, plot.bottom() - share * plot.height())
    };
    for y in [plot.top(), plot.bottom()] {
        painter.hline(plot.x_range(), y, Stroke::new(1.0, palette.grid));
    }
    let points: Vec<_> = finite().map(place).collect();
    if series.dots {
        for point in &points {
            painter.circle_filled(*point, 2.2, series.colour);
        }
    }
    painter.line(points, Stroke::new(1.5, series.colour));
    if let Some(marked) = &series.marked {
        painter.circle(place(marked), 4.0, palette.accent, Stroke::new(1.5, palette.canvas));
    }
    let foot = rect.bottom() - 7.0;
    painter.text(pos2(plot.left(), foot), Align2::LEFT_BOTTOM, "0", small.clone(), palette.soft_ink);
    let end = format!("{epochs:.0} epochs");
    painter.text(pos2(plot.right(), foot), Align2::RIGHT_BOTTOM, end, small, palette.soft_ink);
}

fn written(value: f64, unit: &str) -> String {
    let digits = match (unit.is_empty(), value.abs() >= 100.0) {
        (true, _) => 4,
        (_, true) => 1,
        _ => 2,
    };
    if value.is_finite() { format!("{value:.digits$}{unit}") } else { "–".to_owned() }
}
