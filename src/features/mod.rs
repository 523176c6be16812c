//! Features of audio: CQT, chroma, log-mel.

mod chroma;
mod cqt;
mod decibel;
mod decimate;
mod dot;
mod extract;
mod feature_seq;
mod frames;
mod kind;
mod mel;
mod normalize;
mod stft;

#[cfg(test)]
mod golden_tests;

pub use extract::{FeatureParams, extract};
pub use feature_seq::FeatureSeq;
pub use kind::FeatureKind;
pub use normalize::rescaled;
