//! Opening files by typing where they are: for systems without a file dialog, and for people who know.

use std::path::PathBuf;

use eframe::egui::{self, Ui};

use super::dialogs::{failure_ui, focus_at_first, main_button, path_field};
use crate::app::command::Command;
use crate::app::document::source::Order;
use crate::app::state::{AppState, Dialog};
use crate::app::system_dialog::Question;

pub(super) fn open_ui(ui: &mut Ui, state: &AppState, recording: &str, score: &str, commands: &mut Vec<Command>) {
    ui.set_width(520.0);
    ui.heading("Open by path");
    ui.label(
        "A recording or a MIDI performance and its score; or one file alone: a session (.agogic), another recording of the same score, a reference. \
         Files can also be dropped on the window.",
    );
    let (mut recording, mut score) = (recording.to_owned(), score.to_owned());
    let first = path_field(ui, "Recording or session", "/path/to/recording.flac", &mut recording);
    focus_at_first(&first, "open");
    let second = path_field(ui, "Score", "/path/to/score.mid", &mut score);
    failure_ui(ui, state);
    if first.changed() || second.changed() {
        commands.push(Command::Show(Dialog::Open { recording: recording.clone(), score: score.clone() }));
    }
    ui.horizontal(|ui| {
        let paths: Vec<PathBuf> =
            [recording.trim(), score.trim()].into_iter().filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
        if main_button(ui, "Open", !paths.is_empty()) || (entered && !paths.is_empty()) {
            let order = if score.trim().is_empty() { Order::Performance } else { Order::PerformanceFirst };
            commands.push(Command::OpenIn(order, paths));
        }
        if ui.button("Browse…").clicked() {
            commands.push(Command::CloseDialog);
            commands.push(Command::Ask(Question::OpenFiles));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}

/// Asks for one path where the system shows no file dialog.
pub(super) fn path_ui(ui: &mut Ui, question: &Question, path: &str, commands: &mut Vec<Command>) {
    ui.set_width(520.0);
    ui.heading(question.title());
    let mut path = path.to_owned();
    let field = path_field(ui, "File", "/path/to/file", &mut path);
    focus_at_first(&field, "path");
    if field.changed() {
        commands.push(Command::Show(Dialog::Path { question: question.clone(), path: path.clone() }));
    }
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
        let ready = !path.trim().is_empty();
        if main_button(ui, "Open", ready) || (entered && ready) {
            commands.push(Command::Answer(question.clone(), PathBuf::from(path.trim())));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}
