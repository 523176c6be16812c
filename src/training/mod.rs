//! Training of the extractor.

mod adam;
mod augmentation;
mod batch;
mod checkpoint;
mod control;
mod dataset;
mod decdtw_layer;
mod epoch;
mod experiment;
mod feature_cache;
mod job;
mod losses;
mod method;
mod parameters;
mod piece_files;
mod random;
mod slice_test;
mod slices;
mod trainer;

pub use adam::{Adam, AdamParams};
pub use augmentation::Augmentation;
pub use batch::{BatchLoss, Networks, SliceBatch, batch_loss};
pub use checkpoint::EpochRecord;
pub use control::Control;
pub use dataset::{Piece, load_piece, load_pieces, split_by_score};
pub use decdtw_layer::{FrameTimes, decdtw_layer};
pub use experiment::{Experiment, ExperimentRow, default_models, markdown, run_experiment};
pub use feature_cache::FeatureCache;
pub use job::{TrainingJob, TrainingRun, Unimproved, run_training};
pub use losses::{LossOnWarp, WarpLoss, warp_loss};
pub use method::{EncodedSlice, Method, Number, SliceAligner, SliceLoss, slice_loss};
pub use piece_files::{PieceFiles, find_pieces};
pub use slice_test::{SliceScores, TestSetup, test_slices};
pub use slices::{Slice, SliceParams, SlicePlan, SliceTruth, cut};
pub use trainer::{CheckpointPlace, TrainEvent, TrainParams, Trained, TrainingData, train};
