//! The score's notes in the recording's time, in rows like the systems of a page.

use super::super::ExportInput;
use super::super::events::beats;
use super::super::spelling::spell;
use super::axis::{Axis, Steps, time_label};
use super::drawing::{Anchor, Area, Drawing};
use super::panel::{LEFT, legend};
use super::stretches::{Join, Kind, Stretch, joins, stretches};
use super::theme::{
    BAR_LINE, FAINT, INK, MEDIUM, NOTE, PANEL, PREDICTION_ONLY, REFERENCE_ONLY, REFERENCE_ONLY_EDGE, SHADE, SMALL,
    SOFT_INK, UNSURE_NOTE,
};

/// A row shows at least this much of the recording, unless the piece is shorter.
const ROW_S: f64 = 30.0;
/// Longer pieces get longer rows, not more of them.
const MAX_ROWS: f64 = 24.0;
const TITLE_HEIGHT: f64 = 40.0;
const BAR_NUMBERS: f64 = 18.0;
const TIME_LABELS: f64 = 36.0;

/// How the roll is divided.
pub struct Layout {
    start_s: f64,
    row_s: f64,
    rows: usize,
    lowest: u8,
    highest: u8,
    pitch_height: f64,
}

impl Layout {
    /// For what sounds between two times of the recording.
    pub fn new(input: &ExportInput, time: (f64, f64)) -> Self {
        let duration = (time.1 - time.0).max(1e-3);
        let rows = (duration / ROW_S).ceil().clamp(1.0, MAX_ROWS);
        let extra = input.alignment.extra_notes.iter().filter(|_| input.reference.is_none());
        let pitches = || input.score.notes.iter().map(|note| note.pitch).chain(extra.clone().map(|note| note.pitch));
        let (lowest, highest) = (pitches().min().unwrap_or(60), pitches().max().unwrap_or(60));
        let (lowest, highest) = (lowest.saturating_sub(2), highest.saturating_add(2).min(127));
        let range = f64::from(highest - lowest + 1);
        let pitch_height = (if rows > 1.0 { 250.0 } else { 420.0 } / range).clamp(3.5, 12.0);
        // Half pixels exist in the bitmap before it is scaled down; other fractions would blur the notes.
        let pitch_height = (2.0 * pitch_height).round() / 2.0;
        Self { start_s: time.0, row_s: duration / rows, rows: rows as usize, lowest, highest, pitch_height }
    }

    /// Height of the whole roll.
    pub fn height(&self) -> f64 {
        TITLE_HEIGHT + self.rows as f64 * (self.inside_height() + BAR_NUMBERS + TIME_LABELS)
    }

    fn inside_height(&self) -> f64 {
        self.pitch_height * f64::from(self.highest - self.lowest + 1)
    }
}

/// Draws title, legend and all rows.
pub fn piano_roll(drawing: &mut Drawing, outer: Area, input: &ExportInput, layout: &Layout) {
    let title_y = outer.top + 12.0;
    drawing.heading("Score in the recording", (outer.left + LEFT, title_y), MEDIUM, INK);
    let unsure = ("unsure", UNSURE_NOTE, None);
    if input.reference.is_some() {
        let entries = [
            ("both", NOTE, None),
            ("only alignment", PREDICTION_ONLY, None),
            ("only reference", REFERENCE_ONLY, Some(REFERENCE_ONLY_EDGE)),
        ];
        legend(drawing, outer.right, title_y, &entries);
    } else if input.alignment.is_judged() {
        let entries = [
            ("played as written", NOTE, None),
            unsure,
            ("played, not in the score", PREDICTION_ONLY, None),
            ("in the score, not played", REFERENCE_ONLY, Some(REFERENCE_ONLY_EDGE)),
        ];
        legend(drawing, outer.right, title_y, &entries);
    } else {
        legend(drawing, outer.right, title_y, &[("note", NOTE, None), unsure]);
    }
    let mut stretches = stretches(input);
    stretches.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let joins = joins(input);
    let longest_s = stretches.iter().map(|stretch| stretch.end_s - stretch.start_s).fold(0.0, f64::max);
    let bars: Vec<(f64, u32)> = beats(input)
        .map(|beats| beats.iter().filter(|b| b.number == 1).map(|b| (b.performance_s, b.bar)).collect())
        // A score with millions of bars is drawn without them.
        .unwrap_or_default();
    for row in 0..layout.rows {
        let top = outer.top + TITLE_HEIGHT + row as f64 * (layout.inside_height() + BAR_NUMBERS + TIME_LABELS);
        let inside = Area::new(outer.left + LEFT, top + BAR_NUMBERS, outer.width() - LEFT, layout.inside_height());
        let start = layout.start_s + row as f64 * layout.row_s;
        let time = Axis { values: (start, start + layout.row_s), places: (inside.left, inside.right) };
        draw_keys(drawing, inside, layout);
        draw_bars(drawing, inside, &time, &bars, top);
        let first = stretches.partition_point(|stretch| stretch.start_s < time.values.0 - longest_s);
        let end = stretches.partition_point(|stretch| stretch.start_s < time.values.1);
        draw_notes(drawing, inside, &time, layout, &stretches[first.min(end)..end]);
        draw_joins(drawing, inside, &time, layout, &joins);
        drawing.outline(inside, FAINT);
        draw_times(drawing, inside, &time);
    }
}

fn draw_keys(drawing: &mut Drawing, inside: Area, layout: &Layout) {
    drawing.fill(inside, PANEL);
    for pitch in layout.lowest..=layout.highest {
        let top = inside.bottom - f64::from(pitch - layout.lowest + 1) * layout.pitch_height;
        let key = Area { top, bottom: top + layout.pitch_height, ..inside };
        if matches!(pitch % 12, 1 | 3 | 6 | 8 | 10) {
            drawing.fill(key, SHADE);
        }
        if pitch % 12 == 0 {
            let middle = top + layout.pitch_height / 2.0;
            drawing.text(spell(pitch, 0).to_string(), (inside.left - 8.0, middle), SMALL, Anchor::Right, SOFT_INK);
        }
    }
}

fn draw_bars(drawing: &mut Drawing, inside: Area, time: &Axis, bars: &[(f64, u32)], top: f64) {
    let mut free_from = f64::NEG_INFINITY;
    let mut drawn_at = f64::NEG_INFINITY;
    for &(second, bar) in bars.iter().filter(|(second, _)| (time.values.0..time.values.1).contains(second)) {
        let x = time.place(second);
        if x - drawn_at >= 3.0 {
            drawing.line([(x, inside.top), (x, inside.bottom)], 1.0, BAR_LINE);
            drawn_at = x;
        }
        // Numbers that would touch the one before are left out.
        if x >= free_from && x < inside.right - 12.0 {
            drawing.text(bar.to_string(), (x + 2.0, top + BAR_NUMBERS / 2.0), SMALL - 1.0, Anchor::Left, SOFT_INK);
            free_from = x + 34.0;
        }
    }
}

/// Stretches of one pitch and kind that touch on the page become one rectangle: there are never more than pixels.
fn draw_notes(drawing: &mut Drawing, inside: Area, time: &Axis, layout: &Layout, stretches: &[Stretch]) {
    let mut open: std::collections::BTreeMap<(Kind, u8), Vec<(f64, f64)>> = std::collections::BTreeMap::new();
    for stretch in stretches.iter().filter(|stretch| stretch.end_s > time.values.0) {
        let (start, end) = (time.place_within(stretch.start_s), time.place_within(stretch.end_s));
        // A gap after each note shows where the next one of the same pitch begins.
        let gap =
            if stretch.kind == Kind::Sure && end - start > 4.0 && stretch.end_s < time.values.1 { 1.0 } else { 0.0 };
        let end = (end - gap).max(start + 0.6);
        let row = open.entry((stretch.kind, stretch.pitch)).or_default();
        match row.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => row.push((start, end)),
        }
    }
    for ((kind, pitch), spans) in open {
        if pitch < layout.lowest || pitch > layout.highest {
            continue;
        }
        let top = inside.bottom - f64::from(pitch - layout.lowest + 1) * layout.pitch_height;
        for (left, right) in spans {
            let right = right.min(inside.right).max(left);
            let area = Area { left, right, top: top + 0.5, bottom: top + layout.pitch_height - 0.5 };
            match kind {
                Kind::Sure => drawing.fill(area, NOTE),
                Kind::Unsure => drawing.fill(area, UNSURE_NOTE),
                Kind::PredictionOnly => drawing.fill(area, PREDICTION_ONLY),
                Kind::NotWritten => {
                    drawing.fill(area, PREDICTION_ONLY);
                    hatch(drawing, area);
                }
                Kind::ReferenceOnly | Kind::NotPlayed => {
                    drawing.fill(area, REFERENCE_ONLY);
                    // Around a sliver the edge would be all there is to see.
                    if right - left >= 3.0 {
                        drawing.outline(area, REFERENCE_ONLY_EDGE);
                    }
                }
            }
        }
    }
}

/// Slanted lines, so that red and yellow differ without colour.
fn hatch(drawing: &mut Drawing, area: Area) {
    let height = area.bottom - area.top;
    let mut left = area.left + 2.0;
    while left + height < area.right {
        drawing.line([(left, area.bottom), (left + height, area.top)], 1.0, INK);
        left += 6.0;
    }
}

/// Thin lines from what was not played to what was played in its place.
fn draw_joins(drawing: &mut Drawing, inside: Area, time: &Axis, layout: &Layout, joins: &[Join]) {
    let shown = joins.iter().filter(|join| (time.values.0..time.values.1).contains(&join.written.0));
    let y = |pitch: u8| inside.bottom - (f64::from(pitch - layout.lowest) + 0.5) * layout.pitch_height;
    for Join { written, played } in shown {
        let ends = [written, played].map(|&(at_s, pitch)| (time.place_within(at_s) + 1.0, y(pitch)));
        drawing.line(ends, 1.0, PREDICTION_ONLY);
    }
}

fn draw_times(drawing: &mut Drawing, inside: Area, time: &Axis) {
    let ticks = time.ticks(90.0, Steps::Time);
    let step = ticks.windows(2).next().map_or(1.0, |pair| pair[1] - pair[0]);
    for tick in ticks {
        let x = time.place(tick);
        drawing.line([(x, inside.bottom), (x, inside.bottom + 4.0)], 1.0, FAINT);
        drawing.text(time_label(tick, step), (x, inside.bottom + 14.0), SMALL - 1.0, Anchor::Centre, SOFT_INK);
    }
}
