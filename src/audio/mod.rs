//! Recordings: decoding, mixing to mono, resampling; writing WAV files.

mod clip;
mod decode;
mod resample;
mod wav;

pub use clip::AudioClip;
#[cfg(all(test, feature = "gui"))]
pub(crate) use decode::SourceInfo;
pub use decode::{Decoded, decode, decode_bytes};
pub use wav::write_wav;
