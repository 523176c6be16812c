//! `agogic train-onsets`: from labelled recordings to the network that hears where notes begin.

use std::path::Path;

use serde_json::json;

use super::training_args::TrainOnsetsArgs;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::learning::ear_alignment::{AlignmentTraining, load_aligned_sounds, train_through_alignment};
use crate::learning::{PieceFiles, find_pieces};
use crate::networks::ear::{OnsetCard, OnsetNetwork, OnsetTraining, load, load_sounds, save, train_onsets};

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &TrainOnsetsArgs) -> Result<()> {
    crate::base::atomic_file::check_writable(&args.output)?;
    let files = find_pieces(&args.data)?;
    let validation = args.validation.as_ref().map_or_else(|| Ok(Vec::new()), |data| find_pieces(data))?;
    let name = args.output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut card = OnsetCard::new(name, args.licence.clone());
    card.training.insert("command".to_owned(), json!(command(args)));
    card.training.insert("pieces".to_owned(), json!(files.len()));
    card.training.insert("augmented".to_owned(), json!(!args.no_augmentation));
    let mut network = match &args.init {
        Some(path) => load(path)?.0,
        None => hear_notes(ctx, quiet, args, &files, &validation, &mut card)?,
    };
    if args.alignment_passes > 0 {
        network = learn_from_alignment(ctx, quiet, args, &files, &validation, &network, &mut card)?;
    }
    save(&network, &card, &args.output)?;
    super::print(format!("{}: {} weights\n", args.output.display(), card.parameters).as_bytes())
}

/// The first lesson: where notes begin.
fn hear_notes(
    ctx: &JobContext,
    quiet: bool,
    args: &TrainOnsetsArgs,
    files: &[PieceFiles],
    validation: &[PieceFiles],
    card: &mut OnsetCard,
) -> Result<OnsetNetwork> {
    let params = OnsetTraining {
        epochs: args.epochs,
        learning_rate: args.learning_rate,
        seed: args.seed,
        disguised: !args.no_augmentation,
    };
    let (sounds, validation) = (load_sounds(ctx, files)?, load_sounds(ctx, validation)?);
    let losses = std::cell::Cell::new((f64::NAN, None));
    let network = train_onsets(ctx, &sounds, &validation, &params, &|epoch, loss, validated| {
        losses.set((loss, validated));
        if !quiet {
            let validated = validated.map_or_else(String::new, |loss| format!(", validation loss {loss:.5}"));
            super::print_note(&format!("epoch {epoch:>3}: loss {loss:.5}{validated}"));
        }
    })?;
    let (loss, validated) = losses.get();
    card.metrics.insert("training_loss".to_owned(), loss);
    card.metrics.extend(validated.map(|loss| ("validation_loss".to_owned(), loss)));
    Ok(network)
}

/// The second lesson: what places them right.
fn learn_from_alignment(
    ctx: &JobContext,
    quiet: bool,
    args: &TrainOnsetsArgs,
    files: &[PieceFiles],
    validation: &[PieceFiles],
    start: &OnsetNetwork,
    card: &mut OnsetCard,
) -> Result<OnsetNetwork> {
    let params =
        AlignmentTraining { passes: args.alignment_passes, learning_rate: 0.1 * args.learning_rate, seed: args.seed };
    let (sounds, validation) = (load_aligned_sounds(ctx, files)?, load_aligned_sounds(ctx, validation)?);
    let errors = std::cell::RefCell::new(Vec::new());
    let network = train_through_alignment(ctx, start, &sounds, &validation, &params, &|pass, trained_ms, error_ms| {
        errors.borrow_mut().push(error_ms);
        if !quiet {
            let trained = trained_ms.map_or_else(String::new, |ms| format!("TimeErr {ms:.2} ms, "));
            super::print_note(&format!("alignment pass {pass:>3}: {trained}validation TimeErr {error_ms:.2} ms"));
        }
    })?;
    let errors = errors.into_inner();
    card.metrics.insert("validation_stretch_ms_before".to_owned(), errors[0]);
    card.metrics.insert("validation_stretch_ms".to_owned(), errors.iter().copied().fold(f64::INFINITY, f64::min));
    Ok(network)
}

/// How the training can be repeated, without the folders of this machine.
fn command(args: &TrainOnsetsArgs) -> String {
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let validation = args.validation.as_deref().map_or_else(String::new, |v| format!(" --validation {}", name(v)));
    let start = args
        .init
        .as_deref()
        .map_or_else(|| format!("--epochs {}", args.epochs), |init| format!("--init {}", name(init)));
    let aligned = match args.alignment_passes {
        0 => String::new(),
        passes => format!(" --alignment-passes {passes}"),
    };
    let plain = if args.no_augmentation { " --no-augmentation" } else { "" };
    format!(
        "agogic train-onsets {}{validation} {start}{aligned} --learning-rate {} --seed {}{plain}",
        name(&args.data),
        args.learning_rate,
        args.seed
    )
}
