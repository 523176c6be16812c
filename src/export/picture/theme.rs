//! Colours and sizes, in one place. Yellow is much lighter than red and outlined: colour-blind readers can tell them apart.

use super::drawing::Colour;

/// The page.
pub const PAPER: Colour = Colour(0xFF, 0xFF, 0xFF);
/// Inside panels.
pub const PANEL: Colour = Colour(0xFA, 0xFB, 0xFC);
/// Titles.
pub const INK: Colour = Colour(0x1F, 0x29, 0x33);
/// Labels.
pub const SOFT_INK: Colour = Colour(0x5B, 0x67, 0x75);
/// Lines that guide the eye.
pub const GRID: Colour = Colour(0xE6, 0xEA, 0xEE);
/// Black keys and bands.
pub const SHADE: Colour = Colour(0xF1, 0xF3, 0xF6);
/// Bar lines.
pub const BAR_LINE: Colour = Colour(0xD3, 0xD9, 0xE0);
/// Edges of panels and what stays in the background.
pub const FAINT: Colour = Colour(0xC3, 0xCA, 0xD3);
/// The alignment.
pub const CURVE: Colour = Colour(0x1F, 0x5A, 0x9E);
/// The alignment, unsmoothed.
pub const LIGHT_CURVE: Colour = Colour(0xA9, 0xC6, 0xE3);
/// The reference.
pub const REFERENCE: Colour = Colour(0xE6, 0x9F, 0x00);
/// A note that both sound.
pub const NOTE: Colour = Colour(0x3A, 0x47, 0x57);
/// A note that the alignment is not sure of.
pub const UNSURE_NOTE: Colour = Colour(0x9A, 0xA7, 0xB5);
/// Only the prediction sounds.
pub const PREDICTION_ONLY: Colour = Colour(0xCC, 0x1F, 0x2D);
/// Only the reference sounds.
pub const REFERENCE_ONLY: Colour = Colour(0xF0, 0xE4, 0x42);
/// Outline of yellow, which would drown in white.
pub const REFERENCE_ONLY_EDGE: Colour = Colour(0xA8, 0x9A, 0x00);

/// Width of the page.
pub const PAGE_WIDTH: f64 = 1600.0;
/// Blank edge of the page.
pub const MARGIN: f64 = 40.0;
/// Size of tick labels.
pub const SMALL: f64 = 14.0;
/// Size of panel titles.
pub const MEDIUM: f64 = 17.0;
/// Size of the page title.
pub const LARGE: f64 = 28.0;
