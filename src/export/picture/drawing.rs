//! A picture as plain shapes in points (pixels of the PNG), before anything is rasterised.

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Which point of a text stands at its place, horizontally. Vertically it is always the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Left,
    Centre,
    Right,
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// What can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Rectangle { area: Area, fill: Option<Colour>, edge: Option<Colour> },
    Line { points: Vec<(f64, f64)>, width: f64, colour: Colour },
    Text { text: String, at: (f64, f64), size: f64, bold: bool, anchor: Anchor, colour: Colour },
}

/// Shapes, the first at the bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

impl Area {
    /// From corner and size.
    pub fn new(left: f64, top: f64, width: f64, height: f64) -> Self {
        Self { left, top, right: left + width, bottom: top + height }
    }

    pub fn width(&self) -> f64 {
        self.right - self.left
    }
}

impl Drawing {
    /// A filled rectangle.
    pub fn fill(&mut self, area: Area, colour: Colour) {
        self.shapes.push(Shape::Rectangle { area, fill: Some(colour), edge: None });
    }

    /// The edge of a rectangle.
    pub fn outline(&mut self, area: Area, colour: Colour) {
        self.shapes.push(Shape::Rectangle { area, fill: None, edge: Some(colour) });
    }

    /// A straight line or a chain of them. Points that fall on the same quarter of a pixel are left out, so that a curve
    /// of a million points costs no more than the page has room for.
    pub fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, width: f64, colour: Colour) {
        let mut kept: Vec<(f64, f64)> = Vec::new();
        for point in points {
            let near = |last: &(f64, f64)| (last.0 - point.0).abs() < 0.25 && (last.1 - point.1).abs() < 0.25;
            if !kept.last().is_some_and(near) {
                kept.push(point);
            }
        }
        if kept.len() > 1 {
            self.shapes.push(Shape::Line { points: kept, width, colour });
        }
    }

    /// A text in the regular weight.
    pub fn text(&mut self, text: impl Into<String>, at: (f64, f64), size: f64, anchor: Anchor, colour: Colour) {
        self.shapes.push(Shape::Text { text: text.into(), at, size, bold: false, anchor, colour });
    }

    /// A text in the heavier weight, anchored at its left.
    pub fn heading(&mut self, text: impl Into<String>, at: (f64, f64), size: f64, colour: Colour) {
        self.shapes.push(Shape::Text { text: text.into(), at, size, bold: true, anchor: Anchor::Left, colour });
    }
}
