//! The panel on the right: results and settings, comparison, fine-tuning, one at a time.

use eframe::egui::{self, Color32, CornerRadius, Frame, Margin, RichText, ScrollArea, Ui, vec2};

use super::{compare, results, settings, tuning};
use crate::app::command::Command;
use crate::app::preferences::SideTab;
use crate::app::state::AppState;
use crate::app::ui::theme::{self, Palette};

const TABS: [(SideTab, &str, &str); 3] = [
    (SideTab::Align, "Align", "How good the alignment is, and how it is made"),
    (SideTab::Compare, "Compare", "Alignments of this piece beside one another"),
    (SideTab::Tune, "Fine-tune", "Teach the features with pieces whose alignment is known"),
];

/// Width of everything that can be chosen from, so that it stands in one column.
pub const COMBO_WIDTH: f32 = 164.0;

/// Draws the panel.
pub fn side_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    ui.add_space(8.0);
    tabs_ui(ui, state.preferences.side_tab, commands);
    ui.add_space(4.0);
    ScrollArea::vertical().id_salt(("side", state.preferences.side_tab as u8)).auto_shrink(false).show(ui, |ui| {
        ui.add_space(6.0);
        match state.preferences.side_tab {
            SideTab::Align => {
                results::results_ui(ui, state, commands);
                ui.add_space(14.0);
                ui.separator();
                ui.add_space(10.0);
                settings::settings_ui(ui, state, commands);
            }
            SideTab::Compare => compare::compare_ui(ui, state, commands),
            SideTab::Tune => tuning::tuning_ui(ui, state, commands),
        }
        ui.add_space(10.0);
    });
}

fn tabs_ui(ui: &mut Ui, chosen: SideTab, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    Frame::new().fill(palette.button).corner_radius(CornerRadius::same(7)).inner_margin(Margin::same(2)).show(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            let width = (ui.available_width() - 4.0) / TABS.len() as f32;
            ui.horizontal(|ui| {
                for (tab, name, hint) in TABS {
                    let here = tab == chosen;
                    let ink = if here { palette.ink } else { palette.soft_ink };
                    let mut text = RichText::new(name).color(ink);
                    if here {
                        text = text.family(theme::strong_family());
                    }
                    let fill = if here { palette.panel } else { Color32::TRANSPARENT };
                    let button = egui::Button::new(text).fill(fill).min_size(vec2(width, 24.0)).selected(false);
                    if ui.add(button).on_hover_text(hint).clicked() {
                        commands.push(Command::ShowSide(tab));
                    }
                }
            });
        },
    );
}

/// A heading inside the panel.
pub fn heading(ui: &mut Ui, text: &str) {
    ui.label(egui::RichText::new(text).heading());
    ui.add_space(4.0);
}

/// A smaller heading.
pub fn subheading(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).family(theme::strong_family()));
}

/// Words of less importance, over as many lines as they need.
pub fn soft(ui: &mut Ui, text: impl Into<String>) {
    let colour = Palette::of(ui).soft_ink;
    ui.add(egui::Label::new(RichText::new(text).color(colour)).wrap());
}

/// A button that takes little room.
pub fn compact(text: &str) -> egui::Button<'_> {
    egui::Button::new(RichText::new(text).size(12.0)).min_size(vec2(0.0, 22.0))
}
