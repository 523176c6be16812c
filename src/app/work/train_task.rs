//! Training on a worker thread: from a plan to a model, and what it changed for each piece that it was judged by.

use std::path::{Path, PathBuf};

use super::worker::Event;
use crate::align::settings::DEFAULT_HOP;
use crate::app::tuning::{LabelledPiece, Outcome, PieceScores, Plan, Role, Start};
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::features::FeatureParams;
use crate::learning::{
    AdamParams, Augmentation, Control, FeatureCache, Networks, Piece, SliceAligner, SliceParams, TestSetup,
    TrainParams, TrainingJob, Unimproved, load_pieces, run_training, test_slices,
};
use crate::networks::{Extractor, ModelCard, open_model};

/// Values per frame of a new network's features, as published.
const OUTPUT_DIM: usize = 128;

/// Trains, or goes on with a training that was interrupted.
pub fn run(ctx: &JobContext, plan: &Plan, folder: &Path, control: &Control, tell: &dyn Fn(Event)) -> Result<Outcome> {
    ctx.report("preparing", 0.0)?;
    let job = job(plan, folder)?;
    let trained = run_training(ctx, &job, control, &|event| tell(Event::Training(event)))?;
    let params = FeatureParams { kind: job.start.card.features, hop: job.start.card.hop };
    let cache = job.cache.as_ref().map(FeatureCache::in_folder).transpose()?;
    let files: Vec<_> = plan.pieces_for(Role::Judge).map(LabelledPiece::files).collect();
    let mut pieces = Vec::new();
    for (done, piece) in load_pieces(&ctx.quiet(), &files, &params, cache.as_ref())?.iter().enumerate() {
        ctx.report("comparing before and after", done as f32 / files.len() as f32)?;
        pieces.push(PieceScores {
            name: piece.name.clone(),
            before_ms: time_err_ms(ctx, &job, &job.start, piece)?,
            after_ms: time_err_ms(ctx, &job, &trained.extractor, piece)?,
        });
    }
    let (history, best_epoch) = (trained.history, trained.best_epoch);
    Ok(Outcome { model: job.output, history, best_epoch, pieces })
}

fn job(plan: &Plan, folder: &Path) -> Result<TrainingJob> {
    let mut start = match &plan.start {
        Start::Model(name) => open_model(name)?,
        Start::Untrained(kind) => Extractor::untrained(ModelCard::new(&plan.name, *kind, DEFAULT_HOP, OUTPUT_DIM), 1)?,
    };
    if let Start::Model(_) = &plan.start {
        start.card.training.insert("fine_tuned_from".to_owned(), start.card.name.clone().into());
    }
    start.card.name.clone_from(&plan.name);
    std::fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
    Ok(TrainingJob {
        data: manifest(plan, folder, Role::Learn)?,
        validation: Some(manifest(plan, folder, Role::Judge)?),
        start,
        output: plan.output(folder),
        params: TrainParams {
            method: plan.method,
            slices: SliceParams { score_frames: plan.slice_frames },
            epochs: plan.epochs,
            patience: plan.epochs.max(1),
            optimiser: AdamParams { learning_rate: plan.learning_rate, ..AdamParams::default() },
            augmentation: plan.augmented.then(Augmentation::default),
            ..TrainParams::default()
        },
        cache: Some(folder.join("features")),
        unimproved: match plan.start {
            Start::Model(_) => Unimproved::Refuse,
            Start::Untrained(_) => Unimproved::Write,
        },
    })
}

/// Lists the pieces of a role as the library reads them.
fn manifest(plan: &Plan, folder: &Path, role: Role) -> Result<PathBuf> {
    let word = if role == Role::Learn { "learn" } else { "judge" };
    let path = folder.join(format!("{}-{word}.csv", plan.name));
    let failed = |cause: String| Error::unsuitable(path.display().to_string(), cause, "check the names of the pieces");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["id", "audio", "score", "truth"]).map_err(|e| failed(e.to_string()))?;
    for piece in plan.pieces_for(role) {
        let paths = [&piece.audio, &piece.score, &piece.truth]
            .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string());
        writer.write_record([&piece.name, &paths[0], &paths[1], &paths[2]]).map_err(|e| failed(e.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(e.to_string()))?;
    write_bytes_atomically(&path, &bytes)?;
    Ok(path)
}

/// TimeErr of a piece's slices; none if no slice fits into it.
fn time_err_ms(ctx: &JobContext, job: &TrainingJob, model: &Extractor, piece: &Piece) -> Result<Option<f64>> {
    let setup = TestSetup {
        features: model.card.features,
        networks: Some(Networks { score: model.score.as_ref(), performance: model.performance.as_ref() }),
        lambda: model.card.lambda,
        slices: job.params.slices,
        seed: job.params.seed,
    };
    match test_slices(&ctx.quiet(), std::slice::from_ref(piece), &setup, &[SliceAligner::Gdtw]) {
        Ok(scores) => Ok(Some(scores[0].time_err_ms)),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}
