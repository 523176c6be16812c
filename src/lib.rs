//! Agogic aligns a recording of a performance with its score.

pub mod align;
#[cfg(feature = "gui")]
pub mod app;
pub mod audio;
pub mod base;
pub mod bench;
pub mod cli;
pub mod demo;
pub mod evaluation;
pub mod export;
pub mod features;
pub mod learning;
pub mod networks;
pub mod score;
pub mod warping;

pub use base::error::{Error, Result};
