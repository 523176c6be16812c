//! What the result of a row depends on, in a few letters: if they are the same, so is the result.

use std::path::Path;

use serde::Serialize;

use super::manifest::Row;
use crate::align::settings::{Method, Settings};
use crate::base::digest::{sha256, sha256_of_file};
use crate::base::error::Result;
use crate::networks::open_card;

const PROGRAM: &str = concat!("agogic ", env!("CARGO_PKG_VERSION"));

/// Makes the keys of rows.
pub(super) struct Keys {
    /// What all rows have in common.
    common: String,
}

impl Keys {
    pub(super) fn new(settings: &Settings, format: &str) -> Result<Self> {
        let model = match &settings.method {
            Method::Onsets(onsets) => &onsets.ear,
            Method::Frames(frames) => &frames.extractor,
        };
        let model = model.as_deref().map(open_card).transpose()?.map(|card| card.sha256);
        let files: Vec<String> = settings.files().iter().map(|path| sha256_of_file(path)).collect::<Result<_>>()?;
        Ok(Self { common: digest(&(PROGRAM, settings, format, model, files)) })
    }

    /// The key of a row: the bytes of its files count, their folders and times do not. Names of the two files are part of results.
    pub(super) fn of(&self, row: &Row) -> Result<String> {
        let content = |path: &Path| sha256_of_file(path);
        let other = |path: &Option<_>| path.as_deref().map(content).transpose();
        let named = |path: &Path| Ok::<_, crate::base::error::Error>((file_name(path), content(path)?));
        Ok(digest(&(
            &self.common,
            named(&row.audio)?,
            named(&row.score)?,
            other(&row.truth)?,
            other(&row.transcription)?,
        )))
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// JSON keeps apart what would run together as plain text.
fn digest(parts: &impl Serialize) -> String {
    sha256(super::super::summary::to_json(parts).as_bytes())
}
