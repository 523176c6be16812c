//! The command line: one file per subcommand, one table of exit codes.

mod align;
mod args;
pub(crate) mod batch;
mod bench;
mod demo;
mod devices;
mod evaluate;
mod experiment;
mod features;
mod fine_tune;
pub(crate) mod like;
mod make_data;
mod model;
mod outputs;
mod progress;
mod score;
pub mod scripting;
mod settings_args;
mod summary;
mod synth;
mod train;
mod training_args;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::{CommandFactory, Parser};

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::export::Format;
use args::{Cli, Command};
use outputs::{check_not_an_input, check_outputs};

const FAILURE: u8 = 1;
const USAGE: u8 = 2;
const CANCELLED: u8 = 130;

/// Runs the program: parses what was typed, does it, says what went wrong.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    start_threads();
    let files = cli.files();
    let outcome = match cli.command {
        None => files.and_then(open_window),
        // The bar is gone before anything is said below.
        Some(command) => run(&progress::Interactive::new(cli.quiet).ctx, cli.quiet, command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has seen enough: not a failure.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            print_note(&format!("agogic: {error}"));
            ExitCode::from(exit_code(&error))
        }
    }
}

/// Starts the threads that share the work, as many as the system allows; where it allows none, this one does all of it. They are
/// started before the pool is made, because a pool that fails once cannot be made again.
fn start_threads() {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let wanted: usize = asked.filter(|&number| number > 0).unwrap_or_else(cores);
    let (give, take) = std::sync::mpsc::channel::<rayon::ThreadBuilder>();
    let take = Arc::new(Mutex::new(take));
    let start = |_: &usize| {
        let take = Arc::clone(&take);
        let work = move || {
            let given = take.lock().map(|take| take.recv());
            if let Ok(Ok(thread)) = given {
                thread.run();
            }
        };
        std::thread::Builder::new().spawn(work).is_ok()
    };
    let started = (0..wanted).take_while(start).count();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(started.max(1));
    // Either fails only where a pool was made already.
    let _ = match started {
        0 => pool.use_current_thread().build_global(),
        _ => pool
            .spawn_handler(|thread| give.send(thread).map_err(|_| std::io::ErrorKind::BrokenPipe.into()))
            .build_global(),
    };
}

fn run(ctx: &JobContext, quiet: bool, command: Command) -> Result<()> {
    match command {
        Command::Align(args) => align::run(ctx, quiet, &args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Synth(args) => synth::run(ctx, &args),
        Command::Features(args) => features::run(ctx, &args),
        Command::Score(args) => score::run(&args),
        Command::Batch(args) => batch::run(ctx, quiet, &args),
        Command::BatchSummary(args) => batch::summary::run(&args),
        Command::Demo(args) => demo::run(ctx, quiet, &args),
        Command::Bench(args) => bench::run(ctx, &args),
        Command::Devices(args) => devices::run(&args),
        Command::Train(args) => train::run(ctx, quiet, &args),
        Command::FineTune(args) => fine_tune::run(ctx, quiet, &args),
        Command::MakeData(args) => make_data::run(ctx, quiet, &args),
        Command::Model(args) => model::run(&args),
        Command::Experiment(args) => experiment::run(ctx, quiet, &args),
        Command::Formats => print(format!("{}\n", Format::help()).as_bytes()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "agogic", &mut script);
            print(&script)
        }
        Command::Man { folder } => write_man_pages(&folder),
    }
}

fn write_man_pages(folder: &Path) -> Result<()> {
    let failed = |source| Error::io("write man pages into", folder, source);
    std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder)).map_err(failed)
}

fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Cancelled => CANCELLED,
        Error::Invalid { .. } | Error::Misplaced { .. } => USAGE,
        _ => FAILURE,
    }
}

/// Writes to stdout, with a broken pipe as an ordinary error instead of a panic.
fn print(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|source| Error::io("write to", "standard output", source))
}

/// Writes a line to stderr. Where nobody can read it, the work goes on all the same.
fn print_note(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

#[cfg(feature = "gui")]
fn open_window(files: Vec<PathBuf>) -> Result<()> {
    crate::app::open(files)
}

#[cfg(not(feature = "gui"))]
fn open_window(_: Vec<PathBuf>) -> Result<()> {
    Err(Error::unsuitable(
        "agogic",
        "this build has no window",
        "use `agogic align AUDIO SCORE`, or build with the `gui` feature",
    ))
}
