//! How to align, as typed: options that belong to a method are refused beside another one.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::args::FeaturesArg;
use super::like;
use crate::align::settings::{
    Aligner, Anchor, DEFAULT_HOP, Ends, FeatureKind, FixedNote, FrameMethod, Method, OnsetMethod, Path as PathChoice,
    SHIPPED_EAR, Settings, SlopeLimits,
};
use crate::base::error::{Error, Result};
use crate::networks::{Device, open_extractor};
use crate::score::BarCount;

const ONSETS: &str = "Options of --method onsets";
const FRAMES: &str = "Options of --method frames";
const ANY: &str = "Options of either method";

/// How to align.
#[derive(Debug, Args)]
pub struct SettingsArgs {
    /// How the warp is found (default: onsets).
    #[arg(long, value_enum, help_heading = ANY)]
    pub method: Option<MethodArg>,
    /// How far the warp may stray from the rough start, in seconds.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = ANY)]
    pub band: Option<f64>,
    /// Slope limits, relative to the overall tempo ratio (not with --aligner dtw).
    #[arg(long, value_parser = parse_slope, value_name = "MIN:MAX", allow_hyphen_values = true, help_heading = ANY)]
    pub slope: Option<SlopeLimits>,
    /// Fix a moment: this score time is at this performance time (seconds); may be given several times.
    #[arg(
        long,
        value_parser = parse_anchor,
        value_name = "SCORE_S=PERF_S",
        allow_hyphen_values = true,
        help_heading = ANY
    )]
    pub anchor: Vec<Anchor>,
    /// Fix the onset of one note, counted from 0 in the order of `--per note`; may be given several times.
    #[arg(
        long,
        value_parser = parse_fixed_note,
        value_name = "NOTE=PERF_S",
        allow_hyphen_values = true,
        help_heading = ANY
    )]
    pub fix_note: Vec<FixedNote>,
    /// Align only parts called NAME, or else those whose name contains NAME; may be given several times. `agogic score` shows the names.
    #[arg(long, value_name = "NAME", help_heading = ANY)]
    pub part: Vec<String>,
    /// How the bars of a MIDI score are counted.
    #[command(flatten)]
    pub bars: BarArgs,
    /// Take all settings from an earlier result (JSON) or session, to make it again.
    #[arg(long, value_name = "RESULT.json", help_heading = ANY)]
    pub like: Option<PathBuf>,
    /// The network that hears onsets: none, a name or a file; `agogic model list` shows the names (default: ear).
    #[arg(long, value_name = "none|NAME|FILE", help_heading = ONSETS)]
    pub ear: Option<String>,
    /// Notes of the recording that another program heard, or a person: a MIDI file whose notes are added to what the ear hears.
    #[arg(long, value_name = "FILE.mid", help_heading = ONSETS)]
    pub transcription: Option<PathBuf>,
    /// Which way through the repeats of the score was played: auto (the recording decides), written, no-repeats (but with da capo and dal segno), or
    /// the letters of the sections in the order that they were played, such as A,B,B,C; `agogic score` shows them (default: auto).
    #[arg(long, value_parser = parse_path, value_name = "auto|written|no-repeats|A,B,…", help_heading = ONSETS)]
    pub path: Option<PathChoice>,
    /// Which features are compared (default: those of the extractor, else cqt).
    #[arg(long, value_enum, help_heading = FRAMES)]
    pub features: Option<FeaturesArg>,
    /// Learned feature extractor: none, a name or a file; `agogic model list` shows the names (default: none).
    #[arg(long, value_name = "none|NAME|FILE", help_heading = FRAMES)]
    pub extractor: Option<String>,
    /// Which algorithm aligns the frames (default: gdtw).
    #[arg(long, value_enum, help_heading = FRAMES)]
    pub aligner: Option<AlignerArg>,
    /// Samples between feature frames, at 22,050 Hz (default: those of the extractor, else 1024).
    #[arg(long, value_name = "N", help_heading = FRAMES)]
    pub hop: Option<usize>,
    /// Weight of the tempo regulariser of gdtw (default: what suits the features).
    #[arg(long, value_name = "F", allow_negative_numbers = true, help_heading = FRAMES)]
    pub lambda: Option<f64>,
    /// Whether the recording may hold more or less than the score, or their ends belong together (default: free).
    #[arg(long, value_enum, help_heading = FRAMES)]
    pub ends: Option<EndsArg>,
    /// SoundFont (.sf2) that the score is synthesised with (default: the built-in piano).
    #[arg(long, value_name = "FILE", help_heading = FRAMES)]
    pub soundfont: Option<PathBuf>,
}

/// How the bars of a MIDI score are counted.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct BarArgs {
    /// Number of a MIDI score's first bar (default: 1, or 0 for a pickup).
    #[arg(long, value_name = "N", help_heading = ANY)]
    pub first_bar: Option<u32>,
    /// The first bar of a MIDI score is a pickup of so many quarter notes.
    #[arg(long, value_name = "QUARTERS", allow_negative_numbers = true, help_heading = ANY)]
    pub pickup: Option<f64>,
}

impl BarArgs {
    /// As it was typed.
    pub fn count(self) -> BarCount {
        BarCount { first_bar: self.first_bar, pickup_quarters: self.pickup }
    }
}

/// Names of the methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// Every onset of the score is placed by the attacks in the recording: the most accurate.
    Onsets,
    /// The published method: the score is synthesised, and features of both are aligned frame by frame.
    Frames,
}

/// Names of the aligners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AlignerArg {
    /// Continuous-time, regularised time warping.
    Gdtw,
    /// Classic dynamic time warping.
    Dtw,
}

/// Names of the ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EndsArg {
    /// The recording may hold more than the score, or only a part of it.
    Free,
    /// The first and last moments of score and recording belong together.
    Pinned,
}

impl SettingsArgs {
    /// The settings that were typed, checked.
    pub fn settings(&self) -> Result<Settings> {
        if let Some(result) = &self.like {
            self.refuse_beside_like()?;
            return like::read_settings(result);
        }
        let method = match self.method.unwrap_or(MethodArg::Onsets) {
            MethodArg::Onsets => Method::Onsets(self.onset_method()?),
            MethodArg::Frames => Method::Frames(self.frame_method()?),
        };
        let (anchors, fixed_notes) = (self.anchor.clone(), self.fix_note.clone());
        let parts = self.part.clone();
        let bars = self.bars.count();
        let settings = Settings { method, band_s: self.band, anchors, fixed_notes, parts, bars };
        settings.validate()?;
        Ok(settings)
    }

    fn onset_method(&self) -> Result<OnsetMethod> {
        if let Some((option, _)) = self.frame_options().into_iter().find(|(_, given)| *given) {
            return Err(Error::misplaced(option, "--method frames", "--method onsets"));
        }
        let ear = match self.ear.as_deref() {
            None => Some(SHIPPED_EAR.to_owned()),
            Some(typed) => model(typed),
        };
        let transcription = self.transcription.as_deref().map(absolute);
        let path = self.path.clone().unwrap_or_default();
        Ok(OnsetMethod { ear, transcription, slope: self.slope, path })
    }

    fn frame_method(&self) -> Result<FrameMethod> {
        if let Some((option, _)) = self.onset_options().find(|(_, given)| *given) {
            return Err(Error::misplaced(option, "--method onsets", "--method frames"));
        }
        let aligner = match self.aligner.unwrap_or(AlignerArg::Gdtw) {
            AlignerArg::Gdtw => Aligner::Gdtw { lambda: self.lambda, slope: self.slope },
            AlignerArg::Dtw => {
                let given = [("--lambda", self.lambda.is_some()), ("--slope", self.slope.is_some())];
                if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
                    return Err(Error::misplaced(option, "--aligner gdtw", "--aligner dtw"));
                }
                Aligner::Dtw
            }
        };
        let extractor = self.extractor.as_deref().and_then(model);
        let card =
            extractor.as_deref().map(|name| Ok::<_, Error>(open_extractor(name, &Device::Cpu)?.card)).transpose()?;
        let features = match (self.features, &card) {
            (Some(typed), _) => typed.into(),
            (None, Some(card)) => card.spec.features,
            (None, None) => FeatureKind::Cqt,
        };
        let hop = self.hop.unwrap_or(card.as_ref().map_or(DEFAULT_HOP, |card| card.spec.hop));
        if let Some(card) = &card {
            card.check_suits(features, hop)?;
        }
        Ok(FrameMethod {
            features,
            extractor,
            aligner,
            hop,
            ends: match self.ends.unwrap_or(EndsArg::Free) {
                EndsArg::Free => Ends::Free,
                EndsArg::Pinned => Ends::Pinned,
            },
            soundfont: self.soundfont.as_deref().map(absolute),
        })
    }

    /// What is said about how to listen.
    fn listening_options(&self) -> [(&'static str, bool); 2] {
        [("--ear", self.ear.is_some()), ("--transcription", self.transcription.is_some())]
    }

    fn onset_options(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.listening_options().into_iter().chain([("--path", self.path.is_some())])
    }

    /// Refuses what was said about how to listen, for performances that are not listened to: their notes are known.
    pub fn refuse_listening(&self) -> Result<()> {
        match self.listening_options().into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Error::misplaced(option, "a recording", "a MIDI performance")),
            None => Ok(()),
        }
    }

    fn frame_options(&self) -> [(&'static str, bool); 7] {
        [
            ("--features", self.features.is_some()),
            ("--extractor", self.extractor.is_some()),
            ("--aligner", self.aligner.is_some()),
            ("--hop", self.hop.is_some()),
            ("--lambda", self.lambda.is_some()),
            ("--ends", self.ends.is_some()),
            ("--soundfont", self.soundfont.is_some()),
        ]
    }

    /// A result is made again as it was: nothing else can be set beside it.
    fn refuse_beside_like(&self) -> Result<()> {
        let others = [
            ("--method", self.method.is_some()),
            ("--band", self.band.is_some()),
            ("--slope", self.slope.is_some()),
            ("--anchor", !self.anchor.is_empty()),
            ("--fix-note", !self.fix_note.is_empty()),
            ("--part", !self.part.is_empty()),
            ("--first-bar", self.bars.first_bar.is_some()),
            ("--pickup", self.bars.pickup.is_some()),
        ];
        let mut others = others.into_iter().chain(self.onset_options()).chain(self.frame_options());
        match others.find(|(_, given)| *given) {
            Some((option, _)) => Err(Error::invalid("--like", format!("beside {option}"), "the only setting")),
            None => Ok(()),
        }
    }
}

/// A model as settings name it: none, the name of a shipped one, or a file that is found from any folder.
fn model(typed: &str) -> Option<String> {
    match typed {
        "none" => None,
        name if Path::new(name).exists() => Some(absolute(Path::new(name)).display().to_string()),
        name => Some(name.to_owned()),
    }
}

pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn parse_slope(text: &str) -> std::result::Result<SlopeLimits, String> {
    let parsed = text.split_once(':').and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)));
    let (min, max) = parsed.ok_or("expected MIN:MAX, such as 0.5:2")?;
    Ok(SlopeLimits { min, max })
}

fn parse_path(text: &str) -> std::result::Result<PathChoice, String> {
    let labels = || text.split([',', ' ']).map(str::trim).filter(|label| !label.is_empty()).map(str::to_uppercase);
    match text {
        "auto" => Ok(PathChoice::Auto),
        "written" => Ok(PathChoice::Written),
        "no-repeats" => Ok(PathChoice::NoRepeats),
        _ if labels().next().is_some() && labels().all(|label| label.chars().all(|c| c.is_ascii_uppercase())) => {
            Ok(PathChoice::Sections(labels().collect()))
        }
        _ => Err("expected auto, written, no-repeats or letters of sections, such as A,B,B,C".to_owned()),
    }
}

fn parse_anchor(text: &str) -> std::result::Result<Anchor, String> {
    let parsed = text.split_once('=').and_then(|(score, perf)| Some((score.parse().ok()?, perf.parse().ok()?)));
    let (score_s, performance_s) = parsed.ok_or("expected SCORE_SECONDS=PERFORMANCE_SECONDS, such as 12.5=14.02")?;
    Ok(Anchor { score_s, performance_s })
}

fn parse_fixed_note(text: &str) -> std::result::Result<FixedNote, String> {
    let parsed = text.split_once('=').and_then(|(note, perf)| Some((note.parse().ok()?, perf.parse().ok()?)));
    let (note, performance_s) = parsed.ok_or("expected NOTE=PERFORMANCE_SECONDS, such as 17=14.02")?;
    Ok(FixedNote { note, performance_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_notes_and_slopes_are_parsed_and_nonsense_is_explained() {
        assert_eq!(parse_anchor("1.5=2").unwrap(), Anchor { score_s: 1.5, performance_s: 2.0 });
        assert!(parse_anchor("1.5").unwrap_err().contains("SCORE_SECONDS=PERFORMANCE_SECONDS"));
        assert_eq!(parse_fixed_note("3=2.5").unwrap(), FixedNote { note: 3, performance_s: 2.5 });
        assert!(parse_fixed_note("-1=2.5").is_err());
        assert_eq!(parse_slope("0.5:2").unwrap(), SlopeLimits { min: 0.5, max: 2.0 });
        assert!(parse_slope("2").is_err());
    }
}
