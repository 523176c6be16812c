//! Dialogs of our own, one at a time, above everything else.

use std::path::PathBuf;

use eframe::egui::{self, Button, Response, RichText, TextEdit, Ui, vec2};

use super::{about, export_window, manual, open_dialog, picture_dialog, relink_dialog, shortcuts};
use crate::app::command::Command;
use crate::app::document::source::file_name;
use crate::app::notice::Severity;
use crate::app::state::{Afterwards, AppState, Dialog, Writing};
use crate::app::system_dialog::Question;
use crate::app::ui::theme::Palette;

/// Draws the dialog that is open, if any.
pub fn dialogs_ui(ctx: &egui::Context, state: &AppState, commands: &mut Vec<Command>) {
    let Some(dialog) = &state.dialog else {
        forget_focus(ctx);
        return;
    };
    let frame = egui::Frame::popup(&ctx.style_of(ctx.theme())).inner_margin(22).corner_radius(12);
    let modal = egui::Modal::new(egui::Id::unique("dialog")).frame(frame).show(ctx, |ui| match dialog {
        Dialog::Open { recording, score } => open_dialog::open_ui(ui, state, recording, score, commands),
        Dialog::Path { question, path } => open_dialog::path_ui(ui, question, path, commands),
        Dialog::SaveSession { path } => save_ui(ui, path, commands),
        Dialog::Export { format, path } => export_window::export_ui(ui, state, *format, path, commands),
        Dialog::Picture(options) => picture_dialog::picture_ui(ui, state, options, commands),
        Dialog::Relink(reopened) => relink_dialog::relink_ui(ui, state, reopened, commands),
        Dialog::Manual => manual::manual_ui(ui, commands),
        Dialog::Shortcuts => shortcuts::shortcuts_ui(ui, commands),
        Dialog::About => about::about_ui(ui, commands),
        Dialog::Unsaved(afterwards) => unsaved_ui(ui, afterwards, commands),
        Dialog::Replace(writing) => replace_ui(ui, state, writing, commands),
    });
    if modal.backdrop_response.clicked() {
        commands.push(Command::CloseDialog);
    }
}

/// The button that does what the dialog is for.
pub fn main_button(ui: &mut Ui, text: &str, enabled: bool) -> bool {
    let palette = Palette::of(ui);
    let text = RichText::new(text).color(palette.on_accent);
    ui.add_enabled(enabled, Button::new(text).fill(palette.accent)).clicked()
}

/// The last error, where a dialog has come back because of it: two lines, also when there is none.
pub fn failure_ui(ui: &mut Ui, state: &AppState) {
    let error = state.notices.iter().rfind(|notice| notice.severity == Severity::Error);
    let size = vec2(ui.available_width(), 38.0);
    ui.allocate_ui_with_layout(size, egui::Layout::top_down(egui::Align::Min), |ui| {
        ui.set_min_size(size);
        if let Some(error) = error {
            let text = RichText::new(&error.text).color(Palette::of(ui).error);
            ui.add(egui::Label::new(text).wrap()).on_hover_text(&error.text);
        }
    });
}

/// A line to type a path into, as wide as the dialog.
pub fn path_field(ui: &mut Ui, name: &str, hint: &str, text: &mut String) -> Response {
    let label = ui.label(name);
    ui.add(TextEdit::singleline(text).hint_text(hint).desired_width(f32::INFINITY)).labelled_by(label.id)
}

/// Puts the cursor into a field when its dialog, told from others by `which`, appears.
pub fn focus_at_first(field: &Response, which: &str) {
    let id = egui::Id::unique("dialog with the cursor");
    let before = field.ctx.data(|data| data.get_temp::<String>(id));
    if before.as_deref() != Some(which) {
        field.request_focus();
        field.ctx.data_mut(|data| data.insert_temp(id, which.to_owned()));
    }
}

fn forget_focus(ctx: &egui::Context) {
    ctx.data_mut(|data| data.remove::<String>(egui::Id::unique("dialog with the cursor")));
}

fn save_ui(ui: &mut Ui, path: &str, commands: &mut Vec<Command>) {
    ui.set_width(480.0);
    ui.heading("Save session");
    ui.label("Settings, fixed onsets and the alignment. Recording and score stay where they are.");
    let mut typed = path.to_owned();
    let field = path_field(ui, "File", "/path/to/piece.agogic", &mut typed);
    focus_at_first(&field, "save");
    if field.changed() {
        commands.push(Command::Show(Dialog::SaveSession { path: typed.clone() }));
    }
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let ready = !typed.trim().is_empty();
        let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
        if main_button(ui, "Save", ready) || (entered && ready) {
            commands.push(Command::SaveSessionAs(PathBuf::from(typed.trim())));
        }
        if ui.button("Browse…").clicked() {
            commands.push(Command::Ask(Question::SaveSession(PathBuf::from(typed.trim()))));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}

fn replace_ui(ui: &mut Ui, state: &AppState, writing: &Writing, commands: &mut Vec<Command>) {
    ui.set_width(420.0);
    ui.heading(format!("Replace {}?", file_name(writing.path())));
    let folder = writing.path().parent().unwrap_or(writing.path());
    let own = state.document.as_ref().filter(|document| document.session_path.as_deref() == Some(writing.path()));
    ui.label(match own.map(|document| document.session_holds) {
        Some(Some(_)) => "This session file has changed since this window last read or saved it, probably in another window or program. \
             Replacing it discards those changes."
            .to_owned(),
        Some(None) => "Agogic cannot tell whether this session file was changed elsewhere. Replacing it discards such changes.".to_owned(),
        None => format!("{} already contains a file with this name. Its contents will be lost.", folder.display()),
    });
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        if main_button(ui, "Replace", true) {
            commands.push(Command::Replace(writing.clone()));
        }
        if ui.button("Choose another name").clicked() {
            commands.push(Command::Show(writing.dialog()));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}

fn unsaved_ui(ui: &mut Ui, afterwards: &Afterwards, commands: &mut Vec<Command>) {
    ui.set_width(380.0);
    ui.heading("Save your changes?");
    ui.label("Corrections and settings of this piece are not saved yet.");
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        if main_button(ui, "Save", true) {
            commands.push(Command::SaveAnd(afterwards.clone()));
        }
        if ui.button("Discard").clicked() {
            commands.push(Command::DiscardChanges(afterwards.clone()));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}
