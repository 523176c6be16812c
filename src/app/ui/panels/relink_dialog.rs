//! Asking for a file of a session that was not found.

use std::path::{Path, PathBuf};

use eframe::egui::{self, Ui};

use super::dialogs::{failure_ui, focus_at_first, main_button, path_field};
use super::side::soft;
use crate::app::command::Command;
use crate::app::document::relink::{MediaRole, Missing, Reopened};
use crate::app::document::source::file_name;
use crate::app::state::{AppState, Dialog};
use crate::app::system_dialog::Question;

pub(super) fn relink_ui(ui: &mut Ui, state: &AppState, reopened: &Reopened, commands: &mut Vec<Command>) {
    let Some(missing) = reopened.missing() else { return };
    ui.set_width(520.0);
    let name = file_name(&missing.was);
    match &reopened.different {
        Some(file) => different_ui(ui, reopened, &name, file, commands),
        None => {
            missing_ui(ui, reopened, &missing, commands);
            failure_ui(ui, state);
        }
    }
}

fn missing_ui(ui: &mut Ui, reopened: &Reopened, missing: &Missing, commands: &mut Vec<Command>) {
    let name = file_name(&missing.was);
    ui.heading(format!("Where is {name}?"));
    let session = file_name(&reopened.file);
    ui.label(format!("It is {} of {session} and is no longer where it was:", missing.role.name()));
    soft(ui, missing.was.display().to_string());
    let mut typed = reopened.typed.clone();
    let field = path_field(ui, "File", "/path/to/file", &mut typed);
    focus_at_first(&field, &missing.was.display().to_string());
    if field.changed() {
        let mut changed = reopened.clone();
        changed.typed.clone_from(&typed);
        commands.push(Command::Show(Dialog::Relink(Box::new(changed))));
    }
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let typed = typed.trim();
        let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
        if typed.is_empty() {
            if main_button(ui, "Find…", true) {
                commands.push(Command::Ask(Question::Missing(name.clone())));
            }
        } else if main_button(ui, "Use this file", true) || entered {
            commands.push(Command::Relink { file: PathBuf::from(typed), confirmed: false });
        }
        let hint = "Opens the session without something to compare with.";
        if missing.role == MediaRole::Reference && ui.button("Open without it").on_hover_text(hint).clicked() {
            commands.push(Command::OpenWithout);
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}

fn different_ui(ui: &mut Ui, reopened: &Reopened, name: &str, file: &Path, commands: &mut Vec<Command>) {
    ui.heading("Another file?");
    ui.label(format!(
        "{} does not hold what {name} held when the session was saved. Fixed onsets may be at the wrong places in it.",
        file_name(file)
    ));
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        if main_button(ui, "Use it anyway", true) {
            commands.push(Command::Relink { file: file.to_owned(), confirmed: true });
        }
        if ui.button("Choose another").clicked() {
            let mut again = reopened.clone();
            again.different = None;
            commands.push(Command::Show(Dialog::Relink(Box::new(again))));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}
