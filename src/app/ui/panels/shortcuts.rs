//! The keys, for `F1`.

use eframe::egui::{Grid, RichText, ScrollArea, Ui, vec2};

use crate::app::command::Command;
use crate::app::ui::keys::HELP;
use crate::app::ui::theme;

pub(super) fn shortcuts_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.set_width(560.0);
    ui.heading("Keyboard shortcuts");
    ui.add_space(6.0);
    // The list is longer than a small window is high.
    let most = (ui.ctx().content_rect().height() - 150.0).max(120.0);
    ScrollArea::vertical().max_height(most).show(ui, |ui| {
        Grid::new("keys").num_columns(2).spacing(vec2(24.0, 5.0)).show(ui, |ui| {
            for (keys, what) in HELP {
                ui.label(RichText::new(*keys).family(theme::strong_family()));
                ui.label(*what);
                ui.end_row();
            }
        });
    });
    ui.add_space(8.0);
    if ui.button("Close").clicked() {
        commands.push(Command::CloseDialog);
    }
}
