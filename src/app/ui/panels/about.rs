//! Version, licences, and the cards of the models that come with the program.

use std::sync::OnceLock;

use eframe::egui::{CollapsingHeader, Grid, Label, RichText, ScrollArea, TextStyle, Ui, vec2};

use super::side::{soft, subheading};
use crate::app::command::Command;
use crate::app::ui::theme::{self, Palette};
use crate::networks::{ModelCard, Spec, shipped_cards};

const LICENCES: &[(&str, &str)] = &[
    ("Agogic", "MIT or Apache-2.0, at your choice"),
    ("Inter typeface", "SIL Open Font License 1.1"),
    ("Built-in piano and demo piece", "public domain (CC0 1.0)"),
    ("Bravura, of which the notes are drawn", "SIL Open Font License 1.1"),
];
/// Made by the example `notices`.
const THIRD_PARTY: &str = include_str!("../../../../assets/third-party.txt");

pub(super) fn about_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.set_width(480.0);
    ui.label(RichText::new("agogic").family(theme::strong_family()).size(24.0).color(Palette::of(ui).accent));
    ui.label(concat!("Version ", env!("CARGO_PKG_VERSION")));
    ui.add_space(6.0);
    ui.label("Finds where every note of a score is in a recording of its performance.");
    soft(ui, "Everything happens on this computer; nothing is sent anywhere.");
    ui.add_space(8.0);
    ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
        subheading(ui, "Licences");
        Grid::new("licences").num_columns(2).spacing(vec2(18.0, 4.0)).show(ui, |ui| {
            for (what, licence) in LICENCES {
                ui.label(*what);
                ui.label(RichText::new(*licence).color(Palette::of(ui).soft_ink));
                ui.end_row();
            }
        });
        CollapsingHeader::new("Packages that it is built with").show(ui, third_party_ui);
        ui.add_space(8.0);
        subheading(ui, "Built-in models");
        for card in cards() {
            CollapsingHeader::new(&card.name).id_salt(("card", &card.name)).show(ui, |ui| card_ui(ui, card));
        }
    });
    ui.add_space(8.0);
    if ui.button("Close").clicked() {
        commands.push(Command::CloseDialog);
    }
}

/// Thousands of lines, of which those in sight are laid out.
fn third_party_ui(ui: &mut Ui) {
    static LINES: OnceLock<Vec<&str>> = OnceLock::new();
    let lines = LINES.get_or_init(|| THIRD_PARTY.lines().collect());
    let height = ui.text_style_height(&TextStyle::Small);
    ScrollArea::both().id_salt("third party").max_height(240.0).show_rows(ui, height, lines.len(), |ui, shown| {
        for line in &lines[shown] {
            ui.add(Label::new(RichText::new(*line).small()).extend());
        }
    });
}

/// The cards are inside the program; they are read once.
fn cards() -> &'static [ModelCard] {
    static CARDS: OnceLock<Vec<ModelCard>> = OnceLock::new();
    CARDS.get_or_init(|| shipped_cards().unwrap_or_default())
}

fn card_ui(ui: &mut Ui, card: &ModelCard) {
    let mut rows = vec![("kind".to_owned(), card.spec.kind().name().to_owned())];
    let hop = match &card.spec {
        Spec::Ear(ear) => ear.hop,
        Spec::Extractor(of) => {
            let features = format!("{:?}, {} values in, {} out", of.features, of.input_dim, of.output_dim);
            rows.push(("features".to_owned(), features.to_lowercase()));
            rows.push(("λ".to_owned(), format!("{:.3}", of.lambda)));
            of.hop
        }
    };
    rows.push(("frame step".to_owned(), format!("{hop} samples")));
    rows.push(("licence".to_owned(), card.licence.clone()));
    let plain = |name: &String| name.replace('_', " ");
    rows.extend(card.metrics.iter().map(|(name, value)| (plain(name), format!("{value}"))));
    rows.extend(
        card.training.iter().map(|(name, value)| (plain(name), value.to_string().trim_matches('"').to_owned())),
    );
    Grid::new(&card.name).num_columns(2).spacing(vec2(14.0, 3.0)).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(RichText::new(name).small().color(Palette::of(ui).soft_ink));
            ui.add(Label::new(RichText::new(value).small()).wrap());
            ui.end_row();
        }
    });
}
