//! The panes on the time axis and how they are laid out.

use eframe::egui::{self, Color32, Rect, Sense, Stroke, Ui, WidgetText, pos2, vec2};
use egui_tiles::{
    Behavior, Container, Linear, LinearDir, SimplificationOptions, Tile, TileId, Tiles, Tree, UiResponse,
};
use serde::{Deserialize, Serialize};

use super::panels;
use super::theme::{self, Palette};
use crate::app::command::Command;
use crate::app::state::AppState;

/// Which pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneKind {
    /// The recording.
    Waveform,
    /// Its spectrum in semitones.
    Spectrum,
    /// The score in staff notation, each note above its moment.
    Staff,
    /// The notes in the recording's time.
    PianoRoll,
    /// Score time against recording time.
    Warp,
    /// Beats per minute.
    Tempo,
}

impl PaneKind {
    /// All, from top to bottom as on the first start.
    pub const ALL: [Self; 6] = [Self::Waveform, Self::Spectrum, Self::Staff, Self::PianoRoll, Self::Warp, Self::Tempo];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Waveform => "Recording",
            Self::Spectrum => "Spectrum",
            Self::Staff => "Staff",
            Self::PianoRoll => "Notes",
            Self::Warp => "Warp",
            Self::Tempo => "Tempo",
        }
    }

    /// What it shows, in a sentence.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Waveform => {
                "The recording with the score's onsets where the alignment puts them. Drag an onset to correct it."
            }
            Self::Spectrum => "How loud each semitone is over time, with the score's onsets.",
            Self::Staff => {
                "The score in staff notation, every note above the moment at which it was played. Click a note to select it, drag it to \
                 correct its onset. Read wraps the staves in lines to read along."
            }
            Self::PianoRoll => {
                "The score's notes where they sound in the recording. Drag the start of a note to correct it."
            }
            Self::Warp => {
                "Where each moment of the score is in the recording. Drag the curve sideways to correct it. The band close to \
                 the curve is as wide as it is unsure; the faint one behind it is where it was looked for first."
            }
            Self::Tempo => "The performance's tempo, beat by beat.",
        }
    }

    fn share(self) -> f32 {
        match self {
            Self::Waveform => 0.8,
            Self::Spectrum => 1.0,
            Self::Staff => 2.0,
            Self::PianoRoll => 1.6,
            Self::Warp => 1.1,
            Self::Tempo => 0.6,
        }
    }
}

/// One above the other.
pub fn default_layout() -> Tree<PaneKind> {
    let mut tiles = Tiles::default();
    let mut column = Linear::new(LinearDir::Vertical, Vec::new());
    for kind in PaneKind::ALL {
        let tile = tiles.insert_pane(kind);
        column.add_child(tile);
        column.shares.set_share(tile, kind.share());
    }
    let root = tiles.insert_container(Container::Linear(column));
    let mut layout = Tree::new(egui::Id::unique("panes"), root, tiles);
    // The spectrum already shows behind the notes.
    toggle(&mut layout, PaneKind::Spectrum);
    layout
}

fn tile_of(layout: &Tree<PaneKind>, kind: PaneKind) -> Option<TileId> {
    layout.tiles.iter().find(|(_, tile)| matches!(tile, Tile::Pane(pane) if *pane == kind)).map(|(id, _)| *id)
}

/// Whether a layout has a place for every pane, shown or hidden.
pub fn is_complete(layout: &Tree<PaneKind>) -> bool {
    PaneKind::ALL.into_iter().all(|kind| tile_of(layout, kind).is_some())
}

/// Where a pane is on the screen; none if it is hidden.
pub fn rect_of(layout: &Tree<PaneKind>, kind: PaneKind) -> Option<Rect> {
    tile_of(layout, kind).and_then(|tile| layout.tiles.rect(tile))
}

/// Whether a pane is shown.
pub fn is_shown(layout: &Tree<PaneKind>, kind: PaneKind) -> bool {
    tile_of(layout, kind).is_some_and(|tile| layout.is_visible(tile))
}

/// Shows or hides a pane.
pub fn toggle(layout: &mut Tree<PaneKind>, kind: PaneKind) {
    match tile_of(layout, kind) {
        Some(tile) => layout.set_visible(tile, !layout.is_visible(tile)),
        // A layout of an older version: its panes come back with the missing one.
        None => *layout = default_layout(),
    }
}

/// Draws the panes.
pub struct Panes<'a> {
    /// What they show.
    pub state: &'a AppState,
    /// What was done in them.
    pub commands: &'a mut Vec<Command>,
}

const HEADER_HEIGHT: f32 = 20.0;

impl Behavior<PaneKind> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, tile: TileId, kind: &mut PaneKind) -> UiResponse {
        let palette = Palette::of(ui);
        let rect = ui.max_rect();
        ui.painter().rect_filled(rect, 0.0, palette.canvas);
        let header = Rect::from_min_size(rect.min, vec2(panels::GUTTER, HEADER_HEIGHT));
        let body = rect;
        let mut child = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt(("pane", *kind)));
        match kind {
            PaneKind::Waveform => panels::waveform_ui(&mut child, self.state, self.commands),
            PaneKind::Spectrum => panels::spectrum_ui(&mut child, self.state, self.commands),
            PaneKind::Staff => panels::staff_ui(&mut child, self.state, self.commands),
            PaneKind::PianoRoll => panels::piano_roll_ui(&mut child, self.state, self.commands),
            PaneKind::Warp => panels::warp_ui(&mut child, self.state, self.commands),
            PaneKind::Tempo => panels::tempo_ui(&mut child, self.state, self.commands),
        }
        let handle = ui.interact(header, ui.scope_id().with((tile, "header")), Sense::drag());
        let handle = handle.on_hover_cursor(egui::CursorIcon::Grab).on_hover_text(kind.explanation());
        handle.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{} pane, drag to move it", kind.title()))
        });
        let ink = if handle.hovered() { palette.ink } else { palette.soft_ink };
        let font = egui::FontId::new(11.0, theme::strong_family());
        ui.painter().text(header.left_center() + vec2(8.0, 1.0), egui::Align2::LEFT_CENTER, kind.title(), font, ink);
        if handle.drag_started() { UiResponse::DragStarted } else { UiResponse::None }
    }

    fn tab_title_for_pane(&mut self, kind: &PaneKind) -> WidgetText {
        kind.title().into()
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        3.0
    }

    fn min_size(&self) -> f32 {
        48.0
    }

    fn tab_bar_height(&self, _: &egui::Style) -> f32 {
        24.0
    }

    fn tab_bar_color(&self, visuals: &egui::Visuals) -> Color32 {
        visuals.panel_fill
    }

    fn resize_stroke(&self, style: &egui::Style, state: egui_tiles::ResizeState) -> Stroke {
        let palette = if style.visuals.dark_mode { &theme::DARK } else { &theme::LIGHT };
        match state {
            egui_tiles::ResizeState::Idle => Stroke::NONE,
            egui_tiles::ResizeState::Hovering => Stroke::new(2.0, palette.edge),
            egui_tiles::ResizeState::Dragging => Stroke::new(2.0, palette.accent),
        }
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: false, ..SimplificationOptions::default() }
    }
}

/// Draws all panes into what is left of the window.
pub fn panes_ui(ui: &mut Ui, layout: &mut Tree<PaneKind>, state: &AppState, commands: &mut Vec<Command>) {
    let rect = ui.available_rect_before_wrap();
    ui.painter().rect_filled(rect, 0.0, Palette::of(ui).edge);
    if layout.active_tiles().is_empty() {
        let place = pos2(rect.center().x, rect.center().y);
        let hint = "All panes are hidden. The View menu brings them back.";
        ui.painter().text(
            place,
            egui::Align2::CENTER_CENTER,
            hint,
            egui::FontId::proportional(13.0),
            Palette::of(ui).ink,
        );
        return;
    }
    layout.ui(&mut Panes { state, commands }, ui);
    if let Some(root) = layout.root() {
        name_splitters(ui, layout, root, scope_of(ui.scope_id(), root));
    }
}

/// Gives the splitters of a tile and what is in it names for those who cannot see them: the dock has none for them.
fn name_splitters(ui: &Ui, layout: &Tree<PaneKind>, tile: TileId, scope: egui::Id) {
    let Some(Tile::Container(container)) = layout.tiles.get(tile) else { return };
    let children: Vec<TileId> = container.children().copied().filter(|child| layout.is_visible(*child)).collect();
    if matches!(container, Container::Linear(_)) {
        for (index, pair) in children.windows(2).enumerate() {
            let [before, after] = [pair[0], pair[1]].map(|child| name_of(layout, child));
            ui.ctx().accesskit_node_builder(scope.with((tile, "resize", index)), |node| {
                node.set_role(egui::accesskit::Role::Splitter);
                node.set_label(format!("Splitter between {before} and {after}"));
            });
        }
    }
    for child in children {
        name_splitters(ui, layout, child, scope_of(scope, child));
    }
}

/// The scope in which the dock draws a tile: a ui of its own, and one in it that can be disabled.
fn scope_of(parent: egui::Id, tile: TileId) -> egui::Id {
    parent.with(tile).with(egui::IdSalt::new("child"))
}

/// The first pane in a tile.
fn name_of(layout: &Tree<PaneKind>, tile: TileId) -> &'static str {
    match layout.tiles.get(tile) {
        Some(Tile::Pane(kind)) => kind.title(),
        Some(Tile::Container(container)) => container.children().next().map_or("", |child| name_of(layout, *child)),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_pane_comes_back_and_the_layout_survives_storage() {
        let mut layout = default_layout();
        toggle(&mut layout, PaneKind::Tempo);
        assert!(!is_shown(&layout, PaneKind::Tempo) && is_shown(&layout, PaneKind::Warp));
        let stored = serde_json::to_string(&layout).unwrap();
        let mut read: Tree<PaneKind> = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, layout);
        toggle(&mut read, PaneKind::Tempo);
        toggle(&mut read, PaneKind::Spectrum);
        assert!(PaneKind::ALL.iter().all(|kind| is_shown(&read, *kind)));
    }
}
