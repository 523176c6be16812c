//! What was typed after `train`, `fine-tune`, `model` and `experiment`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::args::FeaturesArg;
use crate::learning::{Augmentation, FeatureCache, Method, WarpLoss};

/// `agogic train`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Labelled pieces: a folder whose subfolders hold audio.*, score.mid and alignment.*, or a CSV file with the
    /// columns audio, score and truth.
    pub data: PathBuf,
    /// Which base features the extractor reads (default: those of --init, else cqt).
    #[arg(long, value_enum)]
    pub features: Option<FeaturesArg>,
    /// How to train.
    #[arg(long, value_enum, default_value = "decdtw")]
    pub method: MethodArg,
    /// Start from this model instead of random weights: a name or a file.
    #[arg(long, value_name = "MODEL")]
    pub init: Option<String>,
    /// The model to write (default: FEATURES.safetensors). An unfinished training is kept beside it and resumed.
    #[arg(long, short, value_name = "FILE.safetensors")]
    pub output: Option<PathBuf>,
    /// Pieces to choose the best epoch by (default: a quarter of the scores is held back).
    #[arg(long, value_name = "DATA")]
    pub validation: Option<PathBuf>,
    /// Most passes through the data.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub epochs: usize,
    /// End after this many epochs without improvement.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub patience: usize,
    /// Step size of the optimiser.
    #[arg(long, default_value_t = 5e-4, value_name = "F")]
    pub learning_rate: f64,
    /// Weight of the tempo regulariser (default: what suits the features).
    #[arg(long, value_name = "F")]
    pub lambda: Option<f64>,
    /// Learn the weight of the tempo regulariser, too.
    #[arg(long)]
    pub learn_lambda: bool,
    /// What to train with.
    #[command(flatten)]
    pub common: TrainingOptions,
    /// What the model's card says about the terms of its use.
    #[arg(long, default_value = "unknown", value_name = "TEXT")]
    pub licence: String,
}

/// `agogic train-onsets`.
#[derive(Debug, Args)]
pub struct TrainOnsetsArgs {
    /// Labelled pieces, in the form that `agogic train` takes. A performance.mid beside a recording, in the recording's own
    /// time, tells its notes; where there is none, the score and its true alignment do.
    pub data: PathBuf,
    /// The network to write.
    #[arg(long, short, default_value = "onsets.safetensors", value_name = "FILE.safetensors")]
    pub output: PathBuf,
    /// Pieces whose loss is told after every epoch.
    #[arg(long, value_name = "DATA")]
    pub validation: Option<PathBuf>,
    /// Passes through the notes.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub epochs: usize,
    /// Start from this network instead of listening to single notes first: --epochs does not count then.
    #[arg(long, value_name = "FILE.safetensors")]
    pub init: Option<PathBuf>,
    /// Passes in which the network then learns from the error of the alignment itself. The best one by --validation is kept,
    /// the network before them included.
    #[arg(long, default_value_t = 0, value_name = "N", requires = "validation")]
    pub alignment_passes: usize,
    /// Step size of the optimiser at the beginning; it falls to zero. In passes through the alignment a tenth of it.
    #[arg(long, default_value_t = 2e-3, value_name = "F")]
    pub learning_rate: f64,
    /// Decides everything that is drawn: the same seed gives the same network.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Train on the recordings as they are, without drawing other levels, tone, noise, tuning and microphones.
    #[arg(long)]
    pub no_augmentation: bool,
    /// What the network's card says about the terms of its use.
    #[arg(long, default_value = "unknown", value_name = "TEXT")]
    pub licence: String,
}

/// What `train`, `fine-tune` and `experiment` share.
#[derive(Debug, Args)]
pub struct TrainingOptions {
    /// Slices per step.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub batch: usize,
    /// Decides everything that is drawn: the same seed gives the same model.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Train on the recordings as they are, without drawing other levels, tone, noise, rooms and tempos.
    #[arg(long)]
    pub no_augmentation: bool,
    /// Where computed features are kept (default: the system's cache folder).
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

impl TrainingOptions {
    /// What is redrawn every epoch.
    pub fn augmentation(&self) -> Option<Augmentation> {
        (!self.no_augmentation).then(Augmentation::default)
    }

    /// The cache folder, if there is one.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        self.cache.clone().or_else(FeatureCache::default_folder)
    }
}

/// `agogic fine-tune`.
#[derive(Debug, Args)]
pub struct FineTuneArgs {
    /// The model to adapt: a name or a file.
    pub model: String,
    /// A few labelled pieces, in the form that `agogic train` takes.
    pub data: PathBuf,
    /// The model to write (default: MODEL itself, if it is a file).
    #[arg(long, short, value_name = "FILE.safetensors")]
    pub output: Option<PathBuf>,
    /// Pieces to judge by (default: a quarter of the scores is held back).
    #[arg(long, value_name = "DATA")]
    pub validation: Option<PathBuf>,
    /// Most passes through the data.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub epochs: usize,
    /// Step size of the optimiser.
    #[arg(long, default_value_t = 1e-4, value_name = "F")]
    pub learning_rate: f64,
    /// What to train with.
    #[command(flatten)]
    pub common: TrainingOptions,
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
    /// Turn a PyTorch checkpoint of the published code into a model.
    Import {
        /// The checkpoint (.ckpt, .pt) or a safetensors file with its names.
        checkpoint: PathBuf,
        /// The model to write.
        #[arg(long, short, value_name = "FILE.safetensors")]
        output: PathBuf,
    },
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
    /// Which methods; base features are always tested.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "softdtw,along-gt,dilate,decdtw")]
    pub methods: Vec<MethodArg>,
    /// Folder for the trained models (default: experiment-DATA). Models that are there are tested, not trained again.
    #[arg(long, value_name = "DIR")]
    pub models: Option<PathBuf>,
    /// Most passes through the data.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub epochs: usize,
    /// What to train with.
    #[command(flatten)]
    pub common: TrainingOptions,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Names of the training methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// The error of the optimal warp (TimeErr).
    Decdtw,
    /// The same with TimeDev.
    DecdtwTimedev,
    /// The soft-DTW discrepancy.
    Softdtw,
    /// Feature distance along the true path.
    AlongGt,
    /// Expected path against the true one.
    Dilate,
}

impl From<MethodArg> for Method {
    fn from(arg: MethodArg) -> Self {
        match arg {
            MethodArg::Decdtw => Self::decdtw(WarpLoss::TimeErr),
            MethodArg::DecdtwTimedev => Self::decdtw(WarpLoss::TimeDev),
            MethodArg::Softdtw => Self::SoftDtw { gamma: 1.0 },
            MethodArg::AlongGt => Self::AlongTruth,
            MethodArg::Dilate => Self::Dilate { alpha: 0.0, gamma: 0.1 },
        }
    }
}
