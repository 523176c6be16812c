//! Training: from labelled pieces to the networks that [`networks`](crate::networks) runs.

mod augmentation;
pub(crate) mod checkpoint;
mod control;
mod data;
mod ear;
mod experiment;
mod extractor;
mod feature_cache;
mod job;
mod loss_op;
mod losses;
mod method;
mod optimiser;
mod params;
mod trainer;

pub use checkpoint::EpochRecord;
pub use control::Control;
pub use data::{PieceFiles, find_pieces};
pub use experiment::{Experiment, default_models, markdown, run_experiment};
pub use extractor::{ExtractorMethod, SliceBatch, SliceParams, SliceTruth, extractor_loss};
pub use feature_cache::FeatureCache;
pub use job::{PieceScores, TrainingJob, Unimproved, compare_pieces, run_training};
pub use losses::WarpLoss;
pub use method::{EarMethod, TrainingMethod};
pub use optimiser::{Adam, AdamParams};
pub use params::TrainParams;
pub use trainer::{TrainEvent, Trained};
