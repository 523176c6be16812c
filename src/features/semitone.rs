//! Semitone spectrum: 96 bands at MIDI 21 to 116, fine in time, for locating note onsets.
//!
//! Low notes need long windows to be told apart, high notes can have short ones. Two compromises are offered side by
//! side because they share their transforms:
//!
//! | MIDI | 21-54 | 55-59 | 60-71 | 72-116 |
//! |---|---|---|---|---|
//! | mid | 4096 | 4096 | 2048 | 1024 |
//! | short | 2048 | 1024 | 1024 | 1024 |
//!
//! The long windows serve only notes below 530 Hz, so they are laid on the signal at an eighth of the rate.

use std::ops::Range;

use super::decimate::{Decimated, decimate, factor_for_hop};
use super::dot::dot;
use super::extract::{check_clip, check_hop};
use super::frames::fill_rows;
use super::loudness::loud_level;
use super::stft::{Stft, StftScratch};
use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, frame_count};

/// Bands of the semitone spectrum.
pub const SEMITONE_BANDS: usize = 96;
/// MIDI number of the lowest band.
pub const LOWEST_SEMITONE: usize = 21;

const MOST_DECIMATION: usize = 8;
const PASSBAND_HZ: f64 = 600.0;
/// Levels are relative to a loudness measured at this hop, whatever the hop of the spectrum.
const REFERENCE_HOP: usize = 1024;

/// How the semitone spectrum is laid on the recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SemitoneParams {
    /// Samples between frames.
    pub hop: usize,
    /// How much higher than A = 440 Hz the recording is tuned, in semitones.
    pub tuning_semitones: f64,
}

/// A clip made ready for semitone spectra of any part of it, so that long recordings need not be held as spectra.
pub struct SemitoneAnalyzer<'a> {
    samples: &'a [f32],
    low: Decimated<'a>,
    hop: usize,
    layers: [Layer; 3],
    /// What counts as loud, for mid and short windows.
    references: [f32; 2],
}

/// Levels `ln(1 + 100 S / loud)` of a run of frames, with mid and short windows.
#[derive(Debug, Clone, PartialEq)]
pub struct SemitoneSpectra {
    /// The frame of the recording that the first row belongs to.
    pub first_frame: usize,
    rows: Vec<f32>,
}

impl SemitoneSpectra {
    /// Number of frames held.
    pub fn frames(&self) -> usize {
        self.rows.len() / ROW
    }

    /// The 96 levels with mid windows of the `index`-th frame held.
    pub fn mid(&self, index: usize) -> &[f32] {
        &self.rows[index * ROW..index * ROW + SEMITONE_BANDS]
    }

    /// The 96 levels with short windows of the `index`-th frame held.
    pub fn short(&self, index: usize) -> &[f32] {
        &self.rows[index * ROW + SEMITONE_BANDS..(index + 1) * ROW]
    }
}

/// Values per frame: mid, then short.
pub(super) const ROW: usize = 2 * SEMITONE_BANDS;

impl<'a> SemitoneAnalyzer<'a> {
    /// Prepares a clip and measures how loud it is.
    pub fn new(ctx: &JobContext, clip: &'a AudioClip, params: &SemitoneParams) -> Result<Self> {
        check_clip(clip)?;
        check_hop(params.hop)?;
        let factor = factor_for_hop(params.hop, MOST_DECIMATION);
        let low = decimate(ctx, &clip.samples, factor, PASSBAND_HZ / f64::from(ANALYSIS_RATE))?;
        let layers = layers(factor, params.tuning_semitones);
        let mut this = Self { samples: &clip.samples, low, hop: params.hop, layers, references: [1.0; 2] };
        this.references = this.measure_references(&ctx.quiet())?;
        Ok(this)
    }

    /// Frames of the whole clip.
    pub fn frames(&self) -> usize {
        frame_count(self.samples.len(), self.hop)
    }

    /// Levels of the frames in `range`, which is cut to the frames that there are.
    pub fn spectra(&self, ctx: &JobContext, range: Range<usize>) -> Result<SemitoneSpectra> {
        let end = range.end.min(self.frames());
        let first_frame = range.start.min(end);
        let mut rows = vec![0.0; (end - first_frame) * ROW];
        fill_rows(
            ctx,
            &mut rows,
            ROW,
            || self.scratch(),
            |scratch, offset, row| self.levels(scratch, first_frame + offset, row),
        )?;
        Ok(SemitoneSpectra { first_frame, rows })
    }

    /// Buffers for one thread.
    pub(super) fn scratch(&self) -> [StftScratch; 3] {
        std::array::from_fn(|layer| self.layers[layer].stft.scratch())
    }

    /// The levels of one frame.
    pub(super) fn levels(&self, scratch: &mut [StftScratch; 3], frame: usize, row: &mut [f32]) {
        self.amplitudes(scratch, frame * self.hop, row);
        for (levels, reference) in row.chunks_exact_mut(SEMITONE_BANDS).zip(self.references) {
            let scale = 100.0 / reference;
            for level in levels {
                *level = (1.0 + scale * *level).ln();
            }
        }
    }

    /// Band amplitudes of the frame centred on a sample, before the logarithm.
    fn amplitudes(&self, scratch: &mut [StftScratch; 3], centre: usize, row: &mut [f32]) {
        for (layer, scratch) in self.layers.iter().zip(scratch) {
            let magnitudes = if layer.on_low {
                layer.stft.magnitudes(&self.low.samples, self.low.index_of(centre), layer.bins, scratch)
            } else {
                layer.stft.magnitudes(self.samples, centre, layer.bins, scratch)
            };
            layer.bands.iter().for_each(|band| band.measure(magnitudes, row));
            // Bands with the same window at the same pitch are the same.
            row.copy_within(layer.shared_from.clone(), layer.shared_from.start + SEMITONE_BANDS);
        }
    }

    /// The 90th percentile of the loudest band's amplitude over frames, for mid and short windows.
    fn measure_references(&self, ctx: &JobContext) -> Result<[f32; 2]> {
        // The low signal has samples only at multiples of its factor.
        let hop = REFERENCE_HOP.max(self.hop).next_multiple_of(self.low.factor);
        let mut maxima = vec![0.0; 2 * frame_count(self.samples.len(), hop)];
        fill_rows(
            ctx,
            &mut maxima,
            2,
            || (self.scratch(), vec![0.0; ROW]),
            |(scratch, row), frame, maxima| {
                self.amplitudes(scratch, frame * hop, row);
                for (max, bands) in maxima.iter_mut().zip(row.chunks_exact(SEMITONE_BANDS)) {
                    *max = bands.iter().copied().fold(0.0, f32::max);
                }
            },
        )?;
        Ok([0, 1].map(|kind| loud_level(maxima.iter().copied().skip(kind).step_by(2), 0.9, 1e-6)))
    }
}

/// The bands that one window length serves.
struct Layer {
    stft: Stft,
    /// Whether the window lies on the signal at the lower rate.
    on_low: bool,
    bands: Vec<Band>,
    /// Bins from 0 that the bands need.
    bins: usize,
    /// Places (of mid bands) whose values are those of the short bands too.
    shared_from: Range<usize>,
}

/// Weights of the spectrum's bins for one band, and where in the row its value goes.
pub(super) struct Band {
    place: usize,
    first_bin: usize,
    weights: Vec<f32>,
}

impl Band {
    /// Writes the band's amplitude to its place in the row.
    pub(super) fn measure(&self, magnitudes: &[f32], row: &mut [f32]) {
        row[self.place] = dot(&self.weights, &magnitudes[self.first_bin..self.first_bin + self.weights.len()]);
    }
}

fn layers(factor: usize, tuning: f64) -> [Layer; 3] {
    let place = |midi: usize| midi - LOWEST_SEMITONE;
    let end = LOWEST_SEMITONE + SEMITONE_BANDS;
    let none = 0..0;
    let mid = |midis: Range<usize>| midis.map(|midi| (midi, place(midi))).collect::<Vec<_>>();
    let short = |midis: Range<usize>| midis.map(|midi| (midi, SEMITONE_BANDS + place(midi))).collect::<Vec<_>>();
    [
        layer(4096, factor, tuning, &mid(LOWEST_SEMITONE..60), none.clone()),
        layer(2048, factor, tuning, &[mid(60..72), short(LOWEST_SEMITONE..55)].concat(), none),
        layer(1024, 1, tuning, &[mid(72..end), short(55..72)].concat(), place(72)..place(end)),
    ]
}

fn layer(window: usize, factor: usize, tuning: f64, bands: &[(usize, usize)], shared_from: Range<usize>) -> Layer {
    let bands = semitone_bands(window, factor, tuning, bands);
    let bins = bins_needed(&bands);
    Layer { stft: Stft::new(window / factor), on_low: factor > 1, bands, bins, shared_from }
}

/// Bins from 0 that some bands need.
pub(super) fn bins_needed(bands: &[Band]) -> usize {
    bands.iter().map(|band| band.first_bin + band.weights.len()).max().unwrap_or(0)
}

/// The bands of some MIDI numbers, each with its place in the row, in the spectrum of a window (in samples of the original signal)
/// that lies on the signal at `1 / factor` of its rate.
pub(super) fn semitone_bands(window: usize, factor: usize, tuning: f64, bands: &[(usize, usize)]) -> Vec<Band> {
    let n_fft = window / factor;
    let spacing = f64::from(ANALYSIS_RATE) / window as f64;
    bands
        .iter()
        .map(|&(midi, place)| {
            let centre = 440.0 * ((midi as f64 + tuning - 69.0) / 12.0).exp2();
            let weight = |bin: usize| {
                let hz = bin as f64 * spacing;
                // A triangle of ±1 semitone; where that holds no bin, interpolation between the two nearest.
                let by_pitch = 1.0 - (12.0 * (hz / centre).log2()).abs();
                let by_bin = 1.0 - ((hz - centre) / spacing).abs();
                // A sine of amplitude 1 has magnitude n_fft / 4 under the window.
                (by_pitch.max(by_bin).max(0.0) * 4.0 / n_fft as f64) as f32
            };
            let inside = |bin: &usize| weight(*bin) > 0.0;
            let first_bin = (0..=n_fft / 2).find(inside).unwrap_or(0);
            Band { place, first_bin, weights: (first_bin..=n_fft / 2).take_while(inside).map(weight).collect() }
        })
        .collect()
}

#[cfg(test)]
#[path = "semitone_tests.rs"]
mod tests;
