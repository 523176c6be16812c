//! The score in staff notation: along the recording, every note above the moment at which it was played, or wrapped in systems to read.

mod along;
mod ink;
mod names;
mod note_ink;
mod reading;

use eframe::egui::{Color32, Pos2, Rect, Ui, vec2};

use self::note_ink::NoteInk;
use super::canvas::Canvas;
use crate::app::command::Command;
use crate::app::state::AppState;
use crate::engraving::Engraving;
use crate::engraving::pen::HeadSpot;

/// How much larger or smaller one press makes the staves.
const STEP: f32 = 1.25;
/// Smallest and largest distance of two lines that a pane of any height gives, in points.
const SMALLEST_SPACE: f32 = 5.0;
const LARGEST_SPACE: f32 = 9.0;

/// Draws the pane.
pub fn staff_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.preferences.reading && state.shown().is_some() {
        reading::reading_ui(ui, state, commands);
    } else {
        along::along_ui(ui, state, commands);
    }
}

/// Buttons in the gutter: larger, smaller, reading.
fn buttons(ui: &mut Ui, canvas: &Canvas, state: &AppState, commands: &mut Vec<Command>) {
    if !canvas.has_controls {
        return;
    }
    let look = state.staff;
    for (index, (text, name, factor)) in
        [("−", "Staves smaller", 1.0 / STEP), ("+", "Staves larger", STEP)].into_iter().enumerate()
    {
        let button = canvas.button_in_row(ui, (1, index, 2), text, false).accessible_name(name);
        if button.on_hover_text(format!("{name} (Alt+wheel)")).clicked() {
            commands.push(Command::SetStaffLook(look.larger(factor)));
        }
    }
    let reading = state.preferences.reading;
    let button = canvas.gutter_button(ui, 0, 1, "Read", reading).accessible_name("Read the staves in lines");
    let words =
        if reading { "Back to the staves along the recording (R)" } else { "Wrap the staves in lines to read (R)" };
    if button.on_hover_text(words).clicked() {
        commands.push(Command::ToggleReading);
    }
}

/// The distance of two lines, on whole pixels, so that heads sit on them.
fn space_for(ui: &Ui, room: f32, height: f32, zoom: f32) -> f32 {
    let fitting = (room / height.max(1.0)).clamp(SMALLEST_SPACE, LARGEST_SPACE) * zoom;
    on_pixel(ui, fitting).max(3.0)
}

fn on_pixel(ui: &Ui, place: f32) -> f32 {
    let scale = ui.ctx().pixels_per_point();
    (place * scale).round() / scale
}

/// The head at a place.
fn head_at(spots: &[HeadSpot], space: f32, at: Option<Pos2>) -> Option<HeadSpot> {
    let at = at?;
    let reach = vec2(2.0, 1.0 + 0.1 * space);
    let hit = |spot: &&HeadSpot| head_rect(spot, space).expand2(reach).contains(at);
    let distance = |spot: &HeadSpot| (Pos2::from(spot.at) - at).length_sq();
    spots.iter().filter(hit).min_by(|a, b| distance(a).total_cmp(&distance(b))).copied()
}

fn head_rect(spot: &HeadSpot, space: f32) -> Rect {
    Rect::from_center_size(spot.at.into(), vec2(2.0 * spot.half, space))
}

/// What lies under the heads: light on notes that sound, a frame round those that are selected, a ground for those that were not played.
fn paint_under(
    canvas: &Canvas,
    state: &AppState,
    engraving: &Engraving,
    notes: &NoteInk<'_>,
    spots: &[HeadSpot],
    space: f32,
) {
    let Some(document) = &state.document else { return };
    let accent = canvas.palette.accent;
    let selected = |note: usize| match (document.selected_note, document.selected) {
        (Some(selected), _) => selected == note,
        (None, Some(score_s)) => (document.piece.score.notes[note].onset_s - score_s).abs() < 1e-6,
        (None, None) => false,
    };
    let now = state.transport.position_s;
    for spot in spots {
        let head = &engraving.heads[spot.head as usize];
        let note = head.note as usize;
        let rect = head_rect(spot, space);
        if notes.was_not_played(head.note) {
            notes.paint_ground(canvas, rect.expand(0.25 * space));
        }
        if state.transport.playing && notes.sounds_at(head.note, now) {
            canvas.painter.rect_filled(rect.expand(0.45 * space), space, accent.gamma_multiply(0.45));
        }
        if selected(note) && head.begins {
            canvas.painter.rect_filled(rect.expand(0.35 * space), space, accent.gamma_multiply(0.25));
            let stroke = eframe::egui::Stroke::new(1.5, accent);
            canvas.painter.rect_stroke(rect.expand(0.35 * space), space, stroke, eframe::egui::StrokeKind::Outside);
        }
    }
}

/// A softer colour for staff lines.
fn line_colour(canvas: &Canvas) -> Color32 {
    canvas.palette.soft_ink.lerp_to_gamma(canvas.palette.canvas, 0.35)
}
