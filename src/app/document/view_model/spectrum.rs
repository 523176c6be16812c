//! The recording's spectrum in semitones as small grey pictures, at several levels of detail.

use crate::align::start::LogSpectrum;
use crate::features::{LOWEST_SEMITONE, SEMITONE_BANDS};

/// Frames that make one of the next coarser level.
const STEP: usize = 4;
/// Frames in a tile.
pub const TILE: usize = 512;
/// What is drawn at full strength, as a share of the loudest.
const FULL: f32 = 0.85;

/// Levels of grey, one byte for each frame and semitone.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// Seconds from frame to frame at the finest level.
    pub hop_s: f64,
    /// MIDI pitch of the lowest band.
    pub lowest_pitch: usize,
    /// Bands per frame.
    pub bands: usize,
    levels: Vec<Vec<u8>>,
}

/// A picture: `bands` high, `frames` wide.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// How many frames, at most [`TILE`].
    pub frames: usize,
    /// From the highest band to the lowest, from the first frame to the last.
    pub pixels: Vec<u8>,
}

impl Spectrum {
    /// Of what was heard.
    pub fn of(spectrum: &LogSpectrum) -> Self {
        let loudest = spectrum.values.iter().copied().fold(1e-6, f32::max) * FULL;
        let finest = spectrum.values.iter().map(|value| (255.0 * (value / loudest).clamp(0.0, 1.0)) as u8).collect();
        Self::from_finest(spectrum.hop_s, LOWEST_SEMITONE, SEMITONE_BANDS, finest)
    }

    fn from_finest(hop_s: f64, lowest_pitch: usize, bands: usize, finest: Vec<u8>) -> Self {
        let mut levels = vec![finest];
        while let Some(finer) = levels.last().filter(|level| level.len() > TILE * bands) {
            let coarser = finer.chunks(STEP * bands).flat_map(|frames| {
                (0..bands).map(move |band| frames.iter().skip(band).step_by(bands).copied().max().unwrap_or(0))
            });
            let coarser = coarser.collect();
            levels.push(coarser);
        }
        Self { hop_s, lowest_pitch, bands, levels }
    }

    /// The coarsest level that still has a frame for every `seconds`.
    pub fn level_for(&self, seconds: f64) -> usize {
        let mut level = 0;
        while level + 1 < self.levels.len() && self.frame_s(level + 1) <= seconds {
            level += 1;
        }
        level
    }

    /// Seconds from frame to frame at a level.
    pub fn frame_s(&self, level: usize) -> f64 {
        self.hop_s * STEP.pow(level as u32) as f64
    }

    /// A tile of a level; none beyond the end.
    pub fn tile(&self, level: usize, index: usize) -> Option<Tile> {
        let values = self.levels.get(level)?;
        let first = index * TILE * self.bands;
        let values = values.get(first..(first + TILE * self.bands).min(values.len())).filter(|v| !v.is_empty())?;
        let frames = values.len() / self.bands;
        let mut pixels = vec![0; values.len()];
        for (frame, column) in values.chunks(self.bands).enumerate() {
            for (band, value) in column.iter().enumerate() {
                pixels[(self.bands - 1 - band) * frames + frame] = *value;
            }
        }
        Some(Tile { frames, pixels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_loud_tone_survives_every_level() {
        let bands = 3;
        let mut finest = vec![0; 5000 * bands];
        finest[4321 * bands + 1] = 200;
        let spectrum = Spectrum::from_finest(0.01, 21, bands, finest);
        for level in 0..3 {
            let frame = 4321 / STEP.pow(level as u32);
            let tile = spectrum.tile(level, frame / TILE).unwrap();
            assert_eq!(tile.pixels[tile.frames + frame % TILE], 200, "level {level}");
        }
        assert_eq!(spectrum.level_for(0.001), 0);
        assert_eq!(spectrum.level_for(0.05), 1);
        assert!(spectrum.tile(0, 10).is_none());
    }
}
