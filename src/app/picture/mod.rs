//! Pictures of the window or a pane of it, in any size. They are painted by the panels themselves, off the screen: what is shown
//! is what is written.

mod music_outlines;
mod png;
mod raster;
mod svg;

use std::path::PathBuf;

use eframe::egui::{self, ClippedPrimitive, Context, Rect, Ui, pos2, vec2};
use egui_tiles::{Tiles, Tree};

use super::folders::Purpose;
use super::state::AppState;
use super::ui::panes::{self, PaneKind};
use super::ui::{panels, shell, theme};
use crate::base::error::Result;

pub use raster::{Pixels, Textures};

/// What is pictured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureArea {
    /// The window with its bars and side panel.
    Window,
    /// All panes and the ruler.
    Panes,
    /// One pane and the ruler.
    Pane(PaneKind),
}

impl PictureArea {
    /// What can be pictured.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Window, Self::Panes].into_iter().chain(PaneKind::ALL.map(Self::Pane))
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Window => "The whole window",
            Self::Panes => "All panes",
            Self::Pane(kind) => kind.title(),
        }
    }

    /// As large as it is on the screen.
    pub fn size_on_screen(self, state: &AppState) -> [u32; 2] {
        let window = state.preferences.window_size.unwrap_or([1440.0, 900.0]);
        let layout = &state.preferences.layout;
        let whole = layout.root().and_then(|root| layout.tiles.rect(root));
        let panes = match self {
            Self::Window => None,
            Self::Panes => whole,
            // A pane that is hidden would take a quarter of the room.
            Self::Pane(kind) => panes::rect_of(layout, kind)
                .or_else(|| whole.map(|rect| Rect::from_min_size(rect.min, rect.size() * vec2(1.0, 0.25)))),
        };
        let size = panes.map_or(vec2(window[0], window[1]), |rect| {
            (rect.size() + vec2(0.0, panels::ruler_height(state))) * state.preferences.zoom
        });
        [size.x, size.y].map(|side| (side.round() as u32).clamp(LEAST_SIDE, MOST_SIDE))
    }
}

/// Points or pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// A bitmap.
    Png,
    /// A vector picture.
    Svg,
}

impl PictureFormat {
    /// Without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Svg => "svg",
        }
    }
}

/// The smallest side of a picture, in points.
pub const LEAST_SIDE: u32 = 120;
/// The largest, in points: with the finest detail still no more memory than a recording takes.
pub const MOST_SIDE: u32 = 4000;
/// Pixels for a point.
pub const DETAILS: [u32; 3] = [1, 2, 3];

/// Which picture is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureOptions {
    /// What is pictured.
    pub area: PictureArea,
    /// How it is written.
    pub format: PictureFormat,
    /// Width and height in points.
    pub size: [u32; 2],
    /// Pixels for a point, in a bitmap.
    pub detail: u32,
    /// Where to.
    pub path: PathBuf,
}

impl PictureOptions {
    /// The panes as they are on the screen.
    pub fn first(state: &AppState) -> Self {
        let area = PictureArea::Panes;
        let path = state.proposed_name(Purpose::Exports, "png");
        Self { area, format: PictureFormat::Png, size: area.size_on_screen(state), detail: 2, path }
    }
}

/// A picture before it is written: shapes for a vector picture, triangles for a bitmap.
pub struct Drawing {
    size: [u32; 2],
    zoom: f32,
    detail: u32,
    shapes: Vec<egui::epaint::ClippedShape>,
    triangles: Vec<ClippedPrimitive>,
    textures: Textures,
}

impl std::fmt::Debug for Drawing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawing").field("size", &self.size).field("detail", &self.detail).finish_non_exhaustive()
    }
}

impl Drawing {
    /// The bitmap.
    pub fn pixels(&self) -> Pixels {
        let size = self.size.map(|side| (side * self.detail) as usize);
        raster::paint(size, self.zoom * self.detail as f32, &self.triangles, &self.textures)
    }

    /// The file.
    pub fn encode(&self, format: PictureFormat) -> Result<Vec<u8>> {
        match format {
            PictureFormat::Png => {
                let pixels = self.pixels();
                png::png(pixels.size, &pixels.rgba)
            }
            PictureFormat::Svg => svg::svg(self.size, self.zoom, &self.shapes, &self.textures),
        }
    }
}

/// Frames until panels and text have found their places.
const FRAMES: usize = 3;

/// Paints off the screen what the window of `ctx` would show.
pub fn draw(ctx: &Context, state: &AppState, options: &PictureOptions) -> Drawing {
    let aside = Context::default();
    let zoom = ctx.zoom_factor();
    let dark = ctx.theme() == egui::Theme::Dark;
    // What is folded open, how wide the side panel is, how far lists are scrolled.
    let mut memory = ctx.memory(Clone::clone);
    panels::forget_spectrum_tiles(&mut memory.data);
    aside.memory_mut(|aside| *aside = memory);
    theme::install(&aside);
    aside.set_theme(if dark { egui::Theme::Dark } else { egui::Theme::Light });
    let [width, height] = options.size.map(|side| side as f32 / zoom);
    let mut layout = match options.area {
        PictureArea::Pane(kind) => alone(kind),
        PictureArea::Window | PictureArea::Panes => state.preferences.layout.clone(),
    };
    let mut textures = Textures::default();
    let mut shapes = Vec::new();
    for frame in 0..FRAMES {
        let mut input = egui::RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height))),
            time: Some(frame as f64),
            focused: false,
            ..egui::RawInput::default()
        };
        input.viewports.entry(input.viewport_id).or_default().native_pixels_per_point = Some(options.detail as f32);
        let mut output = aside.run_ui(input, |ui| paint(ui, state, options.area, &mut layout));
        textures.update(std::mem::take(&mut output.textures_delta));
        shapes = output.shapes;
    }
    let triangles = aside.tessellate(shapes.clone(), zoom * options.detail as f32);
    Drawing { size: options.size, zoom, detail: options.detail, shapes, triangles, textures }
}

fn paint(ui: &mut Ui, state: &AppState, area: PictureArea, layout: &mut Tree<PaneKind>) {
    // Nobody points at the picture: nothing is done in it.
    let mut commands = Vec::new();
    match area {
        PictureArea::Window => shell::window_ui(ui, state, layout, &mut commands),
        PictureArea::Panes | PictureArea::Pane(_) => {
            panels::leave_out_controls(ui.ctx());
            shell::panes_ui(ui, state, layout, &mut commands);
        }
    }
}

fn alone(kind: PaneKind) -> Tree<PaneKind> {
    let mut tiles = Tiles::default();
    let root = tiles.insert_pane(kind);
    Tree::new(egui::Id::unique("pictured pane"), root, tiles)
}
