//! Which features there are, and the constants that belong to each.

use serde::{Deserialize, Serialize};

/// Which features of the audio are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureKind {
    /// Constant-Q spectrum, 48 semitones from MIDI 36.
    Cqt,
    /// Twelve pitch classes.
    Chroma,
    /// 128 mel bands.
    Mel,
}

impl FeatureKind {
    /// Values per frame.
    pub fn dim(self) -> usize {
        match self {
            Self::Cqt => 48,
            Self::Chroma => 12,
            Self::Mel => 128,
        }
    }

    /// The weight of the tempo regulariser that the paper tuned for these features, [rescaled](super::rescaled).
    pub fn default_lambda(self) -> f64 {
        match self {
            Self::Cqt => 0.1,
            Self::Chroma => 0.7,
            Self::Mel => 0.9,
        }
    }
}
