//! What there is to tell: progress with a way to stop it, sentences with a way to close them.

use eframe::egui::{self, Align2, Color32, CornerRadius, Frame, Margin, ProgressBar, RichText, Stroke, Ui, vec2};

use crate::app::command::Command;
use crate::app::document::source::Order;
use crate::app::notice::Severity;
use crate::app::state::AppState;
use crate::app::ui::theme::Palette;

const WIDTH: f32 = 420.0;

/// Draws the cards in the lower right corner of the panes.
pub fn notices_ui(ctx: &egui::Context, state: &AppState, commands: &mut Vec<Command>) {
    let work = state.work.as_ref().filter(|work| !work.brief);
    if work.is_none() && state.notices.is_empty() && state.left_behind.is_empty() {
        return;
    }
    egui::Area::new(egui::Id::unique("notices"))
        .anchor(Align2::LEFT_BOTTOM, vec2(super::GUTTER + 16.0, -72.0))
        .order(egui::Order::Middle)
        .show(ctx, |ui| {
            ui.set_max_width(WIDTH);
            for (index, notice) in state.notices.iter().enumerate() {
                let colour = match notice.severity {
                    Severity::Info => Palette::of(ui).accent,
                    Severity::Warning => Palette::of(ui).reference,
                    Severity::Error => Palette::of(ui).error,
                };
                card(ui, colour, |ui| {
                    ui.horizontal(|ui| {
                        ui.vertical(|ui| {
                            ui.set_width(WIDTH - 110.0);
                            ui.add(egui::Label::new(&notice.text).wrap());
                            if let Some(details) = &notice.details {
                                let title = RichText::new("Details").small();
                                egui::CollapsingHeader::new(title).id_salt(("details", index)).show(ui, |ui| {
                                    ui.add(
                                        egui::Label::new(RichText::new(details).monospace().small())
                                            .selectable(true)
                                            .wrap(),
                                    );
                                });
                            }
                        });
                        ui.vertical(|ui| {
                            if let Some((performance, score)) = &notice.taken {
                                let swapped = vec![score.clone(), performance.clone()];
                                if ui.button("Swap").on_hover_text("The other way round.").clicked() {
                                    commands.push(Command::OpenIn(Order::PerformanceFirst, swapped));
                                }
                            }
                            if ui.button("Close").clicked() {
                                commands.push(Command::Dismiss(index));
                            }
                        });
                    });
                });
            }
            // While something is being opened it is not clear what "it" would be.
            if !state.left_behind.is_empty() && work.is_none() {
                card(ui, Palette::of(ui).reference, |ui| {
                    let kept = match state.left_behind.len() {
                        1 => "Unsaved work was kept.".to_owned(),
                        count => format!("Unsaved work of {count} pieces was kept, the latest first."),
                    };
                    ui.add(egui::Label::new(format!("Agogic did not close properly last time. {kept}")).wrap());
                    ui.horizontal(|ui| {
                        if ui.button("Recover it").clicked() {
                            commands.push(Command::Recover);
                        }
                        if ui.button("Discard it").clicked() {
                            commands.push(Command::DiscardLeftBehind);
                        }
                    });
                });
            }
            if let Some(work) = work {
                card(ui, Palette::of(ui).accent, |ui| {
                    ui.horizontal(|ui| {
                        ui.vertical(|ui| {
                            ui.set_width(WIDTH - 120.0);
                            ui.label(&work.title);
                            let bar = ProgressBar::new(work.fraction).desired_height(4.0).fill(Palette::of(ui).accent);
                            ui.add(bar);
                            let stage =
                                RichText::new(format!("{}…", work.stage)).small().color(Palette::of(ui).soft_ink);
                            ui.label(stage);
                        });
                        if ui.button("Cancel").clicked() {
                            commands.push(Command::Cancel);
                        }
                    });
                });
            }
        });
}

fn card(ui: &mut Ui, colour: Color32, content: impl FnOnce(&mut Ui)) {
    let palette = Palette::of(ui);
    let response = Frame::new()
        .fill(palette.panel)
        .stroke(Stroke::new(1.0, palette.edge))
        .corner_radius(CornerRadius::same(8))
        .shadow(ui.visuals().popup_shadow)
        .inner_margin(Margin { left: 16, right: 12, top: 10, bottom: 10 })
        .show(ui, |ui| {
            ui.set_width(WIDTH - 28.0);
            content(ui);
        })
        .response;
    let mut stripe = response.rect.shrink2(vec2(0.0, 8.0));
    stripe.set_left(stripe.left() + 5.0);
    stripe.set_width(3.0);
    ui.painter().rect_filled(stripe, 2.0, colour);
}
