//! How large the staves are drawn, and how far they are scrolled.

/// Smallest and largest zoom.
const ZOOM: std::ops::RangeInclusive<f32> = 0.5..=4.0;

/// How the staff pane is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StaffLook {
    /// Size of the staves, 1: as large as the pane allows.
    pub zoom: f32,
    /// How far the staves are scrolled up along the recording, in points.
    pub scrolled: f32,
    /// How far the systems are scrolled up in reading, in points.
    pub read_to: f32,
}

impl Default for StaffLook {
    fn default() -> Self {
        Self { zoom: 1.0, scrolled: 0.0, read_to: 0.0 }
    }
}

impl StaffLook {
    /// With staves that are `factor` times as large.
    pub fn larger(self, factor: f32) -> Self {
        let zoom = (self.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end());
        let grown = zoom / self.zoom;
        Self { zoom, scrolled: self.scrolled * grown, read_to: self.read_to * grown }
    }
}
