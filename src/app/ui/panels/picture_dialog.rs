//! Saving a picture: of what, how large, in which format.

use std::path::PathBuf;

use eframe::egui::{self, ComboBox, DragValue, Grid, Ui, vec2};

use super::dialogs::{main_button, path_field};
use super::side::soft;
use crate::app::command::Command;
use crate::app::picture::{DETAILS, LEAST_SIDE, MOST_SIDE, PictureArea, PictureFormat, PictureOptions};
use crate::app::state::{AppState, Dialog};
use crate::app::system_dialog::Question;

pub(super) fn picture_ui(ui: &mut Ui, state: &AppState, options: &PictureOptions, commands: &mut Vec<Command>) {
    ui.set_width(480.0);
    ui.heading("Save a picture");
    let mut wanted = options.clone();
    Grid::new("picture").num_columns(2).spacing(vec2(16.0, 8.0)).show(ui, |ui| {
        ui.label("Picture of");
        area_choice(ui, state, &mut wanted);
        ui.end_row();
        ui.label("Format");
        ui.horizontal(|ui| {
            ui.radio_value(&mut wanted.format, PictureFormat::Png, "PNG").on_hover_text("A bitmap.");
            let hint = "A vector picture: shapes and text stay sharp at any size and can be edited.";
            ui.radio_value(&mut wanted.format, PictureFormat::Svg, "SVG").on_hover_text(hint);
        });
        ui.end_row();
        ui.label("Size");
        size_ui(ui, state, &mut wanted);
        ui.end_row();
        if wanted.format == PictureFormat::Png {
            ui.label("Detail");
            detail_ui(ui, &mut wanted);
            ui.end_row();
        }
    });
    if wanted.format != options.format {
        wanted.path.set_extension(wanted.format.extension());
    }
    let mut typed = wanted.path.display().to_string();
    if path_field(ui, "File", "/path/to/picture.png", &mut typed).changed() {
        wanted.path = PathBuf::from(typed.trim());
    }
    if wanted != *options {
        commands.push(Command::Show(Dialog::Picture(wanted.clone())));
    }
    ui.horizontal(|ui| {
        let ready = !typed.trim().is_empty();
        let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
        if main_button(ui, "Save", ready) || (entered && ready) {
            if wanted.path.extension().is_none() {
                wanted.path.set_extension(wanted.format.extension());
            }
            commands.push(Command::SavePicture(wanted.clone()));
        }
        if ui.button("Browse…").clicked() {
            commands.push(Command::Ask(Question::Picture(wanted.path.clone())));
        }
        if ui.button("Cancel").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
}

fn area_choice(ui: &mut Ui, state: &AppState, wanted: &mut PictureOptions) {
    let before = wanted.area;
    let combo = ComboBox::from_id_salt("area").selected_text(before.name()).width(200.0).show_ui(ui, |ui| {
        for area in PictureArea::all() {
            ui.selectable_value(&mut wanted.area, area, area.name());
        }
    });
    combo.response.accessible_name("Picture of");
    if wanted.area != before {
        wanted.size = wanted.area.size_on_screen(state);
    }
}

fn size_ui(ui: &mut Ui, state: &AppState, wanted: &mut PictureOptions) {
    ui.horizontal(|ui| {
        let [width, height] = &mut wanted.size;
        ui.add(DragValue::new(width).range(LEAST_SIDE..=MOST_SIDE)).accessible_name("Width");
        ui.label("by");
        ui.add(DragValue::new(height).range(LEAST_SIDE..=MOST_SIDE)).accessible_name("Height");
        ui.label("points");
        let here = wanted.area.size_on_screen(state);
        if wanted.size != here && ui.small_button("As on the screen").clicked() {
            wanted.size = here;
        }
    });
}

fn detail_ui(ui: &mut Ui, wanted: &mut PictureOptions) {
    ui.horizontal(|ui| {
        for detail in DETAILS {
            ui.radio_value(&mut wanted.detail, detail, format!("{detail}×"));
        }
        let [width, height] = wanted.size.map(|side| side * wanted.detail);
        soft(ui, format!("{width} × {height} pixels"));
    });
}
