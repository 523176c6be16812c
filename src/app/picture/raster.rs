//! From egui's triangles to pixels, without a graphics card: the same picture on every machine.

use std::collections::HashMap;

use eframe::egui::epaint::{ImageData, ImageDelta, Primitive, Vertex};
use eframe::egui::{ClippedPrimitive, Color32, ColorImage, Mesh, TextureId, TexturesDelta};

/// Corners are placed on this fraction of a pixel, so that triangles with a common edge cover no pixel twice and leave none out.
const STEPS: f64 = 256.0;

/// Red, green, blue and alpha of every pixel, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Width and height.
    pub size: [usize; 2],
    /// Four bytes for each pixel.
    pub rgba: Vec<u8>,
}

/// The textures that triangles refer to: letters and spectra.
#[derive(Default)]
pub struct Textures(HashMap<TextureId, ColorImage>);

impl Textures {
    /// Takes in what a frame has changed.
    pub fn update(&mut self, mut delta: TexturesDelta) {
        for (id, patches) in std::mem::take(&mut delta.set) {
            for ImageDelta { image: ImageData::Color(image), pos, .. } in patches {
                match pos {
                    None => {
                        self.0.insert(id, ColorImage::clone(&image));
                    }
                    Some(corner) => self.patch(id, corner, &image),
                }
            }
        }
        // What is no longer used is kept: the picture may still show it.
        delta.free.clear();
    }

    /// A texture.
    pub fn get(&self, id: TextureId) -> Option<&ColorImage> {
        self.0.get(&id)
    }

    fn patch(&mut self, id: TextureId, [left, top]: [usize; 2], patch: &ColorImage) {
        let Some(whole) = self.0.get_mut(&id) else { return };
        let [width, height] = patch.size;
        for row in 0..height {
            let from = (top + row) * whole.size[0] + left;
            whole.pixels[from..from + width].copy_from_slice(&patch.pixels[row * width..(row + 1) * width]);
        }
    }
}

/// Paints triangles whose corners are in points.
pub fn paint(size: [usize; 2], scale: f32, triangles: &[ClippedPrimitive], textures: &Textures) -> Pixels {
    let mut canvas = Canvas { size, pixels: vec![[0.0, 0.0, 0.0, 255.0]; size[0] * size[1]] };
    for ClippedPrimitive { clip_rect, primitive } in triangles {
        let Primitive::Mesh(mesh) = primitive else { continue };
        let Some(texture) = textures.get(mesh.texture_id) else { continue };
        let edge = |place: f32, most: usize| ((place * scale).round().max(0.0) as usize).min(most);
        let clip = Clip {
            columns: (edge(clip_rect.min.x, size[0]), edge(clip_rect.max.x, size[0])),
            rows: (edge(clip_rect.min.y, size[1]), edge(clip_rect.max.y, size[1])),
        };
        canvas.mesh(mesh, texture, &clip, scale);
    }
    let bytes = |pixel: &[f32; 4]| pixel.map(|value| value.round().clamp(0.0, 255.0) as u8);
    Pixels { size, rgba: canvas.pixels.iter().flat_map(bytes).collect() }
}

struct Clip {
    columns: (usize, usize),
    rows: (usize, usize),
}

struct Canvas {
    size: [usize; 2],
    pixels: Vec<[f32; 4]>,
}

/// A corner on the grid.
#[derive(Clone, Copy)]
struct Corner {
    x: i64,
    y: i64,
}

impl Canvas {
    fn mesh(&mut self, mesh: &Mesh, texture: &ColorImage, clip: &Clip, scale: f32) {
        for indices in mesh.indices.chunks_exact(3) {
            let corners = [indices[0], indices[1], indices[2]].map(|index| mesh.vertices[index as usize]);
            self.triangle(corners, texture, clip, scale);
        }
    }

    fn triangle(&mut self, mut vertices: [Vertex; 3], texture: &ColorImage, clip: &Clip, scale: f32) {
        let on_grid = |place: f32| (f64::from(place) * f64::from(scale) * STEPS).round() as i64;
        let place = |vertex: &Vertex| Corner { x: on_grid(vertex.pos.x), y: on_grid(vertex.pos.y) };
        let mut corners = vertices.each_ref().map(place);
        let mut area = side(corners[0], corners[1], corners[2]);
        if area == 0 {
            return;
        }
        if area < 0 {
            vertices.swap(1, 2);
            corners.swap(1, 2);
            area = -area;
        }
        let pixel = |steps: i64| steps.div_euclid(STEPS as i64).max(0) as usize;
        let range = |values: [i64; 3], (low, high): (usize, usize)| {
            let (least, most) = values.iter().fold((i64::MAX, i64::MIN), |(l, m), &v| (l.min(v), m.max(v)));
            (pixel(least).max(low), (pixel(most) + 1).min(high))
        };
        let columns = range(corners.map(|corner| corner.x), clip.columns);
        let rows = range(corners.map(|corner| corner.y), clip.rows);
        for row in rows.0..rows.1 {
            for column in columns.0..columns.1 {
                let centre = Corner { x: on_centre(column), y: on_centre(row) };
                let weights = [(1, 2), (2, 0), (0, 1)].map(|(a, b)| {
                    let weight = side(corners[a], corners[b], centre);
                    // An edge belongs to the triangle below or right of it.
                    (weight > 0 || (weight == 0 && owns_edge(corners[a], corners[b]))).then_some(weight)
                });
                let [Some(a), Some(b), Some(c)] = weights else { continue };
                let weights = [a, b, c].map(|weight| weight as f32 / area as f32);
                blend(&mut self.pixels[row * self.size[0] + column], shade(&vertices, weights, texture));
            }
        }
    }
}

fn on_centre(index: usize) -> i64 {
    (index as i64) * STEPS as i64 + STEPS as i64 / 2
}

/// Twice the area of a triangle, above zero if it goes round clockwise on the screen.
fn side(a: Corner, b: Corner, c: Corner) -> i64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

fn owns_edge(a: Corner, b: Corner) -> bool {
    (a.y == b.y && b.x > a.x) || b.y < a.y
}

/// Colour of a place: corner colours and texture, both mixed, multiplied.
fn shade(vertices: &[Vertex; 3], weights: [f32; 3], texture: &ColorImage) -> [f32; 4] {
    let mut colour = [0.0; 4];
    let mut place = [0.0; 2];
    for (vertex, weight) in vertices.iter().zip(weights) {
        for (mixed, value) in colour.iter_mut().zip(vertex.color.to_array()) {
            *mixed += weight * f32::from(value);
        }
        place[0] += weight * vertex.uv.x;
        place[1] += weight * vertex.uv.y;
    }
    let texel = sample(texture, place);
    std::array::from_fn(|channel| colour[channel] * texel[channel] / 255.0)
}

/// Between the four texels around a place.
fn sample(texture: &ColorImage, [u, v]: [f32; 2]) -> [f32; 4] {
    let [width, height] = texture.size;
    let split = |share: f32, count: usize| {
        let place = (share * count as f32 - 0.5).clamp(0.0, (count - 1) as f32);
        (place.floor() as usize, (place.floor() as usize + 1).min(count - 1), place.fract())
    };
    let ((left, right, x), (top, bottom, y)) = (split(u, width), split(v, height));
    let at = |column: usize, row: usize| Color32::to_array(&texture.pixels[row * width + column]).map(f32::from);
    let corners = [at(left, top), at(right, top), at(left, bottom), at(right, bottom)];
    std::array::from_fn(|channel| {
        let [a, b, c, d] = corners.map(|corner| corner[channel]);
        (a * (1.0 - x) + b * x) * (1.0 - y) + (c * (1.0 - x) + d * x) * y
    })
}

/// Colours carry their alpha already.
fn blend(pixel: &mut [f32; 4], colour: [f32; 4]) {
    let rest = 1.0 - colour[3] / 255.0;
    for (under, over) in pixel.iter_mut().zip(colour) {
        *under = over + *under * rest;
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::epaint::WHITE_UV;
    use eframe::egui::{Rect, pos2};

    use super::*;

    fn white() -> Textures {
        let mut textures = Textures::default();
        textures.0.insert(TextureId::default(), ColorImage::filled([1, 1], Color32::WHITE));
        textures
    }

    fn primitive(mesh: Mesh, clip: Rect) -> ClippedPrimitive {
        ClippedPrimitive { clip_rect: clip, primitive: Primitive::Mesh(mesh) }
    }

    fn at(pixels: &Pixels, x: usize, y: usize) -> [u8; 4] {
        let from = 4 * (y * pixels.size[0] + x);
        std::array::from_fn(|channel| pixels.rgba[from + channel])
    }

    #[test]
    fn a_rectangle_covers_each_pixel_once_and_nothing_outside_its_clip() {
        let mut mesh = Mesh::default();
        let half = Color32::from_rgba_premultiplied(100, 0, 0, 128);
        mesh.add_colored_rect(Rect::from_min_max(pos2(1.0, 1.0), pos2(7.0, 7.0)), half);
        let clip = Rect::from_min_max(pos2(0.0, 0.0), pos2(8.0, 5.0));
        let pixels = paint([8, 8], 1.0, &[primitive(mesh, clip)], &white());
        for y in 0..8 {
            for x in 0..8 {
                let inside = (1..7).contains(&x) && (1..5).contains(&y);
                assert_eq!(at(&pixels, x, y), if inside { [100, 0, 0, 255] } else { [0, 0, 0, 255] }, "{x} {y}");
            }
        }
    }

    #[test]
    fn textures_are_mixed_between_texels_and_corner_colours_between_corners() {
        let mut textures = white();
        let image = ColorImage::new([2, 1], vec![Color32::from_rgb(0, 0, 0), Color32::from_rgb(200, 200, 200)]);
        let id = TextureId::User(7);
        textures.0.insert(id, image);
        let mut mesh = Mesh::with_texture(id);
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        mesh.add_rect_with_uv(Rect::from_min_max(pos2(0.0, 0.0), pos2(8.0, 1.0)), whole, Color32::WHITE);
        let clip = Rect::EVERYTHING;
        let pixels = paint([8, 1], 1.0, &[primitive(mesh, clip)], &textures);
        assert_eq!((at(&pixels, 0, 0)[0], at(&pixels, 7, 0)[0]), (0, 200));
        assert!((95..130).contains(&at(&pixels, 4, 0)[0]), "{:?}", at(&pixels, 4, 0));
        let mut mesh = Mesh::default();
        for (x, y, grey) in [(0.0, 0.0, 0), (8.0, 0.0, 80), (0.0, 8.0, 0)] {
            mesh.vertices.push(Vertex { pos: pos2(x, y), uv: WHITE_UV, color: Color32::from_gray(grey) });
        }
        mesh.add_triangle(0, 1, 2);
        let pixels = paint([8, 8], 1.0, &[primitive(mesh, clip)], &white());
        assert_eq!(at(&pixels, 3, 0)[0], 35);
    }
}
