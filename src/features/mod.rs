//! Features of audio: CQT, chroma, log-mel.

mod feature_seq;

pub use feature_seq::FeatureSeq;
