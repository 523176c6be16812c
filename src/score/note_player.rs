//! Single notes of a SoundFont, one at a time: whoever mixes them can put each to the very sample that it belongs to.

use std::path::{Path, PathBuf};

use rustysynth::{Synthesizer, SynthesizerSettings};

use super::soundfont::SoundFont;
use crate::base::containment::contained;
use crate::base::error::{Error, Result};

/// Short blocks: the first of a note is faded in over its length.
const BLOCK: usize = 32;
/// A note of the richest SoundFonts has this many layers at most.
const VOICES: usize = 32;
/// Samples that are rendered between two looks whether the note has died away.
const CHUNK: usize = 64 * BLOCK;
/// Samples that may be silent before a note is heard.
const SILENT_AT_FIRST: usize = 4 * CHUNK;
/// Below this share of its peak a note is over.
const OVER: f32 = 3e-5;

/// What is to be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoteOrder {
    /// General MIDI program.
    pub program: u8,
    /// MIDI pitch.
    pub pitch: u8,
    /// 1 to 127.
    pub velocity: u8,
    /// Samples until the key is released.
    pub held: usize,
    /// Samples after which the sound is cut off, if it has not died away before.
    pub longest: usize,
}

/// A synthesizer for one note at a time.
pub(crate) struct NotePlayer {
    synth: Synthesizer,
    path: Option<PathBuf>,
}

impl NotePlayer {
    /// A player of this SoundFont. `sample_rate` is 16,000 to 192,000.
    pub fn new(soundfont: &SoundFont, sample_rate: u32) -> Result<Self> {
        let mut settings = SynthesizerSettings::new(i32::try_from(sample_rate).unwrap_or(i32::MAX));
        settings.block_size = BLOCK;
        settings.maximum_polyphony = VOICES;
        settings.enable_reverb_and_chorus = false;
        let synth = Synthesizer::new(soundfont.shared(), &settings)
            .map_err(|_| Error::invalid("sample rate", sample_rate, "between 16000 and 192000"))?;
        Ok(Self { synth, path: soundfont.path().map(Path::to_owned) })
    }

    /// The sound of a note from its key press on, mixed to mono, until it has died away.
    pub fn play(&mut self, order: NoteOrder) -> Result<Vec<f32>> {
        // The synthesizer was written for sound SoundFonts and may panic on damaged ones.
        contained(|| self.render(order)).ok_or_else(|| {
            let path = self.path.as_deref().unwrap_or(Path::new("built-in SoundFont"));
            Error::malformed(path, "the SoundFont is damaged and cannot be played", "use another SF2 file")
        })
    }

    fn render(&mut self, order: NoteOrder) -> Vec<f32> {
        let key = i32::from(order.pitch);
        self.synth.reset();
        self.synth.process_midi_message(0, 0xC0, order.program.into(), 0);
        self.synth.note_on(0, key, order.velocity.into());
        let released = order.held.next_multiple_of(BLOCK);
        let mut sound = Vec::with_capacity(released + 8 * CHUNK);
        let (mut left, mut right) = (vec![0.0; CHUNK], vec![0.0; CHUNK]);
        let mut peak = 0.0f32;
        while sound.len() < order.longest {
            if sound.len() == released {
                self.synth.note_off(0, key);
            }
            let to_release = released.checked_sub(sound.len()).filter(|&rest| rest > 0);
            let count = to_release.unwrap_or(CHUNK).min(CHUNK);
            self.synth.render(&mut left[..count], &mut right[..count]);
            sound.extend(left[..count].iter().zip(&right).map(|(l, r)| 0.5 * (l + r)));
            let loudest = sound[sound.len() - count..].iter().fold(0.0f32, |peak, s| peak.max(s.abs()));
            peak = peak.max(loudest);
            // Soft attacks may begin in silence.
            if loudest <= OVER * peak && sound.len() >= SILENT_AT_FIRST {
                break;
            }
        }
        sound.truncate(order.longest);
        sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_sounds_from_its_press_and_dies_away_after_its_release() {
        let mut player = NotePlayer::new(&SoundFont::builtin(), 44_100).unwrap();
        let order = NoteOrder { program: 0, pitch: 60, velocity: 80, held: 22_050, longest: 441_000 };
        let short = player.play(order).unwrap();
        let long = player.play(NoteOrder { held: 66_150, ..order }).unwrap();
        let first = short.iter().position(|s| s.abs() > 1e-3).unwrap();
        assert!(first < 100, "{first}");
        assert!(short.len() < long.len() && long.len() < 441_000, "{} {}", short.len(), long.len());
        assert_eq!(short[..20_000], long[..20_000], "a note depends on nothing that was played before it");
    }
}
