//! Recordings: decoding, mixing to mono, resampling; writing WAV files.

mod clip;
mod decode;
mod resample;
mod wav;

pub use clip::AudioClip;
pub use decode::{Decoded, SourceInfo, decode, decode_bytes};
pub use wav::write_wav;
