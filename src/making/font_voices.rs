//! Notes of SoundFonts, each brought in so that it is heard to begin in time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::halving::halve;
use super::instruments::family_of_program;
use super::onset_delay::onset_delay;
use super::sampler::add_at;
use crate::base::error::Result;
use crate::base::time::ANALYSIS_RATE;
use crate::score::{NoteOrder, NotePlayer, SoundFont};

/// SoundFonts are recorded at this rate; at half of it their highest partials would fold back.
const FONT_RATE: u32 = 2 * ANALYSIS_RATE;
/// Notes ring on at most so long after they are damped.
const LONGEST_RELEASE_S: f64 = 1.5;
/// Velocities are measured in steps of this size: attacks change little within one.
const VELOCITY_STEP: u8 = 16;
const USUAL_VELOCITY: u8 = 80;
/// Softer notes would be dropped by the synthesizer.
const SOFTEST_PROBE: u8 = 13;
/// How long a note is held to see when it begins.
const PROBE_S: f64 = 0.65;

/// A program, a pitch and a step of velocity of a SoundFont.
type Key = (usize, u8, u8, u8);

/// How late each preset speaks, measured once for each pitch and step of velocity. Pure facts: it does not matter who asks first.
#[derive(Default)]
pub(super) struct Delays {
    seconds: Mutex<HashMap<Key, Option<f64>>>,
}

/// A preset of a SoundFont in one piece.
pub(super) struct FontVoice<'a> {
    delays: &'a Delays,
    soundfont: &'a SoundFont,
    font: usize,
    program: u8,
    player: NotePlayer,
    /// How much slower its sounds are than at the nominal pitch.
    stretch: f64,
    mix: Vec<f32>,
}

/// What is to be played.
#[derive(Debug, Clone, Copy)]
pub(super) struct FontNote {
    pub pitch: u8,
    pub velocity: u8,
    pub onset_s: f64,
    pub damped_s: f64,
}

impl<'a> FontVoice<'a> {
    /// A voice whose sound will have `length` samples at the analysis rate.
    pub fn new(
        delays: &'a Delays,
        (font, soundfont): (usize, &'a SoundFont),
        program: u8,
        tuning_cents: f64,
        length: usize,
    ) -> Result<Self> {
        // Rendered at a lower rate than it is read at, it sounds higher by their ratio.
        let rate = (f64::from(FONT_RATE) * 2f64.powf(-tuning_cents / 1200.0)).round();
        let player = NotePlayer::new(soundfont, rate as u32)?;
        let stretch = rate / f64::from(FONT_RATE);
        Ok(Self { delays, soundfont, font, program, player, stretch, mix: vec![0.0; 2 * length] })
    }

    /// Adds a note.
    pub fn play(&mut self, note: FontNote) -> Result<()> {
        let delay = self.delays.of((self.font, self.soundfont), self.program, note.pitch, note.velocity)?;
        let Some(delay) = delay else { return Ok(()) };
        let rate = f64::from(FONT_RATE);
        let first = ((note.onset_s - delay * self.stretch) * rate).round();
        let held = (note.damped_s * rate - first).max(0.0) as usize;
        let to_end = (self.mix.len() as f64 - first).max(0.0) as usize;
        let longest = (held + (LONGEST_RELEASE_S * rate) as usize).min(to_end);
        let FontNote { pitch, velocity, .. } = note;
        let sound = self.player.play(NoteOrder { program: self.program, pitch, velocity, held, longest })?;
        add_at(&mut self.mix, first as isize, &sound, 1.0);
        Ok(())
    }

    /// The sound of all its notes, at the analysis rate.
    pub fn finish(self) -> Vec<f32> {
        halve(&self.mix)
    }
}

impl Delays {
    /// Whether a preset has a sound for a pitch.
    pub fn knows(&self, font: usize, soundfont: &SoundFont, program: u8, pitch: u8) -> Result<bool> {
        Ok(self.of((font, soundfont), program, pitch, USUAL_VELOCITY)?.is_some())
    }

    /// Seconds from key press to onset; none if nothing is heard.
    fn of(&self, (font, soundfont): (usize, &SoundFont), program: u8, pitch: u8, velocity: u8) -> Result<Option<f64>> {
        let step = velocity / VELOCITY_STEP;
        let key = (font, program, pitch, step);
        let known = || self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(delay) = known().get(&key) {
            return Ok(*delay);
        }
        let held = (PROBE_S * f64::from(FONT_RATE)) as usize;
        let velocity = (step * VELOCITY_STEP + VELOCITY_STEP / 2).max(SOFTEST_PROBE);
        let order = NoteOrder { program, pitch, velocity, held, longest: held };
        let sound = NotePlayer::new(soundfont, FONT_RATE)?.play(order)?;
        let delay = onset_delay(&sound, FONT_RATE.into(), family_of_program(program));
        known().insert(key, delay);
        Ok(delay)
    }
}
