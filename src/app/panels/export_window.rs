//! Writing the alignment: every format, where to, and the beginning of what will be written.

use std::path::{Path, PathBuf};

use eframe::egui::{self, ScrollArea, Ui};

use super::dialogs::{main_button, path_field};
use crate::app::command::Command;
use crate::app::source::file_name;
use crate::app::state::{AppState, Dialog};
use crate::app::system_dialog::Question;
use crate::export::Format;

pub(super) fn export_ui(ui: &mut Ui, state: &AppState, format: Format, path: &str, commands: &mut Vec<Command>) {
    ui.set_width(560.0);
    ui.heading("Export");
    let mut path = path.to_owned();
    ui.label("Format");
    egui::Frame::new().fill(ui.visuals().extreme_bg_color).corner_radius(6).inner_margin(6).show(ui, |ui| {
        ScrollArea::vertical().max_height(240.0).auto_shrink([false, true]).show(ui, |ui| {
            for entry in Format::all() {
                let text = format!("{}   .{}   {}", entry.name(), entry.extension(), entry.description());
                if ui.selectable_label(entry == format, text).clicked() {
                    let path = with_extension(&path, entry);
                    commands.push(Command::Show(Dialog::Export { format: entry, path }));
                }
            }
        });
    });
    if path_field(ui, "File", "/path/to/file", &mut path) {
        commands.push(Command::Show(Dialog::Export { format, path: path.clone() }));
    }
    let target = PathBuf::from(path.trim());
    let exists = target.is_file();
    if exists {
        ui.label(format!("{} exists and will be replaced.", file_name(&target)));
    }
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let ready = !path.trim().is_empty() && state.solution.is_some();
        let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
        if main_button(ui, "Write", ready) || (entered && ready) {
            commands.push(Command::Export { format, path: target.clone() });
        }
        if ui.button("Browse…").clicked() {
            commands.push(Command::Ask(Question::Export(file_name(&target))));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}

fn with_extension(path: &str, format: Format) -> String {
    Path::new(path.trim()).with_extension(format.extension()).display().to_string()
}
