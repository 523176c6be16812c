//! Where the parts of the window are, for what points at them.

use eframe::egui::{self, Id, Rect};

/// A part of the window that is no pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// The bar at the top.
    Menu,
    /// The bar at the bottom.
    Transport,
    /// The panel on the right.
    Side,
}

fn id(place: Place) -> Id {
    Id::unique(("place", place))
}

/// Remembers where a part was drawn.
pub fn note(ctx: &egui::Context, place: Place, rect: Rect) {
    ctx.data_mut(|data| data.insert_temp(id(place), rect));
}

/// Where a part was drawn last.
pub fn find(ctx: &egui::Context, place: Place) -> Option<Rect> {
    ctx.data(|data| data.get_temp(id(place)))
}
