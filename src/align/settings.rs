//! What the user may set, in one place: composed by the command line and the window, stored in every result.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
pub use crate::features::FeatureKind;

/// Which algorithm finds the warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlignerKind {
    /// Continuous-time, regularised time warping.
    Gdtw,
    /// Classic dynamic time warping.
    Dtw,
}

/// What follows the frames' alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Refinement {
    /// Every onset of the score is placed by the attacks in the recording.
    Onsets,
    /// Nothing: the warp of the frames is the result.
    None,
}

/// A moment that the user fixed: this score time is at this performance time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Seconds of the score's own tempo.
    pub score_s: f64,
    /// Seconds of the recording.
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

/// All settings of an alignment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Which features are compared.
    pub features: FeatureKind,
    /// Learned extractor on top of the features: the name of a shipped model or a file; `None`: the features themselves.
    pub extractor: Option<String>,
    /// Which algorithm finds the warp.
    pub aligner: AlignerKind,
    /// What follows the frames' alignment; `None`: onsets with GDTW, nothing with DTW.
    pub refine: Option<Refinement>,
    /// Samples between feature frames at 22,050 Hz.
    pub hop: usize,
    /// Weight of the tempo regulariser; `None`: the value that suits the features.
    pub lambda: Option<f64>,
    /// Slope limits; `None`: those that suit the aligner.
    pub slope: Option<SlopeLimits>,
    /// How far, in seconds, the warp may stray from the coarse one; `None`: as far as the path asks.
    pub band_s: Option<f64>,
    /// The recording holds more than the score, or only part of it: do not pin the ends.
    pub subsequence: bool,
    /// Moments that the user fixed.
    pub anchors: Vec<Anchor>,
    /// SoundFont to play the score with; `None`: the built-in piano.
    pub soundfont: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            features: FeatureKind::Cqt,
            extractor: None,
            aligner: AlignerKind::Gdtw,
            refine: None,
            hop: 1024,
            lambda: None,
            slope: None,
            band_s: None,
            subsequence: false,
            anchors: Vec::new(),
            soundfont: None,
        }
    }
}

impl Settings {
    /// What follows the frames' alignment.
    pub fn refinement(&self) -> Refinement {
        self.refine.unwrap_or(match self.aligner {
            AlignerKind::Gdtw => Refinement::Onsets,
            AlignerKind::Dtw => Refinement::None,
        })
    }

    /// Checks every value against its legal range.
    pub fn validate(&self) -> Result<()> {
        if !(64..=8192).contains(&self.hop) {
            return Err(Error::invalid("hop", self.hop, "between 64 and 8192 samples"));
        }
        if let Some(lambda) = self.lambda.filter(|l| !(l.is_finite() && *l >= 0.0)) {
            return Err(Error::invalid("lambda", lambda, "a number, zero or more"));
        }
        if let Some(s) = self.slope.filter(|s| !(s.min >= 0.0 && s.min < s.max && s.max.is_finite())) {
            return Err(Error::invalid("slope", format!("{}:{}", s.min, s.max), "MIN:MAX with 0 <= MIN < MAX"));
        }
        if let Some(band) = self.band_s.filter(|b| !(b.is_finite() && *b > 0.0)) {
            return Err(Error::invalid("band", band, "a number of seconds above zero"));
        }
        if self.anchors.iter().any(|a| !(a.score_s.is_finite() && a.performance_s.is_finite())) {
            return Err(Error::invalid("anchor", "not a number", "SCORE_SECONDS=PERFORMANCE_SECONDS"));
        }
        Ok(())
    }
}
