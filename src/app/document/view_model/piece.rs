//! A recording and its score, read, with what the panes need to draw them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::attacks::attacks_s;
use super::peaks::Peaks;
use crate::align::{Performance, ReadPerformance};
use crate::app::document::fingerprint::Fingerprint;
use crate::app::document::source::{Source, Sources};
use crate::audio::AudioClip;
use crate::base::job::JobContext;
use crate::engraving::Engraving;
use crate::score::{Score, ScoreBeat};

/// What the files of a piece held when they were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fingerprints {
    /// The recording; none for the demo.
    pub recording: Option<Fingerprint>,
    /// The score; none for the demo.
    pub score: Option<Fingerprint>,
}

impl Fingerprints {
    /// Reads the files through; what is not a regular file can be read only once.
    pub fn of(ctx: &JobContext, sources: &Sources) -> Self {
        let of_file = |source: &Source| source.path().and_then(|path| Fingerprint::of(ctx, path).ok());
        Self { recording: of_file(&sources.recording), score: of_file(&sources.score) }
    }
}

/// What a [`Piece`] is made of.
#[derive(Debug)]
pub struct PieceParts {
    /// The files.
    pub sources: Sources,
    /// What they held.
    pub fingerprints: Fingerprints,
    /// Name of the recording.
    pub recording_name: String,
    /// Name of the score.
    pub score_name: String,
    /// What was played.
    pub read: ReadPerformance,
    /// How it sounds.
    pub sound: Arc<AudioClip>,
    /// The score.
    pub score: Score,
}

/// A piece that is open.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The files it was read from.
    pub sources: Sources,
    /// What they held: what they hold now may be something else.
    pub fingerprints: Fingerprints,
    /// What the recording is called.
    pub recording_name: String,
    /// What the score is called.
    pub score_name: String,
    /// What was played.
    pub performance: Performance,
    /// The recording, mono at the analysis rate; or a MIDI performance as it is heard.
    pub recording: Arc<AudioClip>,
    /// The recording's own rate.
    pub recording_rate: u32,
    /// What was wrong with the recording's file.
    pub damage: Option<String>,
    /// The score.
    pub score: Score,
    /// The waveform.
    pub peaks: Peaks,
    /// Where sound begins in the recording.
    pub attacks_s: Vec<f64>,
    /// The beats of the score.
    pub beats: Vec<ScoreBeat>,
    /// Distinct onsets of the score in its own seconds.
    pub onsets_s: Vec<f64>,
    /// Lowest and highest pitch.
    pub pitches: (u8, u8),
    /// The score in staff notation.
    pub engraving: Arc<Engraving>,
}

impl Piece {
    /// Measures what the panes need.
    pub fn new(parts: PieceParts) -> Self {
        let PieceParts { sources, fingerprints, recording_name, score_name, read, sound, score } = parts;
        let ReadPerformance { performance, sample_rate, damage } = read;
        let pitches = score.notes.iter().map(|note| note.pitch);
        Self {
            peaks: Peaks::new(&sound.samples),
            attacks_s: match &performance {
                Performance::Recording(clip) => attacks_s(&clip.samples, clip.sample_rate),
                Performance::Take(take) => take.played.onsets_s(),
            },
            beats: score.beats(),
            onsets_s: score.onsets_s(),
            engraving: Arc::new(Engraving::new(&score)),
            pitches: (pitches.clone().min().unwrap_or(60), pitches.max().unwrap_or(60)),
            sources,
            fingerprints,
            recording_name,
            score_name,
            performance,
            recording: sound,
            recording_rate: sample_rate,
            damage,
            score,
        }
    }

    /// The same piece with a MIDI performance that is heard otherwise.
    pub fn sounding(&self, sound: Arc<AudioClip>) -> Self {
        Self { peaks: Peaks::new(&sound.samples), recording: sound, ..self.clone() }
    }

    /// The parts of the score that have notes: their tracks and names.
    pub fn tracks(&self) -> Vec<(u16, String)> {
        let with_notes: BTreeSet<u16> = self.score.notes.iter().map(|note| note.track).collect();
        let name = |track: u16| {
            let named = self.score.notation.parts.get(usize::from(track)).filter(|name| !name.is_empty());
            named.cloned().unwrap_or_else(|| format!("Part {}", u32::from(track) + 1))
        };
        with_notes.into_iter().map(|track| (track, name(track))).collect()
    }

    /// Whether the performance is MIDI.
    pub fn is_take(&self) -> bool {
        matches!(self.performance, Performance::Take(_))
    }

    /// Length of the recording.
    pub fn duration_s(&self) -> f64 {
        self.recording.duration_s()
    }

    /// What the piece is called: its title, or the score's file.
    pub fn title(&self) -> &str {
        self.score.title.as_deref().unwrap_or(&self.score_name)
    }

    /// The attack nearest to a time, if one is nearer than `reach_s`.
    pub fn attack_near(&self, time_s: f64, reach_s: f64) -> Option<f64> {
        let after = self.attacks_s.partition_point(|&attack| attack < time_s);
        let neighbours = self.attacks_s[after.saturating_sub(1)..(after + 1).min(self.attacks_s.len())].iter().copied();
        neighbours
            .min_by(|a, b| (a - time_s).abs().total_cmp(&(b - time_s).abs()))
            .filter(|attack| (attack - time_s).abs() <= reach_s)
    }
}
