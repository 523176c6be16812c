//! Alignments of the piece that were kept: their curves, their figures, and which one is compared with.

use eframe::egui::{self, Color32, Frame, Grid, Margin, RichText, Sense, Stroke, Ui, vec2};

use super::side::{compact, heading, soft};
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::document::kept::Kept;
use crate::app::document::view_model::Solution;
use crate::app::state::AppState;
use crate::app::system_dialog::Question;
use crate::app::ui::theme::{self, Palette};
use crate::evaluation::Metrics;

/// Draws the part.
pub fn compare_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    heading(ui, "Compare");
    let palette = Palette::of(ui);
    let (Some(document), Some(solution)) = (&state.document, state.solution()) else {
        soft(ui, "Once a piece is aligned, its alignments can be kept here and laid over one another.");
        return;
    };
    row_frame(ui, |ui| {
        ui.horizontal(|ui| {
            swatch(ui, palette.wave_core, true);
            ui.label(RichText::new("Shown now").family(theme::strong_family()));
        });
        soft(ui, crate::app::document::kept::describe(&solution.alignment.settings));
        let hint = "Keeps this alignment here, so that another one (other features, another aligner, corrected, \
                    fine-tuned) can be laid over it.";
        if ui.button("Keep for comparison").on_hover_text(hint).clicked() {
            commands.push(Command::Keep);
        }
    });
    if document.kept.is_empty() {
        ui.add_space(6.0);
        soft(
            ui,
            "Keep this alignment, change the settings and align again: both curves are drawn, and the figures stand side by side.",
        );
    }
    for (index, kept) in document.kept.iter().enumerate() {
        let same = kept.is_of(&document.piece.recording_name);
        let heard = (!same).then_some(state.transport.heard == Some(index));
        kept_ui(ui, index, kept, heard, commands);
    }
    if document.reference.is_some() || !document.kept.is_empty() {
        ui.add_space(8.0);
        table_ui(ui, document, solution);
    }
    ui.add_space(10.0);
    ui.separator();
    ui.add_space(6.0);
    reference_ui(ui, document, commands);
}

/// A kept alignment; `heard` tells whether its recording is heard, if that is another one.
fn kept_ui(ui: &mut Ui, index: usize, kept: &Kept, heard: Option<bool>, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let same_recording = heard.is_none();
    row_frame(ui, |ui| {
        ui.horizontal(|ui| {
            let hint = if kept.shown { "Hide its curves" } else { "Show its curves" };
            if swatch(ui, palette.series(index), kept.shown).on_hover_text(hint).clicked() {
                commands.push(Command::ToggleKept(index));
            }
            let mut name = kept.name.clone();
            let field = egui::TextEdit::singleline(&mut name).frame(Frame::NONE).desired_width(ui.available_width());
            if ui.add(field).accessible_name("Name of the kept alignment").on_hover_text("Click to rename").changed() {
                commands.push(Command::RenameKept(index, name));
            }
        });
        if !same_recording {
            let (name, tempo) = (&kept.alignment.provenance.recording.name, kept.median_tempo());
            soft(ui, format!("Another recording, {name}: about {tempo:.0} quarter notes a minute"));
        }
        ui.horizontal(|ui| {
            let hint = "Notes and figures are compared with this alignment.";
            if same_recording && ui.add(compact("Reference")).on_hover_text(hint).clicked() {
                commands.push(Command::CompareWithKept(index));
            }
            let hint = "Shows this alignment, with the settings it was made with. Undo brings the other one back.";
            if same_recording && ui.add(compact("Switch to it")).on_hover_text(hint).clicked() {
                commands.push(Command::AdoptKept(index));
            }
            if let Some(heard) = heard {
                let hint = "Hears this recording instead of the open one, at the same bar; X switches between the two.";
                if ui.add(compact("Hear it here").selected(heard)).on_hover_text(hint).clicked() {
                    commands.push(Command::Hear((!heard).then_some(index)));
                }
            }
            if ui.add(compact("Remove")).clicked() {
                commands.push(Command::ForgetKept(index));
            }
        });
    });
}

fn reference_ui(ui: &mut Ui, document: &Document, commands: &mut Vec<Command>) {
    match &document.reference {
        Some(reference) => {
            soft(ui, format!("Figures are against {}.", reference.name));
            if ui.button("Stop comparing").clicked() {
                commands.push(Command::ForgetReference);
            }
        }
        None => {
            soft(ui, "Without a reference only the distance from the alignment shown now is known.");
            if ui.button("Compare with a reference…").clicked() {
                commands.push(Command::Ask(Question::OpenReference));
            }
        }
    }
}

fn row_frame(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    let palette = Palette::of(ui);
    ui.add_space(2.0);
    Frame::new()
        .fill(palette.canvas)
        .stroke(Stroke::new(1.0, palette.edge))
        .corner_radius(7)
        .inner_margin(Margin::symmetric(10, 8))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing = vec2(6.0, 5.0);
            content(ui);
        });
}

/// The colour of a curve, as a button that shows or hides it.
fn swatch(ui: &mut Ui, colour: egui::Color32, on: bool) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(18.0, 18.0), Sense::click());
    let line = egui::Rect::from_center_size(rect.center(), vec2(14.0, 4.0));
    if on {
        ui.painter().rect_filled(line, 2.0, colour);
    } else {
        ui.painter().rect_stroke(line, 2.0, Stroke::new(1.0, colour), egui::StrokeKind::Inside);
    }
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::CheckBox, true, on, "Curve"));
    response
}

/// A column of the table: its name, what it means, how it is written.
type Column = (&'static str, &'static str, fn(&Figures) -> Option<String>);

const AGAINST_REFERENCE: [Column; 3] = [
    ("TimeErr", "Mean distance from the reference over the score, in milliseconds.", |figures| {
        figures.metrics.map(|metrics| format!("{:.1}", metrics.time_err_ms))
    }),
    ("TimeDev", "Root of the mean squared distance, in milliseconds: large errors weigh more.", |figures| {
        figures.metrics.map(|metrics| format!("{:.1}", metrics.time_dev_ms))
    }),
    ("≤ 50 ms", "Share of onsets that are this near to the reference, in per cent.", |figures| {
        figures.metrics.map(|metrics| format!("{:.1}", metrics.within_50_pct))
    }),
];
const ALWAYS: [Column; 2] = [
    ("Apart", "Mean distance from the alignment shown now, in milliseconds.", |figures| {
        figures.apart_ms.map(|apart| format!("{apart:.1}"))
    }),
    ("Tempo", "The middle of its tempi, in quarter notes a minute.", |figures| Some(format!("{:.0}", figures.tempo))),
];
const CELL: f32 = 42.0;
const GAP: f32 = 3.0;

/// A row of the table.
struct Figures {
    colour: Color32,
    name: String,
    metrics: Option<Metrics>,
    apart_ms: Option<f64>,
    tempo: f64,
}

/// All alignments with their figures, a row each.
fn table_ui(ui: &mut Ui, document: &Document, solution: &Solution) {
    let palette = Palette::of(ui);
    let recording = &document.piece.recording_name;
    let now = Figures {
        colour: palette.wave_core,
        name: "Shown now".to_owned(),
        metrics: solution.metrics,
        apart_ms: None,
        tempo: solution.median_tempo,
    };
    let kept = document.kept.iter().enumerate().map(|(index, kept)| Figures {
        colour: palette.series(index),
        name: kept.label(recording),
        metrics: kept.metrics,
        apart_ms: kept.apart_ms,
        tempo: kept.median_tempo(),
    });
    let columns: Vec<Column> = match &document.reference {
        Some(_) => AGAINST_REFERENCE.into_iter().chain([ALWAYS[0]]).collect(),
        None => ALWAYS.to_vec(),
    };
    let names = (ui.available_width() - columns.len() as f32 * (CELL + GAP)).max(64.0);
    Grid::new("figures").num_columns(columns.len() + 1).spacing(vec2(GAP, 5.0)).min_col_width(CELL).show(ui, |ui| {
        ui.allocate_exact_size(vec2(names, 16.0), Sense::hover());
        for (name, hint, _) in &columns {
            cell(ui, RichText::new(*name).size(10.0).color(palette.soft_ink)).on_hover_text(*hint);
        }
        ui.end_row();
        for figures in std::iter::once(now).chain(kept) {
            name_ui(ui, &figures, names);
            for (_, _, written) in &columns {
                let text = written(&figures).unwrap_or_else(|| "–".to_owned());
                cell(ui, RichText::new(text).size(12.0).family(theme::strong_family()));
            }
            ui.end_row();
        }
    });
}

fn name_ui(ui: &mut Ui, figures: &Figures, width: f32) {
    let left = egui::Layout::left_to_right(egui::Align::Center);
    ui.allocate_ui_with_layout(vec2(width, 18.0), left, |ui| {
        ui.set_width(width);
        ui.spacing_mut().item_spacing.x = 4.0;
        let (rect, _) = ui.allocate_exact_size(vec2(8.0, 14.0), Sense::hover());
        ui.painter().rect_filled(egui::Rect::from_center_size(rect.center(), vec2(8.0, 8.0)), 2.0, figures.colour);
        ui.add(egui::Label::new(RichText::new(&figures.name).size(12.0)).truncate()).on_hover_text(&figures.name);
    });
}

fn cell(ui: &mut Ui, text: RichText) -> egui::Response {
    let right = egui::Layout::right_to_left(egui::Align::Center);
    ui.allocate_ui_with_layout(vec2(CELL, 18.0), right, |ui| ui.label(text)).inner
}
