//! Agogic aligns a recording of a performance with its score.
//!
//! [`align_files`] does it from two files, [`align()`] from a decoded recording and a score; [`realign()`] solves a passage again after a
//! correction. [`engine`] is the time warping alone, [`training`] teaches the networks. Everything else is private.

mod align;
#[cfg(feature = "gui")]
mod app;
/// Only what sessions are read with: the fuzz targets are built without the window.
#[cfg(all(fuzzing, not(feature = "gui")))]
#[allow(dead_code, reason = "the window uses the rest")]
mod app {
    pub mod document {
        pub mod fingerprint;
        pub mod session;
        pub mod source;
    }
    pub mod time_view;
}
mod audio;
mod base;
mod bench;
mod cli;
mod demo;
mod devices;
#[cfg(feature = "gui")]
mod engraving;
mod evaluation;
mod export;
mod features;
#[cfg(feature = "gpu")]
mod gpu;
mod learning;
mod making;
mod networks;
#[doc(hidden)]
pub mod readers;
mod score;
#[cfg(feature = "parquet")]
mod tables;
mod warping;

pub use align::onsets::OnsetParams;
pub use align::result::{
    AlignedNote, Alignment, ExtraNote, FileId, Judged, MediaInfo, ModelId, Place, PlayedSection, Provenance,
    SearchBand, TempoPoint, Verdict,
};
pub use align::settings::{
    Aligner, Anchor, Ends, FeatureKind, FixedNote, FrameMethod, Method, OnsetMethod, Path, Settings, SlopeLimits,
};
pub use align::{
    AlignedFiles, Kept, Listening, Named, Performance, PerformanceKind, ReadPerformance, StageTime, Stopwatch, align,
    align_and_keep, align_files, align_heard, align_with, can_realign, moved_warp, read_performance, realign,
};
pub use audio::{AudioClip, Decoded, clip_of_samples, decode, decode_bytes};
pub use base::error::{Error, Result};
pub use base::job::{JobContext, Progress};
pub use cli::main as command_line;
pub use devices::{ChosenDevice, DeviceChoice, DeviceInfo, DeviceKind, Notify, devices};
pub use evaluation::{BeatClock, GroundTruth, Metrics, TimeMap, evaluate, read_ground_truth};
pub use export::{ExportInput, Exporter, Format, read_alignment};
pub use features::{FeatureParams, FeatureSeq, extract as extract_features};
pub use networks::Device;
pub use score::{
    BarCount, BarPass, Form, FormPass, FormSection, Liberty, Manuscript, Notation, Note, NoteName, NoteOrigin, Score,
    ScoreBeat, Source, SourceKind, SynthParams, Take, WrittenScore, synthesise, synthesise_mapped, written,
};

/// The examples of the book.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/how-to/rust.md")]
struct RustPage;

/// The embedded demo piece: performance, score and ground truth.
pub mod demo_piece {
    pub use crate::demo::{files, performance_bytes, score_bytes, truth_bytes};
}

/// Time warping of any two sequences of feature vectors, and its gradient.
pub mod engine {
    pub use crate::base::number::Real;
    pub use crate::warping::cost::{Band, Banded, LocalCost, local_cost};
    pub use crate::warping::dtw::{DtwParams, DtwPath, Ends, dtw};
    pub use crate::warping::gdtw::{
        EdgeGradient, Gradient, NodeGradient, Problem, Solution, SolveOptions, Workspace, gradient, smoothed_gradient,
        solve, solve_many,
    };
    pub use crate::warping::soft_dtw::{SoftDtw, soft_dtw, squared_euclidean_gradient};
    pub use crate::warping::{Signal, Warp};
}

/// What the command line knows, as functions for bindings to other languages.
pub mod scripting {
    pub use crate::cli::scripting::{AlignOptions, evaluate_with, load_sound, play_score, render, save, write_demo};
}

/// What the confidence of a result and its verdicts are judged by, to fit these judgements again: see the example `fit_judgement`.
pub mod judgement {
    pub use crate::align::clues::{
        Clues, NOTE_CLUES, NoteClues, ONSET_CLUES, OnsetClues, STROKE_CLUES, StrokeClues, clues,
    };
}

/// The networks and their training.
pub mod training {
    pub use crate::learning::{
        Adam, AdamParams, Control, EpochRecord, ExtractorMethod, PieceFiles, PieceScores, SliceBatch, SliceParams,
        SliceTruth, TrainEvent, TrainParams, Trained, TrainingJob, Unimproved, compare_pieces, extractor_loss,
        run_training,
    };
    pub use crate::networks::gru::{Batch, GruRef, GruShape, InputGradient, backward, encode, encode_recording};
    pub use crate::networks::{Gru, Model, ModelCard, ModelKind, open_model};
}

/// The desktop window, without the system that it runs on: tests drive it.
#[cfg(feature = "gui")]
pub mod window {
    pub use crate::app::*;
}
