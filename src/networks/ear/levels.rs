//! What the network hears: semitone levels with long and short windows, and the attack as a whole.

use crate::features::{SEMITONE_BANDS, SemitoneSpectra};

/// Samples between frames of the network: 11.6 ms.
pub const NETWORK_HOP: usize = 256;

/// Values of one moment and pitch.
pub const CHANNELS: usize = 2 * SHIFTS.len() + 2 + 3;

/// Bands beside the pitch's own that the network sees: partials, the octave below, the neighbours.
const SHIFTS: [isize; 9] = [0, 12, 19, 24, 28, 31, -12, -1, 1];
/// Brings levels, 0 to about 7, to the size that networks like.
const SCALE: f32 = 0.3;
/// Steps per unit of a stored level.
const STEPS: f32 = 8000.0;
/// Values per stored frame: bands with long windows, then with short ones.
const ROW: usize = 2 * SEMITONE_BANDS;

/// Levels of a recording, [`NETWORK_HOP`] samples apart, kept small: an hour takes 120 MB.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    rows: Vec<u16>,
    attacks: Vec<[f32; 2]>,
}

impl Levels {
    /// Adds the next frame.
    pub fn push(&mut self, spectra: &SemitoneSpectra, index: usize) {
        let stored = |level: &f32| (STEPS * level).round() as u16;
        self.rows.extend(spectra.mid(index).iter().map(stored));
        self.rows.extend(spectra.short(index).iter().map(stored));
    }

    /// Tells the attacks, twice per frame: at it and half a frame later.
    pub fn set_attacks(&mut self, attacks: &[f32]) {
        let at = |index: usize| attacks.get(index).copied().unwrap_or(0.0);
        // All frames are here: what was reserved for more is given back.
        self.rows.shrink_to_fit();
        self.attacks = (0..self.frames()).map(|frame| [at(2 * frame), at(2 * frame + 1)]).collect();
    }

    /// Gives all stored values as bytes, for a hash.
    pub(crate) fn identify(&self, take: &mut dyn FnMut(&[u8])) {
        self.rows.iter().for_each(|level| take(&level.to_le_bytes()));
        self.attacks.as_flattened().iter().for_each(|attack| take(&attack.to_le_bytes()));
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.rows.len() / ROW
    }

    /// The level of a band with long (`kind` 0) or short windows (1); silence beyond the ends and the bands.
    pub fn level(&self, frame: isize, kind: usize, band: isize) -> f32 {
        let frame = usize::try_from(frame).ok().filter(|&frame| frame < self.frames());
        let band = usize::try_from(band).ok().filter(|&band| band < SEMITONE_BANDS);
        match (frame, band) {
            (Some(frame), Some(band)) => f32::from(self.rows[frame * ROW + kind * SEMITONE_BANDS + band]) / STEPS,
            _ => 0.0,
        }
    }

    /// The inputs of a pitch from frame `first` on, [`CHANNELS`] values per frame: as many frames as `inputs` holds.
    pub fn inputs(&self, band: usize, first: isize, inputs: &mut [f32]) {
        self.changed_inputs(band, first, inputs, |level, _, _, _| level(0), |attack| attack);
    }

    /// The same with levels and attacks changed on their way in.
    ///
    /// `change` gets the level as a function of an offset in bands, the frame within `inputs`, the kind of window, and
    /// the band.
    pub(crate) fn changed_inputs(
        &self,
        band: usize,
        first: isize,
        inputs: &mut [f32],
        mut change: impl FnMut(&dyn Fn(isize) -> f32, usize, usize, isize) -> f32,
        mut change_attack: impl FnMut(f32) -> f32,
    ) {
        for (index, row) in inputs.chunks_exact_mut(CHANNELS).enumerate() {
            let frame = first + index as isize;
            let (levels, rest) = row.split_at_mut(2 * SHIFTS.len());
            for (kind, levels) in levels.chunks_exact_mut(SHIFTS.len()).enumerate() {
                for (value, shift) in levels.iter_mut().zip(SHIFTS) {
                    let there = band as isize + shift;
                    *value = SCALE * change(&|offset| self.level(frame, kind, there + offset), index, kind, there);
                }
            }
            let attacks = usize::try_from(frame).ok().and_then(|frame| self.attacks.get(frame)).copied();
            let attacks = attacks.unwrap_or_default().map(&mut change_attack);
            // Where the pitch is: windows differ in length by pitch, and so do the rises that they show.
            let place = [band as f32 / SEMITONE_BANDS as f32, is(band < 39), is(band >= 51)];
            rest.copy_from_slice(&[attacks[0], attacks[1], place[0], place[1], place[2]]);
        }
    }
}

fn is(condition: bool) -> f32 {
    if condition { 1.0 } else { 0.0 }
}
