//! A performance that is known note by note: a reproducing piano's file, a digital piano's take, a transcription.

use std::io::Read;
use std::path::Path;

use super::midi::{Content, LARGEST_MIDI_BYTES, bytes_from, read};
use super::synth::{SynthParams, synthesise};
use super::{Score, SoundFont};
use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;

/// The last notes ring on for so many seconds.
const TAIL_S: f64 = 1.0;

/// A performance that is known note by note.
#[derive(Debug, Clone, PartialEq)]
pub struct Take {
    /// Its file as it was read: notes with their velocities, pedal, instruments.
    pub played: Score,
}

impl Take {
    /// Reads a Standard MIDI File as what was played. One note is enough. `name` stands in the error messages.
    pub fn read(name: &Path, file: impl Read) -> Result<Self> {
        Self::from_bytes(name, &bytes_from(name, file, LARGEST_MIDI_BYTES)?)
    }

    /// The same from memory.
    pub fn from_bytes(name: &Path, bytes: &[u8]) -> Result<Self> {
        Ok(Self { played: read(name, bytes, Content::Take)? })
    }

    /// Length in seconds, with the ringing of the last notes.
    pub fn duration_s(&self) -> f64 {
        self.played.end_s() + TAIL_S
    }

    /// Lets it be heard: a clip at the analysis rate, as long as the take.
    pub fn play(&self, ctx: &JobContext, soundfont: SoundFont) -> Result<AudioClip> {
        synthesise(ctx, &self.played, &SynthParams { soundfont, tail_s: TAIL_S, ..SynthParams::default() })
    }
}

/// Whether a file that begins like this is MIDI, bare or in a RIFF wrapper.
pub fn is_midi(head: &[u8]) -> bool {
    head.starts_with(b"MThd") || (head.starts_with(b"RIFF") && head.get(8..12) == Some(b"RMID"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midi_is_told_by_its_first_bytes() {
        assert!(is_midi(b"MThd\0\0\0\x06") && is_midi(b"RIFF\x10\0\0\0RMIDdata"));
        assert!(!is_midi(b"RIFF\x10\0\0\0WAVEfmt ") && !is_midi(b"RIFF") && !is_midi(b""));
    }

    #[test]
    fn a_take_may_be_a_single_note_but_not_silence_and_is_heard_as_long_as_it_says() {
        let file = |events: &[u8]| {
            let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk".to_vec();
            bytes.extend((events.len() as u32).to_be_bytes());
            bytes.extend(events);
            bytes
        };
        let one = file(b"\0\x90\x3c\x50\x83\x60\x80\x3c\0\0\xff\x2f\0");
        let take = Take::from_bytes(Path::new("t.mid"), &one).unwrap();
        assert!((take.duration_s() - 1.5).abs() < 1e-9);
        let heard = take.play(&JobContext::new(), SoundFont::builtin()).unwrap();
        assert!((heard.duration_s() - take.duration_s()).abs() < 1e-3 && heard.peak() > 0.5);
        let error = Take::from_bytes(Path::new("t.mid"), &file(b"\0\xff\x2f\0")).unwrap_err().to_string();
        assert!(error.contains("the performance has no notes"), "{error}");
    }
}
