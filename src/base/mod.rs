//! What everything else stands on.

pub mod atomic_file;
pub mod error;
pub mod job;
pub mod manifest;
pub mod time;
