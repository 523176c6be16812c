//! Ground truths, metrics against them, and reports over many pieces.
//!
//! A prediction and a truth are both a [`TimeMap`]: score seconds and performance seconds. [`read_prediction`] and
//! [`read_ground_truth`] find out by content what a file is; [`evaluate`] compares.

mod discrepancy;
mod metrics;
mod read;
mod report;
mod time_map;

pub use discrepancy::{Discrepancy, Sounding, discrepancies};
pub use metrics::{Metrics, evaluate};
pub use read::{read_ground_truth, read_prediction};
pub use report::{PieceResult, Report};
pub use time_map::{BeatClock, GroundTruth, TimeMap};
