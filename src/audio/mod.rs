//! Recordings: decoding, mixing to mono, resampling.

mod clip;

pub use clip::AudioClip;
