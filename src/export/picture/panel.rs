//! A panel: frame, grid, tick labels, title.

use super::axis::{Axis, Steps, number_label, time_label};
use super::drawing::{Anchor, Area, Colour, Drawing};
use super::raster::text_width;
use super::theme::{FAINT, GRID, INK, MEDIUM, PANEL, SMALL, SOFT_INK};

/// Room that titles and tick labels take around a panel's inside.
pub const HEAD: f64 = 34.0;
/// Room for the tick labels to the left.
pub const LEFT: f64 = 58.0;
/// Room for tick labels and axis name below.
pub const FOOT: f64 = 48.0;

/// A viewer of an SVG file may have to use a wider font.
const SLACK: f64 = 1.08;

/// How an axis is labelled.
#[derive(Debug, Clone, Copy)]
pub enum Labels {
    /// Minutes and seconds.
    Time,
    /// Plain numbers.
    Number,
}

/// Where a panel is and what its axes mean.
pub struct Panel {
    /// The inside, where curves go.
    pub inside: Area,
    pub x: Axis,
    pub y: Axis,
}

/// What is written around a panel.
pub struct PanelText<'a> {
    pub title: &'a str,
    /// Name and unit of the horizontal axis.
    pub x_name: &'a str,
    /// Name and unit of the vertical axis; stands after the title.
    pub y_name: &'a str,
    pub x_labels: Labels,
    pub y_labels: Labels,
}

impl Panel {
    /// Lays out the panel within `outer` and draws everything but the content.
    pub fn draw(drawing: &mut Drawing, outer: Area, x: (f64, f64), y: (f64, f64), text: &PanelText) -> Self {
        let inside =
            Area { left: outer.left + LEFT, top: outer.top + HEAD, right: outer.right, bottom: outer.bottom - FOOT };
        let panel = Self {
            inside,
            x: Axis { values: x, places: (inside.left, inside.right) },
            y: Axis { values: y, places: (inside.bottom, inside.top) },
        };
        drawing.fill(inside, PANEL);
        let title_y = outer.top + HEAD * 0.42;
        drawing.heading(text.title, (inside.left, title_y), MEDIUM, INK);
        let after = inside.left + SLACK * text_width(text.title, MEDIUM, true) + 8.0;
        drawing.text(text.y_name, (after, title_y + 1.0), SMALL, Anchor::Left, SOFT_INK);
        panel.draw_x(drawing, text.x_labels);
        panel.draw_y(drawing, text.y_labels);
        drawing.outline(inside, FAINT);
        let below = (inside.left + inside.width() / 2.0, inside.bottom + 35.0);
        drawing.text(text.x_name, below, SMALL, Anchor::Centre, SOFT_INK);
        panel
    }

    fn draw_x(&self, drawing: &mut Drawing, labels: Labels) {
        let ticks = self.x.ticks(90.0, steps(labels));
        let step = step_of(&ticks);
        for tick in ticks {
            let x = self.x.place(tick);
            drawing.line([(x, self.inside.top), (x, self.inside.bottom)], 1.0, GRID);
            drawing.text(label(labels, tick, step), (x, self.inside.bottom + 14.0), SMALL, Anchor::Centre, SOFT_INK);
        }
    }

    fn draw_y(&self, drawing: &mut Drawing, labels: Labels) {
        let height = self.inside.bottom - self.inside.top;
        let ticks = self.y.ticks((height / 8.0).max(28.0), steps(labels));
        let step = step_of(&ticks);
        for tick in ticks {
            let y = self.y.place(tick);
            drawing.line([(self.inside.left, y), (self.inside.right, y)], 1.0, GRID);
            drawing.text(label(labels, tick, step), (self.inside.left - 8.0, y), SMALL, Anchor::Right, SOFT_INK);
        }
    }

    /// A curve through values; beyond the panel it follows the panel's edge.
    pub fn curve(&self, drawing: &mut Drawing, values: impl Iterator<Item = (f64, f64)>, width: f64, colour: Colour) {
        let places = values.map(|(x, y)| (self.x.place_within(x), self.y.place_within(y)));
        drawing.line(places, width, colour);
    }
}

/// Draws a legend whose right end is at `right`: swatches with their names.
pub fn legend(drawing: &mut Drawing, right: f64, y: f64, entries: &[(&str, Colour, Option<Colour>)]) {
    let mut right = right;
    for (name, colour, edge) in entries.iter().rev() {
        right -= SLACK * text_width(name, SMALL, false);
        drawing.text(*name, (right, y), SMALL, Anchor::Left, SOFT_INK);
        right -= 7.0;
        let swatch = Area::new(right - 18.0, y - 5.0, 18.0, 10.0);
        drawing.fill(swatch, *colour);
        if let Some(edge) = edge {
            drawing.outline(swatch, *edge);
        }
        right -= 18.0 + 20.0;
    }
}

fn steps(labels: Labels) -> Steps {
    match labels {
        Labels::Time => Steps::Time,
        Labels::Number => Steps::Decimal,
    }
}

fn label(labels: Labels, value: f64, step: f64) -> String {
    match labels {
        Labels::Time => time_label(value, step),
        Labels::Number => number_label(value, step),
    }
}

fn step_of(ticks: &[f64]) -> f64 {
    ticks.windows(2).next().map_or(1.0, |pair| pair[1] - pair[0])
}
