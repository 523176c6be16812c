//! From shapes to PNG and SVG, with plotters.

use std::sync::LazyLock;

use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::drawing::{Anchor, Area, Colour, Drawing, Shape};
use super::theme;
use crate::base::error::{Error, Result};

/// Bitmaps are drawn this much larger and averaged down: smooth edges.
const SUPERSAMPLING: u32 = 2;
/// Vector pictures count in this fraction of a point, because plotters draws at whole numbers.
const SVG_STEPS: u32 = 8;
/// Viewers of SVG files look for a font of this name; the bitmap backend finds the embedded one under it.
const FONT: &str = "Inter, Helvetica, Arial, sans-serif";
/// Plotters takes a font's size to be its line height.
const LINE_HEIGHT: f64 = 1.24;

static FONTS_REGISTERED: LazyLock<bool> = LazyLock::new(|| {
    let regular = include_bytes!("../../../assets/fonts/Inter-Regular.otf");
    let bold = include_bytes!("../../../assets/fonts/Inter-SemiBold.otf");
    register_font(FONT, FontStyle::Normal, regular).is_ok() && register_font(FONT, FontStyle::Bold, bold).is_ok()
});

/// A PNG of the drawing's size.
pub fn png(drawing: &Drawing) -> Result<Vec<u8>> {
    let (width, height) = (drawing.width.ceil() as u32, drawing.height.ceil() as u32);
    let (large_width, large_height) = (width * SUPERSAMPLING, height * SUPERSAMPLING);
    let mut large = vec![0; large_width as usize * large_height as usize * 3];
    let backend = BitMapBackend::with_buffer(&mut large, (large_width, large_height));
    draw(backend.into_drawing_area(), drawing, f64::from(SUPERSAMPLING), Joints::Drawn)?;
    let pixels = averaged(&large, width as usize, height as usize);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels)).map_err(failed)?;
    Ok(bytes)
}

/// An SVG of the drawing's size.
pub fn svg(drawing: &Drawing) -> Result<Vec<u8>> {
    let size = (drawing.width.ceil() as u32, drawing.height.ceil() as u32);
    let steps = (size.0 * SVG_STEPS, size.1 * SVG_STEPS);
    let mut text = String::new();
    draw(
        SVGBackend::with_string(&mut text, steps).into_drawing_area(),
        drawing,
        f64::from(SVG_STEPS),
        Joints::LeftToViewer,
    )?;
    let in_steps = format!("width=\"{}\" height=\"{}\"", steps.0, steps.1);
    let in_points = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    let text = text.replacen(&in_steps, &in_points, 1);
    Ok(text.replace("<polyline ", "<polyline stroke-linejoin=\"round\" ").into_bytes())
}

/// Width of a text in points.
pub fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    let font = font(size, bold);
    font.box_size(text).map_or(0.0, |(width, _)| f64::from(width))
}

fn font(size: f64, bold: bool) -> FontDesc<'static> {
    LazyLock::force(&FONTS_REGISTERED);
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    FontDesc::new(FontFamily::Name(FONT), size * LINE_HEIGHT, style)
}

/// Who rounds the corners of lines. Plotters gives thick lines of a bitmap mitred corners, whose spikes at sharp angles
/// leave the panel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joints {
    Drawn,
    LeftToViewer,
}

fn draw<DB: DrawingBackend>(
    area: DrawingArea<DB, plotters::coord::Shift>,
    drawing: &Drawing,
    scale: f64,
    joints: Joints,
) -> Result<()> {
    area.fill(&rgb(theme::PAPER)).map_err(failed)?;
    let at = |(x, y): (f64, f64)| ((x * scale).round() as i32, (y * scale).round() as i32);
    for shape in &drawing.shapes {
        match shape {
            Shape::Rectangle { area: place, fill, edge } => {
                let corners = corners(place, scale);
                if let Some(fill) = fill {
                    area.draw(&Rectangle::new(corners, rgb(*fill).filled())).map_err(failed)?;
                }
                if let Some(edge) = edge {
                    // As a line: the SVG backend knows no width for the edge of a rectangle.
                    let [(left, top), (right, bottom)] = corners;
                    let round = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
                    let style = rgb(*edge).stroke_width((0.9 * scale).round().max(1.0) as u32);
                    area.draw(&PathElement::new(round, style)).map_err(failed)?;
                }
            }
            Shape::Line { points, width, colour } => {
                let (colour, width) = (rgb(*colour), (width * scale).round().max(1.0) as u32);
                let style = colour.stroke_width(width);
                let places: Vec<(i32, i32)> = points.iter().copied().map(at).collect();
                if joints == Joints::LeftToViewer || places.len() == 2 {
                    area.draw(&PathElement::new(places, style)).map_err(failed)?;
                    continue;
                }
                for pair in places.windows(2) {
                    area.draw(&PathElement::new(pair.to_vec(), style)).map_err(failed)?;
                    area.draw(&Circle::new(pair[1], width / 2, colour.filled())).map_err(failed)?;
                }
            }
            Shape::Text { text, at: place, size, bold, anchor, colour } => {
                let horizontal = match anchor {
                    Anchor::Left => HPos::Left,
                    Anchor::Centre => HPos::Center,
                    Anchor::Right => HPos::Right,
                };
                let colour = rgb(*colour);
                let style = TextStyle::from(font(size * scale, *bold)).color(&colour);
                let style = style.pos(Pos::new(horizontal, VPos::Center));
                area.draw(&Text::new(text.as_str(), at(*place), style)).map_err(failed)?;
            }
        }
    }
    area.present().map_err(failed)
}

/// Plotters draws the pixels of the far corner too, so it lies one before the area's end.
fn corners(area: &Area, scale: f64) -> [(i32, i32); 2] {
    let [left, top, right, bottom] =
        [area.left, area.top, area.right, area.bottom].map(|edge| (edge * scale).round() as i32);
    [(left, top), ((right - 1).max(left), (bottom - 1).max(top))]
}

fn rgb(colour: Colour) -> RGBColor {
    RGBColor(colour.0, colour.1, colour.2)
}

/// The mean of each square of pixels.
fn averaged(large: &[u8], width: usize, height: usize) -> Vec<u8> {
    let factor = SUPERSAMPLING as usize;
    let stride = width * factor * 3;
    let mut pixels = Vec::with_capacity(width * height * 3);
    let mut sums = vec![0u32; width * 3];
    for rows in large.chunks_exact(stride * factor) {
        sums.fill(0);
        for row in rows.chunks_exact(stride) {
            for (sum, square) in sums.chunks_exact_mut(3).zip(row.chunks_exact(3 * factor)) {
                for pixel in square.chunks_exact(3) {
                    sum.iter_mut().zip(pixel).for_each(|(sum, &value)| *sum += u32::from(value));
                }
            }
        }
        let count = (factor * factor) as u32;
        pixels.extend(sums.iter().map(|&sum| ((sum + count / 2) / count) as u8));
    }
    pixels
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::unsuitable("the picture", format!("it cannot be drawn: {error}"), "choose another format")
}
