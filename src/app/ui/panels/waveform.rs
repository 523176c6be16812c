//! The recording, with the onsets of the aligned score.

use eframe::egui::{Color32, Mesh, Rect, Shape, Stroke, Ui, pos2};

use super::canvas::{Canvas, Grip};
use super::heights::{HeightWords, STEP, height_buttons};
use crate::app::command::Command;
use crate::app::document::view_model::Piece;
use crate::app::pane_scale::PaneScale;
use crate::app::state::AppState;

/// A recording whose loudest sample is below this is drawn no higher than one with it.
const QUIETEST: f32 = 0.02;
/// Onsets closer than this, in points, are drawn fainter, down to nothing.
const CROWDED: f32 = 3.0;

/// Draws the pane.
pub fn waveform_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let canvas = Canvas::new(ui, state, "Recording", Grip::Onsets, commands);
    canvas.paint_bars(state);
    if let Some(piece) = state.piece() {
        paint_wave(&canvas, piece, state.scale.gain);
        paint_onsets(&canvas, state);
    } else {
        canvas.hint("Drop a recording and its score here, or open them with Ctrl+O");
    }
    canvas.paint_overlay(state);
    if state.document.is_some() {
        let middle = canvas.plot.center().y;
        canvas.label(middle, "0");
        let scale = state.scale;
        let words = HeightWords { what: "Waveform", keys: ["G", "Shift+G"] };
        let ways = [scale.louder(1.0 / STEP), scale.louder(STEP), PaneScale { gain: 1.0, ..scale }];
        height_buttons(ui, &canvas, &words, scale.gain, ways, commands);
    }
    if canvas.heighten != 1.0 {
        commands.push(Command::SetScale(state.scale.louder(canvas.heighten)));
    }
}

fn paint_wave(canvas: &Canvas, piece: &Piece, gain: f32) {
    let clip = &piece.recording;
    let rate = f64::from(clip.sample_rate);
    // Quiet recordings are drawn as high as loud ones.
    let half = 0.46 * gain * canvas.plot.height() / piece.peaks.loudest().max(QUIETEST);
    let middle = canvas.plot.center().y;
    let sample_at = |x: f32| (canvas.time(x) * rate).max(0.0);
    let per_point =
        (sample_at(canvas.plot.left() + 1.0) - sample_at(canvas.plot.left())).max(canvas.seconds(1.0) * rate);
    if per_point < 1.5 {
        paint_single_samples(canvas, piece, middle, half);
        return;
    }
    let mut mesh = Mesh::default();
    let columns = canvas.plot.width().ceil() as usize;
    for column in 0..columns {
        let x = canvas.plot.left() + column as f32;
        if canvas.time(x + 1.0) < 0.0 {
            continue;
        }
        let (from, to) = (sample_at(x) as usize, sample_at(x + 1.0).ceil() as usize);
        if from >= clip.samples.len() {
            break;
        }
        let peak = piece.peaks.between(&clip.samples, from, to.max(from + 1));
        column_rect(&mut mesh, x, (middle - peak.max * half, middle - peak.min * half), canvas.palette.wave);
        let loud = peak.power.sqrt() * half;
        if loud > 0.5 {
            column_rect(&mut mesh, x, (middle - loud, middle + loud), canvas.palette.wave_core);
        }
    }
    canvas.painter.add(Shape::mesh(mesh));
}

fn column_rect(mesh: &mut Mesh, x: f32, (top, bottom): (f32, f32), colour: Color32) {
    let bottom = bottom.max(top + 1.0);
    mesh.add_colored_rect(Rect::from_min_max(pos2(x, top), pos2(x + 1.0, bottom)), colour);
}

fn paint_single_samples(canvas: &Canvas, piece: &Piece, middle: f32, half: f32) {
    let rate = f64::from(piece.recording.sample_rate);
    let first = (canvas.view.start_s * rate).floor().max(0.0) as usize;
    let last = ((canvas.view.end_s() * rate).ceil().max(0.0) as usize + 1).min(piece.recording.samples.len());
    let samples = piece.recording.samples.get(first..last).unwrap_or_default();
    let points =
        samples.iter().enumerate().map(|(n, sample)| pos2(canvas.x((first + n) as f64 / rate), middle - sample * half));
    canvas.painter.line(points.collect(), Stroke::new(1.3, canvas.palette.wave_core));
}

fn paint_onsets(canvas: &Canvas, state: &AppState) {
    let Some(solution) = state.shown() else { return };
    let onsets = solution.onsets_between(canvas.view.start_s, canvas.view.end_s());
    let room = canvas.plot.width() / onsets.len().max(1) as f32;
    let strength = ((room - CROWDED) / 8.0).clamp(0.0, 1.0) * 0.75;
    if strength == 0.0 {
        return;
    }
    let stroke = Stroke::new(1.0, canvas.palette.accent.gamma_multiply(strength));
    let (top, bottom) = (canvas.plot.top() + 0.12 * canvas.plot.height(), canvas.plot.bottom());
    for onset in onsets {
        canvas.painter.vline(canvas.x(onset.performance_s), top..=bottom, stroke);
    }
}
