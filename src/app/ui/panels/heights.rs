//! Buttons that make what a pane shows higher or lower.

use eframe::egui::Ui;

use super::canvas::Canvas;
use crate::app::command::Command;
use crate::app::pane_scale::PaneScale;

/// How much higher or lower one press makes it.
pub const STEP: f32 = 1.5;

/// What the buttons are about.
pub struct HeightWords {
    /// What gets higher or lower.
    pub what: &'static str,
    /// The keys for higher and lower.
    pub keys: [&'static str; 2],
}

/// Draws them in the gutter; `ways` are the scales of lower, higher, and as at first.
pub fn height_buttons(
    ui: &mut Ui,
    canvas: &Canvas,
    words: &HeightWords,
    factor: f32,
    ways: [PaneScale; 3],
    commands: &mut Vec<Command>,
) {
    if !canvas.has_controls {
        return;
    }
    let HeightWords { what, keys } = words;
    let now = if (1.05..9.95).contains(&factor) { format!("{factor:.1}×") } else { format!("{factor:.0}×") };
    let buttons = [
        ("−".to_owned(), format!("{what} lower"), format!("{} or Alt+wheel", keys[1])),
        ("+".to_owned(), format!("{what} higher"), format!("{} or Alt+wheel", keys[0])),
        (now, format!("{what} height as at first"), "Alt+0".to_owned()),
    ];
    for (index, ((text, name, keys), scale)) in buttons.into_iter().zip(ways).enumerate() {
        let button = canvas.gutter_button(ui, index, 3, &text, false).accessible_name(name.clone());
        if button.on_hover_text(format!("{name} ({keys})")).clicked() {
            commands.push(Command::SetScale(scale));
        }
    }
}
