//! The published comparison: every feature type with every method, tested under DTW and under GDTW.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::control::Control;
use super::data::{PieceFiles, find_pieces, split_by_score};
use super::extractor::{
    ExtractorLesson, Piece, SliceAligner, SliceParams, SliceScores, TestSetup, load_pieces, test_slices,
};
use super::feature_cache::FeatureCache;
use super::method::TrainingMethod;
use super::params::TrainParams;
use super::trainer::{CheckpointPlace, TrainEvent, train};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::features::{FeatureKind, FeatureParams};
use crate::networks::{Device, Extractor, ExtractorSpec, Model, ModelCard, open_extractor};

/// What to compare.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// A folder with the parts `train`, `validation` and `test`, or pieces that are split by score.
    pub data: PathBuf,
    /// Further sets to test on.
    pub more_tests: Vec<PathBuf>,
    /// Feature types.
    pub features: Vec<FeatureKind>,
    /// How to train, one method after the other; base features are always tested.
    pub params: Vec<TrainParams>,
    /// How the slices of the tests are cut.
    pub slices: SliceParams,
    /// Places the slices of the tests, and splits pieces.
    pub seed: u64,
    /// Where the networks run.
    pub device: Device,
    /// Where trained models are kept. Models that are there already are tested, not trained again.
    pub models: PathBuf,
    /// Where features are cached.
    pub cache: Option<PathBuf>,
    /// Samples between frames.
    pub hop: usize,
    /// Values per frame of the learned features.
    pub output_dim: usize,
}

/// The figures of one feature type and method on one test set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRow {
    /// The test set.
    pub test: String,
    /// The base features.
    pub features: FeatureKind,
    /// The training method, `base` for none.
    pub method: String,
    /// Under classic DTW with pinned ends.
    pub dtw: SliceScores,
    /// Under GDTW with free ends.
    pub gdtw: SliceScores,
}

/// The pieces' files, by part.
struct Parts {
    training: Vec<PieceFiles>,
    validation: Vec<PieceFiles>,
    tests: Vec<(String, Vec<PieceFiles>)>,
}

/// Trains what is missing, tests everything. `tell` hears what is being done.
pub fn run_experiment(ctx: &JobContext, experiment: &Experiment, tell: &dyn Fn(&str)) -> Result<Vec<ExperimentRow>> {
    std::fs::create_dir_all(&experiment.models).map_err(|source| Error::io("create", &experiment.models, source))?;
    let parts = find_parts(experiment)?;
    let cache = experiment.cache.as_ref().map(FeatureCache::in_folder);
    let mut rows = Vec::new();
    for &kind in &experiment.features {
        let params = FeatureParams { kind, hop: experiment.hop };
        let load = |files: &[PieceFiles]| load_pieces(ctx, files, &params, cache.as_ref());
        tell(&format!("{}: features", name_of(kind)));
        let mut tests = Vec::new();
        for (name, files) in &parts.tests {
            tests.push((name.clone(), load(files)?));
        }
        let data = [Arc::new(load(&parts.training)?), Arc::new(load(&parts.validation)?)];
        test(ctx, experiment, kind, "base", None, &tests, &mut rows)?;
        for params in &experiment.params {
            let method = params.method.name();
            tell(&format!("{}: {method}", name_of(kind)));
            let model = trained_model(ctx, experiment, kind, params, &data, tell)?;
            test(ctx, experiment, kind, method, Some(&model), &tests, &mut rows)?;
        }
    }
    Ok(rows)
}

fn find_parts(experiment: &Experiment) -> Result<Parts> {
    let part = |name: &str| experiment.data.join(name);
    let mut tests = Vec::new();
    let is_split = ["train", "validation", "test"].iter().all(|name| part(name).is_dir());
    if is_split {
        tests.push(("test".to_owned(), find_pieces(&part("test"))?));
    }
    for path in &experiment.more_tests {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        tests.push((name, find_pieces(path)?));
    }
    if is_split {
        let (training, validation) = (find_pieces(&part("train"))?, find_pieces(&part("validation"))?);
        return Ok(Parts { training, validation, tests });
    }
    let mut split = split_by_score(find_pieces(&experiment.data)?, &[0.5, 0.25, 0.25], experiment.seed)?.into_iter();
    let mut next = || split.next().unwrap_or_default();
    let (training, validation) = (next(), next());
    tests.insert(0, ("test".to_owned(), next()));
    Ok(Parts { training, validation, tests })
}

/// The model of a row: read if it is there, else trained and kept.
fn trained_model(
    ctx: &JobContext,
    experiment: &Experiment,
    kind: FeatureKind,
    params: &TrainParams,
    [training, validation]: &[Arc<Vec<Piece>>; 2],
    tell: &dyn Fn(&str),
) -> Result<Extractor> {
    let TrainingMethod::Extractor(method) = params.method else {
        return Err(Error::invalid("method of an experiment", params.method.name(), "one for extractors"));
    };
    let name = format!("{}-{}", name_of(kind), method.name());
    let path = experiment.models.join(format!("{name}.safetensors"));
    if path.exists() {
        let model = open_extractor(&path.to_string_lossy(), &experiment.device)?;
        model.card.check_suits(kind, experiment.hop)?;
        return Ok(model);
    }
    let card = ModelCard::new(name, ExtractorSpec::new(kind, experiment.hop, experiment.output_dim));
    let lesson = ExtractorLesson {
        start: Extractor::untrained(card, params.seed, &experiment.device)?,
        method,
        training: Arc::clone(training),
        validation: Arc::clone(validation),
        params: *params,
        device: experiment.device.clone(),
    };
    let checkpoint = path.with_extension("checkpoint");
    let place = CheckpointPlace { path: &checkpoint, every: std::time::Duration::from_secs(30) };
    let observe = |event| {
        if let TrainEvent::Epoch { epoch, record, .. } = event {
            tell(&format!("  epoch {epoch}: validation TimeErr {:.2} ms", record.time_err_ms));
        }
    };
    let Model::Extractor(model) = train(ctx, &lesson, params, Some(place), &Control::default(), &observe)?.model else {
        return Err(Error::unsuitable(path.display().to_string(), "no extractor came of it", "report this"));
    };
    model.save(&path)?;
    // Only now is nothing left to lose.
    let _ = std::fs::remove_file(&checkpoint);
    Ok(model)
}

fn test(
    ctx: &JobContext,
    experiment: &Experiment,
    kind: FeatureKind,
    method: &str,
    model: Option<&Extractor>,
    tests: &[(String, Vec<Piece>)],
    rows: &mut Vec<ExperimentRow>,
) -> Result<()> {
    let (slices, seed) = (experiment.slices, experiment.seed);
    let setup = TestSetup { features: kind, extractor: model, slices, seed };
    for (name, pieces) in tests {
        let scores = test_slices(ctx, pieces, &setup, &[SliceAligner::Dtw, SliceAligner::Gdtw])?;
        rows.push(ExperimentRow {
            test: name.clone(),
            features: kind,
            method: method.to_owned(),
            dtw: scores[0],
            gdtw: scores[1],
        });
    }
    Ok(())
}

/// The name that files and tables use.
fn name_of(kind: FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Cqt => "cqt",
        FeatureKind::Chroma => "chroma",
        FeatureKind::Mel => "mel",
    }
}

/// Tables as in the paper: one for each test set and aligner, TimeErr / TimeDev in milliseconds.
pub fn markdown(rows: &[ExperimentRow]) -> String {
    let distinct = |pick: &dyn Fn(&ExperimentRow) -> String| {
        let mut names: Vec<String> = Vec::new();
        for name in rows.iter().map(pick) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let methods = distinct(&|row| row.method.clone());
    let mut text = String::new();
    for set in distinct(&|row| row.test.clone()) {
        for (aligner, pick) in [("DTW", (|row| row.dtw) as fn(&ExperimentRow) -> SliceScores), ("GDTW", |row| row.gdtw)]
        {
            let count = rows.iter().find(|row| row.test == set).map_or(0, |row| pick(row).slices);
            let _ = writeln!(text, "**{set}** under {aligner}: TimeErr / TimeDev in ms, {count} slices\n");
            let _ = writeln!(text, "| features | {} |", methods.join(" | "));
            let _ = writeln!(text, "|---|{}", "---|".repeat(methods.len()));
            for kind in distinct(&|row| name_of(row.features).to_owned()) {
                let cell = |method: &String| {
                    let row = rows.iter().find(|r| r.test == set && name_of(r.features) == kind && r.method == *method);
                    row.map(pick).map_or_else(String::new, |s| format!("{:.1} / {:.1}", s.time_err_ms, s.time_dev_ms))
                };
                let cells: Vec<String> = methods.iter().map(cell).collect();
                let _ = writeln!(text, "| {kind} | {} |", cells.join(" | "));
            }
            text.push('\n');
        }
    }
    text
}

/// Where models of an experiment are kept if nothing else is said.
pub fn default_models(data: &Path) -> PathBuf {
    let name = data.file_name().unwrap_or_default().to_string_lossy().into_owned();
    PathBuf::from(format!("experiment-{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_a_row_per_feature_and_a_column_per_method() {
        let scores = |time_err_ms| SliceScores { time_err_ms, time_dev_ms: 2.0 * time_err_ms, slices: 9 };
        let row = |features, method: &str, error| ExperimentRow {
            test: "test".to_owned(),
            features,
            method: method.to_owned(),
            dtw: scores(error),
            gdtw: scores(error / 2.0),
        };
        let rows = [
            row(FeatureKind::Cqt, "base", 30.0),
            row(FeatureKind::Cqt, "decdtw", 20.0),
            row(FeatureKind::Mel, "base", 50.0),
        ];
        let text = markdown(&rows);
        assert!(text.contains("**test** under DTW: TimeErr / TimeDev in ms, 9 slices"), "{text}");
        assert!(text.contains("| features | base | decdtw |\n|---|---|---|\n| cqt | 30.0 / 60.0 | 20.0 / 40.0 |"));
        assert!(text.contains("| mel | 25.0 / 50.0 |  |"), "{text}");
    }
}
