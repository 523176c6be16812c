//! The bar at the top: menus, what is open, undo and redo.

use std::path::Path;

use eframe::egui::{self, Button, RichText, Ui};

use super::heights::STEP;
use super::icons::{Icon, icon_button};
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::document::history::History;
use crate::app::document::source::{Order, Source, file_name};
use crate::app::pane_scale::PaneScale;
use crate::app::picture::PictureOptions;
use crate::app::preferences::{Recent, SideTab, ThemeChoice};
use crate::app::state::{AppState, Dialog};
use crate::app::system_dialog::Question;
use crate::app::ui::panes::{PaneKind, is_shown};
use crate::app::ui::theme::{self, Palette};
use crate::app::welcome::Welcome;
use crate::export::Format;

/// Draws the bar.
pub fn menu_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    egui::MenuBar::new().ui(ui, |ui| {
        ui.add_space(6.0);
        ui.label(RichText::new("agogic").family(theme::strong_family()).size(15.0).color(palette.accent));
        ui.add_space(8.0);
        ui.menu_button("File", |ui| file_menu(ui, state, commands));
        ui.menu_button("Edit", |ui| edit_menu(ui, state, commands));
        ui.menu_button("View", |ui| view_menu(ui, state, commands));
        ui.menu_button("Help", |ui| {
            item(ui, "Manual", "", true, Command::Show(Dialog::Manual), commands);
            item(ui, "Keyboard shortcuts", "F1", true, Command::Show(Dialog::Shortcuts), commands);
            let welcome = Command::Welcome(Some(Welcome::Greeting));
            item(ui, "Show welcome", "", true, welcome, commands);
            item(ui, "About Agogic", "", true, Command::Show(Dialog::About), commands);
        });
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.add_space(6.0);
            let shown = state.preferences.side_panel;
            if icon_button(ui, Icon::Side, "Side panel", shown, true)
                .on_hover_text("Results, settings, comparison, fine-tuning")
                .clicked()
            {
                commands.push(Command::ToggleSidePanel);
            }
            history_buttons(ui, state, commands);
            if let Some(piece) = state.piece() {
                ui.add_space(6.0);
                let hint = "Compare with another recording of the score, a reference, or another alignment";
                ui.menu_button("Compare recordings", |ui| compare_menu(ui, state, commands))
                    .response
                    .on_hover_text(hint);
                ui.centered_and_justified(|ui| {
                    let names = format!("{}   ·   {}", piece.title(), piece.recording_name);
                    ui.add(egui::Label::new(RichText::new(names).color(palette.soft_ink)).truncate());
                });
            }
        });
    });
}

fn compare_menu(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(document) = &state.document else { return };
    let ready = document.solution.is_some();
    // The demo has but one recording, and its score is no file to open another one with.
    let has_score = document.piece.sources.score.path().is_some();
    let other = Command::OpenOtherRecording;
    item(ui, "Another recording of this score…", "", ready && has_score, other, commands);
    item(ui, "A reference or another alignment…", "", ready, Command::Ask(Question::OpenReference), commands);
    item(ui, "Keep this alignment", "K", ready, Command::Keep, commands);
    let recording = &document.piece.recording_name;
    let others: Vec<_> = document.kept.iter().enumerate().filter(|(_, kept)| !kept.is_of(recording)).collect();
    if !others.is_empty() {
        ui.separator();
        let heard = state.transport.heard;
        checked(ui, &format!("Hear {recording}"), heard.is_none(), Command::Hear(None), commands);
        for (index, kept) in others {
            let label = format!("Hear {}", kept.label(recording));
            checked(ui, &label, heard == Some(index), Command::Hear(Some(index)), commands);
        }
    }
    ui.separator();
    item(ui, "Show the comparison", "", true, Command::ShowSide(SideTab::Compare), commands);
}

fn history_buttons(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let history = state.document.as_ref().map(|document| &document.history);
    let redo = history.and_then(History::redo_label);
    let hint = redo.map_or_else(|| "Nothing to make again".to_owned(), |label| format!("Make again: {label}"));
    if icon_button(ui, Icon::Redo, "Redo", false, redo.is_some()).on_hover_text(hint).clicked() {
        commands.push(Command::Redo);
    }
    let undo = history.and_then(History::undo_label);
    let hint = undo.map_or_else(|| "Nothing to take back".to_owned(), |label| format!("Take back: {label}"));
    if icon_button(ui, Icon::Undo, "Undo", false, undo.is_some()).on_hover_text(hint).clicked() {
        commands.push(Command::Undo);
    }
}

fn item(ui: &mut Ui, label: &str, keys: &str, enabled: bool, command: Command, commands: &mut Vec<Command>) {
    ui.set_min_width(210.0);
    let mut button = Button::new(label);
    // An empty one would be part of the button's name.
    if !keys.is_empty() {
        button = button.shortcut_text(RichText::new(keys).color(Palette::of(ui).soft_ink));
    }
    if ui.add_enabled(enabled, button).clicked() {
        commands.push(command);
        ui.close();
    }
}

fn checked(ui: &mut Ui, label: &str, on: bool, command: Command, commands: &mut Vec<Command>) {
    let mut on = on;
    if ui.checkbox(&mut on, label).clicked() {
        commands.push(command);
    }
}

fn file_menu(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let ready = state.solution().is_some();
    item(ui, "Open files…", "Ctrl+O", true, Command::Ask(Question::OpenFiles), commands);
    let by_path = Dialog::Open { recording: String::new(), score: String::new() };
    item(ui, "Open by path…", "Ctrl+Shift+O", true, Command::Show(by_path), commands);
    ui.menu_button("Open recent", |ui| recent_menu(ui, state, commands));
    item(ui, "Open the demo", "", true, Command::OpenDemo, commands);
    if let Some(sources) = state.piece().filter(|piece| piece.is_take()).map(|piece| &piece.sources) {
        let swapped: Vec<_> = [&sources.score, &sources.recording].into_iter().filter_map(Source::path).collect();
        let (label, ready) = ("Swap performance and score", swapped.len() == 2);
        let paths = swapped.into_iter().map(Path::to_owned).collect();
        item(ui, label, "", ready, Command::OpenIn(Order::PerformanceFirst, paths), commands);
    }
    ui.separator();
    item(ui, "Compare with a reference…", "", ready, Command::Ask(Question::OpenReference), commands);
    item(ui, "Stop comparing", "", state.reference().is_some(), Command::ForgetReference, commands);
    ui.separator();
    item(ui, "Save session", "Ctrl+S", state.document.is_some(), Command::SaveSession, commands);
    let save_as = Dialog::SaveSession { path: state.proposed_session().display().to_string() };
    item(ui, "Save session as…", "Ctrl+Shift+S", state.document.is_some(), Command::Show(save_as), commands);
    item(ui, "Export…", "Ctrl+E", ready, Command::Show(export_dialog(state)), commands);
    let picture = Dialog::Picture(PictureOptions::first(state));
    item(ui, "Save a picture…", "Ctrl+P", ready, Command::Show(picture), commands);
    ui.separator();
    item(ui, "Quit", "Ctrl+Q", true, Command::Quit, commands);
}

/// The export dialog as it first appears.
pub fn export_dialog(state: &AppState) -> Dialog {
    let format = Format::Csv;
    Dialog::Export { format, path: state.proposed_export(format).display().to_string() }
}

fn recent_menu(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.preferences.recent.is_empty() {
        ui.label(RichText::new("Nothing was opened yet").color(Palette::of(ui).soft_ink));
    }
    for recent in &state.preferences.recent {
        let (label, detail) = match recent {
            Recent::Session(path) => (file_name(path), path.display().to_string()),
            Recent::Pair(sources) => {
                let path = sources.recording.path().map(|path| path.display().to_string()).unwrap_or_default();
                (format!("{} + {}", sources.recording.name("demo"), sources.score.name("demo")), path)
            }
        };
        if ui.button(label).on_hover_text(detail).clicked() {
            commands.push(Command::OpenRecent(recent.clone()));
            ui.close();
        }
    }
}

fn edit_menu(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let document = state.document.as_ref();
    let undo = document.and_then(|document| document.history.undo_label());
    let redo = document.and_then(|document| document.history.redo_label());
    let label = |verb: &str, what: Option<&str>| what.map_or_else(|| verb.to_owned(), |what| format!("{verb} {what}"));
    item(ui, &label("Undo", undo), "Ctrl+Z", undo.is_some(), Command::Undo, commands);
    item(ui, &label("Redo", redo), "Ctrl+Shift+Z", redo.is_some(), Command::Redo, commands);
    ui.separator();
    let fixed = document.is_some_and(Document::selection_is_fixed);
    item(ui, "Free the selected onset or note", "Delete", fixed, Command::DeleteAnchor, commands);
    let corrected = state.settings().corrections() > 0;
    item(ui, "Free all onsets and notes", "", corrected, Command::ClearAnchors, commands);
    ui.separator();
    let ready = state.solution().is_some();
    item(ui, "Call the passage right", "A", ready, Command::Accept { right: true }, commands);
    let accepted = document.is_some_and(|document| !document.accepted.is_empty());
    item(ui, "No longer right", "Shift+A", accepted, Command::Accept { right: false }, commands);
    item(ui, "Keep for comparison", "K", ready, Command::Keep, commands);
    ui.separator();
    checked(ui, "Snap to attacks in the recording", state.preferences.snap, Command::ToggleSnap, commands);
    item(ui, "Align again", "Ctrl+R", state.document.is_some(), Command::Align, commands);
}

fn view_menu(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    item(ui, "Show everything", "F", true, Command::Fit, commands);
    item(ui, "Closer", "Up", true, Command::Zoom(1.6), commands);
    item(ui, "Farther", "Down", true, Command::Zoom(1.0 / 1.6), commands);
    let scale = state.scale;
    item(ui, "Waveform higher", "G", true, Command::ScaleWaveform(STEP), commands);
    item(ui, "Notes taller", "H", true, Command::ScaleNotes(STEP), commands);
    let scaled = scale != PaneScale::default();
    item(ui, "Heights as at first", "Alt+0", scaled, Command::SetScale(PaneScale::default()), commands);
    item(ui, "Next doubtful place", "N", state.solution().is_some(), Command::NextDoubt, commands);
    ui.separator();
    for kind in PaneKind::ALL {
        let shown = is_shown(&state.preferences.layout, kind);
        checked(ui, kind.title(), shown, Command::TogglePane(kind), commands);
    }
    let behind = state.preferences.spectrum_behind_notes;
    checked(ui, "Spectrum behind the notes", behind, Command::ToggleSpectrumBehindNotes, commands);
    let difference = state.preferences.warp_difference;
    checked(ui, "Warp as a difference", difference, Command::ToggleWarpDifference, commands);
    checked(ui, "Side panel", state.preferences.side_panel, Command::ToggleSidePanel, commands);
    checked(ui, "Follow the playhead", state.preferences.follow, Command::ToggleFollow, commands);
    item(ui, "Panes as at first", "", true, Command::ResetLayout, commands);
    ui.separator();
    for (label, theme) in
        [("System colours", ThemeChoice::System), ("Light", ThemeChoice::Light), ("Dark", ThemeChoice::Dark)]
    {
        if ui.radio(state.preferences.theme == theme, label).clicked() {
            commands.push(Command::SetTheme(theme));
        }
    }
    ui.separator();
    let zoom = state.preferences.zoom;
    item(ui, "Larger text", "Ctrl++", zoom < 2.5, Command::SetZoom(zoom + 0.1), commands);
    item(ui, "Smaller text", "Ctrl+-", zoom > 0.6, Command::SetZoom(zoom - 0.1), commands);
}
