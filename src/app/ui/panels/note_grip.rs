//! Moving single notes in the piano roll while Alt is held, and marks on those that were moved.

use std::ops::RangeInclusive;

use eframe::egui::{CursorIcon, PointerButton, Pos2, Rect, Stroke, StrokeKind, Ui, pos2};

use super::canvas::Canvas;
use crate::align::settings::FixedNote;
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::document::view_model::{RollSpan, Support};

/// Where a note is looked for: where the button was pressed if a drag begins, else where the pointer is.
pub fn pointer(ui: &Ui, canvas: &Canvas) -> Option<Pos2> {
    let pressed = canvas.response.drag_started().then(|| ui.input(|input| input.pointer.press_origin())).flatten();
    pressed.or(canvas.pointer)
}

/// Alt and a click select the note that is `hovered`, Alt and a drag move it.
pub fn point_and_drag(
    ui: &Ui,
    canvas: &Canvas,
    document: &Document,
    hovered: Option<RollSpan>,
    commands: &mut Vec<Command>,
) {
    let response = &canvas.response;
    // What the score does not have is not ours to move.
    let note_of = |span: RollSpan| span.note.map(|note| note as usize);
    if let Some(moved) = document.moved_note.filter(|_| document.dragging) {
        if response.dragged() {
            move_by_pointer(ui, canvas, document, moved.note, commands);
        }
        return;
    }
    // Nor is what only the reference holds.
    let held = hovered.filter(|span| span.support != Support::ReferenceOnly).and_then(note_of);
    let Some(note) = held.filter(|_| ui.input(|input| input.modifiers.alt) && !document.dragging) else { return };
    ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
    if response.drag_started_by(PointerButton::Primary) {
        move_by_pointer(ui, canvas, document, note, commands);
    } else if response.clicked() {
        commands.push(Command::SelectNote(note));
    }
}

/// The note goes as far as the pointer went since the button was pressed.
fn move_by_pointer(ui: &Ui, canvas: &Canvas, document: &Document, note: usize, commands: &mut Vec<Command>) {
    let notes = document.solution.as_ref().map(|solution| &solution.alignment.notes);
    let was_s = notes.and_then(|notes| notes.get(note)).map(|note| note.onset_s);
    let pressed = ui.input(|input| input.pointer.press_origin());
    if let (Some(was_s), Some(pressed), Some(now)) = (was_s, pressed, canvas.response.interact_pointer_pos()) {
        let performance_s = was_s + canvas.seconds(now.x - pressed.x);
        commands.push(Command::DragNote(FixedNote { note, performance_s }));
    }
}

/// A line at every note that was moved, a frame round the one that keys act on. `rows` is where a pitch is drawn.
pub fn paint_marks(canvas: &Canvas, document: &Document, rows: &dyn Fn(u8) -> RangeInclusive<f32>) {
    let (notes, accent) = (&document.piece.score.notes, canvas.palette.accent);
    let painter = canvas.painter.with_clip_rect(canvas.plot);
    for fixed in document.settings.fixed_notes.iter().chain(&document.moved_note) {
        if let Some(note) = notes.get(fixed.note) {
            painter.vline(canvas.x(fixed.performance_s), rows(note.pitch), Stroke::new(2.5, accent));
        }
    }
    let Some(selected) = document.selected_note else { return };
    let aligned = document.shown().and_then(|solution| solution.alignment.notes.get(selected));
    if let (Some(note), Some(aligned)) = (notes.get(selected), aligned) {
        let row = rows(note.pitch);
        let (left, right) = (canvas.x(aligned.onset_s), canvas.x(aligned.offset_s));
        let frame = Rect::from_min_max(pos2(left, *row.start()), pos2(right.max(left + 2.0), *row.end()));
        painter.rect_stroke(frame, 2.0, Stroke::new(1.5, accent), StrokeKind::Outside);
    }
}
