//! What the ear hears: semitone levels with long, middle and short windows, and the attack of six broad bands.
//!
//! | MIDI | 21-59 | 60-71 | 72-127 | every |
//! |---|---|---|---|---|
//! | long | 4096 | 2048 | 2048 | 11.6 ms |
//! | middle | 2048 | 1024 | 1024 | 11.6 ms |
//! | short | 1024 | 1024 | 512 | 5.8 ms |
//!
//! Long windows tell pitches apart, short ones tell when. The attack, without pitch, is measured every 2.9 ms.

use std::ops::Range;

use super::decimate::{Decimated, decimate};
use super::extract::check_clip;
use super::frames::fill_rows;
use super::loudness::loud_level;
use super::semitone::{Band, LOWEST_SEMITONE, bins_needed, semitone_bands};
use super::stft::{Stft, StftScratch};
use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, frame_count};

/// Samples between frames: 11.6 ms.
pub const EAR_HOP: usize = 256;
/// Semitone bands of each kind of window: MIDI 21 to 127.
pub const EAR_BANDS: usize = 107;
/// Values per frame: long, middle, short at the frame, short half a frame later, then the attack four times six bands.
pub const EAR_ROW: usize = 4 * EAR_BANDS + ATTACKS * ATTACK_BANDS.len();

/// Attacks measured per frame.
const ATTACKS: usize = 4;
const ATTACK_WINDOW: usize = 256;
const ATTACK_BANDS: [(f64, f64); 6] =
    [(100.0, 400.0), (400.0, 800.0), (800.0, 1600.0), (1600.0, 3000.0), (3000.0, 5500.0), (5500.0, 10_000.0)];
/// The low bands are measured on the signal at this fraction of its rate.
const DECIMATION: usize = 8;
const PASSBAND_HZ: f64 = 600.0;
/// Levels are `ln(1 + GAIN S / loud)`.
const GAIN: f32 = 100.0;
/// What is loud is measured in frames this far apart.
const REFERENCE_HOP: usize = 1024;

/// A window length at one place within the frame, and the bands that it serves.
struct Layer {
    stft: Stft,
    on_low: bool,
    /// Samples after the frame's own.
    shift: usize,
    bands: Vec<Band>,
    bins: usize,
}

/// A clip made ready to be heard, part by part.
pub struct EarAnalyzer<'a> {
    samples: &'a [f32],
    low: Decimated<'a>,
    layers: Vec<Layer>,
    attack: Stft,
    attack_bins: [Range<usize>; ATTACK_BANDS.len()],
    /// What counts as loud: with long, middle and short windows, and in the bands of the attack.
    loud: [f32; 3 + ATTACK_BANDS.len()],
}

/// Buffers of one thread.
pub struct EarScratch {
    layers: Vec<StftScratch>,
    attack: StftScratch,
}

impl<'a> EarAnalyzer<'a> {
    /// Prepares a clip that is tuned `tuning_semitones` above A = 440 Hz, and measures how loud it is.
    pub fn new(ctx: &JobContext, clip: &'a AudioClip, tuning_semitones: f64) -> Result<Self> {
        check_clip(clip)?;
        let low = decimate(ctx, &clip.samples, DECIMATION, PASSBAND_HZ / f64::from(ANALYSIS_RATE))?;
        let mut this = Self {
            samples: &clip.samples,
            low,
            layers: layers(tuning_semitones),
            attack: Stft::new(ATTACK_WINDOW),
            attack_bins: ATTACK_BANDS.map(|(low, high)| {
                let bin = |hz: f64| (hz * ATTACK_WINDOW as f64 / f64::from(ANALYSIS_RATE)).ceil() as usize;
                bin(low)..bin(high)
            }),
            loud: [1.0; 3 + ATTACK_BANDS.len()],
        };
        this.loud = this.measure_loud(&ctx.quiet())?;
        Ok(this)
    }

    /// Frames of the whole clip.
    pub fn frames(&self) -> usize {
        frame_count(self.samples.len(), EAR_HOP)
    }

    /// The levels of the frames in `range`, [`EAR_ROW`] values each; frames beyond the clip are silent.
    pub fn levels(&self, ctx: &JobContext, range: Range<usize>) -> Result<Vec<f32>> {
        let mut rows = vec![0.0; range.len() * EAR_ROW];
        fill_rows(
            ctx,
            &mut rows,
            EAR_ROW,
            || self.scratch(),
            |scratch, offset, row| self.fill(scratch, range.start + offset, row),
        )?;
        Ok(rows)
    }

    /// Buffers for one thread.
    pub fn scratch(&self) -> EarScratch {
        let layers = self.layers.iter().map(|layer| layer.stft.scratch()).collect();
        EarScratch { layers, attack: self.attack.scratch() }
    }

    /// The levels of one frame.
    pub fn fill(&self, scratch: &mut EarScratch, frame: usize, row: &mut [f32]) {
        if frame >= self.frames() {
            row.fill(0.0);
            return;
        }
        self.amplitudes(scratch, frame * EAR_HOP, row);
        let (levels, attacks) = row.split_at_mut(4 * EAR_BANDS);
        for (kind, levels) in levels.chunks_exact_mut(EAR_BANDS).enumerate() {
            compress(levels, self.loud[kind.min(2)]);
        }
        for attack in attacks.chunks_exact_mut(ATTACK_BANDS.len()) {
            attack
                .iter_mut()
                .zip(&self.loud[3..])
                .for_each(|(level, &loud)| compress(std::slice::from_mut(level), loud));
        }
    }

    /// Amplitudes of the frame centred on a sample, before the logarithm.
    fn amplitudes(&self, scratch: &mut EarScratch, centre: usize, row: &mut [f32]) {
        for (layer, scratch) in self.layers.iter().zip(&mut scratch.layers) {
            let magnitudes = if layer.on_low {
                layer.stft.magnitudes(&self.low.samples, self.low.index_of(centre), layer.bins, scratch)
            } else {
                layer.stft.magnitudes(self.samples, centre + layer.shift, layer.bins, scratch)
            };
            layer.bands.iter().for_each(|band| band.measure(magnitudes, row));
        }
        let bins = self.attack_bins[ATTACK_BANDS.len() - 1].end;
        let attacks = row[4 * EAR_BANDS..].chunks_exact_mut(ATTACK_BANDS.len());
        for (index, attack) in attacks.enumerate() {
            let at = centre + index * EAR_HOP / ATTACKS;
            let magnitudes = self.attack.magnitudes(self.samples, at, bins, &mut scratch.attack);
            for (sum, bins) in attack.iter_mut().zip(&self.attack_bins) {
                *sum = magnitudes[bins.clone()].iter().sum();
            }
        }
    }

    /// The loudest band's 90th percentile over frames for each kind of window, and the 95th of each band of the attack.
    fn measure_loud(&self, ctx: &JobContext) -> Result<[f32; 3 + ATTACK_BANDS.len()]> {
        const COUNT: usize = 3 + ATTACK_BANDS.len();
        let mut found = vec![0.0; COUNT * frame_count(self.samples.len(), REFERENCE_HOP)];
        fill_rows(
            ctx,
            &mut found,
            COUNT,
            || (self.scratch(), vec![0.0; EAR_ROW]),
            |(scratch, row), frame, found| {
                self.amplitudes(scratch, frame * REFERENCE_HOP, row);
                for (kind, found) in found[..3].iter_mut().enumerate() {
                    let bands = &row[kind * EAR_BANDS..(kind + 1) * EAR_BANDS];
                    *found = bands.iter().copied().fold(0.0, f32::max);
                }
                found[3..].copy_from_slice(&row[4 * EAR_BANDS..][..ATTACK_BANDS.len()]);
            },
        )?;
        Ok(std::array::from_fn(|kind| {
            let share = if kind < 3 { 0.9 } else { 0.95 };
            loud_level(found.iter().copied().skip(kind).step_by(COUNT), share, 1e-6)
        }))
    }
}

fn compress(levels: &mut [f32], loud: f32) {
    let scale = GAIN / loud;
    levels.iter_mut().for_each(|level| *level = (1.0 + scale * *level).ln());
}

fn layers(tuning: f64) -> Vec<Layer> {
    let end = LOWEST_SEMITONE + EAR_BANDS;
    let layer = |kind: usize, midis: Range<usize>, window: usize, factor: usize, shift: usize| {
        let places: Vec<(usize, usize)> = midis.map(|midi| (midi, kind * EAR_BANDS + midi - LOWEST_SEMITONE)).collect();
        let bands = semitone_bands(window, factor, tuning, &places);
        Layer { stft: Stft::new(window / factor), on_low: factor > 1, shift, bins: bins_needed(&bands), bands }
    };
    let both = |midis: Range<usize>, window: usize| {
        [(2, 0), (3, EAR_HOP / 2)].map(|(kind, shift)| layer(kind, midis.clone(), window, 1, shift))
    };
    let mut layers = vec![
        layer(0, LOWEST_SEMITONE..60, 4096, DECIMATION, 0),
        layer(0, 60..end, 2048, 1, 0),
        layer(1, LOWEST_SEMITONE..60, 2048, DECIMATION, 0),
        layer(1, 60..end, 1024, 1, 0),
    ];
    layers.extend(both(LOWEST_SEMITONE..72, 1024));
    layers.extend(both(72..end, 512));
    layers
}
