//! What everything else stands on.

pub mod accelerator;
pub mod atomic_file;
pub mod containment;
pub mod digest;
pub mod error;
pub mod folders;
pub mod job;
pub mod manifest;
pub mod matrix;
pub mod number;
pub mod percent;
pub(crate) mod random;
pub(crate) mod simd;
mod stream_file;
pub mod time;
pub(crate) mod whole_file;
