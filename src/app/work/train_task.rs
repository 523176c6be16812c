//! Training on a worker thread: from a plan to a model, and what it changed for each piece that it was judged by.

use std::path::{Path, PathBuf};

use super::worker::Event;
use crate::align::settings::DEFAULT_HOP;
use crate::app::tuning::{Outcome, Plan, Role, Start};
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::learning::{Control, SliceParams, TrainParams, TrainingJob, Unimproved, compare_pieces, run_training};
use crate::networks::{Device, Extractor, ExtractorSpec, Model, ModelCard, open_model};

/// Values per frame of a new network's features, as published.
const OUTPUT_DIM: usize = 128;

/// Trains, or goes on with a training that was interrupted.
pub fn run(
    ctx: &JobContext,
    device: &Device,
    plan: &Plan,
    folder: &Path,
    control: &Control,
    tell: &dyn Fn(Event),
) -> Result<Outcome> {
    ctx.report("preparing", 0.0)?;
    let job = job(device, plan, folder)?;
    let trained = run_training(ctx, &job, control, &|event| tell(Event::Training(event)))?;
    let pieces = compare_pieces(ctx, &job, &trained.model)?;
    let (kind, history, best_epoch) = (trained.model.kind(), trained.history, trained.best_epoch);
    Ok(Outcome { model: job.output, kind, history, best_epoch, pieces })
}

fn job(device: &Device, plan: &Plan, folder: &Path) -> Result<TrainingJob> {
    let start = match &plan.start {
        Start::Model(name) => open_model(name, device)?,
        Start::Untrained(kind) => {
            let card = ModelCard::new(&plan.name, ExtractorSpec::new(*kind, DEFAULT_HOP, OUTPUT_DIM));
            Model::Extractor(Extractor::untrained(card, 1, device)?)
        }
    };
    let card = match &plan.start {
        Start::Model(_) => start.card().taught_further(&plan.name, "unknown"),
        Start::Untrained(_) => start.card(),
    };
    let start = Model::new(card, start.parameters()?, start.device())?;
    let mut params = TrainParams {
        slices: SliceParams { score_frames: plan.slice_frames },
        epochs: plan.epochs,
        patience: plan.epochs.max(1),
        ..TrainParams::fine_tuning(plan.method)
    };
    params.optimiser.learning_rate = plan.learning_rate;
    params.augmented &= plan.augmented;
    std::fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
    Ok(TrainingJob {
        data: manifest(plan, folder, Role::Learn)?,
        validation: Some(manifest(plan, folder, Role::Judge)?),
        start,
        output: plan.output(folder),
        params,
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
