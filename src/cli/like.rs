//! `--like`: the settings of an earlier result or session, with the models that it was made with.

use std::path::Path;

use serde::Deserialize;

use crate::align::result::{FileId, ModelId, Provenance};
use crate::align::settings::{Method, OnsetMethod, Settings};
use crate::base::error::{Error, Result};
use crate::base::whole_file::read_whole;
use crate::devices::DeviceChoice;
use crate::networks::open_card;

/// An hour of dense music takes about 10 MB, and a session may keep several alignments.
const MOST_BYTES: u64 = 1 << 30;
const REMEDY: &str = "give a result that was written as JSON, or a session";

/// What results and sessions have in common.
#[derive(Deserialize)]
struct Made {
    settings: Settings,
    provenance: Option<Provenance>,
    /// In a session the provenance is that of its alignment.
    alignment: Option<MadeAlignment>,
}

#[derive(Deserialize)]
struct MadeAlignment {
    provenance: Provenance,
}

impl Made {
    fn read(path: &Path) -> Result<Self> {
        let bytes = read_whole(path, MOST_BYTES, REMEDY)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let cause = format!("it holds no settings: {error}");
            Error::malformed(path, cause, REMEDY)
        })
    }

    fn provenance(&self) -> Option<&Provenance> {
        self.provenance.as_ref().or(self.alignment.as_ref().map(|alignment| &alignment.provenance))
    }
}

/// Reads the settings and makes sure that the models they name are still the same.
pub(crate) fn read_settings(path: &Path) -> Result<Settings> {
    let made = Made::read(path)?;
    made.settings.validate()?;
    if let Some(provenance) = made.provenance() {
        check_models(path, &made.settings, provenance)?;
        check_transcription(path, &made.settings, provenance)?;
    }
    Ok(made.settings)
}

/// The device to use: where the choice is left to the program, that of the result which is made again.
pub(super) fn device_like(path: Option<&Path>, choice: DeviceChoice) -> Result<DeviceChoice> {
    let (Some(path), DeviceChoice::Auto) = (path, choice) else { return Ok(choice) };
    let on_device = Made::read(path)?.provenance().is_some_and(|provenance| provenance.device.is_some());
    Ok(if on_device { DeviceChoice::Gpu } else { DeviceChoice::Cpu })
}

/// A transcription that was changed would make another result.
fn check_transcription(path: &Path, settings: &Settings, made_with: &Provenance) -> Result<()> {
    let Method::Onsets(OnsetMethod { transcription: Some(file), .. }) = &settings.method else { return Ok(()) };
    let bytes = read_whole(file, MOST_BYTES, "check that this is the transcription")?;
    if made_with.transcription.as_ref().is_none_or(|then| then.sha256 == FileId::of(file, &bytes).sha256) {
        return Ok(());
    }
    let cause = format!("it was made with another version of the transcription {}", file.display());
    Err(Error::unsuitable(path.display().to_string(), cause, "bring that file back, or give the settings one by one"))
}

fn check_models(path: &Path, settings: &Settings, made_with: &Provenance) -> Result<()> {
    let (name, then) = match &settings.method {
        Method::Onsets(onsets) => (&onsets.ear, &made_with.ear),
        Method::Frames(frames) => (&frames.extractor, &made_with.extractor),
    };
    let (Some(name), Some(then)) = (name, then) else { return Ok(()) };
    let now = ModelId::of(&open_card(name)?);
    if then.sha256.is_empty() || then.sha256 == now.sha256 {
        return Ok(());
    }
    let cause = format!("it was made with another version of the model {name}");
    Err(Error::unsuitable(path.display().to_string(), cause, "bring that model back, or give the settings one by one"))
}
