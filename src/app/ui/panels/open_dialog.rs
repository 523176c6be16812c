//! Opening files by typing where they are: for systems without a file dialog, and for people who know.

use std::path::PathBuf;

use eframe::egui::{self, Ui};

use super::dialogs::{main_button, path_field};
use crate::app::command::Command;
use crate::app::state::Dialog;
use crate::app::system_dialog::Question;

pub(super) fn open_ui(ui: &mut Ui, recording: &str, score: &str, commands: &mut Vec<Command>) {
    ui.set_width(520.0);
    ui.heading("Open by path");
    ui.label("A recording and its MIDI score, or a session (.agogic) alone. Files can also be dropped on the window.");
    let (mut recording, mut score) = (recording.to_owned(), score.to_owned());
    let changed = path_field(ui, "Recording or session", "/path/to/recording.flac", &mut recording)
        | path_field(ui, "Score", "/path/to/score.mid", &mut score);
    if changed {
        commands.push(Command::Show(Dialog::Open { recording: recording.clone(), score: score.clone() }));
    }
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let paths: Vec<PathBuf> =
            [recording.trim(), score.trim()].into_iter().filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
        if main_button(ui, "Open", !paths.is_empty()) || (entered && !paths.is_empty()) {
            commands.push(Command::Open(paths));
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
