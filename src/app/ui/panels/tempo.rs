//! The tempo, beat by beat.

use eframe::egui::{Align2, Pos2, Stroke, Ui, pos2, vec2};

use super::canvas::{Canvas, Grip};
use super::curve;
use crate::align::result::TempoPoint;
use crate::app::command::Command;
use crate::app::document::kept::Kept;
use crate::app::document::view_model::Piece;
use crate::app::state::AppState;
use crate::warping::Warp;

/// Draws the pane.
pub fn tempo_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let canvas = Canvas::new(ui, state, "Tempo", Grip::Nothing, commands);
    canvas.paint_bars(state);
    let (Some(document), Some(solution)) = (&state.document, state.shown()) else {
        canvas.paint_overlay(state);
        return;
    };
    let tempo = &solution.alignment.tempo;
    let Some((low, high)) = range(tempo) else {
        canvas.paint_overlay(state);
        return;
    };
    let y = |bpm: f64| {
        let share = ((bpm - low) / (high - low)) as f32;
        canvas.plot.bottom() - 6.0 - share * (canvas.plot.height() - 12.0)
    };
    let step = curve::round_step(high - low, f64::from(canvas.plot.height()) / 24.0);
    let lines: Vec<f64> =
        ((low / step).ceil() as i64..=(high / step).floor() as i64).map(|k| k as f64 * step).collect();
    for bpm in &lines {
        canvas.painter.hline(canvas.plot.x_range(), y(*bpm), Stroke::new(1.0, canvas.palette.grid));
    }
    let median =
        [pos2(canvas.plot.left(), y(solution.median_tempo)), pos2(canvas.plot.right(), y(solution.median_tempo))];
    curve::dashed(&canvas, &median, Stroke::new(1.0, canvas.palette.ghost));
    if let Some(ghost) = &document.ghost {
        let points = steps(&canvas, &ghost.alignment.tempo, y);
        curve::solid(&canvas, points, Stroke::new(1.0, canvas.palette.ghost));
    }
    for (index, kept) in document.kept.iter().enumerate().filter(|(_, kept)| kept.shown) {
        let laid_over = on_this_recording(kept, &document.piece, &solution.alignment.warp);
        let points = steps(&canvas, &laid_over, y);
        curve::solid(&canvas, points, Stroke::new(1.3, canvas.palette.series(index)));
    }
    curve::solid(&canvas, steps(&canvas, tempo, y), Stroke::new(1.6, canvas.palette.wave_core));
    canvas.paint_overlay(state);
    for bpm in &lines {
        let place = y(*bpm);
        if place > canvas.plot.top() + 20.0 {
            canvas.label(place, format!("{bpm:.0}"));
        }
    }
    if let Some(pointer) = canvas.pointer {
        let time = canvas.time(pointer.x);
        let after = tempo.partition_point(|point| point.performance_s <= time);
        if let Some(point) = after.checked_sub(1).and_then(|index| tempo.get(index)) {
            let text = format!("{:.1} quarter notes a minute", point.beats_per_minute);
            let place = canvas.plot.right_bottom() + vec2(-10.0, -8.0);
            canvas.tag(place, Align2::RIGHT_BOTTOM, &text, canvas.palette.soft_ink);
        }
    }
}

/// The tempo of a kept alignment at the beats of this recording, so that the same beats stand above one another.
fn on_this_recording(kept: &Kept, piece: &Piece, warp: &Warp) -> Vec<TempoPoint> {
    let place = |beat: f64| warp.at(piece.score.tempo.beat_to_seconds(beat));
    let points = kept.tempo_of_beats().map(|(score_beat, beats_per_minute)| TempoPoint {
        score_beat,
        performance_s: place(score_beat),
        beats_per_minute,
    });
    points.collect()
}

/// From below the slow beats to above the fast ones; only beats that are wild beyond measure are left outside.
fn range(tempo: &[TempoPoint]) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = tempo.iter().map(|point| point.beats_per_minute).filter(|bpm| bpm.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get((share * (sorted.len().saturating_sub(1)) as f64).round() as usize).copied();
    let (low, high) = (at(0.02)?, at(0.98)?);
    let span = (high - low).max(0.1 * high).max(1.0);
    let room = 0.15 * span;
    let (slowest, fastest) = (at(0.0)?.max(low - span), at(1.0)?.min(high + span));
    Some(((slowest - room).max(0.0), fastest + room))
}

/// A level for each beat, joined by slopes that keep out of each other's way.
fn steps(canvas: &Canvas, tempo: &[TempoPoint], y: impl Fn(f64) -> f32) -> Vec<Pos2> {
    let first = tempo.partition_point(|point| point.performance_s < canvas.view.start_s).saturating_sub(2);
    let last = (tempo.partition_point(|point| point.performance_s <= canvas.view.end_s()) + 2).min(tempo.len());
    let visible = &tempo[first..last];
    let mut points = Vec::with_capacity(visible.len());
    for pair in visible.windows(2) {
        let middle = 0.5 * (pair[0].performance_s + pair[1].performance_s);
        points.push(pos2(canvas.x(middle), y(pair[0].beats_per_minute)));
    }
    points
}
