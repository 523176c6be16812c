//! The score's notes at their places in the recording: shaded by support, compared with a reference, or with what was played
//! differently.

use eframe::egui::{Rect, Stroke, Ui};

use super::canvas::{Canvas, Grip};
use super::heights::{HeightWords, STEP, height_buttons};
use super::roll_notes::{Shown, paint_legend, paint_note_card};
use super::spectrum::paint_spectrum;
use super::{note_grip, pitch_name};
use crate::app::command::Command;
use crate::app::pane_scale::PaneScale;
use crate::app::preferences::NoteColours;
use crate::app::state::AppState;

/// Pitches above and below the music.
const ROOM: u8 = 2;

/// Draws the pane.
pub fn piano_roll_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let canvas = Canvas::new(ui, state, "Notes", Grip::Notes, commands);
    let Some(document) = &state.document else {
        canvas.hint("The notes of the score will appear here");
        canvas.paint_overlay(state);
        return;
    };
    let piece = &document.piece;
    let colours = state.note_colours();
    // Notes end above the legend: it covers none.
    let body = if colours == NoteColours::Confidence { canvas.plot } else { canvas.above_legend() };
    let pitches = document.shown().and_then(|solution| solution.roll(colours).pitches).unwrap_or(piece.pitches);
    let rows = Rows::new(body, pitches, state.scale);
    canvas.paint_bars(state);
    rows.paint_keys(&canvas);
    if let Some(heard) = document.heard.as_ref().filter(|_| state.preferences.spectrum_behind_notes) {
        let y = |pitch: f32| rows.top + (f32::from(rows.highest) + 1.0 - pitch) * rows.height;
        paint_spectrum(ui, &canvas, &heard.spectrum, &y, canvas.palette.wave.gamma_multiply(0.8));
    }
    let hovered = match document.shown() {
        Some(solution) => {
            let at = note_grip::pointer(ui, &canvas);
            let shown = Shown { solution, colours, least: state.preferences.least_difference };
            let hovered = shown.paint(&canvas, &rows, at);
            note_grip::point_and_drag(ui, &canvas, document, hovered, commands);
            note_grip::paint_marks(&canvas, document, &|pitch| rows.y(pitch)..=rows.y(pitch) + rows.height);
            hovered.map(|span| (solution, span))
        }
        None => {
            canvas.hint("Aligning");
            None
        }
    };
    canvas.paint_overlay(state);
    rows.paint_labels(&canvas);
    paint_legend(&canvas, colours, document.reference.as_deref());
    if let Some((solution, span)) = hovered.filter(|_| !document.dragging) {
        paint_note_card(&canvas, piece, solution, span);
    }
    let scale = state.scale;
    let words = HeightWords { what: "Notes", keys: ["H", "Shift+H"] };
    let as_at_first = PaneScale { gain: scale.gain, ..PaneScale::default() };
    let ways = [scale.taller(1.0 / STEP, 0.5), scale.taller(STEP, 0.5), as_at_first];
    height_buttons(ui, &canvas, &words, scale.pitch_zoom, ways, commands);
    scale_by_pointer(&canvas, body, state, commands);
}

/// Alt and the wheel make notes taller, a drag of the ground scrolls the pitches.
fn scale_by_pointer(canvas: &Canvas, body: Rect, state: &AppState, commands: &mut Vec<Command>) {
    let mut scale = state.scale;
    if let Some(pointer) = canvas.pointer.filter(|_| canvas.heighten != 1.0) {
        scale = scale.taller(canvas.heighten, ((pointer.y - body.top()) / body.height()).clamp(0.0, 1.0));
    }
    if canvas.response.dragged() && !state.is_dragging() {
        scale = scale.scrolled(-canvas.response.drag_delta().y / body.height());
    }
    if scale != state.scale {
        commands.push(Command::SetScale(scale));
    }
}

/// Pitches from top to bottom.
pub(super) struct Rows {
    highest: u8,
    lowest: u8,
    top: f32,
    /// Of one pitch.
    pub height: f32,
    /// What is left above the legend.
    pub body: Rect,
}

impl Rows {
    fn new(body: Rect, (low, high): (u8, u8), scale: PaneScale) -> Self {
        let (lowest, highest) = (low.saturating_sub(ROOM), (high + ROOM).min(127));
        let all = body.height() * scale.pitch_zoom;
        let height = all / f32::from(highest - lowest + 1);
        Self { highest, lowest, top: body.top() - scale.above() * all, height, body }
    }

    /// Where the row of a pitch begins.
    pub fn y(&self, pitch: u8) -> f32 {
        self.top + f32::from(self.highest.saturating_sub(pitch)) * self.height
    }

    fn paint_keys(&self, canvas: &Canvas) {
        if self.height < 3.0 {
            return;
        }
        for pitch in self.lowest..=self.highest {
            let y = self.y(pitch);
            if [1, 3, 6, 8, 10].contains(&(pitch % 12)) {
                let row = Rect::from_x_y_ranges(canvas.plot.x_range(), y..=y + self.height);
                canvas.painter.rect_filled(row, 0.0, canvas.palette.grid.gamma_multiply(0.45));
            }
            if pitch % 12 == 0 {
                let stroke = Stroke::new(1.0, canvas.palette.edge.gamma_multiply(0.7));
                canvas.painter.hline(canvas.plot.x_range(), y + self.height, stroke);
            }
        }
    }

    fn paint_labels(&self, canvas: &Canvas) {
        for pitch in (self.lowest..=self.highest).filter(|pitch| pitch % 12 == 0) {
            let y = self.y(pitch) + 0.5 * self.height;
            if canvas.has_room_for_label(y) {
                canvas.label(y, pitch_name(pitch));
            }
        }
    }
}
