//! The staves wrapped in systems down the pane, with a cursor that walks through them.

use std::sync::Arc;

use eframe::egui::{self, CursorIcon, FontId, Id, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2};

use super::super::canvas::{Canvas, GUTTER};
use super::super::clock;
use super::ink::InkPainter;
use super::note_ink::NoteInk;
use super::{buttons, head_at, names, paint_under, space_for};
use crate::app::command::Command;
use crate::app::document::view_model::Solution;
use crate::app::state::AppState;
use crate::app::ui::theme;
use crate::engraving::pen::{BarLine, HeadSpot, Pen, Placement, Tone};
use crate::engraving::{Engraving, GRACE_STEP, System, Systems};

/// Room at the edges of the page, in points.
const MARGIN: f32 = 12.0;

/// Draws the pane.
pub(super) fn reading_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let canvas = page(ui, state);
    let (Some(document), Some(solution)) = (&state.document, state.shown()) else { return };
    let engraving = &document.piece.engraving;
    let page = Page::new(ui, &canvas, state, engraving, solution);
    let notes = NoteInk::new(&canvas, state, solution);
    let spots = page.paint(state, &notes);
    page.paint_cursor(state.transport.position_s);
    canvas.painter.rect_filled(canvas.gutter, 0.0, canvas.palette.panel);
    canvas.painter.vline(canvas.gutter.right(), canvas.gutter.y_range(), Stroke::new(1.0, canvas.palette.edge));
    page.paint_numbers();
    let hovered = head_at(&spots, page.space, canvas.pointer);
    if hovered.is_some() {
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    }
    if let (true, Some(pointer)) = (canvas.response.clicked(), canvas.response.interact_pointer_pos()) {
        let note = hovered.map(|spot| engraving.heads[spot.head as usize].note as usize);
        let time_s = note.and_then(|note| document.place_of_note(note)).or_else(|| page.time_at(pointer));
        commands.push(note.map_or(Command::Select(None), Command::SelectNote));
        commands.extend(time_s.map(Command::Seek));
    }
    names::name_notes(ui, &canvas, (&document.piece, solution), &spots, page.space, commands);
    buttons(ui, &canvas, state, commands);
    page.scroll(ui, state, commands);
}

/// A pane that is not on the time axis.
fn page(ui: &mut Ui, state: &AppState) -> Canvas {
    let rect = ui.available_rect_before_wrap();
    let gutter = Rect::from_min_max(rect.min, pos2(rect.left() + GUTTER, rect.bottom()));
    let plot = Rect::from_min_max(pos2(gutter.right(), rect.top()), rect.max);
    let response = ui.allocate_rect(plot, Sense::click_and_drag());
    let position = state.transport.position_s;
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Canvas, true, format!("Staff to read, playhead at {}", clock(position, 1)))
    });
    Canvas::still(ui, rect, plot, gutter, state.view(), response)
}

/// The systems as they are seen.
struct Page<'a> {
    canvas: &'a Canvas,
    engraving: &'a Engraving,
    solution: &'a Solution,
    systems: Arc<Systems>,
    space: f32,
    scrolled: f32,
    pixels: f32,
}

/// What a wrapping was made for.
type Wrapped = (usize, u32, u32, Arc<Systems>);

/// Wraps the staves, or takes what was wrapped before.
fn wrapped(ui: &Ui, engraving: &Arc<Engraving>, width: f32) -> Arc<Systems> {
    let id = Id::unique("systems of the staff pane");
    let key = (Arc::as_ptr(engraving) as usize, width.to_bits(), engraving.heads.len() as u32);
    let known = ui.data(|data| data.get_temp::<Wrapped>(id)).filter(|known| (known.0, known.1, known.2) == key);
    known.map(|known| known.3).unwrap_or_else(|| {
        let systems = Arc::new(engraving.wrapped(width));
        ui.data_mut(|data| data.insert_temp::<Wrapped>(id, (key.0, key.1, key.2, Arc::clone(&systems))));
        systems
    })
}

impl<'a> Page<'a> {
    fn new(
        ui: &Ui,
        canvas: &'a Canvas,
        state: &AppState,
        engraving: &'a Arc<Engraving>,
        solution: &'a Solution,
    ) -> Self {
        let height = engraving.staff_heights().height;
        // Two systems at least should be seen, as far as they stay legible.
        let space = space_for(ui, 0.5 * canvas.plot.height(), height + 1.0, state.staff.zoom);
        let width = ((canvas.plot.width() - 2.0 * MARGIN) / space).max(20.0);
        let systems = wrapped(ui, engraving, width);
        let mut page =
            Self { canvas, engraving, solution, systems, space, scrolled: 0.0, pixels: ui.ctx().pixels_per_point() };
        page.scrolled = state.staff.read_to.clamp(0.0, page.most_scrolled());
        page
    }

    fn most_scrolled(&self) -> f32 {
        (self.systems.height * self.space + 2.0 * MARGIN - self.canvas.plot.height()).max(0.0)
    }

    fn snap(&self, place: f32) -> f32 {
        (place * self.pixels).round() / self.pixels
    }

    /// Where a system begins.
    fn top(&self, system: &System) -> f32 {
        self.snap(self.canvas.plot.top() + MARGIN + system.top * self.space - self.scrolled)
    }

    fn left(&self) -> f32 {
        self.canvas.plot.left() + MARGIN
    }

    fn seen(&self) -> impl Iterator<Item = &System> {
        let height = self.systems.staves.height * self.space;
        let plot = self.canvas.plot;
        self.systems.systems.iter().filter(move |system| {
            let top = self.top(system);
            top + height + 3.0 * self.space > plot.top() && top - 3.0 * self.space < plot.bottom()
        })
    }

    fn paint(&self, state: &AppState, notes: &NoteInk<'_>) -> Vec<HeadSpot> {
        let painter = self.canvas.painter.with_clip_rect(self.canvas.plot);
        let colour = |tone: Tone| notes.colour(tone);
        let mut inks = InkPainter::new(&painter, &colour);
        let mut spots = Vec::new();
        for system in self.seen() {
            let placed = PlacedSystem { page: self, system };
            let mut pen = Pen::new(self.engraving, &placed);
            placed.draw(&mut pen);
            paint_under(self.canvas, state, self.engraving, notes, &pen.spots, self.space);
            inks.paint(&pen.ink);
            spots.append(&mut pen.spots);
        }
        spots
    }

    /// System and place of a moment of the recording.
    fn place_of(&self, time_s: f64) -> Option<(&System, f32)> {
        let second = self.solution.alignment.warp.inverse(time_s);
        let columns = &self.engraving.columns;
        let index = columns.partition_point(|column| column.second <= second).max(1) - 1;
        let column = columns.get(index)?;
        let system = &self.systems.systems[self.systems.of_bar(column.bar as usize)];
        let from = self.systems.column_x[index];
        let bar = &self.engraving.bars[column.bar as usize];
        let (to, end_s) = match columns.get(index + 1) {
            Some(next) if next.bar == column.bar => (self.systems.column_x[index + 1], next.second),
            _ => (system.lines[column.bar as usize - system.bars.start + 1], bar.end_s),
        };
        let share = ((second - column.second) / (end_s - column.second).max(1e-9)).clamp(0.0, 1.0) as f32;
        Some((system, from + share * (to - from)))
    }

    fn paint_cursor(&self, time_s: f64) {
        let Some((system, x)) = self.place_of(time_s) else { return };
        let x = self.left() + x * self.space;
        let top = self.top(system);
        let painter = self.canvas.painter.with_clip_rect(self.canvas.plot);
        let range = egui::Rangef::new(top, top + self.systems.staves.height * self.space);
        painter.vline(x, range, Stroke::new(2.0, self.canvas.palette.accent));
    }

    /// The number of each system's first bar.
    fn paint_numbers(&self) {
        let painter = self.canvas.painter.with_clip_rect(self.canvas.gutter);
        for system in self.seen() {
            let y = self.top(system) + self.systems.staves.middles.first().copied().unwrap_or(0.0) * self.space;
            let label = &self.engraving.bars[system.bars.start].label;
            if self.canvas.has_room_for_label(y) {
                let place = pos2(self.canvas.gutter.right() - 6.0, y);
                let (align, font) = (egui::Align2::RIGHT_CENTER, FontId::new(11.0, theme::strong_family()));
                painter.text(place, align, label, font, self.canvas.palette.soft_ink);
            }
        }
    }

    /// The moment of the recording at a place.
    fn time_at(&self, at: egui::Pos2) -> Option<f64> {
        let height = self.systems.staves.height * self.space;
        let distance = |system: &&System| {
            let top = self.top(system);
            (top - at.y).max(at.y - top - height).max(0.0)
        };
        let system = self.seen().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let x = (at.x - self.left()) / self.space;
        let first = self.engraving.bars[system.bars.start].first_column as usize;
        let last = self
            .engraving
            .bars
            .get(system.bars.end)
            .map_or(self.engraving.columns.len(), |bar| bar.first_column as usize);
        let here = &self.systems.column_x[first..last];
        let after = here.partition_point(|&column| column <= x);
        let index = first + after.max(1) - 1;
        let column = &self.engraving.columns[index];
        let next = self.engraving.columns.get(index + 1).filter(|_| index + 1 < last);
        let second = match next {
            Some(next) => {
                let (from, to) = (self.systems.column_x[index], self.systems.column_x[index + 1]);
                let share = f64::from(((x - from) / (to - from).max(1e-3)).clamp(0.0, 1.0));
                column.second + share * (next.second - column.second)
            }
            None => column.second,
        };
        Some(self.solution.alignment.warp.at(second))
    }

    /// The wheel and drags scroll, Alt and the wheel change the size; while it plays, the system that sounds stays in sight.
    fn scroll(&self, ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
        let mut look = state.staff;
        let (alt, wheel) = ui.input(|input| (input.modifiers.alt, input.smooth_scroll_delta().y));
        if self.canvas.response.hovered() && wheel != 0.0 {
            if alt {
                look = look.larger((0.006 * wheel).exp());
            } else {
                look.read_to = self.scrolled - wheel;
            }
        }
        if self.canvas.response.dragged() {
            look.read_to = self.scrolled - self.canvas.response.drag_delta().y;
        }
        let follows = state.transport.playing && state.preferences.follow;
        if let Some((system, _)) = self.place_of(state.transport.position_s).filter(|_| follows) {
            let (top, height) = (self.top(system), self.systems.staves.height * self.space);
            let plot = self.canvas.plot;
            let fits = top >= plot.top() && top + height <= plot.bottom();
            if !fits {
                let wanted = system.top * self.space;
                // Near enough is there; else a good part of the way.
                let left = wanted - self.scrolled;
                look.read_to = if left.abs() < 2.0 { wanted } else { self.scrolled + 0.25 * left };
            }
        }
        if look.read_to != state.staff.read_to {
            look.read_to = look.read_to.clamp(0.0, self.most_scrolled());
        }
        if look != state.staff {
            commands.push(Command::SetStaffLook(look));
        }
    }
}

/// A system on its page.
struct PlacedSystem<'a, 'b> {
    page: &'b Page<'a>,
    system: &'b System,
}

impl PlacedSystem<'_, '_> {
    fn x(&self, spaces: f32) -> f32 {
        self.page.snap(self.page.left() + spaces * self.page.space)
    }

    fn draw(&self, pen: &mut Pen<'_>) {
        let engraving = self.page.engraving;
        let count = engraving.staves.len();
        let bars = self.system.bars.clone();
        let (left, right) = (self.x(0.0), self.x(self.system.width));
        for staff in 0..count {
            pen.staff_lines(staff, left, right);
            let (clef, key) = engraving.standing(staff, bars.start);
            pen.clef(staff, clef, self.x(0.6), 1.0);
            pen.key(staff, clef, key, false, self.x(0.6 + clef.glyph().width() + 0.4), 1.0);
        }
        if count > 1 {
            pen.bar_line(left, 0, count - 1, BarLine::default());
        }
        let mut first = 0;
        for staff in 0..count {
            if engraving.staves[staff].is_last {
                self.lines(pen, first, staff);
                first = staff + 1;
            }
            for bar in bars.clone() {
                let x = self.x(self.system.lines[bar - bars.start] + 0.5);
                pen.signs_at_bar(staff, bar, x, bar > bars.start);
                if bar > bars.start {
                    pen.clef_at_bar(staff, bar, self.x(self.system.lines[bar - bars.start]));
                }
            }
            pen.bars(staff, bars.clone());
        }
    }

    /// Bar lines of a part.
    fn lines(&self, pen: &mut Pen<'_>, first: usize, last: usize) {
        let engraving = self.page.engraving;
        let bars = &self.system.bars;
        for bar in bars.clone() {
            let starts_repeat = engraving.bars[bar].repeat_start;
            let ends_repeat = bar > bars.start && engraving.bars[bar - 1].repeat_end;
            if bar > bars.start || starts_repeat {
                let x = self.x(self.system.lines[bar - bars.start]);
                pen.bar_line(x, first, last, BarLine { ends_repeat, starts_repeat, is_last: false });
            }
        }
        let end = &engraving.bars[bars.end - 1];
        let line = BarLine { ends_repeat: end.repeat_end, starts_repeat: false, is_last: end.is_last };
        pen.bar_line(self.x(self.system.width), first, last, line);
    }
}

impl Placement for PlacedSystem<'_, '_> {
    fn space(&self) -> f32 {
        self.page.space
    }

    fn staff_y(&self, staff: usize) -> f32 {
        self.page.snap(self.page.top(self.system) + self.page.systems.staves.middles[staff] * self.page.space)
    }

    fn chord_x(&self, chord: u32) -> f32 {
        let of = &self.page.engraving.chords.all()[chord as usize];
        let x = self.moment_x(of.column, of.second);
        match of.grace {
            Some(grace) => {
                let before = self.page.engraving.columns[of.column as usize].before;
                let back = (GRACE_STEP * f32::from(grace.steps_before)).min(before + 1.0);
                self.page.snap(x - back * self.page.space)
            }
            None => x,
        }
    }

    fn head_x(&self, chord: u32, _: u32) -> f32 {
        self.chord_x(chord)
    }

    fn moment_x(&self, column: u32, _: f64) -> f32 {
        let bar = self.page.engraving.columns[column as usize].bar as usize;
        // What leads on to the next system ends at the edge.
        if bar >= self.system.bars.end {
            return self.x(self.system.width + 0.5);
        }
        self.x(self.page.systems.column_x[column as usize])
    }

    fn bar_middle(&self, bar: u32) -> f32 {
        let index = (bar as usize - self.system.bars.start).min(self.system.lines.len() - 2);
        self.x(0.5 * (self.system.lines[index] + self.system.lines[index + 1]) + 0.5)
    }
}
