//! What was typed after `train`, `fine-tune`, `model` and `experiment`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::args::FeaturesArg;
use crate::base::error::{Error, Result};
use crate::devices::DeviceChoice;
use crate::learning::{EarMethod, ExtractorMethod, FeatureCache, TrainParams, TrainingMethod, WarpLoss};
use crate::networks::ModelKind;

const EAR: &str = "Options of --kind ear";
const EXTRACTOR: &str = "Options of --kind extractor";

/// `agogic train`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Labelled pieces: a folder whose subfolders hold audio.*, score.* and alignment.*, or a CSV file with the
    /// columns audio, score and truth. For --method notes a performance.mid next to a recording, in the recording's own
    /// time, gives its notes; otherwise the score and its true alignment are used.
    pub data: PathBuf,
    /// What to train: the ear that the onset method listens with, or a feature extractor for the frame method.
    #[arg(long, value_enum, default_value = "ear")]
    pub kind: KindArg,
    /// How to train (default: notes for an ear, decdtw for an extractor).
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,
    /// Start from this model instead of random weights: a name or a file.
    #[arg(long, value_name = "MODEL")]
    pub init: Option<String>,
    /// The model to write (default: ear.safetensors or FEATURES.safetensors). An unfinished training is kept next to it and
    /// resumed.
    #[arg(long, short, value_name = "FILE.safetensors")]
    pub output: Option<PathBuf>,
    /// End after this many epochs without improvement.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub patience: usize,
    /// What the model's card says about the terms of its use.
    #[arg(long, default_value = "unknown", value_name = "TEXT")]
    pub licence: String,
    /// What to train with.
    #[command(flatten)]
    pub common: TrainingOptions,
    /// Train an ear of the small size, two to three times as fast.
    #[arg(long, help_heading = EAR)]
    pub small: bool,
    /// Which base features the extractor reads (default: those of --init, else cqt).
    #[arg(long, value_enum, help_heading = EXTRACTOR)]
    pub features: Option<FeaturesArg>,
    /// Weight of the tempo regulariser (default: what suits the features).
    #[arg(long, value_name = "F", help_heading = EXTRACTOR)]
    pub lambda: Option<f64>,
    /// Learn the weight of the tempo regulariser, too.
    #[arg(long, help_heading = EXTRACTOR)]
    pub learn_lambda: bool,
}

/// `agogic fine-tune`.
#[derive(Debug, Args)]
pub struct FineTuneArgs {
    /// The model to adapt: a name or a file.
    pub model: String,
    /// A few labelled pieces, in the form that `agogic train` takes.
    pub data: PathBuf,
    /// How to train (default: notes for an ear, decdtw for an extractor).
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,
    /// The model to write (default: MODEL itself, if it is a file; it is replaced only by a better one).
    #[arg(long, short, value_name = "FILE.safetensors")]
    pub output: Option<PathBuf>,
    /// What the model's card says about the terms of its use: those of the pieces count, too.
    #[arg(long, default_value = "unknown", value_name = "TEXT")]
    pub licence: String,
    /// What to train with.
    #[command(flatten)]
    pub common: TrainingOptions,
}

/// What `train` and `fine-tune` share.
#[derive(Debug, Args)]
pub struct TrainingOptions {
    /// Pieces to judge by, and to choose the best epoch (default: a quarter of the scores is held back).
    #[arg(long, value_name = "DATA")]
    pub validation: Option<PathBuf>,
    /// Maximum number of epochs (default: what suits the method).
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub epochs: Option<usize>,
    /// Step size of the optimiser (default: what suits the method).
    #[arg(long, value_name = "F")]
    pub learning_rate: Option<f64>,
    /// What all trainings share.
    #[command(flatten)]
    pub basic: BasicOptions,
}

/// What `train`, `fine-tune` and `experiment` share.
#[derive(Debug, Args)]
pub struct BasicOptions {
    /// Examples per step: slices, chunks of a recording, or stretches of the score (default: what suits the method).
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// Random seed: the same seed gives the same model.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Train on the recordings as they are, without drawing other levels, tone, noise, rooms and tempos.
    #[arg(long)]
    pub no_augmentation: bool,
    /// Where the work runs: auto, cpu, gpu (any graphics card), cuda or metal. `auto` uses a graphics card where it is faster; see `agogic devices`.
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: DeviceChoice,
    /// Where computed features are kept (default: the system's cache folder).
    #[arg(long, value_name = "DIR", help_heading = EXTRACTOR)]
    pub cache: Option<PathBuf>,
}

impl BasicOptions {
    /// `suitable` settings, replaced as far as others are given here.
    pub fn params(&self, suitable: TrainParams) -> TrainParams {
        TrainParams {
            batch_size: self.batch.unwrap_or(suitable.batch_size),
            augmented: suitable.augmented && !self.no_augmentation,
            seed: self.seed,
            ..suitable
        }
    }

    /// The cache folder, if there is one.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        self.cache.clone().or_else(FeatureCache::default_folder)
    }

    /// Refuses what a method does not read.
    pub fn check(&self, method: TrainingMethod) -> Result<()> {
        if self.cache.is_some() && method.kind() != ModelKind::Extractor {
            return Err(Error::misplaced("--cache", "--kind extractor", format!("--kind {}", method.kind().name())));
        }
        if self.no_augmentation && !TrainParams::of(method).augmented {
            return Err(Error::misplaced("--no-augmentation", "--method notes", "--method alignment"));
        }
        Ok(())
    }
}

impl TrainingOptions {
    /// `suitable` settings, replaced as far as others are given here.
    pub fn params(&self, suitable: TrainParams) -> TrainParams {
        let mut params = self.basic.params(suitable);
        params.epochs = self.epochs.unwrap_or(params.epochs);
        params.optimiser.learning_rate = self.learning_rate.unwrap_or(params.optimiser.learning_rate);
        params
    }
}

/// The method to train by: the one given, which must be for models of this kind, or the default one.
pub fn method_for(kind: ModelKind, given: Option<MethodArg>, default: TrainingMethod) -> Result<TrainingMethod> {
    let method = given.map_or(default, TrainingMethod::from);
    if method.kind() == kind {
        return Ok(method);
    }
    let option = format!("--method {}", method.name());
    Err(Error::misplaced(option, format!("--kind {}", method.kind().name()), format!("--kind {}", kind.name())))
}

/// A path without the folders of this machine.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// `agogic model`.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ModelCommand,
}

/// The subcommands of `agogic model`.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// List the models that come with the program, and those of a folder.
    List {
        /// A folder with models.
        folder: Option<PathBuf>,
    },
    /// Show the card of a model.
    Show {
        /// A name or a file.
        model: String,
    },
    /// Turn PyTorch weights into a model: those of an ear, or of an extractor of the published code.
    Import(ImportArgs),
}

/// `agogic model import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The checkpoint (.ckpt, .pt) or a safetensors file with its names.
    pub checkpoint: PathBuf,
    /// The model to write.
    #[arg(long, short, value_name = "FILE.safetensors")]
    pub output: PathBuf,
    /// What the model is called; by default, the name of its file.
    #[arg(long)]
    pub name: Option<String>,
    /// Under which terms it may be used.
    #[arg(long, value_name = "TEXT")]
    pub licence: Option<String>,
    /// Something to know of its training, such as data=… or epochs=…; may be given several times.
    #[arg(long, value_name = "NAME=TEXT")]
    pub training: Vec<String>,
    /// A measured accuracy, such as validation_time_err_ms=4.2; may be given several times.
    #[arg(long, value_name = "NAME=NUMBER")]
    pub metric: Vec<String>,
}

/// `agogic experiment`.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// A folder with the parts train, validation and test, or labelled pieces, which are then split by score.
    pub data: PathBuf,
    /// A further set to test on; may be given several times.
    #[arg(long, value_name = "DATA")]
    pub test: Vec<PathBuf>,
    /// Which features.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "cqt,chroma,mel")]
    pub features: Vec<FeaturesArg>,
    /// Which methods of --kind extractor; base features are always tested.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "softdtw,along-gt,dilate,decdtw")]
    pub methods: Vec<MethodArg>,
    /// Folder for the trained models (default: experiment-DATA). Models that are there are tested, not trained again.
    #[arg(long, value_name = "DIR")]
    pub models: Option<PathBuf>,
    /// Maximum number of epochs.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = at_least_one())]
    pub epochs: usize,
    /// What to train with.
    #[command(flatten)]
    pub basic: BasicOptions,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Names of the kinds of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// Hears where notes begin.
    Ear,
    /// Turns features into learned features.
    Extractor,
}

impl From<KindArg> for ModelKind {
    fn from(arg: KindArg) -> Self {
        match arg {
            KindArg::Ear => Self::Ear,
            KindArg::Extractor => Self::Extractor,
        }
    }
}

/// Names of the training methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// Ear: where the notes that were played begin.
    Notes,
    /// Ear: the error of the onsets that are placed with it.
    Alignment,
    /// Extractor: the error of the optimal warp (TimeErr).
    Decdtw,
    /// Extractor: the same with TimeDev.
    DecdtwTimedev,
    /// Extractor: the soft-DTW discrepancy.
    Softdtw,
    /// Extractor: feature distance along the true path.
    AlongGt,
    /// Extractor: expected path against the true one.
    Dilate,
}

impl From<MethodArg> for TrainingMethod {
    fn from(arg: MethodArg) -> Self {
        match arg {
            MethodArg::Notes => Self::Ear(EarMethod::Notes),
            MethodArg::Alignment => Self::Ear(EarMethod::Alignment),
            MethodArg::Decdtw => Self::Extractor(ExtractorMethod::decdtw(WarpLoss::TimeErr)),
            MethodArg::DecdtwTimedev => Self::Extractor(ExtractorMethod::decdtw(WarpLoss::TimeDev)),
            MethodArg::Softdtw => Self::Extractor(ExtractorMethod::SoftDtw { gamma: 1.0 }),
            MethodArg::AlongGt => Self::Extractor(ExtractorMethod::AlongTruth),
            MethodArg::Dilate => Self::Extractor(ExtractorMethod::Dilate { alpha: 0.0, gamma: 0.1 }),
        }
    }
}

fn at_least_one() -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(1..)
}
