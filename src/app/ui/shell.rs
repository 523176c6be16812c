//! How the window is put together: bars above and below, the side panel, the ruler, the panes.

use eframe::egui::{self, Frame, Margin, Panel, Ui};
use egui_tiles::Tree;

use super::panels;
use super::panes::{self, PaneKind};
use super::places::{self, Place};
use super::theme::Palette;
use crate::app::command::Command;
use crate::app::state::AppState;

/// Draws everything but what lies above it: notices and dialogs.
pub fn window_ui(ui: &mut Ui, state: &AppState, layout: &mut Tree<PaneKind>, commands: &mut Vec<Command>) {
    let bar = Frame::new().fill(Palette::of(ui).panel);
    let menu = Panel::top("menu").frame(bar.inner_margin(Margin::symmetric(4, 4))).show(ui, |ui| {
        panels::menu_ui(ui, state, commands);
    });
    places::note(ui.ctx(), Place::Menu, menu.response.rect);
    let transport = Panel::bottom("transport")
        .exact_size(46.0)
        .resizable(false)
        .frame(bar.inner_margin(Margin::symmetric(4, 4)))
        .show(ui, |ui| panels::transport_ui(ui, state, commands));
    places::note(ui.ctx(), Place::Transport, transport.response.rect);
    if state.preferences.side_panel {
        let frame = bar.inner_margin(Margin { left: 14, right: 12, top: 0, bottom: 0 });
        let side = Panel::right("side").default_size(300.0).size_range(240.0..=460.0).frame(frame).show(ui, |ui| {
            panels::side_ui(ui, state, commands);
        });
        places::note(ui.ctx(), Place::Side, side.response.rect);
    }
    panes_ui(ui, state, layout, commands);
}

/// Draws the ruler and the panes below it.
pub fn panes_ui(ui: &mut Ui, state: &AppState, layout: &mut Tree<PaneKind>, commands: &mut Vec<Command>) {
    let ground = Frame::new().fill(Palette::of(ui).window);
    Panel::top("ruler").frame(Frame::NONE).resizable(false).show_separator_line(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        panels::section_strip_ui(ui, state, commands);
        panels::ruler_ui(ui, state, commands);
    });
    egui::CentralPanel::default().frame(ground).show(ui, |ui| {
        panes::panes_ui(ui, layout, state, commands);
    });
}
