//! How far the alignment is from the reference, or from an even tempo where there is none, over the time of the recording.

use eframe::egui::{Align2, Color32, Mesh, Pos2, Shape, Stroke, pos2, vec2};

use super::canvas::Canvas;
use super::uncertainty::{onsets_around, spread_s};
use super::{clock, curve};
use crate::align::moved_warp;
use crate::app::document::Document;
use crate::app::document::view_model::{PlacedOnset, Reference, Solution};
use crate::app::state::AppState;
use crate::evaluation::TimeMap;
use crate::warping::Warp;

/// The pane never shows less than this on either side of zero, in milliseconds.
const LEAST_RANGE_MS: f64 = 10.0;
/// Single onsets are dotted if they are this far apart, in points.
const DOT_ROOM: f32 = 7.0;
/// From here on labels are in seconds.
const IN_SECONDS_MS: f64 = 2000.0;

/// Draws the pane.
pub fn difference_ui(canvas: &Canvas, state: &AppState, document: &Document, solution: &Solution) {
    let reference = document.reference.as_deref();
    let Some(against) = Against::of(reference, solution) else {
        canvas.hint("There is too little to compare");
        canvas.paint_overlay(state);
        return;
    };
    let onsets = onsets_around(solution, canvas.view.start_s, canvas.view.end_s());
    let onsets = against.within(onsets);
    let warp = &solution.alignment.warp;
    let bent = document.moved.and_then(|moved| moved_warp(warp, &document.settings.anchors, moved));
    let preview = document.preview.as_ref().map(|preview| &preview.alignment.warp);
    let moved = preview.or(bent.as_ref());
    let shown = against.differences(onsets, moved.unwrap_or(warp));
    let body = canvas.above_legend();
    let axis = Axis::new(canvas, &shown);
    axis.paint_grid(canvas);
    if moved.is_none() {
        paint_spread(canvas, &axis, onsets, &shown);
    }
    let mut entries = vec![(canvas.palette.wave_core, against.words())];
    let before = document.ghost.as_ref().map(|ghost| &ghost.alignment.warp);
    if let Some(before) = moved.map(|_| warp).or(before) {
        let points = axis.points(canvas, &against.differences(onsets, before));
        curve::dashed(canvas, &points, Stroke::new(1.2, canvas.palette.ghost));
        entries.push((canvas.palette.ghost, "before".to_owned()));
    }
    for (index, kept) in document.kept.iter().enumerate().filter(|(_, kept)| kept.shown) {
        let same = kept.is_of(&document.piece.recording_name);
        // Another recording has no reference in common with this one, but both can be held against an even tempo.
        let laid_over = match (same, reference) {
            (true, _) => Some(kept.alignment.warp.clone()),
            (false, None) => kept.stretched_to(warp),
            (false, Some(_)) => None,
        };
        if let Some(laid_over) = laid_over {
            let colour = canvas.palette.series(index);
            curve::solid(
                canvas,
                axis.points(canvas, &against.differences(onsets, &laid_over)),
                Stroke::new(1.4, colour),
            );
            entries.push((colour, kept.label(&document.piece.recording_name)));
        }
    }
    let colour = if moved.is_some() { canvas.palette.accent } else { canvas.palette.wave_core };
    let points = axis.points(canvas, &shown);
    let roomy = canvas.plot.width() / points.len().max(1) as f32 > DOT_ROOM;
    for point in points.iter().filter(|point| roomy && body.contains(**point)) {
        canvas.painter.circle_filled(*point, 2.2, colour);
    }
    curve::solid(canvas, points, Stroke::new(1.6, colour));
    canvas.paint_overlay(state);
    axis.paint_labels(canvas);
    canvas.legend_strip(&entries);
    if let Some(pointer) = canvas.pointer {
        let time = canvas.time(pointer.x);
        if let Some(nearest) = nearest(&shown, time) {
            let text = format!("recording {}   {}", clock(nearest.0, 3), exactly(nearest.1));
            let place = body.right_bottom() + vec2(-10.0, -8.0);
            canvas.tag(place, Align2::RIGHT_BOTTOM, &text, canvas.palette.soft_ink);
        }
    }
}

/// What the alignment is held against.
enum Against<'a> {
    /// A ground truth or another alignment.
    Reference(&'a Reference),
    /// The score at one tempo from its first onset to its last: (score time, recording time) of both.
    EvenTempo { first: (f64, f64), last: (f64, f64) },
}

impl<'a> Against<'a> {
    fn of(reference: Option<&'a Reference>, solution: &Solution) -> Option<Self> {
        if let Some(reference) = reference {
            return Some(Self::Reference(reference));
        }
        let place = |onset: &PlacedOnset| (onset.score_s, onset.performance_s);
        let (first, last) = (place(solution.onsets.first()?), place(solution.onsets.last()?));
        (last.0 > first.0).then_some(Self::EvenTempo { first, last })
    }

    fn words(&self) -> String {
        match self {
            Self::Reference(reference) => format!("alignment minus {}", reference.name),
            Self::EvenTempo { .. } => "alignment minus an even tempo (up: later)".to_owned(),
        }
    }

    fn at(&self, score_s: f64) -> f64 {
        match self {
            Self::Reference(reference) => reference.times.at(score_s),
            Self::EvenTempo { first, last } => first.1 + (score_s - first.0) * (last.1 - first.1) / (last.0 - first.0),
        }
    }

    /// The onsets of which there is something to hold against.
    fn within<'o>(&self, onsets: &'o [PlacedOnset]) -> &'o [PlacedOnset] {
        let Self::Reference(reference) = self else { return onsets };
        let TimeMap { score_s, .. } = &reference.times;
        let (Some(&from), Some(&to)) = (score_s.first(), score_s.last()) else { return &[] };
        let first = onsets.partition_point(|onset| onset.score_s < from - 1e-6);
        let last = onsets.partition_point(|onset| onset.score_s <= to + 1e-6);
        &onsets[first.min(last)..last]
    }

    /// Recording time and difference in milliseconds of each onset in a warp.
    fn differences(&self, onsets: &[PlacedOnset], warp: &Warp) -> Vec<(f64, f64)> {
        let difference = |onset: &PlacedOnset| {
            let time = warp.at(onset.score_s);
            (time, 1e3 * (time - self.at(onset.score_s)))
        };
        onsets.iter().map(difference).collect()
    }
}

fn nearest(differences: &[(f64, f64)], time: f64) -> Option<(f64, f64)> {
    let distance = |place: &(f64, f64)| (place.0 - time).abs();
    differences.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// As wide as onsets are unsure.
fn paint_spread(canvas: &Canvas, axis: &Axis, onsets: &[PlacedOnset], shown: &[(f64, f64)]) {
    let colour = canvas.palette.wave.gamma_multiply(0.22);
    let mut mesh = Mesh::default();
    for (onset, (time, ms)) in onsets.iter().zip(shown) {
        let spread = 1e3 * spread_s(onset.confidence);
        let next = mesh.vertices.len() as u32;
        for edge in [ms - spread, ms + spread] {
            mesh.colored_vertex(pos2(canvas.x(*time), axis.y(edge)), colour);
        }
        if next >= 2 {
            mesh.add_triangle(next - 2, next - 1, next);
            mesh.add_triangle(next - 1, next, next + 1);
        }
    }
    canvas.painter.with_clip_rect(canvas.above_legend()).add(Shape::mesh(mesh));
}

/// Milliseconds, as many on either side of zero.
struct Axis {
    range_ms: f64,
    middle: f32,
    half: f32,
}

impl Axis {
    fn new(canvas: &Canvas, shown: &[(f64, f64)]) -> Self {
        let body = canvas.above_legend();
        let most = shown.iter().map(|(_, ms)| ms.abs()).fold(0.0, f64::max);
        Self { range_ms: (1.15 * most).max(LEAST_RANGE_MS), middle: body.center().y, half: 0.5 * body.height() }
    }

    fn y(&self, ms: f64) -> f32 {
        // Far outside is as good as just outside, and kinder to the painter.
        self.middle - ((ms / self.range_ms) as f32).clamp(-20.0, 20.0) * self.half
    }

    fn points(&self, canvas: &Canvas, differences: &[(f64, f64)]) -> Vec<Pos2> {
        differences.iter().map(|(time, ms)| pos2(canvas.x(*time), self.y(*ms))).collect()
    }

    fn lines(&self) -> impl Iterator<Item = f64> + use<> {
        let step = curve::round_step(2.0 * self.range_ms, (f64::from(self.half) / 14.0).max(4.0));
        let last = (self.range_ms / step).floor() as i64;
        (-last..=last).map(move |k| k as f64 * step)
    }

    fn paint_grid(&self, canvas: &Canvas) {
        for ms in self.lines() {
            let colour: Color32 = if ms == 0.0 { canvas.palette.soft_ink } else { canvas.palette.grid };
            canvas.painter.hline(canvas.plot.x_range(), self.y(ms), Stroke::new(1.0, colour));
        }
    }

    fn paint_labels(&self, canvas: &Canvas) {
        for ms in self.lines() {
            let y = self.y(ms);
            if canvas.has_room_for_label(y) {
                canvas.label(y, rounded(ms, self.range_ms));
            }
        }
    }
}

/// A difference for the axis.
fn rounded(ms: f64, range_ms: f64) -> String {
    match (ms == 0.0, range_ms > IN_SECONDS_MS) {
        (true, _) => "0".to_owned(),
        (_, true) => format!("{:+.1} s", ms / 1e3),
        _ => format!("{ms:+.0} ms"),
    }
}

/// A difference for the reader.
fn exactly(ms: f64) -> String {
    if ms.abs() > IN_SECONDS_MS { format!("{:+.2} s", ms / 1e3) } else { format!("{ms:+.1} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn onsets() -> Vec<PlacedOnset> {
        let onset =
            |index| PlacedOnset { score_s: f64::from(index), performance_s: f64::from(2 * index), confidence: 1.0 };
        (0..5).map(onset).collect()
    }

    #[test]
    fn the_difference_to_a_reference_is_told_in_milliseconds_where_there_is_a_reference() {
        let times = TimeMap::from_pairs(vec![(1.0, 1.98), (3.0, 6.05)]).unwrap();
        let reference = Reference { name: "truth".to_owned(), times, fingerprint: None };
        let against = Against::Reference(&reference);
        let onsets = onsets();
        let within = against.within(&onsets);
        assert_eq!(within.len(), 3);
        let warp = Warp::new(vec![0.0, 4.0], vec![0.0, 8.0]).unwrap();
        let found = against.differences(within, &warp);
        assert!((found[0].1 - 20.0).abs() < 1e-6 && (found[2].1 + 50.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn without_a_reference_an_even_tempo_is_zero_and_a_late_onset_is_above() {
        let against = Against::EvenTempo { first: (0.0, 0.0), last: (4.0, 8.0) };
        let even = Warp::new(vec![0.0, 4.0], vec![0.0, 8.0]).unwrap();
        assert!(against.differences(&onsets(), &even).iter().all(|(_, ms)| ms.abs() < 1e-9));
        let late = Warp::new(vec![0.0, 2.0, 4.0], vec![0.0, 4.5, 8.0]).unwrap();
        assert!((against.differences(&onsets(), &late)[2].1 - 500.0).abs() < 1e-6);
    }

    #[test]
    fn labels_carry_a_sign_and_a_unit() {
        assert_eq!(rounded(0.0, 50.0), "0");
        assert_eq!(rounded(-20.0, 50.0), "-20 ms");
        assert_eq!(rounded(1500.0, 3000.0), "+1.5 s");
        assert_eq!(exactly(12.345), "+12.3 ms");
    }
}
