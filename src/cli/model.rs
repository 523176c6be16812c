//! `agogic model`: what models there are, and importing others.

use std::fmt::Write as _;
use std::path::Path;

use super::training_args::{ImportArgs, ModelArgs, ModelCommand};
use crate::base::error::{Error, Result};
use crate::networks::{Model, ModelCard, Spec, import, open_card, shipped_cards};

pub(super) fn run(args: &ModelArgs) -> Result<()> {
    let text = match &args.command {
        ModelCommand::List { folder } => list(folder.as_deref())?,
        ModelCommand::Show { model } => {
            let card = open_card(model)?;
            let json = serde_json::to_string_pretty(&card)
                .map_err(|e| Error::malformed(model, format!("its card cannot be shown: {e}"), "report this"))?;
            format!("{json}\n")
        }
        ModelCommand::Import(args) => import_checkpoint(args)?,
    };
    super::print(text.as_bytes())
}

/// Imports a checkpoint, writes what was said of it on its card, and tells what it is.
fn import_checkpoint(args: &ImportArgs) -> Result<String> {
    super::check_not_an_input(&args.output, &[args.checkpoint.as_path()])?;
    let imported = import(&args.checkpoint)?;
    let mut card = imported.card();
    let stem = || args.output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    card.name = args.name.clone().unwrap_or_else(stem);
    if let Some(licence) = &args.licence {
        card.licence.clone_from(licence);
    }
    for entry in &args.training {
        let (name, text) = parts(entry, "--training", "NAME=TEXT")?;
        card.training.insert(name, text.into());
    }
    for entry in &args.metric {
        const ALLOWED: &str = "NAME=NUMBER";
        let (name, value) = parts(entry, "--metric", ALLOWED)?;
        let value: Option<f64> = value.parse().ok().filter(|value: &f64| value.is_finite());
        card.metrics.insert(name, value.ok_or_else(|| Error::invalid("--metric", entry, ALLOWED))?);
    }
    let model = Model::new(card, imported.parameters()?, imported.device())?;
    model.save(&args.output)?;
    Ok(format!("{}\n", line(&model.card())))
}

/// Both sides of an equals sign.
fn parts<'a>(entry: &'a str, option: &str, allowed: &str) -> Result<(String, &'a str)> {
    match entry.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value)),
        _ => Err(Error::invalid(option, entry, allowed)),
    }
}

fn list(folder: Option<&Path>) -> Result<String> {
    let mut text = String::new();
    for card in shipped_cards()? {
        let _ = writeln!(text, "{}  (built in)", line(&card));
    }
    if let Some(folder) = folder {
        let failed = |source| Error::io("read", folder, source);
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .map_err(failed)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<std::io::Result<_>>()
            .map_err(failed)?;
        paths.retain(|path| path.extension().is_some_and(|e| e == "safetensors"));
        paths.sort();
        for path in paths {
            // One damaged model must not hide the others.
            let card = open_card(&path.to_string_lossy());
            let _ = match card {
                Ok(card) => writeln!(text, "{}  ({})", line(&card), path.display()),
                Err(error) => writeln!(text, "{error}"),
            };
        }
    }
    if text.is_empty() {
        text.push_str("no models: give a folder, or make one with `agogic train`\n");
    }
    Ok(text)
}

fn line(card: &ModelCard) -> String {
    let measured = card.metrics.get("validation_time_err_ms");
    let measured = measured.map_or_else(String::new, |ms| format!(", validation TimeErr {ms} ms"));
    let about = match &card.spec {
        Spec::Ear(ear) => format!("ear of {} channels and {} units, hop {}", ear.channels, ear.hidden, ear.hop),
        Spec::Extractor(of) => format!("extractor, {:?}, hop {}, lambda {:.3}", of.features, of.hop, of.lambda),
    };
    format!("{}: {about}{measured}, licence {}", card.name, card.licence)
}
