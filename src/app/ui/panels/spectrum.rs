//! The recording's spectrum, semitone by semitone: as a pane of its own, and behind the notes.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui::util::IdTypeMap;
use eframe::egui::{Color32, ColorImage, Id, Rect, Stroke, TextureHandle, TextureOptions, Ui, pos2};

use super::canvas::{Canvas, Grip};
use super::pitch_name;
use crate::app::command::Command;
use crate::app::document::view_model::{Spectrum, TILE};
use crate::app::state::AppState;

/// More pictures than this are not kept.
const MOST_TILES: usize = 96;

/// Pictures that were made, and of what.
#[derive(Clone, Default)]
struct Tiles {
    of: Option<(usize, bool)>,
    made: HashMap<(usize, usize), TextureHandle>,
}

/// Draws the pane.
pub fn spectrum_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let canvas = Canvas::new(ui, state, "Spectrum", Grip::Onsets, commands);
    let Some(document) = &state.document else {
        canvas.paint_overlay(state);
        return;
    };
    let pitches = document.piece.pitches;
    let (low, high) = (pitches.0.saturating_sub(3), (pitches.1 + 14).min(127));
    let row = canvas.plot.height() / f32::from(high - low + 1);
    let y = |pitch: f32| canvas.plot.bottom() - (pitch - f32::from(low)) * row;
    match &document.heard {
        Some(heard) => paint_spectrum(ui, &canvas, &heard.spectrum, &y, canvas.palette.wave_core),
        None => canvas.hint("Listening"),
    }
    if let Some(solution) = document.shown() {
        let onsets = solution.onsets_between(canvas.view.start_s, canvas.view.end_s());
        let room = canvas.plot.width() / onsets.len().max(1) as f32;
        let strength = ((room - 3.0) / 10.0).clamp(0.0, 1.0) * 0.5;
        for onset in onsets.iter().filter(|_| strength > 0.0) {
            let stroke = Stroke::new(1.0, canvas.palette.accent.gamma_multiply(strength));
            canvas.painter.vline(canvas.x(onset.performance_s), canvas.plot.y_range(), stroke);
        }
    }
    canvas.paint_overlay(state);
    for pitch in (low..=high).filter(|pitch| pitch % 12 == 0) {
        let place = y(f32::from(pitch) + 0.5);
        if place > canvas.plot.top() + 18.0 {
            canvas.label(place, pitch_name(pitch));
        }
    }
}

/// Draws the spectrum with the lower edge of each pitch at `y(pitch)`.
pub fn paint_spectrum(ui: &Ui, canvas: &Canvas, spectrum: &Arc<Spectrum>, y: &dyn Fn(f32) -> f32, colour: Color32) {
    let level = spectrum.level_for(canvas.seconds(1.0));
    let tile_s = spectrum.frame_s(level) * TILE as f64;
    // Frames are centred on their times.
    let shift = 0.5 * spectrum.hop_s;
    let first = ((canvas.view.start_s + shift) / tile_s).floor().max(0.0) as usize;
    let last = ((canvas.view.end_s() + shift) / tile_s).floor().max(0.0) as usize;
    let (top, bottom) = (y((spectrum.lowest_pitch + spectrum.bands) as f32), y(spectrum.lowest_pitch as f32));
    let id = Id::unique(("spectrum tiles", colour.to_array()));
    let key = (Arc::as_ptr(spectrum) as usize, ui.visuals().dark_mode);
    let mut tiles = ui.data_mut(|data| data.get_temp::<Tiles>(id)).unwrap_or_default();
    if tiles.of != Some(key) || tiles.made.len() > MOST_TILES {
        tiles = Tiles { of: Some(key), made: HashMap::new() };
    }
    let painter = canvas.painter.with_clip_rect(canvas.plot);
    for index in first..=last {
        let texture = match tiles.made.get(&(level, index)) {
            Some(texture) => texture.clone(),
            None => {
                let Some(tile) = spectrum.tile(level, index) else { break };
                let pixels = tile.pixels.iter().map(|grey| shade(colour, *grey)).collect();
                let image = ColorImage::new([tile.frames, spectrum.bands], pixels);
                let texture = ui.ctx().load_texture("spectrum", image, TextureOptions::LINEAR);
                tiles.made.insert((level, index), texture.clone());
                texture
            }
        };
        let start = index as f64 * tile_s - shift;
        let end = start + texture.size()[0] as f64 * spectrum.frame_s(level);
        let rect = Rect::from_min_max(pos2(canvas.x(start), top), pos2(canvas.x(end), bottom));
        painter.image(texture.id(), rect, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), Color32::WHITE);
    }
    ui.data_mut(|data| data.insert_temp(id, tiles));
}

/// Drops the pictures that were made, for a memory that goes to a window of its own.
pub fn forget_spectrum_tiles(data: &mut IdTypeMap) {
    data.remove_by_type::<Tiles>();
}

/// Quiet is clear, loud is the colour.
fn shade(colour: Color32, grey: u8) -> Color32 {
    let strength = (f32::from(grey) / 255.0).powf(1.6);
    colour.gamma_multiply(strength)
}
