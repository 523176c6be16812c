//! The panels with curves: warp, tempo, error.

use super::super::ExportInput;
use super::drawing::{Area, Drawing};
use super::panel::{HEAD, Labels, Panel, PanelText, legend};
use super::theme::{CURVE, FAINT, LIGHT_CURVE, REFERENCE, SHADE};
use crate::evaluation::{GroundTruth, TimeMap};

/// Score time against recording time, with the reference beneath.
pub fn warp_panel(drawing: &mut Drawing, outer: Area, input: &ExportInput) {
    let times = TimeMap::of_alignment(input.score, input.alignment);
    let (score, performance) = (&times.score_s, &times.performance_s);
    let last = times.len() - 1;
    let text = PanelText {
        title: "Warp",
        x_name: "score (min:s at its own tempo)",
        y_name: "recording (min:s)",
        x_labels: Labels::Time,
        y_labels: Labels::Time,
    };
    let y = (performance[0], performance[last].max(performance[0] + 1e-3));
    let panel = Panel::draw(drawing, outer, (score[0], score[last]), y, &text);
    let even = [(score[0], performance[0]), (score[last], performance[last])];
    panel.curve(drawing, even.into_iter(), 1.2, FAINT);
    let mut entries = vec![("even tempo", FAINT, None)];
    if let Some(reference) = input.reference {
        let known = reference.score_s.iter().copied().zip(reference.performance_s.iter().copied());
        panel.curve(drawing, known, 5.0, REFERENCE);
        entries.push(("reference", REFERENCE, None));
    }
    panel.curve(drawing, score.iter().copied().zip(performance.iter().copied()), 2.0, CURVE);
    entries.push(("alignment", CURVE, None));
    legend(drawing, panel.inside.right, outer.top + HEAD * 0.42, &entries);
}

/// How many beats the smoothed tempo curve averages over.
const SMOOTHED_BEATS: usize = 4;

/// Tempo over recording time: beat by beat, and smoothed.
pub fn tempo_panel(drawing: &mut Drawing, outer: Area, input: &ExportInput, time: (f64, f64)) {
    let tempo: Vec<(f64, f64)> = input.alignment.tempo.iter().map(|p| (p.performance_s, p.beats_per_minute)).collect();
    let tempo: Vec<(f64, f64)> = tempo.into_iter().filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
    let text = PanelText {
        title: "Tempo",
        x_name: "recording (min:s)",
        y_name: "quarter notes per minute",
        x_labels: Labels::Time,
        y_labels: Labels::Number,
    };
    // A single beat of a hundred times the tempo must not flatten the rest.
    let (low, high) = central_range(tempo.iter().map(|point| point.1), 0.02).unwrap_or((60.0, 120.0));
    let room = 0.15 * (high - low).max(0.1 * high);
    let panel = Panel::draw(drawing, outer, time, ((low - room).max(0.0), high + room), &text);
    let steps = tempo.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    panel.curve(drawing, steps.chain(tempo.last().copied()), 1.4, LIGHT_CURVE);
    panel.curve(drawing, smoothed(&tempo).into_iter(), 2.2, CURVE);
    let entries = [("by beat", LIGHT_CURVE, None), ("mean of 4 beats", CURVE, None)];
    legend(drawing, panel.inside.right, outer.top + HEAD * 0.42, &entries);
}

/// Mean tempo of the beats around each point: beats through time, not the mean of tempi, so that pauses weigh in full.
fn smoothed(tempo: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let half = SMOOTHED_BEATS / 2;
    let whole = tempo.windows(SMOOTHED_BEATS + 1).enumerate().map(|(index, window)| {
        let seconds = window[SMOOTHED_BEATS].0 - window[0].0;
        let mean = if seconds > 0.0 { 60.0 * SMOOTHED_BEATS as f64 / seconds } else { window[half].1 };
        (tempo[index + half].0, mean)
    });
    whole.collect()
}

/// Prediction minus reference over recording time.
pub fn error_panel(drawing: &mut Drawing, outer: Area, input: &ExportInput, reference: &GroundTruth, time: (f64, f64)) {
    let times = TimeMap::of_alignment(input.score, input.alignment);
    let rows = reference.score_s.iter().zip(&reference.performance_s);
    let errors: Vec<(f64, f64)> = rows.map(|(&score, &truth)| (truth, 1e3 * (times.at(score) - truth))).collect();
    let text = PanelText {
        title: "Error",
        x_name: "recording (min:s)",
        y_name: "alignment minus reference (ms); shaded: 25 ms",
        x_labels: Labels::Time,
        y_labels: Labels::Number,
    };
    let (low, high) = central_range(errors.iter().map(|point| point.1), 0.01).unwrap_or((0.0, 0.0));
    let reach = (1.15 * low.abs().max(high.abs())).max(30.0);
    let panel = Panel::draw(drawing, outer, time, (-reach, reach), &text);
    let band = Area { top: panel.y.place(25.0), bottom: panel.y.place(-25.0), ..panel.inside };
    drawing.fill(band, SHADE);
    drawing.line([(panel.inside.left, panel.y.place(0.0)), (panel.inside.right, panel.y.place(0.0))], 1.2, FAINT);
    panel.curve(drawing, errors.iter().copied(), 1.0, LIGHT_CURVE);
    panel.curve(drawing, running_median(&errors).into_iter(), 2.0, CURVE);
    let entries = [("by onset", LIGHT_CURVE, None), ("median of 9", CURVE, None)];
    legend(drawing, panel.inside.right, outer.top + HEAD * 0.42, &entries);
}

/// The median of nine neighbours: what is wrong for longer than a chord or two.
fn running_median(errors: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let middle = |window: &[(f64, f64)]| {
        let mut sorted: Vec<f64> = window.iter().map(|point| point.1).collect();
        sorted.sort_by(f64::total_cmp);
        (window[window.len() / 2].0, sorted[sorted.len() / 2])
    };
    errors.windows(9).map(middle).collect()
}

/// The values without the given share at either end.
fn central_range(values: impl Iterator<Item = f64>, cut: f64) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let skip = (sorted.len() as f64 * cut) as usize;
    Some((*sorted.get(skip)?, *sorted.get(sorted.len().checked_sub(skip + 1)?)?))
}
