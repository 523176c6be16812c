//! Attacks of any pitch, sharp in time: how suddenly the sound as a whole gets louder.
//!
//! Windows long enough to tell pitches apart see a note up to 90 ms early when it comes out of silence. Very short windows know
//! no pitch but see the hammer to within a few milliseconds; added to the pitch evidence they settle where in its hump the
//! onset is.

use std::f64::consts::TAU;

use rayon::prelude::*;
use realfft::RealFftPlanner;

use super::loudness::loud_level;
use crate::audio::AudioClip;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, frame_count};

/// 11.6 ms.
const WINDOW: usize = 256;
const BANDS: usize = 12;
const RANGE_HZ: (f64, f64) = (200.0, 8000.0);
/// Levels are `ln(1 + GAIN S / loud)`, loud being the 90th percentile of the band over time.
const GAIN: f32 = 100.0;
/// Levels are compared this many frames before and after.
const LAG: usize = 1;
/// The rise counts up to this much.
const MOST_RISE: f32 = 1.5;
/// Frames between two looks at cancellation.
const BLOCK: usize = 1024;

/// Mean rise over the bands, 0 to 1.5, in frames `hop` samples apart.
pub fn attacks(ctx: &JobContext, clip: &AudioClip, hop: usize) -> Result<Vec<f32>> {
    let frames = frame_count(clip.samples.len(), hop);
    let mut levels = vec![0.0f32; frames * BANDS];
    let fft = RealFftPlanner::<f32>::new().plan_fft_forward(WINDOW);
    let window: Vec<f32> =
        (0..WINDOW).map(|i| (0.5 - 0.5 * (TAU * (i as f64 + 0.5) / WINDOW as f64).cos()) as f32).collect();
    let bands = bin_ranges();
    levels.par_chunks_mut(BLOCK * BANDS).enumerate().try_for_each_init(
        || (vec![0.0f32; WINDOW], fft.make_output_vec(), fft.make_scratch_vec()),
        |(windowed, spectrum, scratch), (block, rows)| {
            ctx.check()?;
            for (offset, row) in rows.chunks_exact_mut(BANDS).enumerate() {
                let centre = (block * BLOCK + offset) * hop;
                for (i, (out, weight)) in windowed.iter_mut().zip(&window).enumerate() {
                    let sample = (centre + i).checked_sub(WINDOW / 2).and_then(|at| clip.samples.get(at));
                    *out = weight * sample.copied().unwrap_or(0.0);
                }
                if fft.process_with_scratch(windowed, spectrum, scratch).is_err() {
                    // Only wrong buffer lengths can fail, and these come from the plan itself.
                    continue;
                }
                for (level, bins) in row.iter_mut().zip(&bands) {
                    *level = spectrum[bins.clone()].iter().map(|c| c.norm_sqr()).sum::<f32>().sqrt();
                }
            }
            Ok::<(), Error>(())
        },
    )?;
    compress(&mut levels);
    Ok((0..frames).map(|frame| mean_rise(&levels, frame, frames)).collect())
}

/// Bins of the spectrum that each band sums, equally wide in pitch.
fn bin_ranges() -> Vec<std::ops::Range<usize>> {
    let edge = |band: usize| {
        let hz = RANGE_HZ.0 * (RANGE_HZ.1 / RANGE_HZ.0).powf(band as f64 / BANDS as f64);
        (hz * WINDOW as f64 / f64::from(ANALYSIS_RATE)).ceil() as usize
    };
    (0..BANDS).map(|band| edge(band)..edge(band + 1)).collect()
}

/// Turns amplitudes into levels relative to what is loud in each band.
fn compress(levels: &mut [f32]) {
    for band in 0..BANDS {
        let loud = loud_level(levels.iter().skip(band).step_by(4 * BANDS).copied(), 0.9, 1e-6);
        for level in levels.iter_mut().skip(band).step_by(BANDS) {
            *level = (GAIN * *level / loud).ln_1p();
        }
    }
}

fn mean_rise(levels: &[f32], frame: usize, frames: usize) -> f32 {
    let row = |frame: usize| &levels[frame * BANDS..(frame + 1) * BANDS];
    let (before, after) = (row(frame.saturating_sub(LAG)), row((frame + LAG).min(frames - 1)));
    let rise: f32 = after.iter().zip(before).map(|(a, b)| (a - b).max(0.0)).sum();
    (rise / BANDS as f32).min(MOST_RISE)
}
