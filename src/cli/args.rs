//! What was typed, as clap reads it, and how it becomes validated settings.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::batch::Shard;
use super::settings_args::{BarArgs, SettingsArgs};
use super::training_args::{ExperimentArgs, FineTuneArgs, ModelArgs, TrainArgs};
use crate::align::settings::FeatureKind;
use crate::base::error::{Error, Result};
use crate::devices::DeviceChoice;
use crate::export::Format;

/// Said where a build cannot write or read tables.
#[cfg(not(feature = "parquet"))]
pub(super) const NO_PARQUET: &str =
    "this build has no Parquet; build it with the feature `parquet`, or choose another format";

/// Align a recording of a performance with its score.
#[derive(Debug, Parser)]
#[command(name = "agogic", version, about, max_term_width = 100)]
#[command(after_help = "Without a command the window opens: `agogic`, `agogic AUDIO SCORE [TRUTH]`, `agogic \
                  SESSION.agogic`.\nExit codes: 0 done, 1 failed, 2 wrong usage, 130 cancelled.")]
pub struct Cli {
    /// Print only results and errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Files to open in the window: a recording (or MIDI performance), its score and, if known, the truth; or a session.
    #[arg(value_name = "FILE", num_args = 0..=3)]
    pub files: Vec<PathBuf>,
}

impl Cli {
    /// The files to open in the window. A word that is neither a command nor a file is most likely a mistyped command.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        match self.files.iter().find(|path| !path.exists()) {
            None => Ok(self.files.clone()),
            Some(missing) => Err(Error::invalid(
                "the argument",
                format!("\"{}\"", missing.display()),
                "a file to open in the window or one of the commands that `agogic --help` lists",
            )),
        }
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find where every note of a score is in a recording.
    Align(AlignArgs),
    /// Compare an alignment with a ground truth.
    Evaluate(EvaluateArgs),
    /// Play a score into a WAV file.
    Synth(SynthArgs),
    /// Write the features of a recording or a score.
    Features(FeaturesArgs),
    /// Show how a score is read: parts, bars, keys, tempi, repeats, notes.
    Score(ScoreArgs),
    /// Align many pairs listed in a file (columns audio, score and, if known, truth and transcription), on one machine or many.
    Batch(BatchArgs),
    /// Print a summary of all batch results in a folder.
    BatchSummary(BatchSummaryArgs),
    /// Write the built-in demo piece: performance, score and ground truth.
    Demo(DemoArgs),
    /// Run the benchmarks.
    Bench(BenchArgs),
    /// List the devices that work can run on.
    Devices(DevicesArgs),
    /// Train an ear or a feature extractor on labelled pieces.
    Train(TrainArgs),
    /// Adapt a model to a few labelled pieces, such as another instrument.
    FineTune(FineTuneArgs),
    /// Make labelled pieces to train on: expressive performances of scores, with the exact truth.
    MakeData(MakeDataArgs),
    /// List, show or import models.
    Model(ModelArgs),
    /// Train and test all features with all methods, and print the tables.
    Experiment(ExperimentArgs),
    /// List the formats that results can be written in.
    Formats,
    /// Print a completion script for a shell.
    Completions {
        /// bash, zsh, fish, elvish or powershell.
        shell: clap_complete::Shell,
    },
    /// Write man pages, one for each command, into a folder.
    Man {
        /// The folder; it is made if it does not exist.
        folder: PathBuf,
    },
}

/// `agogic align`.
#[derive(Debug, Args)]
pub struct AlignArgs {
    /// The recording (WAV, FLAC, MP3, Ogg Vorbis, AAC/M4A, AIFF, CAF, MKV/WebM), or a performance as a Standard MIDI File.
    pub audio: PathBuf,
    /// The score: MusicXML, MEI, Humdrum **kern or MIDI; the format is detected from the content.
    pub score: PathBuf,
    /// Where to write, the format taken from the extension; may be given several times. Default: CSV on stdout.
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// How to write.
    #[command(flatten)]
    pub writing: WritingArgs,
    /// How to align.
    #[command(flatten)]
    pub settings: SettingsArgs,
    /// Where the work runs: auto, cpu, gpu (any graphics card), cuda or metal. `auto` uses a graphics card where it is faster; see `agogic devices`.
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: DeviceChoice,
    /// A ground truth to measure the result against.
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    /// Draw warp, tempo and aligned piano roll into a .png or .svg file; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub plot: Vec<PathBuf>,
    /// Print a summary as JSON on stdout: durations, notes, confidence, metrics, times by stage, peak memory.
    #[arg(long)]
    pub json: bool,
}

/// How results are written.
#[derive(Debug, Args)]
pub struct WritingArgs {
    /// Format of the output, whatever its extension; `agogic formats` lists them.
    #[arg(long, value_parser = parse_format, value_name = "NAME")]
    pub format: Option<Format>,
    /// One CSV row per score change point, or per note.
    #[arg(long, value_enum, default_value = "change")]
    pub per: PerArg,
}

/// `agogic evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// An alignment written by `agogic align` (CSV or JSON) or Thickstun text.
    pub prediction: PathBuf,
    /// The ground truth.
    pub truth: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `agogic score`.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// The score: MusicXML, MEI, Humdrum **kern or MIDI; the format is detected from the content.
    pub score: PathBuf,
    /// Print JSON: everything that is read, with the notes in playing order.
    #[arg(long)]
    pub json: bool,
    /// Take every bar once, in the order of the page, instead of writing repeats out.
    #[arg(long)]
    pub as_written: bool,
    /// How the bars of a MIDI score are counted.
    #[command(flatten)]
    pub bars: BarArgs,
}

/// `agogic synth`.
#[derive(Debug, Args)]
pub struct SynthArgs {
    /// The score: MusicXML, MEI, Humdrum **kern or MIDI.
    #[arg(required_unless_present = "list_soundfonts")]
    pub score: Option<PathBuf>,
    /// The WAV file to write.
    #[arg(long, short, value_name = "OUT.wav", required_unless_present = "list_soundfonts")]
    pub output: Option<PathBuf>,
    /// Play only parts called NAME, or else those whose name contains NAME; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub part: Vec<String>,
    /// SoundFont (.sf2) to play it with (default: the built-in piano).
    #[arg(long, value_name = "FILE")]
    pub soundfont: Option<PathBuf>,
    /// List the SoundFonts found on this system and stop.
    #[arg(long)]
    pub list_soundfonts: bool,
}

/// `agogic features`.
#[derive(Debug, Args)]
pub struct FeaturesArgs {
    /// A recording, or a score (which is played first).
    pub input: PathBuf,
    /// The .csv or .npy file to write.
    #[arg(long, short, value_name = "OUT.csv|.npy")]
    pub output: PathBuf,
    /// Which features.
    #[arg(long, value_enum, default_value = "cqt")]
    pub features: FeaturesArg,
    /// Samples between frames, at 22,050 Hz.
    #[arg(long, default_value_t = 1024, value_name = "N")]
    pub hop: usize,
    /// SoundFont (.sf2) to play a score with.
    #[arg(long, value_name = "FILE")]
    pub soundfont: Option<PathBuf>,
}

/// `agogic batch`.
#[derive(Debug, Args)]
pub struct BatchArgs {
    /// CSV file with the columns audio, score and optionally truth, transcription and id, separated by commas, tabs or semicolons; paths are
    /// relative to its folder.
    pub manifest: PathBuf,
    /// Folder for the results.
    #[arg(long, value_name = "DIR")]
    pub out_dir: PathBuf,
    /// Do only the Ith of N equal parts of the list: N workers sharing only the folder complete the whole list.
    #[arg(long, value_parser = Shard::parse, value_name = "I/N", default_value = "1/1")]
    pub shard: Shard,
    /// Skip what an earlier run has done from the same content with the same settings, model and version.
    #[arg(long)]
    pub resume: bool,
    /// A JSON file with the progress, updated as the batch runs.
    #[arg(long, value_name = "FILE.json")]
    pub progress: Option<PathBuf>,
    /// Where the work runs: auto, cpu, gpu (any graphics card), cuda or metal. `auto` uses a graphics card where it is faster; see `agogic devices`.
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: DeviceChoice,
    /// How many pairs to align at once (default: one per processor).
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// A format that `agogic formats` lists, for one file per pair, or parquet, for one table of notes and one of pieces.
    #[arg(long, value_parser = parse_batch_format, value_name = "NAME", default_value = "csv")]
    pub format: BatchFormat,
    /// One CSV row per score change point, or per note (default: change).
    #[arg(long, value_enum)]
    pub per: Option<PerArg>,
    /// How to align.
    #[command(flatten)]
    pub settings: SettingsArgs,
    /// Print the table as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What a batch writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchFormat {
    /// A file of its own for every pair.
    Files(Format),
    /// A table of notes and one of pieces for all pairs.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl BatchFormat {
    /// The name for `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files(format) => format.name(),
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }
}

impl BatchArgs {
    /// The format with what a CSV row stands for.
    pub fn format(&self) -> Result<BatchFormat> {
        match (self.format, self.per) {
            (format, None) => Ok(format),
            (BatchFormat::Files(format), Some(per)) => Ok(BatchFormat::Files(per.of(format))),
            #[cfg(feature = "parquet")]
            (BatchFormat::Parquet, Some(_)) => Err(Error::misplaced("--per", "--format csv", "--format parquet")),
        }
    }
}

/// `agogic batch-summary`.
#[derive(Debug, Args)]
pub struct BatchSummaryArgs {
    /// The folder that batches have written to.
    pub dir: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `agogic demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Folder to write to; made if it does not exist.
    pub dir: PathBuf,
}

/// `agogic make-data`.
#[derive(Debug, Args)]
pub struct MakeDataArgs {
    /// Folder of scores: Standard MIDI Files; a scores.csv in it (columns id and licence) may say their licences.
    pub scores: PathBuf,
    /// Folder for the pieces: new, empty, or that of an earlier run, to continue it.
    pub out_dir: PathBuf,
    /// How many pieces.
    #[arg(long, value_name = "N")]
    pub count: usize,
    /// Random seed: the same seed always gives the same pieces.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// How many piano studies, written by rule, to add to the scores: fast runs and arpeggios, which free scores have few of.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub studies: usize,
    /// SoundFont (.sf2) to play with, in addition to the built-in piano; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub soundfont: Vec<PathBuf>,
    /// Folder of recorded single notes, listed in its samples.csv; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub samples: Vec<PathBuf>,
    /// About how long each piece is.
    #[arg(long, default_value_t = 24.0, value_name = "S")]
    pub seconds: f64,
    /// How many pieces to make at once (default: one per processor).
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
}

/// `agogic devices`.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Print the list as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `agogic bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Solve the stored problems of a folder (problems.csv next to .f32 files) instead.
    #[arg(long, value_name = "DIR")]
    pub problems: Option<PathBuf>,
    /// What to measure: cpu, gpu in addition to it, or auto for a card if there is one.
    #[arg(long, default_value = "cpu", value_name = "DEVICE")]
    pub device: DeviceChoice,
}

/// What a CSV row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PerArg {
    /// Every distinct onset or offset of the score.
    Change,
    /// Every note.
    Note,
}

/// Names of the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FeaturesArg {
    /// Constant-Q spectrum.
    Cqt,
    /// Pitch classes.
    Chroma,
    /// Mel bands.
    Mel,
}

impl From<FeaturesArg> for FeatureKind {
    fn from(arg: FeaturesArg) -> Self {
        match arg {
            FeaturesArg::Cqt => Self::Cqt,
            FeaturesArg::Chroma => Self::Chroma,
            FeaturesArg::Mel => Self::Mel,
        }
    }
}

impl WritingArgs {
    /// The format for a file, or for stdout.
    pub fn format_for(&self, output: Option<&Path>) -> Result<Format> {
        let format = match (self.format, output) {
            (Some(format), _) => format,
            (None, Some(path)) => Format::from_extension(path)?,
            (None, None) => Format::Csv,
        };
        Ok(self.per.of(format))
    }
}

impl PerArg {
    /// The format whose rows stand for this.
    fn of(self, format: Format) -> Format {
        if format == Format::Csv && self == Self::Note { Format::NotesCsv } else { format }
    }
}

fn parse_format(text: &str) -> std::result::Result<Format, String> {
    Format::by_name(text).map_err(|error| error.to_string())
}

fn parse_batch_format(text: &str) -> std::result::Result<BatchFormat, String> {
    match text.to_lowercase().as_str() {
        #[cfg(feature = "parquet")]
        "parquet" => Ok(BatchFormat::Parquet),
        #[cfg(not(feature = "parquet"))]
        "parquet" => Err(NO_PARQUET.to_owned()),
        _ => Format::by_name(text).map(BatchFormat::Files).map_err(|error| format!("{error}, or parquet")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn files_open_the_window_and_commands_still_come_first() {
        let parse = |words: &[&str]| Cli::try_parse_from([&["agogic"], words].concat());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.wav");
        std::fs::write(&file, "").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(parse(&[file, file]).unwrap().files().unwrap().len(), 2);
        assert!(matches!(parse(&["formats"]).unwrap().command, Some(Command::Formats)));
        assert!(matches!(parse(&["align", file, file]).unwrap().command, Some(Command::Align(_))));
        let mistyped = parse(&["aling", file]).unwrap().files().unwrap_err().to_string();
        assert!(mistyped.contains("aling") && mistyped.contains("--help"), "{mistyped}");
        assert!(parse(&[file; 4]).is_err());
        assert!(parse(&["--unknown"]).is_err());
    }
}
