//! The panel on the right: results above, settings below.

use eframe::egui::{self, ScrollArea, Ui};

use super::{results, settings};
use crate::app::command::Command;
use crate::app::state::AppState;

/// Draws the panel.
pub fn side_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.add_space(10.0);
        results::results_ui(ui, state, commands);
        ui.add_space(14.0);
        ui.separator();
        ui.add_space(10.0);
        settings::settings_ui(ui, state, commands);
        ui.add_space(10.0);
    });
}

/// A heading inside the panel.
pub fn heading(ui: &mut Ui, text: &str) {
    ui.label(egui::RichText::new(text).heading());
    ui.add_space(4.0);
}
