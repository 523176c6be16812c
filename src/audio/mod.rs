//! Recordings: decoding, mixing to mono, resampling; writing WAV files.

mod clip;
mod decode;
mod resample;
mod wav;

pub use clip::AudioClip;
pub(crate) use decode::decode_stream;
pub use decode::{Decoded, clip_of_samples, decode, decode_bytes};
pub use wav::write_wav;
