//! Onset evidence of a whole recording, kept small: an hour takes 240 MB.

use rayon::prelude::*;

use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, samples_to_seconds};
use crate::features::{SEMITONE_BANDS, SemitoneAnalyzer, SemitoneParams, SemitoneSpectra, attacks};
use crate::networks::Ear;
use crate::networks::ear::{Levels, NETWORK_HOP};

use super::learned::Learned;

/// Samples between frames: 5.8 ms.
pub(super) const HOP: usize = 128;
/// Levels are compared this many frames before and after: 11.6 ms.
const LAG: usize = 2;
/// A rise counts up to this much, so that one loud partial does not outvote the others.
const MOST_RISE: f32 = 1.5;
/// Share of the spectrum with mid windows, the rest having short ones.
const MID_SHARE: f32 = 0.75;
/// Frames that are analysed at a time.
const CHUNK: usize = 4096;
/// Steps per unit of a stored rise.
const STEPS: f32 = 40_000.0;

/// How much each semitone band, and the sound as a whole, rises in each frame.
#[derive(Debug)]
pub struct Evidence {
    rises: Vec<u16>,
    attacks: Vec<f32>,
    learned: Option<Learned>,
}

impl Evidence {
    /// Listens to a recording that is tuned `tuning_semitones` above A = 440 Hz, with the learned ear if there is one.
    pub fn of(ctx: &JobContext, clip: &AudioClip, tuning_semitones: f64, ear: Option<Ear>) -> Result<Self> {
        let analyzer = SemitoneAnalyzer::new(ctx, clip, &SemitoneParams { hop: HOP, tuning_semitones })?;
        let frames = analyzer.frames();
        let mut rises = vec![0; frames * SEMITONE_BANDS];
        let mut levels = Levels::default();
        for (chunk, out) in rises.chunks_mut(CHUNK * SEMITONE_BANDS).enumerate() {
            let first = chunk * CHUNK;
            ctx.report("listening for onsets", first as f32 / frames as f32)?;
            let spectra = analyzer.spectra(&ctx.quiet(), first.saturating_sub(LAG)..first + CHUNK + LAG)?;
            out.par_chunks_mut(SEMITONE_BANDS)
                .enumerate()
                .for_each(|(offset, row)| rise(&spectra, first + offset, row));
            if ear.is_some() {
                let heard = (first..(first + CHUNK).min(frames)).step_by(NETWORK_HOP / HOP);
                heard.for_each(|frame| levels.push(&spectra, frame - spectra.first_frame));
            }
        }
        let attacks = attacks(&ctx.quiet(), clip, HOP)?;
        levels.set_attacks(&attacks);
        Ok(Self { rises, attacks, learned: ear.map(|ear| Learned::new(ctx, ear, levels)) })
    }

    /// Number of frames, at least one.
    pub fn frames(&self) -> usize {
        self.attacks.len()
    }

    /// How suddenly the sound as a whole gets louder, by frame.
    pub fn attacks(&self) -> &[f32] {
        &self.attacks
    }

    /// Seconds between frames; frame 0 is at 0 s.
    pub fn step_s() -> f64 {
        samples_to_seconds(HOP, ANALYSIS_RATE)
    }

    /// The rises of a frame under a pattern of bands and weights, and a share of the attack as a whole.
    pub fn at(&self, frame: usize, pattern: &Pattern) -> f32 {
        let row = &self.rises[frame * SEMITONE_BANDS..(frame + 1) * SEMITONE_BANDS];
        let pitched: f32 = pattern.bands.iter().map(|&(band, weight)| weight * f32::from(row[band])).sum();
        let learned = |ear: &Learned| pattern.pitches.iter().map(|&band| ear.at(frame, band)).sum::<f32>();
        let learned = self.learned.as_ref().filter(|_| pattern.learned != 0.0).map_or(0.0, learned);
        pitched / STEPS + pattern.attack * self.attacks[frame] + pattern.learned * learned
    }

    /// The best of the `stride` frames round frame `index * stride`.
    pub fn best_at(&self, index: usize, stride: usize, pattern: &Pattern) -> f32 {
        let first = (index * stride).saturating_sub(stride / 2);
        let end = (index * stride + stride.div_ceil(2)).min(self.frames());
        (first..end).map(|frame| self.at(frame, pattern)).fold(f32::NEG_INFINITY, f32::max)
    }
}

/// What is listened for: weights of semitone bands, of the attack as a whole, and of the learned ear.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pattern {
    /// Band and weight.
    pub bands: Vec<(usize, f32)>,
    /// Weight of the attack as a whole.
    pub attack: f32,
    /// Bands of the pitches that begin, for the learned ear.
    pub pitches: Vec<usize>,
    /// Weight of what it says of each.
    pub learned: f32,
}

/// Rises of one frame, in steps.
fn rise(spectra: &SemitoneSpectra, frame: usize, row: &mut [u16]) {
    // The recording is silent beyond its ends.
    const SILENCE: [f32; SEMITONE_BANDS] = [0.0; SEMITONE_BANDS];
    let index = |frame: Option<usize>| {
        frame.and_then(|f| f.checked_sub(spectra.first_frame)).filter(|&index| index < spectra.frames())
    };
    let (before, after) = (index(frame.checked_sub(LAG)), index(frame.checked_add(LAG)));
    let mid = |at: Option<usize>| at.map_or(&SILENCE[..], |at| spectra.mid(at));
    let short = |at: Option<usize>| at.map_or(&SILENCE[..], |at| spectra.short(at));
    let mids = mid(after).iter().zip(mid(before));
    let shorts = short(after).iter().zip(short(before));
    for ((out, (ma, mb)), (sa, sb)) in row.iter_mut().zip(mids).zip(shorts) {
        let rise = MID_SHARE * (ma - mb).clamp(0.0, MOST_RISE) + (1.0 - MID_SHARE) * (sa - sb).clamp(0.0, MOST_RISE);
        *out = (STEPS * rise).round() as u16;
    }
}
