//! What was heard of a recording, for one score and one ear: computed once, used by every solve that follows.

use std::path::{Path, PathBuf};

use crate::align::heard::{Heard, PlayedNote, pitches_to_hear};
use crate::align::onsets::{Evidence, Placed};
use crate::align::performance::{Performance, Transcription, notes_of};
use crate::align::result::{FileId, ModelId};
use crate::align::settings::{FixedNote, Method};
use crate::align::settling::settle;
use crate::align::start::{self, LogSpectrum, Start};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::networks::{Device, open_ear};
use crate::score::{Score, Take};

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
    /// The spectrum of the notes that an ear heard, made as a score's is: tells a right score from a wrong one in any timbre.
    pub(super) notes: Option<LogSpectrum>,
    /// The ear as the settings name it, and which one that was.
    ear: Option<(String, ModelId)>,
    /// The transcription that was read besides.
    transcription: Option<(PathBuf, FileId)>,
    /// The notes of a take, in the score's pitch.
    played: Option<Vec<PlayedNote>>,
    /// Where networks run.
    pub(super) device: Device,
}

impl Listening {
    /// Listens to a recording of a score with the ear of `method`, or without one.
    pub fn new(
        ctx: &JobContext,
        performance: &Performance,
        score: &Score,
        method: &Method,
        device: &Device,
        watch: &mut Stopwatch,
    ) -> Result<Self> {
        let recording = match performance {
            Performance::Recording(recording) => recording,
            Performance::Take(take) => return Self::to_take(ctx, take, score, device, watch),
        };
        let name = ear_of(method);
        let network = name.map(|name| open_ear(name, device)).transpose()?;
        let ear = name.zip(network.as_ref()).map(|(name, ear)| (name.to_owned(), ModelId::of(&ear.card)));
        let transcription = transcription_of(method).map(Transcription::read).transpose()?;
        let mut spectrum = watch.time("spectrum", || start::recording_spectrum(ctx, recording))?;
        let mut start = watch.time("rough start", || start::find(ctx, &spectrum, score))?;
        spectrum.retune(start.tuning_semitones);
        let tuning = spectrum.tuning_semitones;
        let listen = |ear| Heard::listen(ctx, &ear, recording, tuning, &pitches_to_hear(score));
        let heard = watch.time("listening", || network.map(listen).transpose())?;
        let notes = heard.as_ref().map(|heard| start::heard_spectrum(heard, tuning));
        if let Some(notes) = &notes {
            let again = watch.time("rough start", || start_of_heard(ctx, notes, score, &start))?;
            start = again.unwrap_or(start);
        }
        let mut evidence = watch.time("evidence", || Evidence::of(ctx, recording, tuning, heard))?;
        if let Some(transcription) = &transcription {
            // A transcription names the keys that sound: of a recording a little flat still those of its piano.
            evidence.add_notes(&notes_of(&transcription.take, start.tuning_semitones.round() as i32));
        }
        let transcription = transcription.map(|read| (read.path, read.id));
        Ok(Self { spectrum, start, evidence, notes, ear, transcription, played: None, device: device.clone() })
    }

    /// A take needs no ear: what was played is known.
    fn to_take(ctx: &JobContext, take: &Take, score: &Score, device: &Device, watch: &mut Stopwatch) -> Result<Self> {
        let mut spectrum = watch.time("spectrum", || start::take_spectrum(take));
        let start = watch.time("rough start", || start::find(ctx, &spectrum, score))?;
        spectrum.retune(start.tuning_semitones);
        let played = notes_of(take, start.tuning_semitones.round() as i32);
        let evidence = watch.time("evidence", || Evidence::of_notes(&played, take.duration_s()));
        let device = device.clone();
        Ok(Self {
            spectrum,
            start,
            evidence,
            notes: None,
            ear: None,
            transcription: None,
            played: Some(played),
            device,
        })
    }

    /// Moves what was placed to the very notes that were played, where these are known.
    pub(super) fn settle(&self, score: &Score, fixed_notes: &[FixedNote], placed: Placed) -> Result<Placed> {
        match &self.played {
            Some(played) => settle(score, played, fixed_notes, placed),
            None => Ok(placed),
        }
    }

    /// Whether `method` would hear the same.
    pub fn suits(&self, method: &Method) -> bool {
        let transcription = self.transcription.as_ref().map(|(path, _)| path.as_path());
        // A take is heard in one way only.
        self.played.is_some()
            || (self.ear.as_ref().map(|(name, _)| name.as_str()) == ear_of(method)
                && transcription == transcription_of(method))
    }

    /// The transcription that was read besides listening.
    pub fn transcription(&self) -> Option<&FileId> {
        self.transcription.as_ref().map(|(_, id)| id)
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
        if let Some(played) = &self.played {
            let mut onsets: Vec<f64> = played.iter().map(|note| note.onset_s).collect();
            onsets.sort_by(f64::total_cmp);
            onsets.dedup();
            return onsets;
        }
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

/// The transcription that a method reads besides.
fn transcription_of(method: &Method) -> Option<&Path> {
    match method {
        Method::Onsets(onsets) => onsets.transcription.as_deref(),
        Method::Frames(_) => None,
    }
}

/// The rough start by what was heard, if it fits that clearly better than the start by the spectrum does: where the timbre is far
/// from what the spectrum of a score is made of, as with mixtures of an organ.
fn start_of_heard(ctx: &JobContext, notes: &LogSpectrum, score: &Score, by_spectrum: &Start) -> Result<Option<Start>> {
    /// So much nearer, as a cosine distance.
    const CLEARLY: f64 = 0.02;
    let found = match start::find(ctx, notes, score) {
        Ok(found) => found,
        Err(Error::Cancelled) => return Err(Error::Cancelled),
        // Too little was heard to find a way.
        Err(_) => return Ok(None),
    };
    let distance = |start: &Start| start::distance_along(notes, score, &start.warp);
    // The ear listened in the score's pitch: another one is a mistake.
    let in_tune = (found.tuning_semitones - notes.tuning_semitones).abs() < 0.5;
    Ok((in_tune && distance(&found) < distance(by_spectrum) - CLEARLY).then_some(found))
}

/// The ear that a method listens with.
fn ear_of(method: &Method) -> Option<&str> {
    match method {
        Method::Onsets(onsets) => onsets.ear.as_deref(),
        Method::Frames(_) => None,
    }
}
