//! Version and licences.

use eframe::egui::{RichText, Ui};

use crate::app::command::Command;
use crate::app::theme::{self, Palette};

pub(super) fn about_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.set_width(440.0);
    ui.label(RichText::new("agogic").family(theme::strong_family()).size(24.0).color(Palette::of(ui).accent));
    ui.label(concat!("Version ", env!("CARGO_PKG_VERSION")));
    ui.add_space(6.0);
    ui.label("Finds where every note of a score is in a recording of its performance.");
    ui.add_space(6.0);
    ui.label("Licensed under MIT or Apache-2.0, at your choice.");
    ui.label("The Inter typeface is under the SIL Open Font License 1.1.");
    ui.label("The built-in piano and the demo piece are in the public domain (CC0 1.0).");
    ui.label("Everything happens on this computer; nothing is sent anywhere.");
    ui.add_space(8.0);
    if ui.button("Close").clicked() {
        commands.push(Command::CloseDialog);
    }
}
