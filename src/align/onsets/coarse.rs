//! Evidence in coarse frames, for looking far.

use crate::align::heard::Heard;
use crate::features::{LOWEST_SEMITONE, SEMITONE_BANDS};

use super::evidence::{Evidence, Pattern};

/// Frames of the evidence that are taken as one: 23 ms.
pub(super) const STRIDE: usize = 4;

/// The best of every [`STRIDE`] frames, band by band and pitch by pitch: notes of a chord need not begin in the very same frame.
pub(super) struct CoarseEvidence {
    frames: usize,
    /// Of every band, frame after frame.
    rises: Vec<f32>,
    attacks: Vec<f32>,
    /// By band: what the odds that its pitch begins count. None where nobody listened.
    begins: Vec<Option<Vec<f32>>>,
}

impl CoarseEvidence {
    /// Coarse evidence of the bands that some patterns ask for.
    pub fn of(evidence: &Evidence, patterns: &[Pattern]) -> Self {
        let frames = evidence.frames().div_ceil(STRIDE);
        let span = |index: usize| index * STRIDE..((index + 1) * STRIDE).min(evidence.frames());
        let mut rises = vec![0.0; frames * SEMITONE_BANDS];
        for (index, row) in rises.chunks_mut(SEMITONE_BANDS).enumerate() {
            for frame in span(index) {
                let Some(fine) = evidence.rises(frame) else { break };
                row.iter_mut().zip(fine).for_each(|(best, rise)| *best = f32::max(*best, rise));
            }
        }
        let attack = |index: usize| evidence.attacks()[span(index)].iter().copied().fold(0.0, f32::max);
        let mut begins = vec![None; SEMITONE_BANDS];
        let asked = patterns.iter().filter(|pattern| pattern.learned != 0.0).flat_map(|pattern| &pattern.pitches);
        for &band in asked {
            if begins[band].is_none() {
                begins[band] = evidence.heard().map(|heard| pooled(heard, (LOWEST_SEMITONE + band) as u8, frames));
            }
        }
        Self { frames, rises, attacks: (0..frames).map(attack).collect(), begins }
    }

    /// Seconds between frames; frame 0 begins at 0 s.
    pub fn step_s() -> f64 {
        STRIDE as f64 * Evidence::step_s()
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// What speaks for an onset of a pattern in some frames.
    pub fn row(&self, frames: std::ops::Range<usize>, pattern: &Pattern) -> Vec<f32> {
        let rises = self.rises[frames.start * SEMITONE_BANDS..frames.end * SEMITONE_BANDS].chunks(SEMITONE_BANDS);
        let pitched = |rises: &[f32]| pattern.bands.iter().map(|&(band, weight)| weight * rises[band]).sum::<f32>();
        let attacks = &self.attacks[frames.clone()];
        let mut row: Vec<f32> = rises.zip(attacks).map(|(r, attack)| pitched(r) + pattern.attack * attack).collect();
        for begins in pattern.pitches.iter().filter_map(|&band| self.begins[band].as_ref()) {
            for (value, begins) in row.iter_mut().zip(&begins[frames.clone()]) {
                *value += pattern.learned * begins;
            }
        }
        row
    }
}

/// The best that is heard of a pitch in each coarse frame.
fn pooled(heard: &Heard, pitch: u8, frames: usize) -> Vec<f32> {
    let per_frame = CoarseEvidence::step_s() / Heard::step_s();
    let first = |index: usize| (index as f64 * per_frame).round() as usize;
    let best = |index: usize| (first(index)..=first(index + 1)).map(|f| heard.evidence(pitch, f)).fold(0.0, f32::max);
    (0..frames).map(best).collect()
}
