//! The score's notes at their places in the recording: shaded by support, or compared with a reference.

use eframe::egui::{Align2, Color32, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, pos2, vec2};

use super::canvas::{Canvas, Grip};
use super::heights::{HeightWords, STEP, height_buttons};
use super::spectrum::paint_spectrum;
use super::{clock, note_grip, pitch_name};
use crate::app::command::Command;
use crate::app::document::view_model::{Piece, RollSpan, Solution, Support};
use crate::app::pane_scale::PaneScale;
use crate::app::state::AppState;
use crate::app::ui::theme::Palette;
use crate::base::percent::percent;

/// Pitches above and below the music.
const ROOM: u8 = 2;
/// What is narrower than this, in points, is left out where it only tells of a difference: at that zoom the two agree.
const NARROWEST_DIFFERENCE: f32 = 0.75;
/// Notes narrower than this, in points, are drawn plainly.
const NARROW: f32 = 3.0;
/// Distance of hatch lines.
const HATCH: f32 = 5.0;

/// Draws the pane.
pub fn piano_roll_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let canvas = Canvas::new(ui, state, "Notes", Grip::Notes, commands);
    let Some(document) = &state.document else {
        canvas.hint("The notes of the score will appear here");
        canvas.paint_overlay(state);
        return;
    };
    let piece = &document.piece;
    // Notes end above the legend: it covers none.
    let body = if document.reference.is_some() { canvas.above_legend() } else { canvas.plot };
    let rows = Rows::new(body, piece, state.scale);
    canvas.paint_bars(state);
    rows.paint_keys(&canvas);
    if let Some(heard) = document.heard.as_ref().filter(|_| state.preferences.spectrum_behind_notes) {
        let y = |pitch: f32| rows.top + (f32::from(rows.highest) + 1.0 - pitch) * rows.height;
        paint_spectrum(ui, &canvas, &heard.spectrum, &y, canvas.palette.wave.gamma_multiply(0.8));
    }
    let hovered = match document.shown() {
        Some(solution) => {
            let at = note_grip::pointer(ui, &canvas);
            let hovered = paint_notes(&canvas, &rows, solution, at);
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
    if document.reference.is_some() {
        paint_legend(&canvas);
    }
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
struct Rows {
    highest: u8,
    lowest: u8,
    top: f32,
    height: f32,
    body: Rect,
}

impl Rows {
    fn new(body: Rect, piece: &Piece, scale: PaneScale) -> Self {
        let (low, high) = piece.pitches;
        let (lowest, highest) = (low.saturating_sub(ROOM), (high + ROOM).min(127));
        let all = body.height() * scale.pitch_zoom;
        let height = all / f32::from(highest - lowest + 1);
        Self { highest, lowest, top: body.top() - scale.above() * all, height, body }
    }

    fn y(&self, pitch: u8) -> f32 {
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

/// Draws what is visible and gives the note under the pointer. Of notes that fall together at this zoom one is drawn.
fn paint_notes(canvas: &Canvas, rows: &Rows, solution: &Solution, pointer: Option<Pos2>) -> Option<RollSpan> {
    let gap = (0.12 * rows.height).min(1.5);
    let mut covered = [f32::NEG_INFINITY; 128];
    let mut hovered = None;
    // Thousands of narrow notes cost too much as shapes of their own.
    let mut narrow = Mesh::default();
    for span in solution.roll_between(canvas.view.start_s, canvas.view.end_s()) {
        let (left, right) = (canvas.x(span.start_s), canvas.x(span.end_s));
        let last = &mut covered[usize::from(span.pitch & 127)];
        let plain = matches!(span.support, Support::Both | Support::Confidence(_));
        let crowded = plain && right - left < 1.0 && right <= *last;
        let too_narrow = !plain && right - left < NARROWEST_DIFFERENCE;
        if right < canvas.plot.left() || crowded || too_narrow {
            continue;
        }
        let right = right.max(left + 1.0);
        *last = right;
        let y = rows.y(span.pitch);
        if y > rows.body.bottom() || y + rows.height < rows.body.top() {
            continue;
        }
        let rect = Rect::from_min_max(
            pos2(left.max(canvas.plot.left() - 4.0), y + gap),
            pos2(right.min(canvas.plot.right() + 4.0), y + rows.height - gap),
        );
        if rect.width() < NARROW {
            narrow.add_colored_rect(rect, fill(canvas.palette, span.support));
        } else {
            paint_span(canvas, rect, span.support);
        }
        if pointer.is_some_and(|at| rect.expand(1.0).contains(at) && rows.body.contains(at)) {
            hovered = Some(*span);
        }
    }
    canvas.painter.add(Shape::mesh(narrow));
    hovered
}

fn paint_span(canvas: &Canvas, rect: Rect, support: Support) {
    let palette = canvas.palette;
    let radius = if rect.width() > 4.0 && rect.height() > 4.0 { 2.0 } else { 0.0 };
    // A note that is compared may go on in another colour: its ends stay square.
    let radius = if matches!(support, Support::Confidence(_)) { radius } else { 0.0 };
    canvas.painter.rect_filled(rect, radius, fill(palette, support));
    match support {
        Support::OursOnly => hatch(canvas, rect, Color32::from_black_alpha(90)),
        Support::ReferenceOnly => {
            let stroke = Stroke::new(1.0, palette.reference_edge);
            canvas.painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
        }
        Support::Confidence(_) | Support::Both => {}
    }
}

fn fill(palette: &Palette, support: Support) -> Color32 {
    match support {
        Support::Confidence(confidence) => palette.unsure_note.lerp_to_gamma(palette.note, confidence.clamp(0.0, 1.0)),
        Support::Both => palette.note,
        Support::OursOnly => palette.ours_only,
        Support::ReferenceOnly => palette.reference_only,
    }
}

/// Slanted lines, so that red and yellow differ without colour.
fn hatch(canvas: &Canvas, rect: Rect, colour: Color32) {
    if rect.width() < 3.0 || rect.height() < 3.0 {
        return;
    }
    let painter = canvas.painter.with_clip_rect(rect.intersect(canvas.plot));
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        let line = [pos2(x, rect.bottom()), pos2(x + rect.height(), rect.top())];
        painter.add(Shape::line_segment(line, Stroke::new(1.0, colour)));
        x += HATCH;
    }
}

fn paint_note_card(canvas: &Canvas, piece: &Piece, solution: &Solution, span: RollSpan) {
    let index = span.note as usize;
    let (Some(note), Some(aligned)) = (piece.score.notes.get(index), solution.alignment.notes.get(index)) else {
        return;
    };
    let position = piece.score.position(note);
    let state = match span.support {
        Support::Confidence(confidence) => format!("confidence {}", percent(f64::from(confidence))),
        Support::Both => "as in the reference".to_owned(),
        Support::OursOnly => "not in the reference".to_owned(),
        Support::ReferenceOnly => "only in the reference".to_owned(),
    };
    let text = format!(
        "{}   bar {} beat {:.4}   {} to {}   {state}",
        pitch_name(note.pitch),
        position.bar,
        (position.beat * 1000.0).round() / 1000.0,
        clock(aligned.onset_s, 3),
        clock(aligned.offset_s, 3),
    );
    let place = canvas.plot.right_top() + vec2(-10.0, 8.0);
    canvas.tag(place, Align2::RIGHT_TOP, &text, canvas.palette.ink);
}

fn paint_legend(canvas: &Canvas) {
    const LONG: [&str; 3] = ["agrees with the reference", "only in the alignment", "only in the reference"];
    const SHORT: [&str; 3] = ["both", "alignment", "reference"];
    const SUPPORTS: [Support; 3] = [Support::Both, Support::OursOnly, Support::ReferenceOnly];
    let Some(strip) = canvas.legend_rect() else { return };
    let layout = |words: &str| {
        let font = crate::app::ui::theme::label_font();
        canvas.painter.layout_no_wrap(words.to_owned(), font, canvas.palette.soft_ink)
    };
    canvas.painter.rect_filled(strip, 0.0, canvas.palette.panel);
    let mut galleys = LONG.map(layout);
    if galleys.iter().map(|galley| galley.size().x + 44.0).sum::<f32>() > strip.width() {
        galleys = SHORT.map(layout);
    }
    let (mut x, y) = (strip.left() + 10.0, strip.center().y);
    for (support, galley) in SUPPORTS.into_iter().zip(galleys) {
        paint_span(canvas, Rect::from_min_size(pos2(x, y - 4.0), vec2(18.0, 8.0)), support);
        let width = galley.size().x;
        canvas.painter.galley(pos2(x + 24.0, y - galley.size().y / 2.0), galley, canvas.palette.soft_ink);
        x += width + 44.0;
    }
}
