//! Onset evidence of a whole recording, kept small: an hour takes 240 MB.

use rayon::prelude::*;

use crate::align::heard::{Heard, PlayedNote};
use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, samples_to_seconds};
use crate::features::{
    EAR_HOP, LOWEST_SEMITONE, SEMITONE_BANDS, SemitoneAnalyzer, SemitoneParams, SemitoneSpectra, attacks,
};

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
/// Frames to one of [`Heard`]; what lies between two of those is read as their mean.
const FRAMES_PER_HEARD: usize = EAR_HOP / HOP;
/// Steps per unit of a stored rise.
const STEPS: f32 = 40_000.0;

/// How much each semitone band, and the sound as a whole, rises in each frame.
#[derive(Debug)]
pub struct Evidence {
    rises: Vec<u16>,
    attacks: Vec<f32>,
    heard: Option<Heard>,
}

impl Evidence {
    /// The evidence of a recording that is tuned `tuning_semitones` above A = 440 Hz, with what an ear heard of it.
    pub fn of(ctx: &JobContext, clip: &AudioClip, tuning_semitones: f64, heard: Option<Heard>) -> Result<Self> {
        let analyzer = SemitoneAnalyzer::new(ctx, clip, &SemitoneParams { hop: HOP, tuning_semitones })?;
        let frames = analyzer.frames();
        let mut rises = vec![0; frames * SEMITONE_BANDS];
        for (chunk, out) in rises.chunks_mut(CHUNK * SEMITONE_BANDS).enumerate() {
            let first = chunk * CHUNK;
            ctx.report("listening for onsets", first as f32 / frames as f32)?;
            let spectra = analyzer.spectra(&ctx.quiet(), first.saturating_sub(LAG)..first + CHUNK + LAG)?;
            out.par_chunks_mut(SEMITONE_BANDS)
                .enumerate()
                .for_each(|(offset, row)| rise(&spectra, first + offset, row));
        }
        let attacks = attacks(&ctx.quiet(), clip, HOP)?;
        Ok(Self { rises, attacks, heard })
    }

    /// The evidence of a performance that is known note by note.
    pub fn of_notes(notes: &[PlayedNote], duration_s: f64) -> Self {
        let heard = Heard::of_notes(notes, duration_s);
        // That any note begins says nothing where it is known which do.
        let attacks = vec![0.0; (heard.frames() - 1) * FRAMES_PER_HEARD + 1];
        Self { rises: Vec::new(), attacks, heard: Some(heard) }
    }

    /// Adds notes that are known to what was heard.
    pub fn add_notes(&mut self, notes: &[PlayedNote]) {
        let frames = self.frames().div_ceil(FRAMES_PER_HEARD) + 1;
        self.heard.get_or_insert_with(|| Heard::new(frames)).add_notes(notes);
    }

    /// Number of frames, at least one.
    pub fn frames(&self) -> usize {
        self.attacks.len()
    }

    /// How suddenly the sound as a whole gets louder, by frame.
    pub fn attacks(&self) -> &[f32] {
        &self.attacks
    }

    /// How much each band rises in a frame; none of a performance that is known note by note.
    pub(super) fn rises(&self, frame: usize) -> Option<impl Iterator<Item = f32>> {
        let row = self.rises.get(frame * SEMITONE_BANDS..(frame + 1) * SEMITONE_BANDS)?;
        Some(row.iter().map(|&rise| f32::from(rise) / STEPS))
    }

    /// Seconds between frames; frame 0 is at 0 s.
    pub fn step_s() -> f64 {
        samples_to_seconds(HOP, ANALYSIS_RATE)
    }

    /// The rises of a frame under a pattern of bands and weights, and a share of the attack as a whole.
    pub fn at(&self, frame: usize, pattern: &Pattern) -> f32 {
        let row = self.rises.get(frame * SEMITONE_BANDS..(frame + 1) * SEMITONE_BANDS);
        let rises = |row: &[u16]| pattern.bands.iter().map(|&(band, weight)| weight * f32::from(row[band])).sum();
        let pitched: f32 = row.map_or(0.0, rises);
        let begins = |heard: &Heard| pattern.pitches.iter().map(|&band| begins(heard, frame, band)).sum::<f32>();
        let learned = self.heard.as_ref().filter(|_| pattern.learned != 0.0).map_or(0.0, begins);
        pitched / STEPS + pattern.attack * self.attacks[frame] + pattern.learned * learned
    }

    /// What was heard note by note, if an ear listened or the notes are known.
    pub fn heard(&self) -> Option<&Heard> {
        self.heard.as_ref()
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

/// What the odds that a pitch begins count. Every other frame lies between two that were heard.
fn begins(heard: &Heard, frame: usize, band: usize) -> f32 {
    let pitch = (LOWEST_SEMITONE + band) as u8;
    let here = heard.evidence(pitch, frame / 2);
    if frame.is_multiple_of(2) { here } else { 0.5 * (here + heard.evidence(pitch, frame / 2 + 1)) }
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
