//! From egui's shapes to an SVG file: shapes stay shapes, text stays text.

use std::fmt::Write as _;

use eframe::egui::epaint::{
    CircleShape, ClippedShape, ColorMode, PathShape, RectShape, Shape, StrokeKind, TextShape, TextureId,
};
use eframe::egui::{Color32, ColorImage, FontFamily, Mesh, Pos2, Rect, Stroke, vec2};

use super::music_outlines::path_of;
use super::png::rgba_png;
use super::raster::Textures;
use crate::app::ui::theme;
use crate::base::error::Result;

/// Draws shapes whose places are in points of a window at `zoom`.
pub fn svg(size: [u32; 2], zoom: f32, shapes: &[ClippedShape], textures: &Textures) -> Result<Vec<u8>> {
    let [width, height] = size;
    let mut page = Page { text: String::new(), clips: Vec::new(), textures };
    let whole = Rect::from_min_size(Pos2::ZERO, vec2(width as f32 / zoom, height as f32 / zoom));
    for ClippedShape { clip_rect, shape, .. } in shapes {
        let clip = clip_rect.intersect(whole);
        if !clip.is_positive() {
            continue;
        }
        let clip = page.clip(clip);
        let from = page.text.len();
        page.shape(shape)?;
        if page.text.len() > from {
            page.text.insert_str(from, &format!("<g clip-path=\"url(#c{clip})\">"));
            page.text.push_str("</g>\n");
        }
    }
    let mut clips = String::new();
    for (index, clip) in page.clips.iter().enumerate() {
        let _ = write!(clips, "<clipPath id=\"c{index}\"><rect {}/></clipPath>", sides(*clip));
    }
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\">\n<defs>{clips}</defs>\n",
        number(whole.width()),
        number(whole.height()),
    );
    Ok(format!("{head}{}</svg>\n", page.text).into_bytes())
}

struct Page<'a> {
    text: String,
    clips: Vec<Rect>,
    textures: &'a Textures,
}

// Writing into a string cannot fail.
impl Page<'_> {
    fn clip(&mut self, rect: Rect) -> usize {
        let known = self.clips.iter().position(|clip| *clip == rect);
        known.unwrap_or_else(|| {
            self.clips.push(rect);
            self.clips.len() - 1
        })
    }

    fn shape(&mut self, shape: &Shape) -> Result<()> {
        match shape {
            Shape::Vec(shapes) => shapes.iter().try_for_each(|shape| self.shape(shape))?,
            Shape::Circle(circle) => self.circle(circle),
            Shape::LineSegment { points, stroke } => self.line(points, false, Color32::TRANSPARENT, *stroke),
            Shape::Path(path) => self.path(path),
            Shape::Rect(rect) => self.rect(rect)?,
            Shape::Text(text) => self.letters(text),
            Shape::Mesh(mesh) => self.mesh(mesh)?,
            // Nothing in the window is drawn with these.
            Shape::Noop
            | Shape::Ellipse(_)
            | Shape::Band(_)
            | Shape::QuadraticBezier(_)
            | Shape::CubicBezier(_)
            | Shape::Callback(_) => {}
        }
        Ok(())
    }

    fn circle(&mut self, circle: &CircleShape) {
        let (x, y, radius) = (number(circle.center.x), number(circle.center.y), number(circle.radius));
        let style = format!("{}{}", fill(circle.fill), stroke(circle.stroke));
        let _ = write!(self.text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{style}/>");
    }

    fn path(&mut self, path: &PathShape) {
        let colour = match &path.stroke.color {
            ColorMode::Solid(colour) => *colour,
            ColorMode::UV(colour) => colour(path.visual_bounding_rect(), path.points[0]),
        };
        self.line(&path.points, path.closed, path.fill, Stroke::new(path.stroke.width, colour));
    }

    fn line(&mut self, points: &[Pos2], closed: bool, filled: Color32, line: Stroke) {
        if points.len() < 2 || (filled == Color32::TRANSPARENT && line.is_empty()) {
            return;
        }
        let name = if closed { "polygon" } else { "polyline" };
        let places: Vec<String> = points.iter().map(|p| format!("{},{}", number(p.x), number(p.y))).collect();
        let style = format!("{}{}", fill(filled), stroke(line));
        let _ = write!(self.text, "<{name} points=\"{}\" stroke-linejoin=\"round\"{style}/>", places.join(" "));
    }

    fn rect(&mut self, shape: &RectShape) -> Result<()> {
        // A shadow is for the eye on the screen.
        if shape.blur_width > 0.0 {
            return Ok(());
        }
        if let Some(brush) = shape.brush.as_ref().filter(|brush| brush.uv != Rect::ZERO) {
            return self.image(brush.fill_texture_id, shape.rect);
        }
        let radius = f32::from(shape.corner_radius.nw);
        let round = if radius > 0.0 { format!(" rx=\"{}\"", number(radius)) } else { String::new() };
        if shape.fill != Color32::TRANSPARENT {
            let _ = write!(self.text, "<rect {}{round}{}/>", sides(shape.rect), fill(shape.fill));
        }
        if !shape.stroke.is_empty() {
            let inset = match shape.stroke_kind {
                StrokeKind::Inside => 0.5 * shape.stroke.width,
                StrokeKind::Middle => 0.0,
                StrokeKind::Outside => -0.5 * shape.stroke.width,
            };
            let edge = sides(shape.rect.shrink(inset));
            let _ = write!(self.text, "<rect {edge}{round} fill=\"none\"{}/>", stroke(shape.stroke));
        }
        Ok(())
    }

    fn letters(&mut self, shape: &TextShape) {
        let Some(format) = shape.galley.job.sections.first().map(|section| &section.format) else { return };
        let weight = if format.font_id.family == theme::strong_family() { " font-weight=\"600\"" } else { "" };
        let family = match format.font_id.family {
            FontFamily::Monospace => "monospace",
            _ => "Inter, Helvetica, Arial, sans-serif",
        };
        for row in &shape.galley.rows {
            let Some(first) = row.row.glyphs.first() else { continue };
            let origin = shape.pos + row.pos.to_vec2();
            let printed = row.row.visuals.mesh.vertices.get(first.first_vertex as usize).map(|vertex| vertex.color);
            let printed = printed.filter(|colour| *colour != Color32::PLACEHOLDER).unwrap_or(shape.fallback_color);
            let colour = shape.override_text_color.unwrap_or(printed).gamma_multiply(shape.opacity_factor);
            if format.font_id.family == theme::music_family() {
                for glyph in &row.row.glyphs {
                    let place = [origin.x + glyph.pos.x, origin.y + glyph.pos.y];
                    if let Some(path) = path_of(glyph.chr, place, format.font_id.size) {
                        let _ = write!(self.text, "<path d=\"{path}\"{}/>", fill(colour));
                    }
                }
                continue;
            }
            let places: Vec<String> = row.row.glyphs.iter().map(|glyph| number(origin.x + glyph.pos.x)).collect();
            let words: String = row.row.glyphs.iter().map(|glyph| escaped(glyph.chr)).collect();
            let _ = write!(
                self.text,
                "<text x=\"{}\" y=\"{}\" font-family=\"{family}\" font-size=\"{}\"{weight} xml:space=\"preserve\"{}>{words}</text>",
                places.join(" "),
                number(origin.y + first.pos.y),
                number(format.font_id.size),
                fill(colour),
            );
        }
    }

    /// Triangles of one colour become one path; colours keep the order in which they first appear.
    fn mesh(&mut self, mesh: &Mesh) -> Result<()> {
        if mesh.texture_id != TextureId::default() {
            return self.image(mesh.texture_id, mesh.calc_bounds());
        }
        let mut paths: Vec<(Color32, String)> = Vec::new();
        for triangle in mesh.indices.chunks_exact(3) {
            let corners = [triangle[0], triangle[1], triangle[2]].map(|index| mesh.vertices[index as usize]);
            let colour = corners[0].color;
            let [a, b, c] = corners.map(|corner| format!("{} {}", number(corner.pos.x), number(corner.pos.y)));
            let place = paths.iter().position(|(other, _)| *other == colour).unwrap_or_else(|| {
                paths.push((colour, String::new()));
                paths.len() - 1
            });
            let _ = write!(paths[place].1, "M{a}L{b}L{c}z");
        }
        for (colour, path) in paths {
            // Smooth edges would leave seams between the triangles.
            let _ = write!(self.text, "<path d=\"{path}\" shape-rendering=\"crispEdges\"{}/>", fill(colour));
        }
        Ok(())
    }

    fn image(&mut self, id: TextureId, rect: Rect) -> Result<()> {
        let Some(image) = self.textures.get(id) else { return Ok(()) };
        let data = base64(&rgba_png(image.size, &unmultiplied(image))?);
        let place = sides(rect);
        let _ =
            write!(self.text, "<image {place} preserveAspectRatio=\"none\" href=\"data:image/png;base64,{data}\"/>");
        Ok(())
    }
}

fn unmultiplied(image: &ColorImage) -> Vec<u8> {
    image.pixels.iter().flat_map(Color32::to_srgba_unmultiplied).collect()
}

/// As short as a hundredth of a point allows.
fn number(value: f32) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn sides(rect: Rect) -> String {
    let [x, y, width, height] = [rect.min.x, rect.min.y, rect.width().max(0.0), rect.height().max(0.0)].map(number);
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

fn paint(name: &str, colour: Color32) -> String {
    let [red, green, blue, alpha] = colour.to_srgba_unmultiplied();
    let solid = format!(" {name}=\"#{red:02x}{green:02x}{blue:02x}\"");
    if alpha == 255 { solid } else { format!("{solid} {name}-opacity=\"{}\"", number(f32::from(alpha) / 255.0)) }
}

fn fill(colour: Color32) -> String {
    if colour == Color32::TRANSPARENT { " fill=\"none\"".to_owned() } else { paint("fill", colour) }
}

fn stroke(line: Stroke) -> String {
    if line.is_empty() {
        return String::new();
    }
    format!("{} stroke-width=\"{}\"", paint("stroke", line.color), number(line.width))
}

fn escaped(letter: char) -> String {
    match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        letter => letter.to_string(),
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let all = chunk.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(all >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64(b"fooba"), "Zm9vYmE=");
        assert_eq!(base64(b"foob"), "Zm9vYg==");
    }

    #[test]
    fn numbers_are_short_and_letters_escaped() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(0.25), "0.25");
        assert_eq!("a<b".chars().map(escaped).collect::<String>(), "a&lt;b");
    }

    #[test]
    fn half_clear_colours_keep_their_colour() {
        let half = Color32::from_rgba_unmultiplied(200, 100, 0, 128);
        assert_eq!(fill(half), " fill=\"#c76400\" fill-opacity=\"0.5\"");
    }
}
