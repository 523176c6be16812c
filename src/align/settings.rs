//! What the user may set, in one place: composed by the command line and the window, stored in every result.
//!
//! A setting belongs to the method that reads it, so that nothing that is accepted can be ignored.

mod version_1;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::time::SAME_MOMENT_S;
use crate::features;
pub use crate::features::FeatureKind;
use crate::score::BarCount;

/// All settings of an alignment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub struct Settings {
    /// How the warp is found.
    pub method: Method,
    /// How far, in seconds, the warp may stray from the rough start; `None`: as far as the path asks.
    pub band_s: Option<f64>,
    /// Moments that the user fixed.
    pub anchors: Vec<Anchor>,
    /// Single notes that the user placed.
    pub fixed_notes: Vec<FixedNote>,
    /// The parts of the score that are aligned, by name; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// How the bars of a MIDI score are counted.
    #[serde(default, skip_serializing_if = "BarCount::is_usual")]
    pub bars: BarCount,
}

/// How the warp is found, with the settings of that method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// One knot per onset of the score, placed by the attacks in the recording.
    Onsets(OnsetMethod),
    /// The published method: one knot per frame of the synthesised score, placed by features.
    Frames(FrameMethod),
}

impl Default for Method {
    fn default() -> Self {
        Self::Onsets(OnsetMethod::default())
    }
}

impl Method {
    /// The name, as the command line spells it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Onsets(_) => "onsets",
            Self::Frames(_) => "frames",
        }
    }
}

/// Settings of [`Method::Onsets`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnsetMethod {
    /// The network that hears onsets: the name of a shipped model or a file; `None`: the spectrum alone.
    pub ear: Option<String>,
    /// MIDI notes that another program or a person heard in the recording: they are added to what the ear hears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcription: Option<PathBuf>,
    /// Slope limits; `None`: the tempo penalty alone.
    pub slope: Option<SlopeLimits>,
    /// Which way through the score's repeats and jumps was played.
    #[serde(default, skip_serializing_if = "Path::is_auto")]
    pub path: Path,
}

/// The way through the repeats and jumps of a score.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Path {
    /// What the recording suggests.
    #[default]
    Auto,
    /// As the score prescribes, and nothing left out.
    Written,
    /// Repeats left out, da capo and dal segno followed.
    NoRepeats,
    /// These sections in this order, by their letters.
    Sections(Vec<String>),
}

impl Path {
    /// Whether the recording decides.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Written => f.write_str("written"),
            Self::NoRepeats => f.write_str("no-repeats"),
            Self::Sections(labels) => f.write_str(&labels.join(",")),
        }
    }
}

/// The ear that comes with the program.
pub const SHIPPED_EAR: &str = "ear";

impl Default for OnsetMethod {
    fn default() -> Self {
        Self { ear: Some(SHIPPED_EAR.to_owned()), transcription: None, slope: None, path: Path::Auto }
    }
}

/// Settings of [`Method::Frames`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameMethod {
    /// Which features are compared.
    pub features: FeatureKind,
    /// Learned extractor on top of the features: the name of a shipped model or a file; `None`: the features themselves.
    pub extractor: Option<String>,
    /// Which algorithm finds the warp.
    pub aligner: Aligner,
    /// Samples between feature frames at 22,050 Hz.
    pub hop: usize,
    /// Whether the ends of the recording are those of the score.
    pub ends: Ends,
    /// SoundFont that the score is synthesised with; `None`: the built-in piano.
    pub soundfont: Option<PathBuf>,
}

/// Samples between feature frames if nothing else is said.
pub const DEFAULT_HOP: usize = 1024;

impl Default for FrameMethod {
    fn default() -> Self {
        Self {
            features: FeatureKind::Cqt,
            extractor: None,
            aligner: Aligner::default(),
            hop: DEFAULT_HOP,
            ends: Ends::Free,
            soundfont: None,
        }
    }
}

/// Which algorithm aligns frames, with its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aligner {
    /// Continuous-time, regularised time warping.
    Gdtw {
        /// Weight of the tempo regulariser; `None`: the value that suits the features.
        lambda: Option<f64>,
        /// Slope limits; `None`: the slope is only kept from falling below zero.
        slope: Option<SlopeLimits>,
    },
    /// Classic dynamic time warping.
    Dtw,
}

impl Default for Aligner {
    fn default() -> Self {
        Self::Gdtw { lambda: None, slope: None }
    }
}

/// The ends of a frame alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// The recording may hold more than the score, or only a part of it.
    #[default]
    Free,
    /// The first and last frames of score and recording belong together.
    Pinned,
}

/// A moment that the user fixed: this score time is at this performance time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Seconds of the score's own tempo.
    pub score_s: f64,
    /// Seconds of the recording.
    pub performance_s: f64,
}

/// A single note that the user placed, apart from its chord.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FixedNote {
    /// Index into the score's notes.
    pub note: usize,
    /// Its onset in seconds of the recording.
    pub performance_s: f64,
}

/// Slope limits: performance seconds per score second, relative to the global tempo ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlopeLimits {
    /// Smallest slope, zero or more.
    pub min: f64,
    /// Largest slope.
    pub max: f64,
}

impl Settings {
    /// These settings with anchors in the order of the score and fixed notes in the order of their notes: the form that
    /// every stage below [`align`](super::align()) relies on.
    pub(super) fn in_order(&self) -> Self {
        let mut settings = self.clone();
        settings.anchors.sort_by(|a, b| a.score_s.total_cmp(&b.score_s));
        settings.fixed_notes.sort_by_key(|fixed| fixed.note);
        settings
    }

    /// Fixes a moment, in place of what was fixed there before.
    pub fn fix_moment(&mut self, fixed: Anchor) {
        self.anchors.retain(|anchor| (anchor.score_s - fixed.score_s).abs() > SAME_MOMENT_S);
        self.anchors.push(fixed);
    }

    /// Fixes a note, in place of where it was fixed before.
    pub fn fix_note(&mut self, fixed: FixedNote) {
        self.fixed_notes.retain(|earlier| earlier.note != fixed.note);
        self.fixed_notes.push(fixed);
    }

    /// Whether the other settings ask for the same but for what the user fixed by hand.
    pub fn differs_in_corrections_only(&self, other: &Self) -> bool {
        self.method == other.method
            && self.band_s == other.band_s
            && self.parts == other.parts
            && self.bars == other.bars
    }

    /// How many moments and notes the user fixed by hand.
    pub fn corrections(&self) -> usize {
        self.anchors.len() + self.fixed_notes.len()
    }

    /// Whether the other settings fix the same by hand.
    pub fn same_corrections(&self, other: &Self) -> bool {
        self.anchors == other.anchors && self.fixed_notes == other.fixed_notes
    }

    /// These settings with what other ones fix by hand.
    pub fn with_corrections_of(&self, other: &Self) -> Self {
        Self { anchors: other.anchors.clone(), fixed_notes: other.fixed_notes.clone(), ..self.clone() }
    }

    /// These settings for another recording or score: without what belongs to this one alone.
    pub fn for_other_files(&self) -> Self {
        let mut settings = Self { method: self.method.clone(), band_s: self.band_s, ..Self::default() };
        if let Method::Onsets(onsets) = &mut settings.method {
            onsets.transcription = None;
            onsets.path = Path::Auto;
        }
        settings
    }

    /// The files that these settings read.
    pub fn files(&self) -> Vec<PathBuf> {
        let (model, other) = match &self.method {
            Method::Onsets(onsets) => (&onsets.ear, onsets.transcription.clone()),
            Method::Frames(frames) => (&frames.extractor, frames.soundfont.clone()),
        };
        // The name of a shipped model is no file.
        model.iter().map(PathBuf::from).filter(|path| path.is_file()).chain(other).collect()
    }

    /// Checks every value against its legal range.
    pub fn validate(&self) -> Result<()> {
        match &self.method {
            Method::Onsets(onsets) => check_slope(onsets.slope)?,
            Method::Frames(frames) => frames.validate()?,
        }
        if let Some(band) = self.band_s.filter(|b| !(b.is_finite() && *b > 0.0)) {
            return Err(Error::invalid("band", band, "a number of seconds above zero"));
        }
        if self.anchors.iter().any(|a| !(a.score_s.is_finite() && a.performance_s.is_finite())) {
            return Err(Error::invalid("anchor", "not a number", "SCORE_SECONDS=PERFORMANCE_SECONDS"));
        }
        if self.fixed_notes.iter().any(|fixed| !fixed.performance_s.is_finite()) {
            return Err(Error::invalid("fixed note", "not a number", "NOTE=PERFORMANCE_SECONDS"));
        }
        Ok(())
    }
}

impl FrameMethod {
    fn validate(&self) -> Result<()> {
        features::check_hop(self.hop)?;
        if let Aligner::Gdtw { lambda, slope } = self.aligner {
            if let Some(lambda) = lambda.filter(|l| !(l.is_finite() && *l >= 0.0)) {
                return Err(Error::invalid("lambda", lambda, "a number, zero or more"));
            }
            check_slope(slope)?;
        }
        Ok(())
    }
}

fn check_slope(slope: Option<SlopeLimits>) -> Result<()> {
    match slope.filter(|s| !(s.min >= 0.0 && s.min < s.max && s.max.is_finite())) {
        Some(s) => Err(Error::invalid("slope", format!("{}:{}", s.min, s.max), "MIN:MAX with 0 <= MIN < MAX")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_json_whatever_the_method() {
        let frames = FrameMethod {
            features: FeatureKind::Mel,
            aligner: Aligner::Gdtw { lambda: Some(0.5), slope: Some(SlopeLimits { min: 0.2, max: 4.0 }) },
            ends: Ends::Pinned,
            ..FrameMethod::default()
        };
        for method in [Method::default(), Method::Frames(frames)] {
            let settings = Settings {
                method,
                band_s: Some(2.0),
                anchors: vec![Anchor { score_s: 1.0, performance_s: 2.5 }],
                fixed_notes: vec![FixedNote { note: 7, performance_s: 3.25 }],
                parts: vec!["Violin I".to_owned()],
                bars: BarCount { first_bar: Some(5), pickup_quarters: Some(0.5) },
            };
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings, "{text}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let frames = |method: FrameMethod| Settings { method: Method::Frames(method), ..Settings::default() };
        let gdtw = |lambda, slope| FrameMethod { aligner: Aligner::Gdtw { lambda, slope }, ..FrameMethod::default() };
        let limits = SlopeLimits { min: 2.0, max: 1.0 };
        let onsets = Method::Onsets(OnsetMethod { slope: Some(limits), ..OnsetMethod::default() });
        for (settings, word) in [
            (frames(FrameMethod { hop: 3, ..FrameMethod::default() }), "hop"),
            (frames(gdtw(Some(-1.0), None)), "lambda"),
            (frames(gdtw(None, Some(limits))), "slope"),
            (Settings { method: onsets, ..Settings::default() }, "slope"),
            (Settings { band_s: Some(0.0), ..Settings::default() }, "band"),
        ] {
            assert!(settings.validate().unwrap_err().to_string().starts_with(word));
        }
        assert!(Settings::default().validate().is_ok());
    }
}
