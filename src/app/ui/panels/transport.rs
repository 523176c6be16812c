//! The bar at the bottom: play, repeat, speed, what is heard.

use eframe::egui::{self, FontId, RichText, Slider, Ui, vec2};

use super::clock;
use super::icons::{Icon, icon_button};
use super::parts_menu::parts_menu_ui;
use crate::app::command::Command;
use crate::app::playback::Mix;
use crate::app::state::AppState;
use crate::app::ui::theme::Palette;

/// Bars and beats are left out of a window that leaves less room than this for them and what follows.
const ROOM_FOR_BARS: f32 = 760.0;

/// Draws the bar.
pub fn transport_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let ready = state.document.is_some();
    let transport = &state.transport;
    let palette = Palette::of(ui);
    ui.horizontal_centered(|ui| {
        ui.add_space(6.0);
        if icon_button(ui, Icon::ToStart, "To the start", false, ready).on_hover_text("To the start (Home)").clicked() {
            commands.push(Command::Seek(0.0));
        }
        let (icon, name) = if transport.playing { (Icon::Pause, "Pause") } else { (Icon::Play, "Play") };
        if icon_button(ui, icon, name, false, ready).on_hover_text(format!("{name} (Space)")).clicked() {
            commands.push(Command::TogglePlay);
        }
        let looping = icon_button(ui, Icon::Loop, "Repeat", transport.looping, ready);
        if looping.on_hover_text("Repeat what is marked on the ruler, or else what is visible (L)").clicked() {
            commands.push(Command::ToggleLoop);
        }
        ui.add_space(8.0);
        ui.label(RichText::new(clock(transport.position_s, 3)).font(FontId::monospace(17.0)));
        if ui.available_width() > ROOM_FOR_BARS {
            bar_position_ui(ui, state);
        }
        ui.add_space(10.0);
        ui.separator();
        ui.add_space(4.0);
        listen_ui(ui, state, commands);
        parts_menu_ui(ui, state, commands);
        ui.add_space(4.0);
        ui.separator();
        ui.add_space(4.0);
        ui.label(RichText::new("Speed").color(palette.soft_ink));
        let mut percent = (100.0 * transport.speed).round();
        let slider = Slider::new(&mut percent, 25.0..=100.0).step_by(5.0).fixed_decimals(0).suffix(" %");
        let hint = "How fast it plays. The pitch stays as it is.";
        if ui.add(slider).accessible_name("Speed").on_hover_text(hint).changed() {
            commands.push(Command::SetSpeed(percent / 100.0));
        }
        if ui.available_width() > 160.0 {
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.add_space(10.0);
                ui.label(RichText::new(status(state)).color(palette.soft_ink));
            });
        }
    });
}

fn listen_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let mix = state.transport.mix;
    let heard_other = state.transport.heard.is_some();
    let mut other = false;
    let mut choose = |mix: Mix| commands.push(Command::SetMix(mix));
    let near = |balance: f32| !heard_other && (mix.balance - balance).abs() < 0.01;
    for (label, balance, hint) in [
        ("Recording", 0.0, "Hear the recording alone."),
        ("Both", 0.5, "Hear the recording and the score, played at the alignment's times."),
        ("Score", 1.0, "Hear the score alone, played at the alignment's times."),
    ] {
        if ui.selectable_label(near(balance), label).on_hover_text(hint).clicked() {
            choose(Mix { balance, ..mix });
        }
    }
    let recording = state.piece().map(|piece| piece.recording_name.as_str()).unwrap_or_default();
    let others = state.document.iter().flat_map(|document| &document.kept).any(|kept| !kept.is_of(recording));
    if others {
        let hint = "Hear the other recording at the same bar, and back (X).";
        if ui.selectable_label(heard_other, "Other").on_hover_text(hint).clicked() {
            other = true;
        }
    }
    let mut balance = mix.balance;
    let slider = Slider::new(&mut balance, 0.0..=1.0).show_value(false);
    ui.spacing_mut().slider_width = 80.0;
    let slider = ui.add(slider).accessible_name("Balance");
    let changed = slider.on_hover_text("Fade from the recording (left) to the score (right).").changed();
    if changed {
        choose(Mix { balance, ..mix });
    }
    let split = icon_button(ui, Icon::Split, "Left and right", mix.split, true);
    if split.on_hover_text("Recording in the left ear, score in the right one.").clicked() {
        choose(Mix { split: !mix.split, ..mix });
    }
    let clicks = icon_button(ui, Icon::Clicks, "Clicks on beats", mix.clicks, state.solution().is_some());
    if clicks.on_hover_text("A click on every beat of the aligned score.").clicked() {
        choose(Mix { clicks: !mix.clicks, ..mix });
    }
    if other {
        commands.push(Command::HearOther);
    }
}

/// As wide as its longest text, so that nothing moves while it plays.
fn bar_position_ui(ui: &mut Ui, state: &AppState) {
    const WIDTH: f32 = 126.0;
    let words = RichText::new(bar_position(state)).color(Palette::of(ui).soft_ink);
    ui.allocate_ui_with_layout(vec2(WIDTH, 20.0), egui::Layout::left_to_right(egui::Align::Center), |ui| {
        ui.set_min_width(WIDTH);
        ui.label(words);
    });
}

fn bar_position(state: &AppState) -> String {
    let Some(solution) = state.solution() else { return String::new() };
    let here = state.transport.position_s + 1e-4;
    let after = solution.beats.partition_point(|beat| beat.performance_s <= here);
    match after.checked_sub(1).and_then(|index| solution.beats.get(index)) {
        Some(beat) => format!("bar {} beat {}", beat.bar, beat.beat),
        None => "before the first bar".to_owned(),
    }
}

fn status(state: &AppState) -> String {
    let kept = state.document.as_ref().zip(state.transport.heard).and_then(|(open, index)| open.kept.get(index));
    if let Some(kept) = kept {
        return format!("hearing {} (X: back)", kept.alignment.provenance.recording.name);
    }
    if state.transport.mix.balance > 0.0 && !state.transport.score_ready && state.solution().is_some() {
        return "preparing the score's sound…".to_owned();
    }
    let settings = state.settings();
    let count = |number: usize, what: &str| match number {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{number} {what}s")),
    };
    let fixed: Vec<String> = [count(settings.anchors.len(), "onset"), count(settings.fixed_notes.len(), "note")]
        .into_iter()
        .flatten()
        .collect();
    if fixed.is_empty() { String::new() } else { format!("{} fixed", fixed.join(" and ")) }
}
