//! What the command line knows, as functions: bindings to other languages have its options, defaults, rules and sentences.

use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};

use super::settings_args::SettingsArgs;
use super::{align, demo, features, like, outputs, synth};
use crate::align::settings::Settings;
use crate::align::{AlignedFiles, is_take};
use crate::audio::AudioClip;
use crate::base::atomic_file::write_output;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::devices::{ChosenDevice, DeviceChoice, Notify};
use crate::evaluation::Metrics;
use crate::export::Format;

/// How to align, and where.
#[derive(Debug)]
pub struct AlignOptions {
    /// Checked settings.
    pub settings: Settings,
    typed: Typed,
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Typed {
    #[command(flatten)]
    settings: SettingsArgs,
    /// As of `agogic align`.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
}

impl AlignOptions {
    /// Options of `agogic align`: names without their dashes, values as they are typed. A name may come several times where the
    /// command line allows it.
    pub fn parse(named: &[(String, String)]) -> Result<Self> {
        let names = Self::names();
        if let Some((unknown, _)) = named.iter().find(|(name, _)| !names.contains(name)) {
            return Err(Error::invalid(
                "the setting",
                format!("\"{unknown}\""),
                format!("one of {}", names.join(", ")),
            ));
        }
        let words = named.iter().map(|(name, value)| format!("--{name}={value}"));
        let typed = Typed::try_parse_from(words).map_err(|error| sentence(&error))?;
        Ok(Self { settings: typed.settings.settings()?, typed })
    }

    /// The names that are understood.
    pub fn names() -> Vec<String> {
        Typed::command().get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
    }

    /// Refuses what was said about how to listen if the performance is MIDI, which is not listened to.
    pub fn check_performance(&self, performance: &Path) -> Result<()> {
        if is_take(performance) { self.typed.settings.refuse_listening() } else { Ok(()) }
    }

    /// Opens the device that was asked for.
    pub fn open_device(&self, notify: Notify) -> Result<ChosenDevice> {
        like::device_like(self.typed.settings.like.as_deref(), self.typed.device)?.open(notify)
    }

    /// The files that are read beside performance and score.
    pub fn files(&self) -> Vec<PathBuf> {
        self.settings.files().into_iter().chain(self.typed.settings.like.clone()).collect()
    }
}

/// What clap says in several lines.
fn sentence(error: &clap::Error) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let option = text(ContextKind::InvalidArg);
    // "--slope <MIN:MAX>": the option and what it takes.
    let name = option.split_whitespace().next().unwrap_or("a setting").to_owned();
    let allowed = match (text(ContextKind::ValidValue), std::error::Error::source(error)) {
        (_, Some(cause)) => cause.to_string().trim_start_matches("expected ").to_owned(),
        (names, None) if !names.is_empty() => format!("one of {names}"),
        _ => "given once".to_owned(),
    };
    Error::invalid(name, format!("\"{}\"", text(ContextKind::InvalidValue)), allowed)
}

/// The metrics of an outcome against a ground truth of its score.
pub fn evaluate_with(outcome: &AlignedFiles, score: &Path, truth: &Path) -> Result<Metrics> {
    Ok(align::measure(outcome, &align::read_truth(truth, score)?))
}

/// An outcome in a format; pictures and JSON show the truth, if there is one.
pub fn render(outcome: &AlignedFiles, format: Format, score: &Path, truth: Option<&Path>) -> Result<Vec<u8>> {
    let truth = truth.map(|truth| align::read_truth(truth, score)).transpose()?;
    let metrics = truth.as_ref().map(|truth| align::measure(outcome, truth));
    format.exporter().render(&align::export_input(outcome, truth.as_ref(), metrics.as_ref()))
}

/// Writes what [`render`] gave, whole or not at all, and never over one of the files that were read.
pub fn save(ctx: &JobContext, path: &Path, content: &[u8], inputs: &[PathBuf]) -> Result<()> {
    outputs::check_outputs([path], inputs.iter().map(PathBuf::as_path))?;
    write_output(ctx, path, content)
}

/// A recording as it is decoded, or a score as it is played.
pub fn load_sound(ctx: &JobContext, input: &Path, soundfont: Option<&Path>) -> Result<AudioClip> {
    features::load(ctx, input, soundfont)
}

/// A score, or some of its parts, as sound.
pub fn play_score(ctx: &JobContext, score: &Path, parts: &[String], soundfont: Option<&Path>) -> Result<AudioClip> {
    synth::play(ctx, score, parts, soundfont)
}

/// Writes performance, score and truth of the demo piece into a folder.
pub fn write_demo(ctx: &JobContext, dir: &Path) -> Result<[PathBuf; 3]> {
    demo::write(ctx, dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::settings::{Anchor, Method};

    fn parse(named: &[(&str, &str)]) -> Result<AlignOptions> {
        let named: Vec<_> = named.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        AlignOptions::parse(&named)
    }

    #[test]
    fn names_and_values_are_those_of_the_command_line() {
        assert_eq!(parse(&[]).unwrap().settings, Settings::default());
        let frames = parse(&[("method", "frames"), ("hop", "512"), ("anchor", "-1=2"), ("anchor", "3=4.5")]).unwrap();
        assert!(matches!(&frames.settings.method, Method::Frames(frames) if frames.hop == 512));
        assert_eq!(frames.settings.anchors[0], Anchor { score_s: -1.0, performance_s: 2.0 });
        assert_eq!(frames.settings.anchors.len(), 2);
    }

    #[test]
    fn what_does_not_fit_is_refused_in_one_sentence() {
        let message = |named: &[(&str, &str)]| parse(named).unwrap_err().to_string();
        assert!(message(&[("tempo", "3")]).starts_with("the setting is \"tempo\", but must be one of method, band,"));
        assert_eq!(message(&[("method", "guess")]), "--method is \"guess\", but must be one of onsets, frames");
        assert_eq!(message(&[("slope", "x")]), "--slope is \"x\", but must be MIN:MAX, such as 0.5:2");
        assert_eq!(
            message(&[("hop", "512")]),
            Error::misplaced("--hop", "--method frames", "--method onsets").to_string()
        );
        assert!(message(&[("band", "1"), ("band", "2")]).starts_with("--band is "));
        assert!(message(&[("device", "abacus")]).contains("auto, cpu, gpu, cuda or metal"));
        assert!(message(&[("hop", "many"), ("method", "frames")]).starts_with("--hop is \"many\", but must be"));
    }
}
