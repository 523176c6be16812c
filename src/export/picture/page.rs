//! The page: title, curves, piano roll.

use super::super::ExportInput;
use super::super::text::single_line;
use super::axis::time_label;
use super::curves::{error_panel, tempo_panel, warp_panel};
use super::drawing::{Anchor, Area, Drawing};
use super::panel::LEFT;
use super::piano_roll::{Layout, piano_roll};
use super::raster::text_width;
use super::theme::{INK, LARGE, MARGIN, MEDIUM, PAGE_WIDTH, SMALL, SOFT_INK};
use crate::base::percent::percent;

const TITLE_HEIGHT: f64 = 84.0;
const CURVES_HEIGHT: f64 = 480.0;
const GAP: f64 = 28.0;
const FOOT_HEIGHT: f64 = 26.0;

/// Draws everything about an alignment.
pub fn page(input: &ExportInput) -> Drawing {
    let time = sounding_time(input);
    let layout = Layout::new(input, time);
    let height = 2.0 * MARGIN + TITLE_HEIGHT + CURVES_HEIGHT + GAP + layout.height() + FOOT_HEIGHT;
    let mut drawing = Drawing { width: PAGE_WIDTH, height, shapes: Vec::new() };
    let width = PAGE_WIDTH - 2.0 * MARGIN;
    titles(&mut drawing, input, width);
    let top = MARGIN + TITLE_HEIGHT;
    let half = (width - GAP) / 2.0;
    warp_panel(&mut drawing, Area::new(MARGIN, top, half, CURVES_HEIGHT), input);
    let right = MARGIN + half + GAP;
    match input.reference {
        Some(reference) => {
            let height = CURVES_HEIGHT / 2.0;
            tempo_panel(&mut drawing, Area::new(right, top, half, height), input, time);
            error_panel(&mut drawing, Area::new(right, top + height, half, height), input, reference, time);
        }
        None => tempo_panel(&mut drawing, Area::new(right, top, half, CURVES_HEIGHT), input, time),
    }
    let roll_top = top + CURVES_HEIGHT + GAP;
    piano_roll(&mut drawing, Area::new(MARGIN, roll_top, width, layout.height()), input, &layout);
    let foot = (PAGE_WIDTH - MARGIN, height - MARGIN + 4.0);
    drawing.text(single_line(&input.alignment.provenance.program), foot, SMALL - 1.0, Anchor::Right, SOFT_INK);
    let axis = (MARGIN + LEFT, height - MARGIN + 4.0);
    drawing.text("bar numbers above, recording (min:s) below", axis, SMALL - 1.0, Anchor::Left, SOFT_INK);
    drawing
}

/// From the first note to the last in the recording, a little wider. The reference counts too.
fn sounding_time(input: &ExportInput) -> (f64, f64) {
    let notes = input.alignment.notes.iter().flat_map(|note| [note.onset_s, note.offset_s]);
    let reference = input.reference.into_iter().flat_map(|reference| reference.performance_s.iter().copied());
    let times = || notes.clone().chain(reference.clone()).filter(|time| time.is_finite());
    let (first, last) = (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max));
    if first > last {
        return (0.0, 1.0);
    }
    let room = (0.01 * (last - first)).clamp(0.1, 1.0);
    // Starting at zero is more natural than just before or after it.
    let start = if (0.0..room).contains(&first) { 0.0 } else { first - room };
    (start, last + room)
}

fn titles(drawing: &mut Drawing, input: &ExportInput, width: f64) {
    let made = &input.alignment.provenance;
    let left = MARGIN + LEFT;
    let title = input.score.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&made.score.name);
    let title = fitted(&single_line(title), LARGE, true, width - LEFT);
    drawing.heading(title, (left, MARGIN + 10.0), LARGE, INK);
    let mut facts = vec![
        single_line(&made.recording.name),
        time_label(made.recording.duration_s, 1.0),
        format!("{} notes", input.score.notes.len()),
        format!("confidence {}", percent(input.alignment.confidence)),
    ];
    if let Some(metrics) = input.metrics {
        facts.push(format!("TimeErr {:.1} ms", metrics.time_err_ms));
        facts.push(format!("TimeDev {:.1} ms", metrics.time_dev_ms));
        facts.push(format!("median onset error {:.1} ms", metrics.onset_median_ms));
    }
    let facts = fitted(&facts.join("   ·   "), MEDIUM, false, width - LEFT);
    drawing.text(facts, (left, MARGIN + 44.0), MEDIUM, Anchor::Left, SOFT_INK);
}

/// The text, or as much of its beginning as fits, with an ellipsis.
fn fitted(text: &str, size: f64, bold: bool, width: f64) -> String {
    // Wider than any name a person reads; bounds the work on absurd ones.
    let text: String = text.chars().take(400).collect();
    if text_width(&text, size, bold) <= width {
        return text;
    }
    let mut kept = text;
    while !kept.is_empty() && text_width(&format!("{kept}…"), size, bold) > width {
        kept.pop();
    }
    kept + "…"
}
