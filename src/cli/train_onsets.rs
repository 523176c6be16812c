//! `agogic train-onsets`: from labelled recordings to the network that hears where notes begin.

use std::path::Path;

use serde_json::json;

use super::training_args::TrainOnsetsArgs;
use crate::error::Result;
use crate::job::JobContext;
use crate::onset_network::{OnsetCard, OnsetTraining, load_sounds, save, train_onsets};
use crate::training::find_pieces;

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &TrainOnsetsArgs) -> Result<()> {
    super::check_folder_of(&args.output)?;
    let params = OnsetTraining {
        epochs: args.epochs,
        learning_rate: args.learning_rate,
        seed: args.seed,
        disguised: !args.no_augmentation,
    };
    let files = find_pieces(&args.data)?;
    let sounds = load_sounds(ctx, &files)?;
    let validation = match &args.validation {
        Some(data) => load_sounds(ctx, &find_pieces(data)?)?,
        None => Vec::new(),
    };
    let losses = std::cell::Cell::new((f64::NAN, None));
    let network = train_onsets(ctx, &sounds, &validation, &params, &|epoch, loss, validated| {
        losses.set((loss, validated));
        if !quiet {
            let validated = validated.map_or_else(String::new, |loss| format!(", validation loss {loss:.5}"));
            eprintln!("epoch {epoch:>3}: loss {loss:.5}{validated}");
        }
    })?;
    let name = args.output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut card = OnsetCard::new(name, args.licence.clone());
    card.training.insert("command".to_owned(), json!(command(args)));
    card.training.insert("pieces".to_owned(), json!(files.len()));
    card.training.insert("augmented".to_owned(), json!(params.disguised));
    let (loss, validated) = losses.get();
    card.metrics.insert("training_loss".to_owned(), loss);
    card.metrics.extend(validated.map(|loss| ("validation_loss".to_owned(), loss)));
    save(&network, &card, &args.output)?;
    super::print(format!("{}: {} weights, loss {loss:.5}\n", args.output.display(), card.parameters).as_bytes())
}

/// How the training can be repeated, without the folders of this machine.
fn command(args: &TrainOnsetsArgs) -> String {
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let validation = args.validation.as_deref().map_or_else(String::new, |v| format!(" --validation {}", name(v)));
    let plain = if args.no_augmentation { " --no-augmentation" } else { "" };
    format!(
        "agogic train-onsets {}{validation} --epochs {} --learning-rate {} --seed {}{plain}",
        name(&args.data),
        args.epochs,
        args.learning_rate,
        args.seed
    )
}
