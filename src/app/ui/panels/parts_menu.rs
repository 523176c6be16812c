//! What of the score is heard, and how it begins: parts that are silent or alone, a bar counted before, whole bars repeated.

use eframe::egui::containers::menu::{MenuButton, MenuConfig};
use eframe::egui::{Grid, PopupCloseBehavior, Ui};

use crate::app::command::Command;
use crate::app::state::AppState;

/// Draws the button and its menu.
pub fn parts_menu_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(piece) = state.piece() else { return };
    // Several parts are chosen one after another: the menu stays.
    let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new("Parts").config(stays).ui(ui, |ui| {
        let transport = &state.transport;
        let mut count_in = transport.count_in;
        let hint = "One bar is clicked before the music begins, in the tempo that it has there.";
        if ui.checkbox(&mut count_in, "Count in one bar").on_hover_text(hint).changed() {
            commands.push(Command::ToggleCountIn);
        }
        if ui.button("Repeat whole bars (Shift+L)").clicked() {
            commands.push(Command::LoopBars);
            ui.close();
        }
        let tracks = piece.tracks();
        if tracks.len() < 2 {
            return;
        }
        ui.separator();
        Grid::new("parts").num_columns(3).show(ui, |ui| {
            for (track, name) in tracks {
                let mut is_muted = transport.muted.contains(&track);
                let mut is_alone = transport.soloed.contains(&track);
                ui.label(&name);
                let mute = ui.checkbox(&mut is_muted, "Mute").accessible_name(format!("Mute {name}"));
                if mute.on_hover_text("The score is played without this part.").changed() {
                    commands.push(Command::MuteTrack(track));
                }
                let solo = ui.checkbox(&mut is_alone, "Solo").accessible_name(format!("Solo {name}"));
                if solo.on_hover_text("Of the score only this part is played, and others that are solo too.").changed()
                {
                    commands.push(Command::SoloTrack(track));
                }
                ui.end_row();
            }
        });
    });
    button.on_hover_text("Which parts of the score are heard; count-in; repeat by bars.");
}
