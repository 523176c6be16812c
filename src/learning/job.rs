//! A whole training from files to a model file: what the command line and the window start.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::control::Control;
use super::data::{PieceFiles, find_pieces, split_by_score};
use super::ear::{EarLesson, load_aligned_sounds, load_note_sounds, stretch_scores};
use super::extractor::{ExtractorLesson, SliceAligner, SliceScores, TestSetup, load_pieces, test_slices};
use super::feature_cache::FeatureCache;
use super::method::{EarMethod, TrainingMethod};
use super::params::TrainParams;
use super::trainer::{CheckpointPlace, Lesson, TrainEvent, Trained, train};
use crate::base::atomic_file::check_writable;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::features::FeatureParams;
use crate::networks::{Ear, Extractor, Model};

/// A training: from where, how, and where to.
#[derive(Debug, Clone)]
pub struct TrainingJob {
    /// The labelled pieces; see [`find_pieces`].
    pub data: PathBuf,
    /// Pieces to choose the best epoch by; `None` holds back a quarter of the scores of `data`.
    pub validation: Option<PathBuf>,
    /// What training starts from, on the device where it trains.
    pub start: Model,
    /// The model to write.
    pub output: PathBuf,
    /// How to train.
    pub params: TrainParams,
    /// Where the features of extractors are cached; `None` computes them every time.
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

    /// The pieces to learn from and those to judge by.
    fn files(&self) -> Result<[Vec<PieceFiles>; 2]> {
        let pieces = find_pieces(&self.data)?;
        if let Some(data) = &self.validation {
            return Ok([pieces, find_pieces(data)?]);
        }
        let mut parts = split_by_score(pieces, &[1.0 - HELD_BACK, HELD_BACK], self.params.seed)?;
        match (parts.pop(), parts.pop()) {
            (Some(validation), Some(training)) if !validation.is_empty() => Ok([training, validation]),
            _ => {
                let cause = "one score alone leaves nothing to judge the training by";
                let remedy = "give pieces of two scores or more, or validation data";
                Err(Error::unsuitable("the training data", cause, remedy))
            }
        }
    }

    fn lesson(&self, ctx: &JobContext, [training, validation]: &[Vec<PieceFiles>; 2]) -> Result<Box<dyn Lesson>> {
        let params = self.params;
        match (params.method, self.start.clone()) {
            (TrainingMethod::Ear(EarMethod::Notes), Model::Ear(start)) => {
                let (training, validation) = (load_note_sounds(ctx, training)?, load_aligned_sounds(ctx, validation)?);
                Ok(Box::new(EarLesson::new(start, training, validation, params)?))
            }
            (TrainingMethod::Ear(EarMethod::Alignment), Model::Ear(start)) => {
                let (training, validation) =
                    (load_aligned_sounds(ctx, training)?, load_aligned_sounds(ctx, validation)?);
                Ok(Box::new(EarLesson::new(start, training, validation, params)?))
            }
            (TrainingMethod::Extractor(method), Model::Extractor(start)) => {
                let cache = self.cache.as_ref().map(FeatureCache::in_folder);
                let features = feature_params(&start);
                let load = |files: &[PieceFiles]| load_pieces(ctx, files, &features, cache.as_ref());
                let (training, validation) = (Arc::new(load(training)?), Arc::new(load(validation)?));
                let device = start.device().clone();
                Ok(Box::new(ExtractorLesson { start, method, training, validation, params, device }))
            }
            (method, start) => {
                let (wanted, found) = (method.kind().name(), start.kind().name());
                let allowed = format!("a method for an {found}, because the model is one; this is for an {wanted}");
                Err(Error::invalid("--method", method.name(), allowed))
            }
        }
    }
}

/// Reads the data, trains, fills in the model's card and writes the model. Only when that is safe, the checkpoint goes.
pub fn run_training(
    ctx: &JobContext,
    job: &TrainingJob,
    control: &Control,
    observe: &dyn Fn(TrainEvent),
) -> Result<Trained> {
    check_writable(&job.output)?;
    let files = job.files()?;
    let lesson = job.lesson(ctx, &files)?;
    let path = job.checkpoint_path();
    let place = CheckpointPlace { path: &path, every: CHECKPOINT_EVERY };
    let mut trained = train(ctx, &*lesson, &job.params, Some(place), control, observe)?;
    let improved = trained.best_epoch > 0 || job.unimproved == Unimproved::Write;
    if improved {
        let base = lesson.baseline(ctx)?;
        trained.model = described(job, &trained, &files, base)?;
        trained.model.save(&job.output)?;
    }
    // Nothing is left to lose: a file that stays behind would only make the next training return at once.
    let _ = std::fs::remove_file(&path);
    if improved {
        return Ok(trained);
    }
    let best = trained.history.iter().skip(1).map(|record| record.time_err_ms).fold(f64::INFINITY, f64::min);
    let cause = format!(
        "training made it worse on the held-out pieces (TimeErr {:.1} ms before, {best:.1} ms at best after), so it was \
         not changed",
        trained.history[0].time_err_ms
    );
    Err(Error::unsuitable(job.output.display().to_string(), cause, "give more pieces"))
}

/// The model with what was done and what came of it on its card.
fn described(
    job: &TrainingJob,
    trained: &Trained,
    files: &[Vec<PieceFiles>; 2],
    base: Option<SliceScores>,
) -> Result<Model> {
    let name_of = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let best = trained.history[trained.best_epoch];
    let params = &job.params;
    let mut card = trained.model.card();
    let entries = [
        ("data", json!(name_of(&job.data))),
        ("pieces", json!(files[0].len())),
        ("validation_data", json!(job.validation.as_deref().map(name_of))),
        ("validation_pieces", json!(files[1].len())),
        ("method", json!(params.method.name())),
        ("epochs", json!(trained.history.len() - 1)),
        ("best_epoch", json!(trained.best_epoch)),
        ("batch_size", json!(params.batch_size)),
        ("learning_rate", json!(params.optimiser.learning_rate)),
        ("augmented", json!(params.augmented)),
        ("seed", json!(params.seed)),
    ];
    let of_extractor =
        [("slice_frames", json!(params.slices.score_frames)), ("learns_lambda", json!(params.learns_lambda))];
    let of_extractor = of_extractor.into_iter().filter(|_| matches!(params.method, TrainingMethod::Extractor(_)));
    card.training.extend(entries.into_iter().chain(of_extractor).map(|(name, value)| (name.to_owned(), value)));
    let measured = [("validation", Some((best.time_err_ms, best.time_dev_ms)))];
    let base = base.map(|base| (base.time_err_ms, base.time_dev_ms));
    for (name, (time_err_ms, time_dev_ms)) in
        measured.into_iter().chain([("validation_base", base)]).filter_map(|(name, value)| Some((name, value?)))
    {
        for (measure, value) in [("time_err_ms", time_err_ms), ("time_dev_ms", time_dev_ms)] {
            card.metrics.insert(format!("{name}_{measure}"), (100.0 * value).round() / 100.0);
        }
    }
    Model::new(card, trained.model.parameters()?, job.start.device())
}

fn feature_params(extractor: &Extractor) -> FeatureParams {
    FeatureParams { kind: extractor.card.spec.features, hop: extractor.card.spec.hop }
}

/// A piece before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct PieceScores {
    /// Which.
    pub name: String,
    /// TimeErr of its slices with the model that training started from; none if the piece is too short.
    pub before_ms: Option<f64>,
    /// The same with the new model.
    pub after_ms: Option<f64>,
}

/// What a training changed for each of the pieces that it was judged by.
pub fn compare_pieces(ctx: &JobContext, job: &TrainingJob, trained: &Model) -> Result<Vec<PieceScores>> {
    let [_, files] = job.files()?;
    let mut scores = Vec::new();
    for (done, piece) in files.iter().enumerate() {
        ctx.report("comparing before and after", done as f32 / files.len() as f32)?;
        let [before_ms, after_ms] = match (&job.start, trained) {
            (Model::Ear(before), Model::Ear(after)) => {
                let sounds = load_aligned_sounds(&ctx.quiet(), std::slice::from_ref(piece))?;
                let score = |ear: &Ear| time_err_ms(stretch_scores(&ctx.quiet(), &sounds, ear));
                [score(before)?, score(after)?]
            }
            (Model::Extractor(before), Model::Extractor(after)) => {
                let cache = job.cache.as_ref().map(FeatureCache::in_folder);
                let params = feature_params(before);
                let pieces = load_pieces(&ctx.quiet(), std::slice::from_ref(piece), &params, cache.as_ref())?;
                let score = |extractor: &Extractor| {
                    let (slices, seed) = (job.params.slices, job.params.seed);
                    let setup = TestSetup { features: params.kind, extractor: Some(extractor), slices, seed };
                    test_slices(&ctx.quiet(), &pieces, &setup, &[SliceAligner::Gdtw]).map(|scores| scores[0])
                };
                [time_err_ms(score(before))?, time_err_ms(score(after))?]
            }
            _ => [None; 2],
        };
        scores.push(PieceScores { name: piece.name.clone(), before_ms, after_ms });
    }
    Ok(scores)
}

/// TimeErr; none where a piece is too short to be measured.
fn time_err_ms(scores: Result<SliceScores>) -> Result<Option<f64>> {
    match scores {
        Ok(scores) => Ok(Some(scores.time_err_ms)),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
