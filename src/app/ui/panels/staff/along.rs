//! The staves along the recording: spacing is time.

use std::ops::Range;

use eframe::egui::{Align2, CursorIcon, FontId, Mesh, PointerButton, Rect, Shape, Ui, pos2, vec2};

use super::super::canvas::{Canvas, Grip};
use super::super::note_grip;
use super::super::roll_notes::paint_note_card;
use super::ink::InkPainter;
use super::note_ink::NoteInk;
use super::{buttons, head_at, head_rect, names, on_pixel, paint_under, space_for};
use crate::align::settings::Anchor;
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::document::view_model::{RollSpan, Solution, Support};
use crate::app::state::AppState;
use crate::engraving::pen::{BarLine, Detail, HeadSpot, Pen, Placement, Tone};
use crate::engraving::{EngravedBar, Engraving, GRACE_STEP, Glyph, StaffHeights};
use crate::score::spelled;

/// Bars narrower than this, in staff spaces, have no lines, and from the next on full ones.
const NARROW_BAR: (f32, f32) = (1.0, 2.5);
/// A bar wider than this, in staff spaces, shows the changes of key and meter before it.
const ROOM_FOR_SIGNS: f32 = 8.0;
/// Accidentals and grace notes push a bar line away by this much at most, in staff spaces.
const MOST_BEFORE: f32 = 4.0;
/// A bar whose notes are farther apart than elsewhere is drawn as if they were so many times as far apart at most.
const CALMER: f32 = 1.5;
/// A bar that takes less of the recording than this was left out.
const NOTHING_S: f64 = 1e-3;
/// A head that was played within this share of its width of the chord stands with the chord.
const TOGETHER: f32 = 0.4;

/// Draws the pane.
pub(super) fn along_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let canvas = Canvas::new(ui, state, "Staff", Grip::Notes, commands);
    let Some(document) = &state.document else {
        canvas.hint("The score will appear here in staff notation");
        canvas.paint_overlay(state);
        return;
    };
    let Some(solution) = document.shown() else {
        canvas.hint("Aligning");
        canvas.paint_overlay(state);
        return;
    };
    let engraving = &*document.piece.engraving;
    let view = StaffView::new(ui, &canvas, state, engraving, solution);
    let notes = NoteInk::new(&canvas, state, solution);
    let spots = view.paint(state, &notes);
    let hovered = head_at(&spots, view.space, note_grip::pointer(ui, &canvas));
    let span = hovered.map(|spot| span_of(engraving, solution, spot));
    note_grip::point_and_drag(ui, &canvas, document, span, commands);
    select_and_drag(ui, &canvas, document, hovered, engraving, commands);
    canvas.paint_overlay(state);
    view.paint_gutter(&notes);
    names::name_notes(ui, &canvas, (&document.piece, solution), &spots, view.space, commands);
    if let Some(span) = span.filter(|_| !document.dragging && canvas.pointer.is_some()) {
        paint_note_card(&canvas, &document.piece, solution, span);
    }
    buttons(ui, &canvas, state, commands);
    view.scale_by_pointer(state, commands);
}

/// A head as the piano roll would have it.
fn span_of(engraving: &Engraving, solution: &Solution, spot: HeadSpot) -> RollSpan {
    let head = &engraving.heads[spot.head as usize];
    let aligned = &solution.alignment.notes[head.note as usize];
    RollSpan {
        note: Some(head.note),
        pitch: head.pitch.sounding(0).unwrap_or(60),
        start_s: aligned.onset_s,
        end_s: aligned.offset_s,
        support: Support::Confidence(aligned.confidence as f32),
    }
}

/// A click on a head selects its note, a drag moves its onset.
fn select_and_drag(
    ui: &Ui,
    canvas: &Canvas,
    document: &Document,
    hovered: Option<HeadSpot>,
    engraving: &Engraving,
    commands: &mut Vec<Command>,
) {
    let Some(spot) = hovered.filter(|_| !ui.input(|input| input.modifiers.alt) && !document.dragging) else { return };
    let note = engraving.heads[spot.head as usize].note as usize;
    let (Some(of_score), Some(performance_s)) = (document.piece.score.notes.get(note), document.place_of_note(note))
    else {
        return;
    };
    ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
    if canvas.response.clicked() {
        commands.push(Command::SelectNote(note));
        commands.push(Command::Seek(performance_s));
    } else if canvas.response.drag_started_by(PointerButton::Primary)
        && let Some(pointer) = canvas.response.interact_pointer_pos()
    {
        let onset = Anchor { score_s: of_score.onset_s, performance_s: canvas.time(pointer.x) };
        commands.push(Command::Drag(onset));
    }
}

/// What is seen of the staves.
struct StaffView<'a> {
    canvas: &'a Canvas,
    engraving: &'a Engraving,
    solution: &'a Solution,
    heights: StaffHeights,
    /// Distance of two lines.
    space: f32,
    /// Of the first staff's room.
    top: f32,
    /// How far the staves can be scrolled.
    most_scrolled: f32,
    pixels: f32,
}

impl Placement for StaffView<'_> {
    fn space(&self) -> f32 {
        self.space
    }

    fn staff_y(&self, staff: usize) -> f32 {
        self.snap(self.top + self.heights.middles[staff] * self.space)
    }

    fn chord_x(&self, chord: u32) -> f32 {
        let x = self.snap(self.canvas.x(self.solution.staff.chords[chord as usize]));
        let of = &self.engraving.chords.all()[chord as usize];
        match of.grace {
            // Grace notes stand before their main note, also where they were played nearly with it.
            Some(grace) => {
                let main = self.moment_x(of.column, self.engraving.columns[of.column as usize].second);
                x.min(main - (GRACE_STEP * f32::from(grace.steps_before) + 0.1) * self.space)
            }
            None => x,
        }
    }

    fn head_x(&self, chord: u32, head: u32) -> f32 {
        let of_chord = self.chord_x(chord);
        let head = &self.engraving.heads[head as usize];
        let is_grace = self.engraving.chords.all()[chord as usize].grace.is_some();
        let aligned = self.solution.alignment.notes.get(head.note as usize).filter(|_| head.begins && !is_grace);
        let own = aligned.map_or(of_chord, |note| self.snap(self.canvas.x(note.onset_s)));
        if (own - of_chord).abs() < TOGETHER * self.space { of_chord } else { own }
    }

    fn moment_x(&self, _: u32, second: f64) -> f32 {
        self.snap(self.canvas.x(self.solution.alignment.warp.at(second)))
    }

    fn bar_middle(&self, bar: u32) -> f32 {
        let (start, end) = self.solution.staff.bar(bar as usize);
        self.snap(self.canvas.x(0.5 * (start + end)) - 0.5 * self.space)
    }
}

impl<'a> StaffView<'a> {
    fn new(ui: &Ui, canvas: &'a Canvas, state: &AppState, engraving: &'a Engraving, solution: &'a Solution) -> Self {
        let heights = engraving.staff_heights();
        let room = canvas.plot.height();
        let space = space_for(ui, room, heights.height + 1.0, state.staff.zoom);
        let all = heights.height * space;
        let most_scrolled = (all - room).max(0.0);
        let top = if all < room { 0.5 * (room - all) } else { -state.staff.scrolled.clamp(0.0, most_scrolled) };
        Self {
            canvas,
            engraving,
            solution,
            heights,
            space,
            top: on_pixel(ui, canvas.plot.top() + top),
            most_scrolled,
            pixels: ui.ctx().pixels_per_point(),
        }
    }

    fn snap(&self, place: f32) -> f32 {
        (place * self.pixels).round() / self.pixels
    }

    /// The staves that can be seen.
    fn staves(&self) -> Range<usize> {
        let plot = self.canvas.plot;
        let count = self.engraving.staves.len();
        let reach = |staff: usize| (self.engraving.staves[staff].above + 3.0, self.engraving.staves[staff].below + 3.0);
        let bottom = |staff: &usize| self.staff_y(*staff) + reach(*staff).1 * self.space;
        let top = |staff: &usize| self.staff_y(*staff) - reach(*staff).0 * self.space;
        let first = (0..count).find(|staff| bottom(staff) > plot.top()).unwrap_or(count);
        let last = (first..count).find(|staff| top(staff) > plot.bottom()).unwrap_or(count);
        first..last
    }

    fn paint(&self, state: &AppState, notes: &NoteInk<'_>) -> Vec<HeadSpot> {
        let canvas = self.canvas;
        let times = &self.solution.staff;
        let bars = times.bars_between(canvas.view.start_s, canvas.view.end_s());
        let staves = self.staves();
        let mut pen = Pen::new(self.engraving, self);
        let before = self.engraving.bars.first().map_or(0.0, |bar| self.lead(bar));
        let (from, to) = (
            canvas.x(times.bar(0).0) - (before + 0.5) * self.space,
            canvas.x(times.bars.last().copied().unwrap_or(0.0)),
        );
        let (left, right) = (from.max(canvas.plot.left()), to.min(canvas.plot.right()));
        for staff in staves.clone().filter(|_| left < right) {
            pen.staff_lines(staff, left, right);
        }
        for bar in bars.clone() {
            self.bar_line(&mut pen, bar, staves.clone());
        }
        if bars.end == self.engraving.bars.len() {
            self.last_line(&mut pen, staves.clone());
        }
        let mut far = Mesh::default();
        for staff in staves {
            let mut covered = [f32::NEG_INFINITY; 64];
            let usual = self.usual_density(staff, bars.clone());
            for bar in bars.clone() {
                pen.detail = Detail::at_density(self.density(staff, bar).min(CALMER * usual));
                let (start, end) = times.bar(bar);
                if end - start < NOTHING_S {
                    continue;
                }
                if pen.detail.heads < 1.0 {
                    self.far_notes((staff, bar), 1.0 - pen.detail.heads, notes, &mut far, &mut covered);
                }
                pen.bars(staff, bar..bar + 1);
            }
        }
        let painter = canvas.painter.with_clip_rect(canvas.plot);
        painter.add(Shape::mesh(far));
        let colour = |tone: Tone| notes.colour(tone);
        let mut inks = InkPainter::new(&painter, &colour);
        paint_under(canvas, state, self.engraving, notes, &pen.spots, self.space);
        inks.paint(&pen.ink);
        self.paint_elsewhere(&mut inks, notes, &pen.spots);
        self.paint_extra(&mut inks, notes);
        pen.spots
    }

    /// How far apart the columns of a bar are, in staff spaces. An empty bar needs room for its rest.
    fn density(&self, staff: usize, bar: usize) -> f32 {
        let width = self.width_of(self.solution.staff.bar(bar)) / self.space;
        width / f32::from(self.engraving.crowd(staff, bar).max(2))
    }

    /// The same of some bars together.
    fn usual_density(&self, staff: usize, bars: Range<usize>) -> f32 {
        let times = &self.solution.staff;
        let width = self.width_of((times.bar(bars.start).0, times.bar(bars.end).0)) / self.space;
        let crowd: u32 = bars.map(|bar| u32::from(self.engraving.crowd(staff, bar).max(2))).sum();
        width / crowd.max(1) as f32
    }

    fn bar_line(&self, pen: &mut Pen<'_>, bar: usize, staves: Range<usize>) {
        let times = &self.solution.staff;
        let (start, end) = times.bar(bar);
        let before = bar.checked_sub(1).map_or(f32::INFINITY, |before| self.width_of(times.bar(before)));
        let here = self.width_of((start, end));
        let narrowest = here.min(before) / self.space;
        let fade = ((narrowest - NARROW_BAR.0) / (NARROW_BAR.1 - NARROW_BAR.0)).clamp(0.0, 1.0);
        if fade <= 0.0 {
            return;
        }
        let of = &self.engraving.bars[bar];
        let with_signs = here > ROOM_FOR_SIGNS * self.space;
        let lead = self.lead(of) - if with_signs { 0.0 } else { of.signs_width };
        let lead = (lead * self.space).min(0.4 * before);
        let x = self.snap(self.canvas.x(start) - lead);
        let line = BarLine {
            ends_repeat: bar.checked_sub(1).is_some_and(|before| self.engraving.bars[before].repeat_end),
            starts_repeat: of.repeat_start,
            is_last: false,
        };
        if bar > 0 {
            self.groups(staves.clone(), |first, last| pen.bar_line(x, first, last, line));
        }
        if with_signs {
            for staff in staves {
                pen.signs_at_bar(staff, bar, x + 0.5 * self.space, true);
                pen.clef_at_bar(staff, bar, x);
            }
        }
    }

    /// How far before a bar's first notes its line is, in staff spaces: room for signs and accidentals.
    fn lead(&self, bar: &EngravedBar) -> f32 {
        1.0 + bar.lead() + self.engraving.columns[bar.first_column as usize].before.min(MOST_BEFORE)
    }

    fn last_line(&self, pen: &mut Pen<'_>, staves: Range<usize>) {
        let Some(last) = self.engraving.bars.last() else { return };
        let x = self.snap(self.canvas.x(self.solution.staff.bars.last().copied().unwrap_or(0.0)));
        let line = BarLine { ends_repeat: last.repeat_end, starts_repeat: false, is_last: true };
        self.groups(staves, |first, last| pen.bar_line(x, first, last, line));
    }

    /// Staves of one part are joined by their bar lines.
    fn groups(&self, staves: Range<usize>, mut each: impl FnMut(usize, usize)) {
        let mut first = staves.start;
        for staff in staves.clone() {
            if self.engraving.staves[staff].is_last || staff + 1 == staves.end {
                each(first, staff);
                first = staff + 1;
            }
        }
    }

    fn width_of(&self, (start, end): (f64, f64)) -> f32 {
        self.canvas.x(end) - self.canvas.x(start)
    }

    /// Notes that are too dense for heads, as bars as long as they sound.
    fn far_notes(
        &self,
        (staff, bar): (usize, usize),
        alpha: f32,
        notes: &NoteInk<'_>,
        mesh: &mut Mesh,
        covered: &mut [f32; 64],
    ) {
        for chord in self.engraving.chords.of(staff, bar..bar + 1) {
            for head in self.engraving.heads_of(chord).iter().filter(|head| head.begins) {
                let Some(aligned) = self.solution.alignment.notes.get(head.note as usize) else { continue };
                let (left, right) = (self.canvas.x(aligned.onset_s), self.canvas.x(aligned.offset_s));
                let last = &mut covered[(head.position + 32).clamp(0, 63) as usize];
                // Of notes that fall together one is drawn.
                if right <= *last + 0.5 {
                    continue;
                }
                let right = right.max(left + 1.0);
                *last = right;
                let y = self.staff_y(staff) - 0.5 * f32::from(head.position) * self.space;
                let half = 0.3 * self.space;
                let colour = notes.colour(Tone::Note(head.note)).gamma_multiply(alpha);
                mesh.add_colored_rect(Rect::from_min_max(pos2(left, y - half), pos2(right, y + half)), colour);
            }
        }
    }

    /// Where the reference has notes that the alignment has elsewhere.
    fn paint_elsewhere(&self, inks: &mut InkPainter<'_>, notes: &NoteInk<'_>, spots: &[HeadSpot]) {
        for spot in spots {
            let head = &self.engraving.heads[spot.head as usize];
            let Some(elsewhere_s) = notes.elsewhere_s(head.note).filter(|_| head.begins) else { continue };
            let place = pos2(self.snap(self.canvas.x(elsewhere_s)), spot.at[1]);
            let painter = self.canvas.painter.with_clip_rect(self.canvas.plot);
            let ink = self.canvas.palette.reference_edge;
            painter.line_segment([spot.at.into(), place], eframe::egui::Stroke::new(1.0, ink));
            let moved = HeadSpot { at: place.into(), ..*spot };
            notes.paint_ground(self.canvas, head_rect(&moved, self.space).intersect(self.canvas.plot.expand(20.0)));
            inks.sign(
                Glyph::HEAD_HALF,
                place - vec2(spot.half, 0.0),
                4.0 * self.space * spot.half / (0.59 * self.space),
                ink,
            );
        }
    }

    /// Notes that were played and that the score does not have.
    fn paint_extra(&self, inks: &mut InkPainter<'_>, notes: &NoteInk<'_>) {
        let view = self.canvas.view;
        let seen = self.solution.alignment.extra_notes.iter().filter(|extra| {
            notes.shows_extra(extra.confidence) && extra.onset_s <= view.end_s() && extra.offset_s >= view.start_s
        });
        for extra in seen {
            let bar = self.solution.staff.bars.partition_point(|&start| start <= extra.onset_s).max(1) - 1;
            let bar = bar.min(self.engraving.bars.len().saturating_sub(1));
            let instead = extra.instead_of.and_then(|note| self.engraving.head_of(note));
            let instead = instead.map(|head| usize::from(self.engraving.chord_of(head).staff));
            let position = |staff: usize| {
                let (clef, key) = self.engraving.standing(staff, bar);
                clef.position(spelled(extra.pitch, key))
            };
            let nearest = || (0..self.engraving.staves.len()).min_by_key(|&staff| position(staff).abs());
            let Some(staff) = instead.or_else(nearest) else { continue };
            let y = self.staff_y(staff) - 0.5 * f32::from(position(staff)) * self.space;
            let x = self.snap(self.canvas.x(extra.onset_s)) - 0.5 * Glyph::HEAD_CROSS.width() * self.space;
            inks.sign(Glyph::HEAD_CROSS, pos2(x, y), 4.0 * self.space, self.canvas.palette.ours_only);
        }
    }

    /// Clef and key that hold at the left edge, and names of the parts, in the gutter.
    fn paint_gutter(&self, notes: &NoteInk<'_>) {
        let canvas = self.canvas;
        let painter = canvas.painter.with_clip_rect(canvas.gutter);
        let bars = &self.solution.staff.bars;
        let bar = bars.partition_point(|&start| start <= canvas.view.start_s + 1e-6).max(1) - 1;
        let bar = bar.min(self.engraving.bars.len().saturating_sub(1));
        let mut pen = Pen::new(self.engraving, self);
        let left = canvas.gutter.left() + 3.0;
        for staff in self.staves() {
            let (clef, key) = self.engraving.standing(staff, bar);
            pen.staff_lines(staff, left, canvas.gutter.right());
            pen.clef(staff, clef, left + 2.0, 1.0);
            let from = left + 2.0 + (clef.glyph().width() + 0.3) * self.space;
            // As wide as there is room.
            let room = canvas.gutter.right() - 2.0 - from;
            let wide = f32::from(key.unsigned_abs()) * Glyph::accidental(key.signum()).width() * self.space;
            pen.key(staff, clef, key, false, from, (room / wide.max(1.0)).min(1.0));
        }
        let colour = |tone: Tone| if tone == Tone::Soft { notes.colour(tone) } else { canvas.palette.soft_ink };
        InkPainter::new(&painter, &colour).paint(&pen.ink);
        for staff in self.staves().filter(|&staff| self.engraving.staves[staff].is_first) {
            let of = &self.engraving.staves[staff];
            let y = self.staff_y(staff) - (2.9 + if self.engraving.staves.len() > 2 { 0.0 } else { 0.4 }) * self.space;
            let label = short(&of.name);
            if y > canvas.plot.top() + 24.0 && y < canvas.plot.bottom() - 24.0 {
                let font = FontId::proportional(9.5);
                painter.text(pos2(left + 1.0, y), Align2::LEFT_BOTTOM, label, font, canvas.palette.soft_ink);
            }
        }
        self.paint_foot();
    }

    /// Buttons stand on a ground of their own.
    fn paint_foot(&self) {
        let gutter = self.canvas.gutter;
        for (from, to) in [(gutter.bottom() - 42.0, gutter.bottom()), (gutter.top(), gutter.top() + 20.0)] {
            let rect = Rect::from_min_max(pos2(gutter.left(), from), pos2(gutter.right() - 1.0, to));
            self.canvas.painter.rect_filled(rect, 0.0, self.canvas.palette.panel);
        }
    }

    /// Alt and the wheel make the staves larger, a drag of the ground scrolls them.
    fn scale_by_pointer(&self, state: &AppState, commands: &mut Vec<Command>) {
        let mut look = state.staff;
        if self.canvas.heighten != 1.0 {
            look = look.larger(self.canvas.heighten);
        }
        if self.canvas.response.dragged() && !state.is_dragging() {
            look.scrolled = (look.scrolled - self.canvas.response.drag_delta().y).clamp(0.0, self.most_scrolled);
        }
        if look != state.staff {
            commands.push(Command::SetStaffLook(look));
        }
    }
}

/// A name that fits into the gutter.
fn short(name: &str) -> String {
    const MOST: usize = 12;
    if name.chars().count() <= MOST { name.to_owned() } else { name.chars().take(MOST - 1).chain(['…']).collect() }
}
