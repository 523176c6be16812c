//! What was played: a recording, or a take that is known note by note.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::align::heard::PlayedNote;
use crate::align::result::FileId;
use crate::audio::{self, AudioClip, Decoded};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;
use crate::score::{SoundFont, Take, is_midi, play_in_tune};

/// What was played.
#[derive(Debug, Clone)]
pub enum Performance {
    /// A recording: an ear listens to it.
    Recording(Arc<AudioClip>),
    /// A MIDI file: its notes are what is heard.
    Take(Arc<Take>),
}

/// What a performance was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PerformanceKind {
    /// Audio.
    #[default]
    Audio,
    /// The notes themselves.
    Midi,
}

impl From<AudioClip> for Performance {
    fn from(clip: AudioClip) -> Self {
        Self::Recording(Arc::new(clip))
    }
}

impl From<Take> for Performance {
    fn from(take: Take) -> Self {
        Self::Take(Arc::new(take))
    }
}

impl Performance {
    /// Length in seconds.
    pub fn duration_s(&self) -> f64 {
        match self {
            Self::Recording(clip) => clip.duration_s(),
            Self::Take(take) => take.duration_s(),
        }
    }

    /// What it was read from.
    pub fn kind(&self) -> PerformanceKind {
        match self {
            Self::Recording(_) => PerformanceKind::Audio,
            Self::Take(_) => PerformanceKind::Midi,
        }
    }

    /// Refuses, as [`Error::Unsuitable`], a recording that no aligner can use; see [`AudioClip::check_usable`]. A take has notes.
    pub fn check_usable(&self, name: &str) -> Result<()> {
        match self {
            Self::Recording(clip) => clip.check_usable(name),
            Self::Take(_) => Ok(()),
        }
    }

    /// The recording, or the take played with a SoundFont in a room that is not quite silent: something to take features of.
    pub(super) fn sound(&self, ctx: &JobContext, soundfont: &SoundFont) -> Result<Arc<AudioClip>> {
        match self {
            Self::Recording(clip) => Ok(Arc::clone(clip)),
            Self::Take(take) => {
                Ok(Arc::new(play_in_tune(ctx, &take.played, soundfont.clone(), 0.0, &|second| second)?))
            }
        }
    }
}

/// The notes of a take, `transposition` semitones lower than they were played.
pub(super) fn notes_of(take: &Take, transposition: i32) -> Vec<PlayedNote> {
    let moved = |pitch: u8| u8::try_from(i32::from(pitch) - transposition).ok().filter(|pitch| *pitch < 128);
    let note = |note: &crate::score::Note| {
        let (onset_s, offset_s, velocity) = (note.onset_s, note.offset_s, note.velocity);
        Some(PlayedNote { pitch: moved(note.pitch)?, onset_s, offset_s, velocity })
    };
    take.played.notes.iter().filter_map(note).collect()
}

/// A performance as it was read, and what its file was like.
#[derive(Debug, Clone)]
pub struct ReadPerformance {
    /// What was played.
    pub performance: Performance,
    /// Samples per second of the recording as it was stored; of a take, as it is played.
    pub sample_rate: u32,
    /// What was wrong with the file, if it was damaged but could still be used.
    pub damage: Option<String>,
}

impl From<Decoded> for ReadPerformance {
    fn from(Decoded { clip, source }: Decoded) -> Self {
        Self { performance: clip.into(), sample_rate: source.sample_rate, damage: source.damage }
    }
}

/// Reads a recording or a MIDI performance; which of them a file is, its content tells.
pub fn read_performance(ctx: &JobContext, path: &Path) -> Result<ReadPerformance> {
    let failed = |source| Error::io("read", path, source);
    let mut file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if about.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    let mut head = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
    if is_midi(&head) {
        let performance = Take::read(path, head.as_slice().chain(file))?.into();
        return Ok(ReadPerformance { performance, sample_rate: ANALYSIS_RATE, damage: None });
    }
    // A pipe cannot be read from its start again.
    let decoded =
        if about.is_file() { audio::decode(ctx, path)? } else { audio::decode_stream(ctx, path, head, file)? };
    Ok(decoded.into())
}

/// Whether a file is a MIDI performance, by its content. What cannot be read is not: it is complained about where it is opened. Nor
/// is a pipe, of which nothing can be read twice.
pub fn is_take(path: &Path) -> bool {
    let head = || -> std::io::Result<Vec<u8>> {
        let mut head = Vec::new();
        File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
        Ok(head)
    };
    std::fs::metadata(path).is_ok_and(|about| about.is_file()) && head().is_ok_and(|head| is_midi(&head))
}

/// Notes that somebody else heard in a recording.
pub(super) struct Transcription {
    pub path: PathBuf,
    pub id: FileId,
    pub take: Take,
}

impl Transcription {
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::io("read", path, source))?;
        let take = Take::from_bytes(path, &bytes)?;
        Ok(Self { path: path.to_owned(), id: FileId::of(path, &bytes), take })
    }
}

/// So much of a file tells what it is.
const HEAD_BYTES: u64 = 12;
