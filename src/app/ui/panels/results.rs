//! How good the alignment is, and where to look.

use eframe::egui::{self, Grid, ProgressBar, RichText, ScrollArea, Sense, Stroke, Ui, pos2, vec2};

use super::clock;
use super::differences::differences_ui;
use super::side::{compact, heading, soft};
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::document::view_model::{Doubt, Solution};
use crate::app::state::AppState;
use crate::app::system_dialog::Question;
use crate::app::ui::theme::{self, Palette};
use crate::base::percent::percent;
use crate::evaluation::Metrics;

/// Height of a place to check.
const ROW_HEIGHT: f32 = 24.0;

/// Draws confidence or figures, and the list of doubtful places.
pub fn results_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    heading(ui, "Result");
    let palette = Palette::of(ui);
    let Some(solution) = state.solution() else {
        let text = if state.work.is_some() { "Being found…" } else { "Nothing is aligned yet." };
        ui.label(RichText::new(text).color(palette.soft_ink));
        return;
    };
    confidence_ui(ui, solution);
    ui.add_space(4.0);
    match (state.reference(), &solution.metrics) {
        (Some(reference), Some(metrics)) => {
            ui.add_space(4.0);
            ui.label(RichText::new(format!("Against {}", reference.name)).color(palette.soft_ink));
            metrics_ui(ui, metrics);
        }
        _ => {
            let hint = "A ground truth or another alignment: shows where the two differ and by how much.";
            if ui.button("Compare with a reference…").on_hover_text(hint).clicked() {
                commands.push(Command::Ask(Question::OpenReference));
            }
        }
    }
    for warning in &solution.alignment.warnings {
        ui.add(egui::Label::new(RichText::new(warning).color(palette.reference)).wrap());
    }
    ui.add_space(10.0);
    doubts_ui(ui, state, commands);
    ui.add_space(10.0);
    differences_ui(ui, state, commands);
}

fn confidence_ui(ui: &mut Ui, solution: &Solution) {
    let palette = Palette::of(ui);
    let confidence = solution.alignment.confidence;
    ui.horizontal(|ui| {
        ui.label(RichText::new(percent(confidence)).font(egui::FontId::new(22.0, theme::strong_family())));
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 3.0;
            ui.label(RichText::new("mean confidence of the notes").color(palette.soft_ink));
            let colour = if confidence < 0.5 { palette.error } else { palette.accent };
            ui.add(ProgressBar::new(confidence as f32).desired_height(4.0).desired_width(130.0).fill(colour));
        });
    })
    .response
    .on_hover_text(
        "How likely a note is where it was put, to within 50 ms, on average over the notes that the recording holds. What you \
         have fixed counts as certain.",
    );
    let notes = solution.alignment.notes.len();
    soft(ui, format!("{notes} notes, about {:.0} quarter notes a minute", solution.median_tempo));
}

fn metrics_ui(ui: &mut Ui, metrics: &Metrics) {
    let rows = [
        ("TimeErr", format!("{:.1} ms", metrics.time_err_ms), "Mean distance from the reference over the score."),
        (
            "TimeDev",
            format!("{:.1} ms", metrics.time_dev_ms),
            "Root of the mean squared distance: large errors weigh more.",
        ),
        (
            "Median onset error",
            format!("{:.1} ms", metrics.onset_median_ms),
            "Half of the onsets are nearer than this.",
        ),
        ("Bias", format!("{:+.1} ms", metrics.bias_ms), "Above zero: the alignment is late on the whole."),
        ("Within 25 ms", format!("{:.1} %", metrics.within_25_pct), "Share of onsets that are this near."),
        ("Within 50 ms", format!("{:.1} %", metrics.within_50_pct), "Share of onsets that are this near."),
    ];
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = 20.0;
        Grid::new("metrics").num_columns(2).spacing(vec2(16.0, 2.0)).min_row_height(21.0).show(ui, |ui| {
            for (name, value, hint) in rows {
                ui.label(name).on_hover_text(hint);
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    ui.label(RichText::new(value).family(theme::strong_family()));
                });
                ui.end_row();
            }
        });
    });
}

fn doubts_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let doubts = state.document.as_ref().map(Document::doubts).unwrap_or_default();
    ui.horizontal(|ui| {
        ui.label(RichText::new("Places to check").family(theme::strong_family()));
        ui.label(RichText::new(doubts.len().to_string()).color(palette.soft_ink));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let hint = "Calls the marked stretch, or what is visible, right: its places to check go away, and it can be \
                        learned from (A).";
            if ui.add(compact("Accept")).on_hover_text(hint).clicked() {
                commands.push(Command::Accept { right: true });
            }
            let next = ui.add_enabled(!doubts.is_empty(), compact("Next"));
            if next.on_hover_text("The next doubtful place (N)").clicked() {
                commands.push(Command::NextDoubt);
            }
        });
    });
    if doubts.is_empty() {
        soft(ui, "No place stands out.");
        return;
    }
    ui.scope(|ui| doubt_rows(ui, state, &doubts, commands));
}

fn doubt_rows(ui: &mut Ui, state: &AppState, doubts: &[&Doubt], commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().id_salt("doubts").max_height(168.0).auto_shrink([false, true]).show_rows(
        ui,
        ROW_HEIGHT,
        doubts.len(),
        |ui, rows| {
            for doubt in &doubts[rows] {
                let here = (doubt.start_s - 0.01..=doubt.end_s + 0.01).contains(&state.transport.position_s);
                if doubt_row(ui, doubt, here).clicked() {
                    commands.push(Command::GoTo(doubt.start_s));
                }
            }
        },
    );
}

/// A place to check: a dot that fills with its gravity, when, and why.
fn doubt_row(ui: &mut Ui, doubt: &Doubt, here: bool) -> egui::Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::click());
    let text = format!("{}   {}", clock(doubt.start_s, 1), doubt.reason);
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, here, text.as_str()));
    let fill = match (here, response.hovered()) {
        (true, _) => palette.accent.gamma_multiply(0.22),
        (_, true) => palette.button,
        _ => egui::Color32::TRANSPARENT,
    };
    ui.painter().rect_filled(rect, 5.0, fill);
    let dot = pos2(rect.left() + 11.0, rect.center().y);
    ui.painter().circle_stroke(dot, 4.0, Stroke::new(1.2, palette.ours_only));
    ui.painter().circle_filled(dot, 1.0 + 3.0 * doubt.severity.clamp(0.0, 1.0) as f32, palette.ours_only);
    let font = egui::FontId::proportional(13.0);
    let left = |x: f32| pos2(rect.left() + x, rect.center().y);
    ui.painter().text(left(24.0), egui::Align2::LEFT_CENTER, clock(doubt.start_s, 1), font.clone(), palette.ink);
    let painter = ui.painter_at(rect);
    painter.text(left(82.0), egui::Align2::LEFT_CENTER, &doubt.reason, font, palette.soft_ink);
    response.on_hover_text(format!("{} to {}", clock(doubt.start_s, 2), clock(doubt.end_s, 2)))
}
