//! Pictures.
use super::{ExportInput, Exporter};
use crate::error::Result;
/// PNG.
pub struct Png;
impl Exporter for Png {
    fn render(&self, _: &ExportInput) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}
/// SVG.
pub struct Svg;
impl Exporter for Svg {
    fn render(&self, _: &ExportInput) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}
