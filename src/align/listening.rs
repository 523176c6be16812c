//! What was heard of a recording, for one score and one ear: computed once, used by every solve that follows.

use crate::align::onsets::Evidence;
use crate::align::result::ModelId;
use crate::align::settings::Method;
use crate::align::start::{self, LogSpectrum, Start};
use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::networks::{Device, open_ear};
use crate::score::Score;

use super::Stopwatch;

/// Attacks weaker than this are not offered to snap to.
const CLEAR_ATTACK: f32 = 0.25;
/// Two attacks are at least this many frames of the evidence apart: 46 ms.
const ATTACK_FRAMES: usize = 8;

/// What was heard of a recording.
#[derive(Debug)]
pub struct Listening {
    /// In the score's pitch.
    pub(super) spectrum: LogSpectrum,
    pub(super) start: Start,
    pub(super) evidence: Evidence,
    /// The ear as the settings name it, and which one that was.
    ear: Option<(String, ModelId)>,
    /// Where networks run.
    pub(super) device: Device,
}

impl Listening {
    /// Listens to a recording of a score with the ear of `method`, or without one.
    pub fn new(
        ctx: &JobContext,
        recording: &AudioClip,
        score: &Score,
        method: &Method,
        device: &Device,
        watch: &mut Stopwatch,
    ) -> Result<Self> {
        let name = ear_of(method);
        let network = name.map(|name| open_ear(name, device)).transpose()?;
        let ear = name.zip(network.as_ref()).map(|(name, ear)| (name.to_owned(), ModelId::of(&ear.card)));
        let mut spectrum = watch.time("spectrum", || start::recording_spectrum(ctx, recording))?;
        let start = watch.time("rough start", || start::find(ctx, &spectrum, score))?;
        spectrum.retune(start.tuning_semitones);
        let evidence = watch.time("evidence", || Evidence::of(ctx, recording, spectrum.tuning_semitones, network))?;
        Ok(Self { spectrum, start, evidence, ear, device: device.clone() })
    }

    /// Whether `method` would hear the same.
    pub fn suits(&self, method: &Method) -> bool {
        self.ear.as_ref().map(|(name, _)| name.as_str()) == ear_of(method)
    }

    /// The ear that listened.
    pub fn ear(&self) -> Option<&ModelId> {
        self.ear.as_ref().map(|(_, id)| id)
    }

    /// The recording's semitone spectrum.
    pub fn spectrum(&self) -> &LogSpectrum {
        &self.spectrum
    }

    /// Moments at which the sound as a whole sets in, in seconds, increasing.
    pub fn attacks_s(&self) -> Vec<f64> {
        let attacks = self.evidence.attacks();
        let is_peak = |frame: &usize| {
            let (low, high) =
                (frame.saturating_sub(ATTACK_FRAMES / 2), (frame + ATTACK_FRAMES / 2 + 1).min(attacks.len()));
            let here = attacks[*frame];
            // The first of equals, so that a plateau is one attack.
            here >= CLEAR_ATTACK
                && attacks[low..*frame].iter().all(|&before| before < here)
                && attacks[*frame..high].iter().all(|&after| after <= here)
        };
        (0..attacks.len()).filter(is_peak).map(|frame| frame as f64 * Evidence::step_s()).collect()
    }
}

/// The ear that a method listens with.
fn ear_of(method: &Method) -> Option<&str> {
    match method {
        Method::Onsets(onsets) => onsets.ear.as_deref(),
        Method::Frames(_) => None,
    }
}
