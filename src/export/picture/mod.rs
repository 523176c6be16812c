//! Pictures of an alignment: the warp, the tempo, the error if a reference is known, and the piano roll in the recording's
//! time.
//!
//! `page` turns the alignment into a `Drawing`, plain shapes; `raster` makes a PNG or SVG of it.

mod axis;
mod curves;
mod drawing;
mod page;
mod panel;
mod piano_roll;
mod raster;
mod stretches;
mod theme;

use super::{ExportInput, Exporter};
use crate::base::error::Result;

/// A bitmap.
pub struct Png;

impl Exporter for Png {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        raster::png(&page::page(input))
    }
}

/// A vector picture.
pub struct Svg;

impl Exporter for Svg {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        raster::svg(&page::page(input))
    }
}

#[cfg(test)]
mod tests;
