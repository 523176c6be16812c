//! Agogic aligns a recording of a performance with its score.

pub mod alignment;
#[cfg(feature = "gui")]
pub mod app;
pub mod atomic_file;
pub mod audio;
pub mod bench;
pub mod cli;
pub mod config;
pub mod demo;
pub mod error;
pub mod evaluation;
pub mod export;
pub mod extractor;
pub mod features;
pub mod job;
pub mod onset_learning;
pub mod onset_network;
pub mod onsets;
pub mod pipeline;
pub mod result;
pub mod score;
pub mod start;
pub mod time;
pub mod training;

pub use error::{Error, Result};
