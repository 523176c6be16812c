//! The result of an alignment: the warp, the notes at their places in the recording, the tempo, and how it was made.

use serde::{Deserialize, Serialize};

use crate::alignment::Warp;
use crate::config::Settings;

/// A note of the score in the recording; stands at the same index as in [`crate::score::Score::notes`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AlignedNote {
    /// Onset in seconds of the recording.
    pub onset_s: f64,
    /// Offset in seconds of the recording, not before the onset.
    pub offset_s: f64,
    /// How likely the onset is right to within 50 ms, 0 to 1.
    pub confidence: f64,
}

/// The tempo from one beat to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TempoPoint {
    /// Quarter notes from the start of the score.
    pub score_beat: f64,
    /// The same in seconds of the recording.
    pub performance_s: f64,
    /// Quarter notes per minute from here to the next point.
    pub beats_per_minute: f64,
}

/// One of the two files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MediaInfo {
    /// File name without its folder.
    pub name: String,
    /// Length in seconds.
    pub duration_s: f64,
}

/// Where a result comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Program and version, such as "agogic 0.1.0".
    pub program: String,
    /// The recording.
    pub recording: MediaInfo,
    /// The score.
    pub score: MediaInfo,
    /// The SoundFont that the score was played with.
    pub soundfont: String,
    /// The learned feature extractor and its hash; none was used if empty.
    pub extractor: Option<String>,
}

/// A finished alignment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// Score seconds to performance seconds.
    pub warp: Warp,
    /// Every note of the score, in the score's order.
    pub notes: Vec<AlignedNote>,
    /// The tempo curve, beat by beat.
    pub tempo: Vec<TempoPoint>,
    /// How well the recording supports the alignment as a whole, 0 to 1.
    pub confidence: f64,
    /// What the user should know: a score that does not seem to fit, a passage that was not found.
    pub warnings: Vec<String>,
    /// The settings it was made with.
    pub settings: Settings,
    /// The files and programs it was made from.
    pub provenance: Provenance,
}
