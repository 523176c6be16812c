//! How an extractor learns: from slices of the score and the windows of the recording that hold them.

mod batch;
mod lesson;
mod method;
mod pieces;
mod regret;
mod slice_test;
mod slices;

pub use batch::{SliceBatch, extractor_loss};
pub(super) use lesson::ExtractorLesson;
pub use method::{ExtractorMethod, SliceAligner};
pub(super) use pieces::{Piece, load_pieces};
pub use slice_test::SliceScores;
pub(super) use slice_test::{TestSetup, test_slices};
pub use slices::{SliceParams, SliceTruth};
