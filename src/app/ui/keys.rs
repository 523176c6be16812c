//! Keys. None is taken while a text field has the focus.

use eframe::egui::{self, Key, Modifiers};

use super::panels::{HEIGHT_STEP as STEP, export_dialog};
use crate::app::command::Command;
use crate::app::pane_scale::PaneScale;
use crate::app::picture::PictureOptions;
use crate::app::state::{AppState, Dialog};
use crate::app::system_dialog::Question;

/// What the help window lists.
pub const HELP: &[(&str, &str)] = &[
    ("Space", "Play or pause"),
    ("Left, Right", "Scroll"),
    ("Up, Down or Ctrl+wheel", "Closer, farther"),
    ("Shift+wheel or drag", "Scroll along time"),
    ("F", "Show everything"),
    ("G, Shift+G or Alt+wheel", "Waveform higher, lower"),
    ("H, Shift+H or Alt+wheel", "Notes taller, lower"),
    ("Alt+Up, Alt+Down", "Scroll the pitches of taller notes, while no onset is selected"),
    ("Alt+0", "Waveform and notes as high as at first"),
    ("D", "Warp as a curve, or as its difference from the reference"),
    ("Home, End", "To the start, to the end"),
    ("Page Up, Page Down", "Previous, next onset"),
    ("N", "Next doubtful place"),
    ("L", "Repeat what is marked on the ruler"),
    ("Shift+L", "Repeat the whole bars of it, or the bar at the playhead"),
    ("Drag an onset", "Move it; everything between fixed onsets follows"),
    ("Alt+drag a note", "Move it alone; Alt+click selects it"),
    ("Alt+Up, Alt+Down", "Select a single note of the selected chord"),
    ("Alt+Left, Alt+Right", "Previous, next note of the selected note's voice"),
    ("R", "Staff along the recording, or wrapped for reading"),
    (", and .", "Move the selected onset or note by 1 ms; with Shift 5 ms, with Ctrl 20 ms"),
    ("Delete or Backspace", "Free the selected onset or note"),
    ("A, Shift+A", "Call the marked or visible passage right, no longer so"),
    ("K", "Keep the alignment for comparison"),
    ("X", "Hear the other recording at the same bar, and back"),
    ("Ctrl+Z, Ctrl+Shift+Z or Ctrl+Y", "Undo, redo"),
    ("Ctrl+R", "Align again"),
    ("Ctrl+O, Ctrl+Shift+O", "Open files, open by path"),
    ("Ctrl+S, Ctrl+Shift+S", "Save the session, save as"),
    ("Ctrl+E, Ctrl+P", "Export, save a picture"),
    ("Ctrl++, Ctrl+-, Ctrl+0", "Text larger, smaller, as at first"),
    ("Esc", "Cancel, close, clear"),
    ("Ctrl+Q", "Quit"),
    ("F1 or ?", "This list"),
];

/// The commands of the keys that were pressed.
pub fn commands(ctx: &egui::Context, state: &AppState) -> Vec<Command> {
    if ctx.text_edit_focused() {
        return Vec::new();
    }
    ctx.input_mut(|input| {
        let mut commands = Vec::new();
        let table = if state.dialog.is_some() || state.welcome.is_some() { dialog_keys() } else { window_keys(state) };
        for (modifiers, key, command) in table {
            if input.consume_key(modifiers, key) {
                commands.push(command);
            }
        }
        commands
    })
}

fn dialog_keys() -> Vec<(Modifiers, Key, Command)> {
    vec![(Modifiers::NONE, Key::Escape, Command::Escape)]
}

/// Keys with more modifiers come first: a key is taken by the first entry that its modifiers allow.
fn window_keys(state: &AppState) -> Vec<(Modifiers, Key, Command)> {
    const CTRL: Modifiers = Modifiers::COMMAND;
    const CTRL_SHIFT: Modifiers = Modifiers { shift: true, ..Modifiers::COMMAND };
    const SHIFT: Modifiers = Modifiers::SHIFT;
    const ALT: Modifiers = Modifiers::ALT;
    const NONE: Modifiers = Modifiers::NONE;
    let open_by_path = Dialog::Open { recording: String::new(), score: String::new() };
    let (zoom, scale) = (state.preferences.zoom, state.scale);
    let mut keys = vec![
        (CTRL_SHIFT, Key::Z, Command::Redo),
        (CTRL, Key::Y, Command::Redo),
        (CTRL, Key::Z, Command::Undo),
        (CTRL_SHIFT, Key::O, Command::Show(open_by_path)),
        (CTRL, Key::O, Command::Ask(Question::OpenFiles)),
        (CTRL, Key::Q, Command::Quit),
        (CTRL, Key::Plus, Command::SetZoom(zoom + 0.1)),
        (CTRL, Key::Equals, Command::SetZoom(zoom + 0.1)),
        (CTRL, Key::Minus, Command::SetZoom(zoom - 0.1)),
        (CTRL, Key::Num0, Command::SetZoom(1.0)),
        (NONE, Key::F1, Command::Show(Dialog::Shortcuts)),
        (SHIFT, Key::Questionmark, Command::Show(Dialog::Shortcuts)),
        (NONE, Key::Questionmark, Command::Show(Dialog::Shortcuts)),
        (NONE, Key::Escape, Command::Escape),
    ];
    if let Some(document) = &state.document {
        let selected = document.selected.is_some();
        let save_as = Dialog::SaveSession { path: state.proposed_session().display().to_string() };
        keys.extend([
            (CTRL_SHIFT, Key::S, Command::Show(save_as)),
            (CTRL, Key::S, Command::SaveSession),
            (CTRL, Key::R, Command::Align),
            (CTRL, Key::Comma, Command::Nudge(-20.0)),
            (CTRL, Key::Period, Command::Nudge(20.0)),
            (SHIFT, Key::Comma, Command::Nudge(-5.0)),
            (SHIFT, Key::Period, Command::Nudge(5.0)),
            (NONE, Key::Comma, Command::Nudge(-1.0)),
            (NONE, Key::Period, Command::Nudge(1.0)),
            (ALT, Key::ArrowUp, if selected { Command::StepNote(1) } else { Command::SetScale(scale.scrolled(-0.25)) }),
            (
                ALT,
                Key::ArrowDown,
                if selected { Command::StepNote(-1) } else { Command::SetScale(scale.scrolled(0.25)) },
            ),
            (ALT, Key::ArrowLeft, Command::StepInVoice(-1)),
            (ALT, Key::ArrowRight, Command::StepInVoice(1)),
            (NONE, Key::R, Command::ToggleReading),
            (NONE, Key::Delete, Command::DeleteAnchor),
            (NONE, Key::Backspace, Command::DeleteAnchor),
            (NONE, Key::Space, Command::TogglePlay),
            (ALT, Key::Num0, Command::SetScale(PaneScale::default())),
            (NONE, Key::ArrowLeft, Command::Scroll(-0.15)),
            (NONE, Key::ArrowRight, Command::Scroll(0.15)),
            (NONE, Key::ArrowUp, Command::Zoom(1.35)),
            (NONE, Key::ArrowDown, Command::Zoom(1.0 / 1.35)),
            (NONE, Key::F, Command::Fit),
            (NONE, Key::Home, Command::GoToEdge { end: false }),
            (NONE, Key::End, Command::GoToEdge { end: true }),
            (NONE, Key::PageUp, Command::StepOnset(-1)),
            (NONE, Key::PageDown, Command::StepOnset(1)),
            (SHIFT, Key::L, Command::LoopBars),
            (NONE, Key::L, Command::ToggleLoop),
            (SHIFT, Key::G, Command::ScaleWaveform(1.0 / STEP)),
            (NONE, Key::G, Command::ScaleWaveform(STEP)),
            (SHIFT, Key::H, Command::ScaleNotes(1.0 / STEP)),
            (NONE, Key::H, Command::ScaleNotes(STEP)),
            (NONE, Key::D, Command::ToggleWarpDifference),
            (NONE, Key::X, Command::HearOther),
            (NONE, Key::N, Command::NextDoubt),
        ]);
    }
    if state.solution().is_some() {
        let picture = Dialog::Picture(PictureOptions::first(state));
        keys.extend([
            (CTRL, Key::E, Command::Show(export_dialog(state))),
            (CTRL, Key::P, Command::Show(picture)),
            (SHIFT, Key::A, Command::Accept { right: false }),
            (NONE, Key::A, Command::Accept { right: true }),
            (NONE, Key::K, Command::Keep),
        ]);
    }
    keys
}
