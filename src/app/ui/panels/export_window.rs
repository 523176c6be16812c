//! Writing the alignment: every format, and where to.

use std::path::{Path, PathBuf};

use eframe::egui::{
    self, Align2, Color32, FontFamily, FontId, Response, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};

use super::dialogs::{main_button, path_field};
use crate::app::command::Command;
use crate::app::state::{AppState, Dialog};
use crate::app::system_dialog::Question;
use crate::app::ui::theme::{self, Palette};
use crate::export::Format;

pub(super) fn export_ui(ui: &mut Ui, state: &AppState, format: Format, path: &str, commands: &mut Vec<Command>) {
    ui.set_width(640.0);
    ui.heading("Export");
    let mut path = path.to_owned();
    ui.label("Format");
    egui::Frame::new().fill(ui.visuals().extreme_bg_color).corner_radius(6).inner_margin(6).show(ui, |ui| {
        ScrollArea::vertical().max_height(264.0).auto_shrink([false, true]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for entry in Format::all() {
                if format_row(ui, entry, entry == format).clicked() {
                    let path = with_ending(&path, format, entry);
                    commands.push(Command::Show(Dialog::Export { format: entry, path }));
                }
            }
        });
    });
    if path_field(ui, "File", "/path/to/file", &mut path).changed() {
        commands.push(Command::Show(Dialog::Export { format, path: path.clone() }));
    }
    let target = PathBuf::from(path.trim());
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let ready = !path.trim().is_empty() && state.solution().is_some();
        let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
        if main_button(ui, "Write", ready) || (entered && ready) {
            commands.push(Command::Export { format, path: target.clone() });
        }
        if ui.button("Browse…").clicked() {
            commands.push(Command::Ask(Question::Export(target.clone())));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}

/// A format: its name, the extension, what is in it.
fn format_row(ui: &mut Ui, format: Format, chosen: bool) -> Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 24.0), Sense::click());
    let text = format!("{} .{} {}", format.name(), format.extension(), format.description());
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, chosen, text.as_str()));
    let fill = match (chosen, response.hovered()) {
        (true, _) => palette.accent.gamma_multiply(0.25),
        (_, true) => palette.button,
        _ => Color32::TRANSPARENT,
    };
    ui.painter().rect_filled(rect, 5.0, fill);
    let painter = ui.painter_at(rect);
    let cell = |x: f32, text: &str, strong: bool| {
        let family = if strong { theme::strong_family() } else { FontFamily::Proportional };
        let ink = if strong { palette.ink } else { palette.soft_ink };
        painter.text(pos2(rect.left() + x, rect.center().y), Align2::LEFT_CENTER, text, FontId::new(12.5, family), ink);
    };
    cell(8.0, format.name(), true);
    cell(134.0, &format!(".{}", format.extension()), false);
    cell(206.0, format.description(), false);
    response
}

/// The path for another format: what the format before has proposed is replaced, a name of the user's own is kept.
fn with_ending(path: &str, before: Format, format: Format) -> String {
    let path = path.trim();
    let stem = path.strip_suffix(&format!(".{}", before.ending())).map(str::to_owned);
    let stem = stem.unwrap_or_else(|| Path::new(path).with_extension("").display().to_string());
    format!("{stem}.{}", format.ending())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_follows_the_format_and_keeps_what_the_user_has_typed() {
        let notes = with_ending("/pieces/take.one.csv", Format::Csv, Format::NotesCsv);
        assert_eq!(notes, "/pieces/take.one.notes.csv");
        assert_eq!(with_ending(&notes, Format::NotesCsv, Format::Json), "/pieces/take.one.json");
        assert_eq!(with_ending("mine.dat", Format::NotesCsv, Format::Svl), "mine.svl");
        assert_eq!(with_ending("", Format::Csv, Format::Svl), ".svl");
    }
}
