//! What was played differently, as a list.

use eframe::egui::{
    self, Align2, ComboBox, CursorIcon, DragValue, FontId, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, pos2,
    vec2,
};

use super::side::{COMBO_WIDTH, soft};
use super::{clock, pitch_name};
use crate::app::command::Command;
use crate::app::document::view_model::{Difference, DifferenceKind, Solution};
use crate::app::preferences::NoteColours;
use crate::app::state::AppState;
use crate::app::ui::theme::{self, Palette};
use crate::base::percent::percent;

/// Height of a row.
const ROW_HEIGHT: f32 = 24.0;
/// Of more notes than this in one row only the number is told.
const NAMED: usize = 3;

/// Draws the list, and what the notes are coloured by.
pub fn differences_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(solution) = state.solution() else { return };
    let palette = Palette::of(ui);
    let least = state.preferences.least_difference;
    let is_shown = |difference: &&Difference| difference.confidence >= f64::from(least);
    let shown: Vec<&Difference> = solution.differences.iter().filter(is_shown).collect();
    let judged = solution.alignment.is_judged();
    ui.horizontal(|ui| {
        ui.label(RichText::new("Played differently").family(theme::strong_family()));
        if judged {
            ui.label(RichText::new(shown.len().to_string()).color(palette.soft_ink));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| least_ui(ui, least, commands));
        }
    });
    if !judged {
        soft(ui, "Only the onset method with an ear hears which notes were played.");
        return;
    }
    soft(ui, summary(solution));
    colours_ui(ui, state, commands);
    if shown.is_empty() {
        return;
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let scroll = ScrollArea::vertical().id_salt("differences").max_height(168.0).auto_shrink([false, true]);
        scroll.show_rows(ui, ROW_HEIGHT, shown.len(), |ui, rows| {
            for difference in &shown[rows] {
                if row(ui, difference).clicked() {
                    commands.push(Command::PlayFrom(difference.at_s));
                }
            }
        });
    });
}

/// How many notes, in words.
fn summary(solution: &Solution) -> String {
    let alignment = &solution.alignment;
    let other = alignment.extra_notes.iter().filter(|extra| extra.instead_of.is_some()).count();
    let missing = alignment.missing_count().saturating_sub(other);
    let extra = alignment.extra_notes.len() - other;
    if missing + extra + other == 0 {
        return "Everything was played as written, as far as can be heard.".to_owned();
    }
    format!("{missing} of {} notes not played, {extra} added, {other} at another pitch", alignment.notes.len())
}

fn least_ui(ui: &mut Ui, least: f32, commands: &mut Vec<Command>) {
    let mut value = 100.0 * least;
    let drag = DragValue::new(&mut value).range(50.0..=99.0).speed(0.5).fixed_decimals(0).suffix(" %").prefix("from ");
    let hint = "How likely a difference must be to be listed and shown. Exports hold all of them.";
    let response = ui.add(drag).accessible_name("Least likelihood of differences").on_hover_text(hint);
    if response.changed() {
        commands.push(Command::ShowDifferencesFrom(value / 100.0));
    }
}

fn colours_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    const NAMES: [(NoteColours, &str); 3] = [
        (NoteColours::Reference, "Against the reference"),
        (NoteColours::Played, "What was played differently"),
        (NoteColours::Confidence, "How sure the alignment is"),
    ];
    let now = state.note_colours();
    let offered =
        NAMES.into_iter().filter(|(colours, _)| *colours != NoteColours::Reference || state.reference().is_some());
    let name = NAMES.iter().find(|(colours, _)| *colours == now).map_or("", |(_, name)| name);
    ui.horizontal(|ui| {
        ui.label("Notes show").on_hover_text("What the colours in the piano roll tell.");
        let combo = ComboBox::from_id_salt("note colours").selected_text(name).width(COMBO_WIDTH).truncate();
        let shown = combo.show_ui(ui, |ui| {
            for (colours, name) in offered {
                if ui.selectable_label(colours == now, name).clicked() {
                    commands.push(Command::ColourNotes(colours));
                }
            }
        });
        shown.response.accessible_name("Notes show");
    });
}

/// What a row says, beside when and where.
fn words(difference: &Difference) -> String {
    let names = |pitches: &[u8]| pitches.iter().map(|&pitch| pitch_name(pitch)).collect::<Vec<_>>().join(" ");
    let notes = match difference.pitches.as_slice() {
        few if few.len() <= NAMED => names(few),
        many => format!("{} notes", many.len()),
    };
    match (difference.kind, difference.played) {
        (DifferenceKind::OtherPitch, Some(played)) => format!("{} for {notes}", pitch_name(played)),
        (DifferenceKind::Extra, _) => format!("{notes} added"),
        _ => format!("{notes} not played"),
    }
}

/// A difference: a sample of its colour, when, where, what and how likely.
fn row(ui: &mut Ui, difference: &Difference) -> egui::Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::click());
    let place = format!("{}:{}", difference.bar, (difference.beat * 100.0).round() / 100.0);
    let (when, what) = (clock(difference.at_s, 1), words(difference));
    let likely = percent(difference.confidence);
    response.widget_info(|| {
        let text = format!("{when}, bar {}, {what}, {likely}", difference.bar);
        egui::WidgetInfo::labeled(egui::Role::Button, true, text)
    });
    if response.hovered() {
        ui.painter().rect_filled(rect, 5.0, palette.button);
    }
    sample(ui, pos2(rect.left() + 4.0, rect.center().y), difference.kind);
    let painter = ui.painter_at(rect);
    let text = |x: f32, align: Align2, words: &str, colour| {
        painter.text(pos2(x, rect.center().y), align, words, FontId::proportional(13.0), colour);
    };
    text(rect.left() + 24.0, Align2::LEFT_CENTER, &when, palette.ink);
    text(rect.left() + 70.0, Align2::LEFT_CENTER, &place, palette.soft_ink);
    text(rect.left() + 122.0, Align2::LEFT_CENTER, &what, palette.ink);
    text(rect.right() - 4.0, Align2::RIGHT_CENTER, &likely, palette.soft_ink);
    let hint =
        format!("Bar {} beat {}. A click plays it.", difference.bar, (difference.beat * 1000.0).round() / 1000.0);
    response.on_hover_cursor(CursorIcon::PointingHand).on_hover_text(hint)
}

/// The colours of the piano roll: yellow with an outline, red with a hatch, or both.
fn sample(ui: &Ui, left: egui::Pos2, kind: DifferenceKind) {
    let (palette, painter) = (Palette::of(ui), ui.painter());
    let half = |upper: bool| {
        let top = if upper { left.y - 5.0 } else { left.y };
        egui::Rect::from_min_size(pos2(left.x, top), vec2(14.0, 5.0))
    };
    let whole = egui::Rect::from_min_size(left - vec2(0.0, 4.0), vec2(14.0, 8.0));
    let (yellow, red) = match kind {
        DifferenceKind::Missing => (Some(whole), None),
        DifferenceKind::Extra => (None, Some(whole)),
        DifferenceKind::OtherPitch => (Some(half(false)), Some(half(true))),
    };
    if let Some(rect) = yellow {
        painter.rect_filled(rect, 0.0, palette.reference_only);
        painter.rect_stroke(rect, 0.0, Stroke::new(1.0, palette.reference_edge), StrokeKind::Inside);
    }
    if let Some(rect) = red {
        painter.rect_filled(rect, 0.0, palette.ours_only);
        let hatch = Stroke::new(1.0, egui::Color32::from_black_alpha(110));
        for step in 0..3 {
            let x = rect.left() + 2.0 + 5.0 * step as f32;
            painter.line_segment([pos2(x, rect.bottom()), pos2((x + 4.0).min(rect.right()), rect.top())], hatch);
        }
    }
}
