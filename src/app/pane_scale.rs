//! How high the waveform and the notes are drawn in their panes.

/// The waveform at its highest.
const MOST_GAIN: f32 = 64.0;
/// The notes at their tallest.
const MOST_ZOOM: f32 = 12.0;

/// Vertical scales of the panes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaneScale {
    /// Height of the waveform, 1: its loudest sample fills the pane.
    pub gain: f32,
    /// Height of the notes, 1: all pitches fit into the pane.
    pub pitch_zoom: f32,
    /// Which of the pitches are shown: 0 the highest, 1 the lowest.
    pub pitch_place: f32,
}

impl Default for PaneScale {
    fn default() -> Self {
        Self { gain: 1.0, pitch_zoom: 1.0, pitch_place: 0.5 }
    }
}

impl PaneScale {
    /// With a waveform that is `factor` times as high.
    pub fn louder(self, factor: f32) -> Self {
        Self { gain: (self.gain * factor).clamp(1.0, MOST_GAIN), ..self }
    }

    /// With notes that are `factor` times as tall; the pitch at `at` (0 top, 1 bottom of the pane) stays where it is.
    pub fn taller(self, factor: f32, at: f32) -> Self {
        let pitch_zoom = (self.pitch_zoom * factor).clamp(1.0, MOST_ZOOM);
        let above = self.above() + at / self.pitch_zoom - at / pitch_zoom;
        Self { pitch_zoom, ..self }.with_above(above)
    }

    /// Scrolls by a share of the pane's height; above 0 towards the low pitches.
    pub fn scrolled(self, share: f32) -> Self {
        self.with_above(self.above() + share / self.pitch_zoom)
    }

    /// The share of all pitches that lies above the pane.
    pub fn above(self) -> f32 {
        self.pitch_place * (1.0 - 1.0 / self.pitch_zoom)
    }

    fn with_above(self, above: f32) -> Self {
        let room = 1.0 - 1.0 / self.pitch_zoom;
        let pitch_place = if room > 1e-6 { (above / room).clamp(0.0, 1.0) } else { Self::default().pitch_place };
        Self { pitch_place, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pitch_under_the_pointer_stays_and_nothing_outside_the_score_is_shown() {
        let scale = PaneScale::default().taller(4.0, 0.3);
        // The pitch at 0.3 of all pitches is still at 0.3 of the pane.
        assert!((scale.above() + 0.3 / scale.pitch_zoom - 0.3).abs() < 1e-6);
        let lowest = scale.scrolled(100.0);
        assert!((lowest.above() + 1.0 / lowest.pitch_zoom - 1.0).abs() < 1e-6);
        assert_eq!(scale.scrolled(-100.0).above(), 0.0);
        assert_eq!(scale.taller(1e-3, 0.9), PaneScale::default());
        assert_eq!(PaneScale::default().louder(1e6).gain, MOST_GAIN);
        assert_eq!(PaneScale::default().louder(0.1).gain, 1.0);
    }
}
