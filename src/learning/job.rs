//! A whole training from files to a model file: what the command line and the window start.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;

use super::control::Control;
use super::dataset::{Piece, load_pieces, split_by_score};
use super::feature_cache::FeatureCache;
use super::method::SliceAligner;
use super::piece_files::find_pieces;
use super::slice_test::{SliceScores, TestSetup, test_slices};
use super::train_params::TrainParams;
use super::trainer::{CheckpointPlace, TrainEvent, Trained, TrainingData, train};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::features::FeatureParams;
use crate::networks::{Extractor, weights};

/// A training: from where, how, and where to.
#[derive(Debug, Clone)]
pub struct TrainingJob {
    /// The labelled pieces; see [`find_pieces`].
    pub data: PathBuf,
    /// Pieces to choose the best epoch by; `None` holds back a quarter of the scores of `data`.
    pub validation: Option<PathBuf>,
    /// What training starts from.
    pub start: Extractor,
    /// The model to write.
    pub output: PathBuf,
    /// How to train.
    pub params: TrainParams,
    /// Where features are cached; `None` computes them every time.
    pub cache: Option<PathBuf>,
    /// What happens to the model at `output` if training did not improve on the start.
    pub unimproved: Unimproved,
}

/// What to do with a model that training made no better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unimproved {
    /// Write it all the same: the start was no model worth keeping.
    Write,
    /// Write nothing and fail.
    Refuse,
}

/// How often a running training is stored.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);
/// Share of the scores that is held back if there is no validation data.
const HELD_BACK: f64 = 0.25;

impl TrainingJob {
    /// Where the unfinished training is kept.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.output.with_extension("checkpoint")
    }

    fn load(&self, ctx: &JobContext, data: &Path) -> Result<Vec<Piece>> {
        let cache = self.cache.as_ref().map(FeatureCache::in_folder).transpose()?;
        let params = FeatureParams { kind: self.start.card.features, hop: self.start.card.hop };
        load_pieces(ctx, &find_pieces(data)?, &params, cache.as_ref())
    }
}

/// Reads the data, trains, fills in the model's card and writes the model.
pub fn run_training(
    ctx: &JobContext,
    job: &TrainingJob,
    control: &Control,
    observe: &dyn Fn(TrainEvent),
) -> Result<Trained> {
    let pieces = job.load(ctx, &job.data)?;
    let (training, validation) = match &job.validation {
        Some(data) => (pieces, job.load(ctx, data)?),
        None => held_back(pieces, job.params.seed)?,
    };
    let data = TrainingData { training: &training, validation: &validation };
    let path = job.checkpoint_path();
    let place = CheckpointPlace { path: &path, every: CHECKPOINT_EVERY };
    let mut trained = train(ctx, &job.start, data, &job.params, Some(place), control, observe)?;
    if job.unimproved == Unimproved::Refuse && trained.best_epoch == 0 {
        let best = trained.history.iter().skip(1).map(|record| record.time_err_ms).fold(f64::INFINITY, f64::min);
        let cause = format!(
            "training made it worse on the held-out pieces (TimeErr {:.1} ms before, {best:.1} ms at best after), \
             so it was not changed",
            trained.history[0].time_err_ms
        );
        return Err(Error::unsuitable(job.output.display().to_string(), cause, "give more pieces"));
    }
    let base = base_scores(ctx, job, &validation)?;
    describe(job, &mut trained, data, base);
    weights::save(&trained.extractor, &job.output)?;
    Ok(trained)
}

fn held_back(pieces: Vec<Piece>, seed: u64) -> Result<(Vec<Piece>, Vec<Piece>)> {
    let mut parts = split_by_score(pieces, &[1.0 - HELD_BACK, HELD_BACK], seed);
    match (parts.pop(), parts.pop()) {
        (Some(validation), Some(training)) if !validation.is_empty() => Ok((training, validation)),
        _ => {
            let cause = "one score alone leaves nothing to judge the training by";
            Err(Error::unsuitable("the training data", cause, "give pieces of two scores or more, or validation data"))
        }
    }
}

/// How the base features do on the validation slices: what training has to beat.
fn base_scores(ctx: &JobContext, job: &TrainingJob, validation: &[Piece]) -> Result<SliceScores> {
    let features = job.start.card.features;
    let setup = TestSetup {
        features,
        networks: None,
        lambda: features.default_lambda(),
        slices: job.params.slices,
        seed: job.params.seed,
    };
    Ok(test_slices(ctx, validation, &setup, &[SliceAligner::Gdtw])?[0])
}

/// Writes into the card what was done and what came of it.
fn describe(job: &TrainingJob, trained: &mut Trained, data: TrainingData<'_>, base: SliceScores) {
    let name_of = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let best = trained.history[trained.best_epoch];
    let params = &job.params;
    let card = &mut trained.extractor.card;
    let entries = [
        ("data", json!(name_of(&job.data))),
        ("pieces", json!(data.training.len())),
        ("validation_data", json!(job.validation.as_deref().map(name_of))),
        ("validation_pieces", json!(data.validation.len())),
        ("method", json!(params.method.name())),
        ("epochs", json!(trained.history.len() - 1)),
        ("best_epoch", json!(trained.best_epoch)),
        ("batch_size", json!(params.batch_size)),
        ("slice_frames", json!(params.slices.score_frames)),
        ("learning_rate", json!(params.optimiser.learning_rate)),
        ("learns_lambda", json!(params.learns_lambda)),
        ("augmented", json!(params.augmentation.is_some())),
        ("seed", json!(params.seed)),
    ];
    card.training.extend(entries.map(|(name, value)| (name.to_owned(), value)));
    let metrics = [
        ("validation_time_err_ms", best.time_err_ms),
        ("validation_time_dev_ms", best.time_dev_ms),
        ("validation_base_time_err_ms", base.time_err_ms),
        ("validation_base_time_dev_ms", base.time_dev_ms),
    ];
    card.metrics.extend(metrics.map(|(name, value)| (name.to_owned(), (100.0 * value).round() / 100.0)));
}

/// A training on a thread of its own.
#[derive(Debug)]
pub struct TrainingRun {
    ctx: JobContext,
    control: Arc<Control>,
    thread: JoinHandle<Result<Trained>>,
}

impl TrainingRun {
    /// Starts, or goes on with what an earlier run left unfinished. `observe` is called on the training's thread;
    /// progress with a stage in words goes to `ctx`.
    pub fn start(ctx: JobContext, job: TrainingJob, observe: impl Fn(TrainEvent) + Send + 'static) -> Result<Self> {
        let control = Arc::new(Control::default());
        let (thread_ctx, thread_control) = (ctx.clone(), Arc::clone(&control));
        let thread = std::thread::Builder::new()
            .name("training".to_owned())
            .spawn(move || run_training(&thread_ctx, &job, &thread_control, &observe))
            .map_err(|source| Error::io("start", "the training thread", source))?;
        Ok(Self { ctx, control, thread })
    }

    /// Pauses before the next step, or goes on.
    pub fn set_paused(&self, paused: bool) {
        self.control.set_paused(paused);
    }

    /// Asks it to stop: [`join`](Self::join) then gives [`Error::Cancelled`], and the next start goes on from the last
    /// checkpoint.
    pub fn stop(&self) {
        self.ctx.cancel();
    }

    /// Whether it has ended, one way or another.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the end.
    pub fn join(self) -> Result<Trained> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
