//! What computes: one choice for aligning and for training.

use eframe::egui::{Button, ComboBox, Ui};

use super::side::COMBO_WIDTH;
use crate::app::command::Command;
use crate::app::state::AppState;
use crate::devices::{DeviceChoice, DeviceKind};

const HINT: &str = "What alignments and trainings are computed on. Automatic: a graphics card where a short measurement shows that it pays. \
         Results are the same to a tenth of a millisecond.";

/// Draws the choice.
pub fn computing_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let now = state.preferences.computing;
    let combo = ComboBox::from_id_salt("computing")
        .selected_text(name(state, now))
        .width(COMBO_WIDTH)
        .truncate()
        .show_ui(ui, |ui| {
            ui.set_max_width(COMBO_WIDTH);
            for choice in DeviceChoice::ALL.into_iter().filter(|choice| choice.is_built_in()) {
                let entry = Button::selectable(now == choice, name(state, choice)).truncate();
                if ui.add(entry).on_hover_text(name(state, choice)).clicked() {
                    commands.push(Command::ComputeOn(choice));
                }
            }
        });
    // Cards are asked for when the list is opened: drivers take their time.
    if combo.response.clicked() {
        commands.push(Command::ListCards);
    }
    combo.response.accessible_name("Computed on").on_hover_text(HINT);
}

fn name(state: &AppState, choice: DeviceChoice) -> String {
    match choice {
        DeviceChoice::Auto => "Automatic".to_owned(),
        DeviceChoice::Cpu => "CPU".to_owned(),
        DeviceChoice::Cuda => "CUDA".to_owned(),
        DeviceChoice::Metal => "Metal".to_owned(),
        DeviceChoice::Gpu => match state.cards.iter().find(|card| card.kind != DeviceKind::Cpu) {
            Some(card) if card.kind == DeviceKind::Software => format!("GPU: software, no gain: {}", card.name),
            Some(card) => format!("GPU: {}", card.name),
            None => "GPU".to_owned(),
        },
    }
}
