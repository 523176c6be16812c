//! Score time against recording time, with reference, the solution before, other alignments, the band that was searched, and
//! anchors; or the difference from the reference instead.

use eframe::egui::{Align2, Color32, Mesh, Pos2, Rangef, Shape, Stroke, Ui, pos2, vec2};

use super::canvas::{Canvas, Grip};
use super::uncertainty::{band, onsets_around};
use super::warp_difference::difference_ui;
use super::{clock, curve};
use crate::align::moved_warp;
use crate::align::result::SearchBand;
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::document::view_model::Solution;
use crate::app::state::AppState;
use crate::app::ui::theme::Palette;
use crate::evaluation::TimeMap;
use crate::warping::Warp;

/// Draws the pane.
pub fn warp_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let canvas = Canvas::new(ui, state, "Warp", Grip::Onsets, commands);
    canvas.paint_bars(state);
    let (Some(document), Some(solution)) = (&state.document, state.solution()) else {
        canvas.paint_overlay(state);
        return;
    };
    if state.preferences.warp_difference {
        difference_ui(&canvas, state, document, solution);
        switch_ui(ui, &canvas, true, commands);
        return;
    }
    let piece = &document.piece;
    let warp = &solution.alignment.warp;
    let line = Stroke::new(1.8, canvas.palette.wave_core);
    let axis = Axis::new(&canvas, warp, piece.score.end_s());
    axis.paint_grid(&canvas);
    if let Some(search) = &document.shown().unwrap_or(solution).alignment.search {
        paint_search_band(&canvas, &axis, search);
    }
    if document.moved.is_none() {
        paint_confidence(&canvas, &axis, solution);
    }
    if let Some(ghost) = &document.ghost {
        curve::dashed(&canvas, &axis.points(&canvas, &ghost.alignment.warp), Stroke::new(1.2, canvas.palette.ghost));
    }
    if let Some(reference) = &document.reference {
        curve::solid(
            &canvas,
            axis.map_points(&canvas, &reference.times),
            Stroke::new(5.0, canvas.palette.reference.gamma_multiply(0.55)),
        );
    }
    for (index, kept) in document.kept.iter().enumerate().filter(|(_, kept)| kept.shown) {
        let stroke = Stroke::new(1.5, canvas.palette.series(index));
        if kept.is_of(&piece.recording_name) {
            curve::solid(&canvas, axis.points(&canvas, &kept.alignment.warp), stroke);
        } else if let Some(laid_over) = kept.stretched_to(warp) {
            curve::solid(&canvas, axis.points(&canvas, &laid_over), stroke);
        }
    }
    let moved = document.moved.and_then(|moved| moved_warp(warp, &document.settings.anchors, moved));
    // Solved already for where the pointer is or just was, or else bent to follow it.
    let solved = document.preview.as_ref().map(|preview| &preview.alignment.warp);
    match solved.or(moved.as_ref()) {
        Some(moved) => {
            curve::dashed(&canvas, &axis.points(&canvas, warp), Stroke::new(1.2, canvas.palette.ghost));
            curve::solid(&canvas, axis.points(&canvas, moved), Stroke::new(1.8, canvas.palette.accent));
        }
        None => curve::solid(&canvas, axis.points(&canvas, warp), line),
    }
    canvas.paint_overlay(state);
    for anchor in &document.settings.anchors {
        let place = pos2(canvas.x(anchor.performance_s), axis.y(anchor.score_s));
        if canvas.plot.contains(place) {
            canvas.painter.circle(place, 4.5, canvas.palette.accent, Stroke::new(1.5, canvas.palette.canvas));
        }
    }
    axis.paint_labels(&canvas);
    switch_ui(ui, &canvas, false, commands);
    paint_legend(&canvas, document);
    if let Some(pointer) = canvas.pointer {
        let time = canvas.time(pointer.x);
        let text = format!("recording {}   score {}", clock(time, 3), clock(warp.inverse(time).max(0.0), 3));
        canvas.tag(
            canvas.plot.right_bottom() + vec2(-10.0, -8.0),
            Align2::RIGHT_BOTTOM,
            &text,
            canvas.palette.soft_ink,
        );
    }
}

/// Names the curves and bands that are drawn beside the alignment itself.
fn paint_legend(canvas: &Canvas, document: &Document) {
    let piece = &document.piece;
    let palette = canvas.palette;
    let mut entries = vec![(palette.wave_core, "alignment".to_owned())];
    if let Some(reference) = &document.reference {
        entries.push((palette.reference, reference.name.clone()));
    }
    if document.ghost.is_some() || document.moved.is_some() {
        entries.push((palette.ghost, "before".to_owned()));
    }
    for (index, kept) in document.kept.iter().enumerate().filter(|(_, kept)| kept.shown) {
        let stretched = if kept.is_of(&piece.recording_name) { "" } else { ", stretched to this length" };
        entries.push((palette.series(index), format!("{}{stretched}", kept.label(&piece.recording_name))));
    }
    let search = document.solution.as_ref().and_then(|solution| solution.alignment.search.as_ref());
    if search.is_some_and(|search| can_be_seen(canvas, search)) {
        entries.push((search_colour(palette), "searched".to_owned()));
    }
    let place = canvas.plot.left_top() + vec2(12.0, 10.0);
    if entries.len() > 1 && canvas.plot.height() > LEGEND_ROOM {
        canvas.legend(place, &entries);
    }
}

/// A pane lower than this is left to its curve.
const LEGEND_ROOM: f32 = 110.0;

fn search_colour(palette: &Palette) -> Color32 {
    palette.accent.gamma_multiply(0.35)
}

/// A band that is hardly wider than the curve is left out.
fn can_be_seen(canvas: &Canvas, search: &SearchBand) -> bool {
    canvas.seconds(6.0) < search.radius_s
}

/// Where the curve was looked for: very faint, with hairlines at its edges.
fn paint_search_band(canvas: &Canvas, axis: &Axis, search: &SearchBand) {
    if !can_be_seen(canvas, search) {
        return;
    }
    let colour = canvas.palette.accent;
    let knots = search.centre.score_s();
    let first = knots.partition_point(|&s| s < axis.low_s).saturating_sub(1);
    let last = (knots.partition_point(|&s| s <= axis.high_s) + 1).min(knots.len());
    let mut edges: [Vec<Pos2>; 2] = Default::default();
    let mut mesh = Mesh::default();
    for (score_s, time_s) in knots[first..last].iter().zip(&search.centre.performance_s()[first..last]) {
        let y = axis.y(*score_s);
        let ends = [time_s - search.radius_s, time_s + search.radius_s].map(|time| pos2(canvas.x(time), y));
        let next = mesh.vertices.len() as u32;
        for (edge, end) in edges.iter_mut().zip(ends) {
            mesh.colored_vertex(end, colour.gamma_multiply(0.08));
            edge.push(end);
        }
        if next >= 2 {
            mesh.add_triangle(next - 2, next - 1, next);
            mesh.add_triangle(next - 1, next, next + 1);
        }
    }
    canvas.painter.with_clip_rect(canvas.plot).add(Shape::mesh(mesh));
    for edge in edges {
        curve::solid(canvas, edge, Stroke::new(1.0, colour.gamma_multiply(0.26)));
    }
}

/// A band around the curve, as wide as the onsets are unsure.
fn paint_confidence(canvas: &Canvas, axis: &Axis, solution: &Solution) {
    const COLUMN: f32 = 2.0;
    let onsets = onsets_around(solution, canvas.view.start_s, canvas.view.end_s());
    let columns = (canvas.plot.width() / COLUMN).ceil() as usize;
    let xs: Vec<f32> = (0..=columns).map(|column| canvas.plot.left() + COLUMN * column as f32).collect();
    let times: Vec<f64> = xs.iter().map(|x| canvas.time(*x)).collect();
    let colour = canvas.palette.wave.gamma_multiply(0.3);
    let mut mesh = Mesh::default();
    for (x, (low, high)) in xs.iter().zip(band(onsets, &times)) {
        let next = mesh.vertices.len() as u32;
        mesh.colored_vertex(pos2(*x, axis.y(low)), colour);
        mesh.colored_vertex(pos2(*x, axis.y(high)), colour);
        if next >= 2 {
            mesh.add_triangle(next - 2, next - 1, next);
            mesh.add_triangle(next - 1, next, next + 1);
        }
    }
    canvas.painter.with_clip_rect(canvas.plot).add(Shape::mesh(mesh));
}

/// Switches between the curve and the difference.
fn switch_ui(ui: &mut Ui, canvas: &Canvas, difference: bool, commands: &mut Vec<Command>) {
    if !canvas.has_controls {
        return;
    }
    let hint = "Shows how far the alignment is from the reference, or from an even tempo, instead of the curve (D)";
    let button = canvas.gutter_button(ui, 0, 1, "Difference", difference);
    if button.on_hover_text(hint).clicked() {
        commands.push(Command::ToggleWarpDifference);
    }
}

/// The score time that fits the visible stretch of the recording.
struct Axis {
    low_s: f64,
    high_s: f64,
    range: Rangef,
}

impl Axis {
    fn new(canvas: &Canvas, warp: &Warp, end_s: f64) -> Self {
        let at = |time: f64| warp.inverse(time).clamp(0.0, end_s);
        let (low, high) = (at(canvas.view.start_s), at(canvas.view.end_s()));
        let room = 0.06 * (high - low).max(0.05);
        Self { low_s: low - room, high_s: high + room, range: canvas.plot.y_range() }
    }

    fn y(&self, score_s: f64) -> f32 {
        let share = (score_s - self.low_s) / (self.high_s - self.low_s);
        self.range.max - (share * f64::from(self.range.span())) as f32
    }

    fn points(&self, canvas: &Canvas, warp: &Warp) -> Vec<Pos2> {
        let (first, last) = (warp.performance_s()[0], warp.performance_s()[warp.performance_s().len() - 1]);
        curve::sampled(canvas, |time| (first..=last).contains(&time).then(|| self.y(warp.inverse(time))))
    }

    fn map_points(&self, canvas: &Canvas, map: &TimeMap) -> Vec<Pos2> {
        let inside = |&(score_s, _): &(&f64, &f64)| (self.low_s - 5.0..=self.high_s + 5.0).contains(score_s);
        let pairs = map.score_s.iter().zip(&map.performance_s).filter(inside);
        pairs.map(|(&score_s, &time)| pos2(canvas.x(time), self.y(score_s))).collect()
    }

    fn lines(&self) -> impl Iterator<Item = (f64, f32)> + '_ {
        let step = curve::clock_step(self.high_s - self.low_s, f64::from(self.range.span()) / 34.0);
        let first = (self.low_s.max(0.0) / step).ceil() as i64;
        let last = (self.high_s / step).floor() as i64;
        (first..=last).map(move |k| (k as f64 * step, self.y(k as f64 * step)))
    }

    fn paint_grid(&self, canvas: &Canvas) {
        for (_, y) in self.lines() {
            canvas.painter.hline(canvas.plot.x_range(), y, Stroke::new(1.0, canvas.palette.grid));
        }
    }

    fn paint_labels(&self, canvas: &Canvas) {
        let decimals = if self.high_s - self.low_s < 3.0 { 2 } else { 0 };
        for (second, y) in self.lines() {
            if canvas.has_room_for_label(y) {
                canvas.label(y, clock(second, decimals));
            }
        }
    }
}
