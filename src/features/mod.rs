//! Features of audio: CQT, chroma, log-mel for frames; semitone spectrum and onset evidence for single notes.

mod attacks;
mod chroma;
mod cqt;
mod decibel;
mod decimate;
mod dot;
mod ear_levels;
mod extract;
mod feature_seq;
mod frames;
mod kind;
mod loudness;
mod mel;
mod normalize;
mod semitone;
mod stft;
mod tuning;

#[cfg(test)]
mod golden_tests;

pub use attacks::attacks;
pub use ear_levels::{EAR_BANDS, EAR_HOP, EAR_ROW, EarAnalyzer};
pub use extract::{FeatureParams, check_hop, extract};
pub use feature_seq::FeatureSeq;
pub use kind::FeatureKind;
pub use loudness::loud_level;
pub use normalize::rescaled;
pub use semitone::{LOWEST_SEMITONE, SEMITONE_BANDS, SemitoneAnalyzer, SemitoneParams, SemitoneSpectra};
pub use tuning::estimate_tuning;
