//! The notes of the piano roll, their legend, and a card for the one under the pointer.

use eframe::egui::{Align2, Color32, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use super::canvas::Canvas;
use super::piano_roll::Rows;
use super::{clock, pitch_name};
use crate::app::document::view_model::{Piece, Reference, Roll, RollSpan, Solution, Support};
use crate::app::preferences::NoteColours;
use crate::app::ui::theme::{self, Palette};
use crate::base::percent::percent;

/// What is narrower than this, in points, is left out where it only tells of a difference in time: at that zoom the two agree.
const NARROWEST_DIFFERENCE: f32 = 0.75;
/// Notes narrower than this, in points, are drawn plainly.
const NARROW: f32 = 3.0;
/// Distance of hatch lines.
const HATCH: f32 = 5.0;
/// A stretch shorter than this lies in a section that was left out, where the recording stands still.
const NOTHING_S: f64 = 1e-6;

/// What is drawn.
pub(super) struct Shown<'a> {
    /// The alignment.
    pub solution: &'a Solution,
    /// What the colours tell.
    pub colours: NoteColours,
    /// How likely what was played differently must be to be shown.
    pub least: f32,
}

impl Shown<'_> {
    /// Draws what is visible and gives the note under the pointer. Of notes that fall together at this zoom one is drawn.
    pub fn paint(&self, canvas: &Canvas, rows: &Rows, pointer: Option<Pos2>) -> Option<RollSpan> {
        let roll = self.solution.roll(self.colours);
        let gap = (0.12 * rows.height).min(1.5);
        let mut covered = [f32::NEG_INFINITY; 128];
        let mut hovered = None;
        // Thousands of narrow notes cost too much as shapes of their own.
        let mut narrow = Mesh::default();
        for span in roll.between(canvas.view.start_s, canvas.view.end_s()) {
            let Some(support) = self.support(span) else { continue };
            let (left, right) = (canvas.x(span.start_s), canvas.x(span.end_s));
            let last = &mut covered[usize::from(span.pitch & 127)];
            let plain = matches!(support, Support::Both | Support::Confidence(_));
            let of_time = matches!(support, Support::OursOnly | Support::ReferenceOnly);
            let crowded = plain && right - left < 1.0 && right <= *last;
            let too_narrow = of_time && right - left < NARROWEST_DIFFERENCE;
            if right < canvas.plot.left() || crowded || too_narrow {
                continue;
            }
            let right = right.max(left + 1.0);
            *last = right;
            let y = rows.y(span.pitch);
            if y > rows.body.bottom() || y + rows.height < rows.body.top() {
                continue;
            }
            let rect = Rect::from_min_max(
                pos2(left.max(canvas.plot.left() - 4.0), y + gap),
                pos2(right.min(canvas.plot.right() + 4.0), y + rows.height - gap),
            );
            if rect.width() < NARROW {
                narrow.add_colored_rect(rect, fill(canvas.palette, support));
            } else {
                paint_span(canvas, rect, support);
            }
            if pointer.is_some_and(|at| rect.expand(1.0).contains(at) && rows.body.contains(at)) {
                hovered = Some(*span);
            }
        }
        canvas.painter.add(Shape::mesh(narrow));
        self.join_other_pitches(canvas, rows, roll);
        hovered
    }

    /// How a stretch is shown: what is not likely enough is as if it were played as written, or not at all.
    fn support(&self, span: &RollSpan) -> Option<Support> {
        match span.support {
            Support::NotPlayed(_) if span.end_s - span.start_s < NOTHING_S => None,
            Support::NotPlayed(likely) if likely < self.least => {
                let note = self.solution.alignment.notes.get(span.note? as usize)?;
                Some(Support::Confidence(note.confidence as f32))
            }
            Support::NotWritten(likely) if likely < self.least => None,
            shown => Some(shown),
        }
    }

    /// A thin line from each note that was not played to the one that was played in its place.
    fn join_other_pitches(&self, canvas: &Canvas, rows: &Rows, roll: &Roll) {
        let painter = canvas.painter.with_clip_rect(canvas.plot.intersect(rows.body));
        let place = |(time_s, pitch): (f64, u8)| pos2(canvas.x(time_s) + 2.0, rows.y(pitch) + 0.5 * rows.height);
        for instead in roll.instead.iter().filter(|instead| instead.confidence >= self.least) {
            let ends = [place(instead.written), place(instead.played)];
            if canvas.plot.x_range().contains(ends[0].x) {
                painter.line_segment(ends, Stroke::new(1.0, canvas.palette.ours_only));
                ends.iter().for_each(|&end| {
                    painter.circle_filled(end, 1.8, canvas.palette.ours_only);
                });
            }
        }
    }
}

/// Draws a stretch, or a sample of it.
pub(super) fn paint_span(canvas: &Canvas, rect: Rect, support: Support) {
    let palette = canvas.palette;
    let radius = if rect.width() > 4.0 && rect.height() > 4.0 { 2.0 } else { 0.0 };
    // A note that is compared may go on in another colour: its ends stay square.
    let radius = if matches!(support, Support::Confidence(_)) { radius } else { 0.0 };
    canvas.painter.rect_filled(rect, radius, fill(palette, support));
    match support {
        Support::OursOnly | Support::NotWritten(_) => hatch(canvas, rect, Color32::from_black_alpha(90)),
        Support::ReferenceOnly | Support::NotPlayed(_) => {
            let stroke = Stroke::new(1.0, palette.reference_edge);
            canvas.painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
        }
        Support::Confidence(_) | Support::Both => {}
    }
}

fn fill(palette: &Palette, support: Support) -> Color32 {
    match support {
        Support::Confidence(confidence) => palette.unsure_note.lerp_to_gamma(palette.note, confidence.clamp(0.0, 1.0)),
        Support::Both => palette.note,
        Support::OursOnly | Support::NotWritten(_) => palette.ours_only,
        Support::ReferenceOnly | Support::NotPlayed(_) => palette.reference_only,
    }
}

/// Slanted lines, so that red and yellow differ without colour.
fn hatch(canvas: &Canvas, rect: Rect, colour: Color32) {
    if rect.width() < 3.0 || rect.height() < 3.0 {
        return;
    }
    let painter = canvas.painter.with_clip_rect(rect.intersect(canvas.plot));
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        let line = [pos2(x, rect.bottom()), pos2(x + rect.height(), rect.top())];
        painter.add(Shape::line_segment(line, Stroke::new(1.0, colour)));
        x += HATCH;
    }
}

/// What is known of the note under the pointer.
pub(super) fn paint_note_card(canvas: &Canvas, piece: &Piece, solution: &Solution, span: RollSpan) {
    let state = match span.support {
        Support::Confidence(confidence) => format!("confidence {}", percent(f64::from(confidence))),
        Support::Both => "as in the reference".to_owned(),
        Support::OursOnly => "not in the reference".to_owned(),
        Support::ReferenceOnly => "only in the reference".to_owned(),
        Support::NotPlayed(likely) => format!("not played, {}", percent(f64::from(likely))),
        Support::NotWritten(likely) => format!("not in the score, {}", percent(f64::from(likely))),
    };
    let place = match span.note {
        Some(note) => {
            let Some(note) = piece.score.notes.get(note as usize) else { return };
            let position = piece.score.position(note);
            format!("bar {} beat {:.4}   ", position.bar, (position.beat * 1000.0).round() / 1000.0)
        }
        None => String::new(),
    };
    let aligned = span.note.and_then(|note| solution.alignment.notes.get(note as usize));
    let (start_s, end_s) = aligned.map_or((span.start_s, span.end_s), |note| (note.onset_s, note.offset_s));
    let end = aligned.and_then(|note| note.offset_confidence);
    let end = end.map(|confidence| format!(", end {}", percent(confidence))).unwrap_or_default();
    let text =
        format!("{}   {place}{} to {}   {state}{end}", pitch_name(span.pitch), clock(start_s, 3), clock(end_s, 3),);
    let place = canvas.plot.right_top() + vec2(-10.0, 8.0);
    canvas.tag(place, Align2::RIGHT_TOP, &text, canvas.palette.ink);
}

/// What the colours mean, and against what: a reference, or the score itself.
pub(super) fn paint_legend(canvas: &Canvas, colours: NoteColours, reference: Option<&Reference>) {
    let against = reference.map_or_else(String::new, |reference| format!("Against {}:", reference.name));
    let (title, entries) = match colours {
        NoteColours::Confidence => return,
        NoteColours::Reference => (
            [against, "Reference:".to_owned()],
            [
                (Support::Both, "agrees with the reference", "both"),
                (Support::OursOnly, "only in the alignment", "alignment"),
                (Support::ReferenceOnly, "only in the reference", "reference"),
            ],
        ),
        NoteColours::Played => (
            ["Recording against the score:".to_owned(), "Score:".to_owned()],
            [
                (Support::Confidence(1.0), "played as written", "played"),
                (Support::NotWritten(1.0), "played, not in the score", "not written"),
                (Support::NotPlayed(1.0), "in the score, not played", "not played"),
            ],
        ),
    };
    let Some(strip) = canvas.legend_rect() else { return };
    let layout =
        |words: &str| canvas.painter.layout_no_wrap(words.to_owned(), theme::label_font(), canvas.palette.soft_ink);
    canvas.painter.rect_filled(strip, 0.0, canvas.palette.panel);
    let [long, short] = title.map(|words| layout(&words));
    let width = |galley: &std::sync::Arc<eframe::egui::Galley>| galley.size().x;
    let mut words = entries.map(|(_, words, _)| layout(words));
    let mut title = long;
    if words.iter().map(|galley| width(galley) + 44.0).sum::<f32>() + width(&title) + 24.0 > strip.width() {
        (title, words) = (short, entries.map(|(_, _, words)| layout(words)));
    }
    let painter = canvas.painter.with_clip_rect(strip);
    let (mut x, y) = (strip.left() + 10.0, strip.center().y);
    let step = width(&title) + 14.0;
    painter.galley(pos2(x, y - title.size().y / 2.0), title, canvas.palette.soft_ink);
    x += step;
    for ((support, ..), galley) in entries.into_iter().zip(words) {
        paint_span(canvas, Rect::from_min_size(pos2(x, y - 4.0), vec2(18.0, 8.0)), support);
        let step = width(&galley) + 44.0;
        painter.galley(pos2(x + 24.0, y - galley.size().y / 2.0), galley, canvas.palette.soft_ink);
        x += step;
    }
}
