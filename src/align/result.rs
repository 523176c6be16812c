//! The result of an alignment: the warp, the notes at their places in the recording, the tempo, and how it was made.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::align::performance::PerformanceKind;
use crate::align::settings::Settings;
use crate::base::digest::sha256;
use crate::networks::ModelCard;
use crate::warping::Warp;

/// A note of the score in the recording; stands at the same index as in [`crate::score::Score::notes`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AlignedNote {
    /// Onset in seconds of the recording.
    pub onset_s: f64,
    /// Offset in seconds of the recording, not before the onset: where the note is heard to end, or where the warp puts the
    /// score's offset if that cannot be heard, above all where a pedal lets it sound on.
    pub offset_s: f64,
    /// How likely the onset is right to within 50 ms, 0 to 1.
    pub confidence: f64,
    /// How likely the offset is right to within 50 ms or a fifth of the note, 0 to 1; `None` where nobody listened for ends, and
    /// the offset is the warp's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_confidence: Option<f64>,
    /// Whether it was played as written; `None` where nobody listened for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Judged>,
}

impl AlignedNote {
    /// A note at its place, of which nothing else is known.
    pub fn new(onset_s: f64, offset_s: f64, confidence: f64) -> Self {
        Self { onset_s, offset_s, confidence, offset_confidence: None, verdict: None }
    }

    /// Whether the performance is said not to have this note, be there another pitch in its place or not.
    pub fn is_missing(&self) -> bool {
        self.verdict.is_some_and(|judged| judged.verdict != Verdict::Played)
    }
}

/// What became of a note of the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was played.
    Played,
    /// It was not. So is the second of two notes that share a key of a keyboard: it has no stroke of its own.
    Missing,
    /// Another one was played in its place.
    OtherPitch {
        /// MIDI number of what was played.
        pitch: u8,
    },
}

/// A verdict and how likely it is right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// What became of the note.
    pub verdict: Verdict,
    /// 0 to 1.
    pub confidence: f64,
}

/// A note that was heard and that the score does not have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExtraNote {
    /// MIDI number.
    pub pitch: u8,
    /// Seconds of the recording.
    #[serde(rename = "performance_onset_s")]
    pub onset_s: f64,
    /// Seconds of the recording, after the onset.
    #[serde(rename = "performance_offset_s")]
    pub offset_s: f64,
    /// How likely it was played, 0 to 1.
    pub confidence: f64,
    /// The note of the score that it was played in place of, as an index into its notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<usize>,
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

/// A file by what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    /// File name without its folder.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

impl FileId {
    /// The file at `path`, which holds `bytes`.
    pub fn of(path: &Path, bytes: &[u8]) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self { name, sha256: sha256(bytes) }
    }
}

/// Where a result comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Program and version, such as "agogic 0.1.0".
    pub program: String,
    /// The recording, or the MIDI performance.
    pub recording: MediaInfo,
    /// Which of the two it was.
    #[serde(default)]
    pub performance: PerformanceKind,
    /// The score.
    pub score: MediaInfo,
    /// The network that heard onsets; `None` if none did.
    #[serde(default)]
    pub ear: Option<ModelId>,
    /// The transcription whose notes were added to what was heard; `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcription: Option<FileId>,
    /// The learned feature extractor; `None` if none was used.
    #[serde(default)]
    pub extractor: Option<ModelId>,
    /// The SoundFont that the score was synthesised with; `None` if it was not synthesised.
    #[serde(default)]
    pub soundfont: Option<String>,
    /// The device that did some of the work; `None` if the CPU did all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// Which model was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredModelId")]
pub struct ModelId {
    /// Its name.
    pub name: String,
    /// SHA-256 of its weights, in hexadecimal.
    pub sha256: String,
}

/// Program version 0.1 stored the name alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredModelId {
    Name(String),
    Whole { name: String, sha256: String },
}

impl ModelId {
    /// The model that a card is of.
    pub fn of<S>(card: &ModelCard<S>) -> Self {
        Self { name: card.name.clone(), sha256: card.sha256.clone() }
    }
}

impl From<StoredModelId> for ModelId {
    fn from(stored: StoredModelId) -> Self {
        match stored {
            StoredModelId::Name(name) => Self { name, sha256: String::new() },
            StoredModelId::Whole { name, sha256 } => Self { name, sha256 },
        }
    }
}

/// Where an alignment was looked for: how far it could stray from the rough start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchBand {
    /// The middle, as score seconds to performance seconds.
    pub centre: Warp,
    /// How far to either side it reached at first, in performance seconds; where the path touched the edge it was widened.
    pub radius_s: f64,
}

impl SearchBand {
    /// A band round a curve, of which a knot every now and then is enough.
    pub fn round(centre: &Warp, radius_s: f64) -> Self {
        const KNOT_EVERY_S: f64 = 0.5;
        let (scores, times) = (centre.score_s(), centre.performance_s());
        let last = scores.len() - 1;
        let mut kept = vec![0];
        for index in 1..last {
            if scores[index] - scores[kept[kept.len() - 1]] >= KNOT_EVERY_S {
                kept.push(index);
            }
        }
        kept.push(last);
        let of = |values: &[f64]| kept.iter().map(|&index| values[index]).collect();
        let thinned = Warp::new(of(scores), of(times));
        Self { centre: thinned.unwrap_or_else(|_| centre.clone()), radius_s }
    }
}

/// A section of the score at one of the times that it was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedSection {
    /// Its letter: sections with the same letter are the same bars.
    pub label: String,
    /// Its first bar, as printed.
    pub bar_from: String,
    /// Its last bar, as printed.
    pub bar_to: String,
    /// Its beginning, in seconds of the recording.
    pub performance_from_s: f64,
    /// Its end, in seconds of the recording.
    pub performance_to_s: f64,
    /// Its beginning in seconds of the score, whose repeats are written out.
    pub score_from_s: f64,
    /// Its end in seconds of the score.
    pub score_to_s: f64,
}

/// A passage that deserves a look: notes in it are likely wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Its first onset, in seconds of the recording.
    pub performance_from_s: f64,
    /// Its last onset, in seconds of the recording.
    pub performance_to_s: f64,
    /// Its first onset, in seconds of the score.
    pub score_from_s: f64,
    /// Its last onset, in seconds of the score.
    pub score_to_s: f64,
    /// How many of its notes are likely more than 50 ms off.
    pub expected_wrong_notes: f64,
}

/// A finished alignment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// Score seconds to performance seconds.
    pub warp: Warp,
    /// Every note of the score, in the score's order.
    pub notes: Vec<AlignedNote>,
    /// Notes that were heard and that the score does not have, by onset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra_notes: Vec<ExtraNote>,
    /// The sections of the score between its repeat signs and jumps, in the order that they were played; none if it is one section.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<PlayedSection>,
    /// Places to check, most doubtful first; none in results of earlier versions.
    #[serde(default)]
    pub places: Vec<Place>,
    /// The tempo curve, beat by beat.
    pub tempo: Vec<TempoPoint>,
    /// Share of the notes that are likely right to within 50 ms: the mean of their confidences, 0 to 1.
    pub confidence: f64,
    /// How likely recording and score belong together at all, 0 to 1; part of every note's confidence.
    #[serde(default = "certain")]
    pub match_confidence: f64,
    /// What the user should know: a score that does not seem to fit, a passage that was not found.
    pub warnings: Vec<String>,
    /// The settings it was made with.
    pub settings: Settings,
    /// The files and programs it was made from.
    pub provenance: Provenance,
    /// Where it was looked for, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchBand>,
}

impl Alignment {
    /// Whether somebody listened for what was played differently. If not, that no note is missing means nothing.
    pub fn is_judged(&self) -> bool {
        self.notes.iter().any(|note| note.verdict.is_some())
    }

    /// How many notes of the score are said not to be in the performance.
    pub fn missing_count(&self) -> usize {
        self.notes.iter().filter(|note| note.is_missing()).count()
    }
}

fn certain() -> f64 {
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_band_keeps_its_ends_and_is_no_heavier_than_it_must_be() {
        let knots: Vec<f64> = (0..=1000).map(|k| f64::from(k) * 0.01).collect();
        let warp = Warp::new(knots.clone(), knots.iter().map(|s| 2.0 * s).collect()).unwrap();
        let band = SearchBand::round(&warp, 1.0);
        assert!(band.centre.score_s().len() <= 22, "{}", band.centre.score_s().len());
        assert!((band.centre.at(0.0) - 0.0).abs() < 1e-9 && (band.centre.at(10.0) - 20.0).abs() < 1e-9);
        assert!((band.centre.at(3.33) - 6.66).abs() < 1e-9);
    }
}
