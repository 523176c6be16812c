//! `agogic train`: from labelled pieces to an ear or a feature extractor.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::training_args::{TrainArgs, file_name, method_for};
use crate::align::settings::{DEFAULT_HOP, FeatureKind};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::learning::{
    Control, EarMethod, ExtractorMethod, TrainEvent, TrainParams, Trained, TrainingJob, TrainingMethod, Unimproved,
    WarpLoss, find_pieces, run_training,
};
use crate::networks::{
    Device, Ear, EarSpec, Extractor, ExtractorSpec, Model, ModelCard, ModelKind, open_ear, open_extractor,
};

/// Values per frame of the learned features, as published.
pub(super) const OUTPUT_DIM: usize = 128;

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &TrainArgs) -> Result<()> {
    let kind = args.kind.into();
    let method = method_for(kind, args.method, default_method(kind))?;
    check_options(args, method)?;
    let (ctx, device) = &super::devices::open(ctx, args.common.basic.device)?;
    let start = start(args, kind, device)?;
    let name = start.card().name;
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.safetensors")));
    check_output(&output, args.init.as_deref().map(Path::new), &args.data, args.common.validation.as_deref())?;
    let params = TrainParams {
        patience: args.patience,
        learns_lambda: args.learn_lambda,
        ..args.common.params(TrainParams::of(method))
    };
    let start = described(start, args, &params)?;
    let job = TrainingJob {
        data: args.data.clone(),
        validation: args.common.validation.clone(),
        start,
        output,
        params,
        cache: args.common.basic.cache_folder(),
        unimproved: Unimproved::Write,
    };
    let trained = run_training(ctx, &job, &Control::default(), &|event| tell(quiet, event))?;
    super::print(summary(&job.output, &trained).as_bytes())
}

/// What a kind of model is trained by if nothing else is said.
fn default_method(kind: ModelKind) -> TrainingMethod {
    match kind {
        ModelKind::Ear => TrainingMethod::Ear(EarMethod::Notes),
        ModelKind::Extractor => TrainingMethod::Extractor(ExtractorMethod::decdtw(WarpLoss::TimeErr)),
    }
}

/// Refuses options of the other kind.
fn check_options(args: &TrainArgs, method: TrainingMethod) -> Result<()> {
    args.common.basic.check(method)?;
    let of_extractor = [
        (args.features.is_some(), "--features"),
        (args.lambda.is_some(), "--lambda"),
        (args.learn_lambda, "--learn-lambda"),
    ];
    if args.small && method.kind() == ModelKind::Extractor {
        return Err(Error::misplaced("--small", "--kind ear", "--kind extractor"));
    }
    if args.small && args.init.is_some() {
        return Err(Error::misplaced("--small", "a new ear", "--init, which has its own size"));
    }
    match of_extractor.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) if method.kind() == ModelKind::Ear => {
            Err(Error::misplaced(option, "--kind extractor", "--kind ear"))
        }
        _ => Ok(()),
    }
}

/// Refuses to write over what is read: the model to start from, the lists and files of the pieces.
pub(super) fn check_output(output: &Path, model: Option<&Path>, data: &Path, validation: Option<&Path>) -> Result<()> {
    let mut inputs: Vec<PathBuf> = model.into_iter().map(Path::to_owned).collect();
    for data in [Some(data), validation].into_iter().flatten() {
        inputs.push(data.to_owned());
        inputs.push(data.join("manifest.csv"));
        inputs.extend(find_pieces(data)?.into_iter().flat_map(|piece| [piece.audio, piece.score, piece.truth]));
    }
    super::check_not_an_input(output, &inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}

fn start(args: &TrainArgs, kind: ModelKind, device: &Device) -> Result<Model> {
    let seed = args.common.basic.seed;
    match (kind, &args.init) {
        (ModelKind::Ear, Some(init)) => open_ear(init, device).map(Model::Ear),
        (ModelKind::Ear, None) => {
            let (name, spec) = if args.small { ("small", EarSpec::small()) } else { ("ear", EarSpec::default()) };
            Ear::untrained(ModelCard::new(name, spec), seed, device).map(Model::Ear)
        }
        (ModelKind::Extractor, init) => {
            let mut extractor = match init {
                Some(init) => open_extractor(init, device)?,
                None => {
                    let features = args.features.map_or(FeatureKind::Cqt, Into::into);
                    let spec = ExtractorSpec::new(features, DEFAULT_HOP, OUTPUT_DIM);
                    let name = format!("{features:?}").to_lowercase();
                    Extractor::untrained(ModelCard::new(name, spec), seed, device)?
                }
            };
            let card = &mut extractor.card;
            if let Some(features) = args.features {
                card.check_suits(features.into(), card.spec.hop)?;
            }
            if let Some(lambda) = args.lambda {
                if !(lambda.is_finite() && lambda > 0.0) {
                    return Err(Error::invalid("--lambda", lambda, "a number above zero"));
                }
                card.spec.lambda = lambda;
            }
            Ok(Model::Extractor(extractor))
        }
    }
}

/// The model with its name, its terms and how it was made.
fn described(start: Model, args: &TrainArgs, params: &TrainParams) -> Result<Model> {
    let mut card = start.card();
    if let Some(output) = &args.output {
        card.name = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    card.metrics.clear();
    card.licence.clone_from(&args.licence);
    card.training.insert("command".to_owned(), json!(command(args, params)));
    Model::new(card, start.parameters()?, start.device())
}

/// How the training can be repeated, without the folders of this machine.
fn command(args: &TrainArgs, params: &TrainParams) -> String {
    let mut words = vec!["agogic train".to_owned(), file_name(&args.data)];
    if let Some(validation) = &args.common.validation {
        words.push(format!("--validation {}", file_name(validation)));
    }
    words.push(format!("--kind {}", params.method.kind().name()));
    if let Some(features) = args.features {
        words.push(format!("--features {}", format!("{features:?}").to_lowercase()));
    }
    if let Some(init) = &args.init {
        words.push(format!("--init {}", file_name(Path::new(init))));
    }
    words.push(format!("--method {}", params.method.name()));
    words.push(format!("--epochs {} --patience {}", params.epochs, params.patience));
    let rate = params.optimiser.learning_rate;
    words.push(format!("--learning-rate {rate} --batch {} --seed {}", params.batch_size, params.seed));
    if let Some(lambda) = args.lambda {
        words.push(format!("--lambda {lambda}"));
    }
    let flags = [
        (args.small, "--small"),
        (args.learn_lambda, "--learn-lambda"),
        (args.common.basic.no_augmentation, "--no-augmentation"),
    ];
    words.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned()));
    words.join(" ")
}

/// One line per epoch on stderr.
pub(super) fn tell(quiet: bool, event: TrainEvent) {
    if let TrainEvent::Epoch { epoch, record, is_best } = event
        && !quiet
    {
        let mark = if is_best { "  best so far" } else { "" };
        super::print_note(&format!(
            "epoch {epoch:>3}: loss {:.5}, validation TimeErr {:.2} ms, TimeDev {:.2} ms{mark}",
            record.training_loss, record.time_err_ms, record.time_dev_ms
        ));
    }
}

/// What came of it.
pub(super) fn summary(output: &Path, trained: &Trained) -> String {
    let metrics = trained.model.card().metrics;
    let pair = |name: &str| {
        let of = |measure: &str| metrics.get(&format!("{name}_{measure}_ms")).copied();
        Some((of("time_err")?, of("time_dev")?))
    };
    let (time_err, time_dev) = pair("validation").unwrap_or((f64::NAN, f64::NAN));
    let base = pair("validation_base");
    let base = base.map_or_else(String::new, |(err, dev)| format!(" (base features: {err:.2}, {dev:.2})"));
    format!(
        "{}: best of {} epochs is {}; validation TimeErr {time_err:.2} ms, TimeDev {time_dev:.2} ms{base}\n",
        output.display(),
        trained.history.len() - 1,
        trained.best_epoch,
    )
}
