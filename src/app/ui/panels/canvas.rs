//! What all panes on the time axis share: coordinates, gestures, bar lines, playhead, anchors.

use eframe::egui::{
    self, Align2, Color32, CursorIcon, FontId, Painter, PointerButton, Pos2, Rect, Response, Role, Sense, Stroke, Ui,
    WidgetInfo, pos2, vec2,
};

use super::onset_tag::selected_onset;
use super::{clock, curve};
use crate::align::settings::Anchor;
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::state::AppState;
use crate::app::time_view::TimeView;
use crate::app::ui::theme::{self, Palette};

/// Width of the labels left of every pane.
pub const GUTTER: f32 = 64.0;
/// How near the pointer must be to an onset to take hold of it.
const GRIP: f32 = 6.0;
/// Height of the strip that legends are in.
const LEGEND_HEIGHT: f32 = 22.0;
/// A pane lower than this is left to what it shows: it has no legend.
const LEAST_ROOM: f32 = 84.0;
/// How far a turn of the wheel by one point changes the height of what a pane shows.
const HEIGHT_PER_POINT: f32 = 0.006;
/// Bar lines closer than this are thinned out.
const CLOSEST_BARS: f32 = 26.0;
/// Beats closer than this are left out.
const CLOSEST_BEATS: f32 = 13.0;

/// A pane on the time axis.
pub struct Canvas {
    /// Draws inside the pane.
    pub painter: Painter,
    /// Right of the labels.
    pub plot: Rect,
    /// The labels.
    pub gutter: Rect,
    /// The time axis.
    pub view: TimeView,
    /// Colours.
    pub palette: &'static Palette,
    /// Where the pointer is, if over the plot.
    pub pointer: Option<Pos2>,
    /// What was done on the plot.
    pub response: Response,
    /// How much higher the user wants what is shown: 1 unless the wheel was turned with Alt.
    pub heighten: f32,
    /// Whether buttons are shown: not in a picture of panes.
    pub has_controls: bool,
}

/// Leaves buttons out of the panes that `ctx` shows: nobody can press them in a picture.
pub fn leave_out_controls(ctx: &egui::Context) {
    ctx.data_mut(|data| data.insert_temp(egui::Id::unique("panes without controls"), true));
}

fn has_controls(ui: &Ui) -> bool {
    !ui.data(|data| data.get_temp::<bool>(egui::Id::unique("panes without controls")).unwrap_or_default())
}

/// Which gestures a pane understands beyond scrolling and zooming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grip {
    /// Onsets can be dragged.
    Onsets,
    /// Onsets can be dragged, and single notes while Alt is held, which the pane itself sees to.
    Notes,
    /// Nothing can.
    Nothing,
}

impl Canvas {
    /// Takes all the room there is and understands the gestures.
    pub fn new(ui: &mut Ui, state: &AppState, name: &str, grip: Grip, commands: &mut Vec<Command>) -> Self {
        let rect = ui.available_rect_before_wrap();
        let gutter = Rect::from_min_max(rect.min, pos2(rect.left() + GUTTER, rect.bottom()));
        let plot = Rect::from_min_max(pos2(gutter.right(), rect.top()), rect.max);
        let response = ui.allocate_rect(plot, Sense::click_and_drag());
        let position = state.transport.position_s;
        response.widget_info(|| {
            let label = format!("{name}, playhead at {}", clock(position, 1));
            WidgetInfo::labeled(Role::Canvas, true, label)
        });
        let (alt, turned) = ui.input(|input| (input.modifiers.alt, input.smooth_scroll_delta().y));
        let heighten = if alt && response.hovered() { (HEIGHT_PER_POINT * turned).exp() } else { 1.0 };
        let canvas = Self {
            painter: ui.painter_at(rect),
            plot,
            gutter,
            view: state.view(),
            palette: Palette::of(ui),
            pointer: response.hover_pos(),
            response,
            heighten,
            has_controls: has_controls(ui),
        };
        canvas.painter.rect_filled(rect, 0.0, canvas.palette.canvas);
        canvas.scroll_and_zoom(ui, commands);
        canvas.point_and_drag(ui, state, grip, commands);
        canvas
    }

    /// A pane that is not on the time axis: gestures are its own.
    pub fn still(ui: &Ui, rect: Rect, plot: Rect, gutter: Rect, view: TimeView, response: Response) -> Self {
        let canvas = Self {
            painter: ui.painter_at(rect),
            plot,
            gutter,
            view,
            palette: Palette::of(ui),
            pointer: response.hover_pos(),
            response,
            heighten: 1.0,
            has_controls: has_controls(ui),
        };
        canvas.painter.rect_filled(rect, 0.0, canvas.palette.canvas);
        canvas
    }

    /// Where a time is drawn.
    pub fn x(&self, time_s: f64) -> f32 {
        self.plot.left() + (self.view.share_of(time_s) * f64::from(self.plot.width())) as f32
    }

    /// The time at a place.
    pub fn time(&self, x: f32) -> f64 {
        self.view.time_at(f64::from(x - self.plot.left()) / f64::from(self.plot.width()))
    }

    /// Seconds of a distance.
    pub fn seconds(&self, points: f32) -> f64 {
        f64::from(points) / f64::from(self.plot.width()) * self.view.span_s
    }

    fn scroll_and_zoom(&self, ui: &Ui, commands: &mut Vec<Command>) {
        let Some(pointer) = self.pointer else { return };
        let (zoom, scroll) = ui.input(|input| (input.zoom_delta(), input.smooth_scroll_delta()));
        let mut view = self.view;
        if zoom != 1.0 {
            view = view.zoomed(self.time(pointer.x), f64::from(zoom));
        }
        // A wheel without a sideways axis scrolls along time as well: there is nothing above or below.
        let sideways = if scroll.x != 0.0 { scroll.x } else { scroll.y };
        let sideways = if ui.input(|input| input.modifiers.alt) { 0.0 } else { sideways };
        if sideways != 0.0 && zoom == 1.0 {
            view = view.panned(-self.seconds(sideways));
        }
        if view != self.view {
            commands.push(Command::SetView(view));
        }
    }

    fn point_and_drag(&self, ui: &Ui, state: &AppState, grip: Grip, commands: &mut Vec<Command>) {
        let single_notes = grip == Grip::Notes && ui.input(|input| input.modifiers.alt);
        let near = |at: Pos2| self.onset_near(state, at).filter(|_| grip != Grip::Nothing && !single_notes);
        if let Some(hovered) = self.pointer.filter(|_| !state.is_dragging()).and_then(near) {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
            let x = self.x(hovered.performance_s);
            self.painter.vline(x, self.plot.y_range(), Stroke::new(2.0, self.palette.accent.gamma_multiply(0.5)));
        }
        let pointer = self.response.interact_pointer_pos();
        if self.response.drag_started_by(PointerButton::Primary) {
            let origin = ui.input(|input| input.pointer.press_origin()).or(pointer);
            if let (Some(held), Some(pointer)) = (origin.and_then(near), pointer) {
                let performance_s = self.time(pointer.x);
                commands.push(Command::Drag(Anchor { performance_s, ..held }));
                return;
            }
        }
        if state.is_dragging() && self.response.dragged() {
            if let (Some(held), Some(pointer)) = (state.document.as_ref().and_then(|document| document.moved), pointer)
            {
                commands.push(Command::Drag(Anchor { performance_s: self.time(pointer.x), ..held }));
            }
        } else if self.response.dragged() && !single_notes {
            let moved = self.response.drag_delta().x;
            if moved != 0.0 {
                commands.push(Command::SetView(self.view.panned(-self.seconds(moved))));
            }
        }
        if state.is_dragging() && self.response.drag_stopped() {
            commands.push(Command::Drop);
        }
        if let (true, Some(at)) = (self.response.clicked(), pointer) {
            match near(at) {
                Some(onset) => {
                    commands.push(Command::Select(Some(onset.score_s)));
                    commands.push(Command::Seek(onset.performance_s));
                }
                None => {
                    commands.push(Command::Select(None));
                    commands.push(Command::Seek(self.time(at.x)));
                }
            }
        }
    }

    fn onset_near(&self, state: &AppState, at: Pos2) -> Option<Anchor> {
        if !self.plot.contains(at) {
            return None;
        }
        let onset = state.solution()?.onset_near(self.time(at.x))?;
        let close = (self.x(onset.performance_s) - at.x).abs() <= GRIP;
        close.then_some(Anchor { score_s: onset.score_s, performance_s: onset.performance_s })
    }

    /// Bars as bands and lines, beats as fine lines.
    pub fn paint_bars(&self, state: &AppState) {
        let Some(solution) = state.shown() else { return };
        let beats = solution.beats_between(self.view.start_s - 30.0, self.view.end_s() + 30.0);
        let bars: Vec<_> = beats.iter().filter(|beat| beat.beat == 1).collect();
        let per_bar = self.plot.width() / bars.len().max(1) as f32;
        let step = curve::bar_step(per_bar, CLOSEST_BARS);
        for pair in bars.windows(2) {
            if per_bar > 1.5 * CLOSEST_BARS && pair[0].bar % 2 == 0 {
                let band = egui::Rangef::new(self.x(pair[0].performance_s), self.x(pair[1].performance_s));
                self.painter.rect_filled(
                    Rect::from_x_y_ranges(band, self.plot.y_range()).intersect(self.plot),
                    0.0,
                    self.palette.shade,
                );
            }
        }
        let per_beat = self.plot.width() / beats.len().max(1) as f32;
        for beat in beats {
            let x = self.x(beat.performance_s);
            if !self.plot.x_range().contains(x) {
                continue;
            }
            if beat.beat == 1 && beat.bar % step == 0 {
                self.painter.vline(x, self.plot.y_range(), Stroke::new(1.0, self.palette.edge));
            } else if beat.beat != 1 && per_beat > CLOSEST_BEATS {
                self.painter.vline(x, self.plot.y_range(), Stroke::new(1.0, self.palette.grid));
            }
        }
    }

    /// What lies over everything: the marked stretch, anchors, the selected onset, the playhead.
    pub fn paint_overlay(&self, state: &AppState) {
        if let Some((from, to)) = state.transport.marked {
            let range = egui::Rangef::new(self.x(from), self.x(to));
            let rect = Rect::from_x_y_ranges(range, self.plot.y_range()).intersect(self.plot);
            let strength = if state.transport.looping { 0.13 } else { 0.07 };
            self.painter.rect_filled(rect, 0.0, self.palette.accent.gamma_multiply(strength));
        }
        if let Some(document) = &state.document {
            self.paint_anchors(document);
        }
        self.paint_playhead(state.transport.position_s);
        self.paint_drag_tag(state);
        let edge = self.gutter.right();
        self.painter.rect_filled(self.gutter, 0.0, self.palette.panel);
        self.painter.vline(edge, self.gutter.y_range(), Stroke::new(1.0, self.palette.edge));
    }

    fn paint_anchors(&self, document: &Document) {
        for anchor in &document.settings.anchors {
            self.paint_anchor(anchor.performance_s, false);
        }
        if let Some(place) = document.selected.and_then(|score_s| document.place_of(score_s)) {
            self.vline(place, Stroke::new(1.5, self.palette.accent));
        }
        if let Some(moved) = document.moved {
            self.paint_anchor(moved.performance_s, true);
        }
    }

    /// The time beside the pointer that drags an onset.
    fn paint_drag_tag(&self, state: &AppState) {
        let held = state.document.as_ref().filter(|document| document.dragging && self.response.dragged());
        let pointer = self.response.interact_pointer_pos();
        if let (Some((place, words)), Some(pointer)) = (held.and_then(selected_onset), pointer) {
            let x = self.x(place);
            // Left of the onset where there is no room on the right.
            let (side, align) =
                if x + 150.0 < self.plot.right() { (14.0, Align2::LEFT_BOTTOM) } else { (-14.0, Align2::RIGHT_BOTTOM) };
            let y = (pointer.y - 10.0).clamp(self.plot.top() + 22.0, self.plot.bottom());
            self.tag(pos2(x + side, y), align, &words, self.palette.ink);
        }
    }

    fn vline(&self, time_s: f64, stroke: Stroke) {
        let x = self.x(time_s);
        if self.plot.x_range().contains(x) {
            self.painter.vline(x, self.plot.y_range(), stroke);
        }
    }

    fn paint_anchor(&self, time_s: f64, moving: bool) {
        let x = self.x(time_s);
        if !self.plot.x_range().contains(x) {
            return;
        }
        let colour = self.palette.accent;
        self.painter.vline(x, self.plot.y_range(), Stroke::new(if moving { 2.0 } else { 1.0 }, colour));
        let head = pos2(x, self.plot.top() + 6.0);
        let diamond = [vec2(0.0, -5.0), vec2(5.0, 0.0), vec2(0.0, 5.0), vec2(-5.0, 0.0)].map(|corner| head + corner);
        self.painter.add(egui::Shape::convex_polygon(diamond.to_vec(), colour, Stroke::NONE));
    }

    /// A line where it plays.
    pub fn paint_playhead(&self, time_s: f64) {
        self.vline(time_s, Stroke::new(1.5, self.palette.ink));
    }

    /// A label in the gutter.
    pub fn label(&self, y: f32, text: impl ToString) {
        let place = pos2(self.gutter.right() - 6.0, y);
        self.painter.text(place, Align2::RIGHT_CENTER, text, theme::label_font(), self.palette.soft_ink);
    }

    /// Whether a label at this height is clear of the pane's title and of buttons in the gutter.
    pub fn has_room_for_label(&self, y: f32) -> bool {
        y > self.plot.top() + 22.0 && y < self.plot.bottom() - 28.0
    }

    /// Whether there is room for a legend.
    fn has_room(&self) -> bool {
        self.plot.height() > LEAST_ROOM
    }

    /// What is left of the plot above the strip of a legend.
    pub fn above_legend(&self) -> Rect {
        let height = if self.has_room() { LEGEND_HEIGHT } else { 0.0 };
        self.plot.with_max_y(self.plot.bottom() - height)
    }

    /// The strip of a legend; none if the pane is too low for one.
    pub fn legend_rect(&self) -> Option<Rect> {
        self.has_room().then(|| self.plot.with_min_y(self.above_legend().bottom()))
    }

    /// The `index`th of `count` small buttons side by side at the foot of the gutter.
    pub fn gutter_button(&self, ui: &mut Ui, index: usize, count: usize, text: &str, on: bool) -> Response {
        self.button_in_row(ui, (0, index, count), text, on)
    }

    /// The same in a row of which there may be several, counted from the foot.
    pub fn button_in_row(
        &self,
        ui: &mut Ui,
        (row, index, count): (usize, usize, usize),
        text: &str,
        on: bool,
    ) -> Response {
        let up = 19.0 * row as f32;
        let foot = Rect::from_min_max(
            pos2(self.gutter.left() + 3.0, self.gutter.bottom() - 21.0 - up),
            pos2(self.gutter.right() - 4.0, self.gutter.bottom() - 4.0 - up),
        );
        let width = foot.width() / count as f32;
        let left = foot.left() + width * index as f32;
        let place = Rect::from_min_max(pos2(left, foot.top()), pos2(left + width - 1.0, foot.bottom()));
        let text = egui::RichText::new(text).font(FontId::proportional(10.0));
        ui.scope_builder(egui::UiBuilder::new().max_rect(place), |ui| {
            ui.spacing_mut().button_padding = vec2(0.0, 0.0);
            ui.spacing_mut().interact_size = place.size();
            let button = egui::Button::selectable(on, text).frame_when_inactive(true).min_size(place.size());
            ui.put(place, button.wrap_mode(egui::TextWrapMode::Extend))
        })
        .inner
    }

    /// Words in the middle of an empty pane.
    pub fn hint(&self, text: &str) {
        let colour = self.palette.soft_ink;
        self.painter.text(self.plot.center(), Align2::CENTER_CENTER, text, FontId::proportional(13.0), colour);
    }

    /// Colours and what they stand for, one below the other, on a ground of their own.
    pub fn legend(&self, corner: Pos2, entries: &[(Color32, String)]) {
        const ROW: f32 = 16.0;
        let ink = self.palette.soft_ink;
        let galleys: Vec<_> = entries
            .iter()
            .map(|(colour, words)| (*colour, self.painter.layout_no_wrap(words.clone(), theme::label_font(), ink)))
            .collect();
        let widest = galleys.iter().map(|(_, galley)| galley.size().x).fold(0.0, f32::max);
        let size = vec2(widest + 40.0, ROW * galleys.len() as f32 + 8.0);
        let ground = Rect::from_min_size(corner, size).intersect(self.plot);
        self.painter.rect_filled(ground, 5.0, self.palette.panel.gamma_multiply(0.92));
        for (row, (colour, galley)) in galleys.into_iter().enumerate() {
            let y = corner.y + 4.0 + ROW * (row as f32 + 0.5);
            self.painter.line_segment([pos2(corner.x + 8.0, y), pos2(corner.x + 24.0, y)], Stroke::new(3.0, colour));
            let place = pos2(corner.x + 32.0, y - 0.5 * galley.size().y);
            self.painter.with_clip_rect(ground).galley(place, galley, ink);
        }
    }

    /// Colours and what they stand for, side by side in the strip below the plot.
    pub fn legend_strip(&self, entries: &[(Color32, String)]) {
        let Some(strip) = self.legend_rect() else { return };
        let painter = self.painter.with_clip_rect(strip);
        painter.rect_filled(strip, 0.0, self.palette.panel);
        let mut x = strip.left() + 10.0;
        for (colour, words) in entries {
            let line = [pos2(x, strip.center().y), pos2(x + 16.0, strip.center().y)];
            painter.line_segment(line, Stroke::new(3.0, *colour));
            let galley = painter.layout_no_wrap(words.clone(), theme::label_font(), self.palette.soft_ink);
            let width = galley.size().x;
            painter.galley(pos2(x + 22.0, strip.center().y - 0.5 * galley.size().y), galley, self.palette.soft_ink);
            x += width + 40.0;
        }
    }

    /// A small label on the plot with a ground of its own.
    pub fn tag(&self, place: Pos2, align: Align2, text: &str, colour: Color32) {
        let galley = self.painter.layout_no_wrap(text.to_owned(), theme::label_font(), colour);
        let rect = align.anchor_size(place, galley.size()).expand2(vec2(4.0, 2.0));
        self.painter.rect_filled(rect, 3.0, self.palette.panel.gamma_multiply(0.9));
        self.painter.galley(rect.min + vec2(4.0, 2.0), galley, colour);
    }
}
