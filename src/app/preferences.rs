//! What is remembered from one start to the next.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use egui_tiles::Tree;
use serde::{Deserialize, Serialize};

use super::document::source::Sources;
use super::folder;
use super::folders::Folders;
use super::playback::OutputDevice;
use super::ui::panes::{PaneKind, default_layout, is_complete};
use crate::base::atomic_file::write_bytes_atomically;
use crate::devices::DeviceChoice;

/// How many recent pieces are kept.
const RECENT: usize = 10;
const FILE: &str = "preferences.json";
/// What is less likely than not is no verdict at all.
pub const LEAST_DIFFERENCE: f32 = 0.5;

/// Light, dark, or as the system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeChoice {
    /// As the system says.
    System,
    /// Dark ink on light ground.
    Light,
    /// Light ink on dark ground.
    Dark,
}

/// The parts of the side panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideTab {
    /// Results and settings.
    Align,
    /// Alignments that were kept.
    Compare,
    /// Fine-tuning.
    Tune,
}

/// What the colours of the notes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteColours {
    /// The comparison with a reference; where there is none, what was played differently.
    Reference,
    /// What was played differently, also where there is a reference.
    Played,
    /// How sure the alignment is.
    Confidence,
}

/// Something that was opened before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recent {
    /// A recording and its score.
    Pair(Sources),
    /// A session file.
    Session(PathBuf),
}

/// Everything that is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Colours.
    pub theme: ThemeChoice,
    /// Size of text and everything else, 1 is normal.
    pub zoom: f32,
    /// What was opened, latest first.
    pub recent: Vec<Recent>,
    /// Whether the side panel is shown.
    pub side_panel: bool,
    /// What the side panel shows.
    pub side_tab: SideTab,
    /// Whether the view turns pages with the playhead.
    pub follow: bool,
    /// Whether dragged onsets snap to attacks in the recording.
    pub snap: bool,
    /// Whether the spectrum is drawn behind the notes.
    pub spectrum_behind_notes: bool,
    /// What the colours of the notes tell.
    pub note_colours: NoteColours,
    /// What was played differently is shown if it is at least this likely.
    pub least_difference: f32,
    /// Whether the warp is shown as its difference from the reference.
    pub warp_difference: bool,
    /// Whether the staves are wrapped for reading.
    pub reading: bool,
    /// What alignments and trainings are computed on.
    pub computing: DeviceChoice,
    /// Where sound goes; none is the system's choice.
    pub output_device: Option<OutputDevice>,
    /// The SoundFont that the score is played with; none is the built-in piano.
    pub soundfont: Option<PathBuf>,
    /// Where dialogs start, by what they are for.
    pub folders: Folders,
    /// Size of the window.
    pub window_size: Option<[f32; 2]>,
    /// The panes.
    pub layout: Tree<PaneKind>,
    /// Whether the welcome was shown. Users with preferences from an earlier version are not newcomers.
    #[serde(default = "known")]
    pub welcomed: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            theme: ThemeChoice::System,
            zoom: 1.0,
            recent: Vec::new(),
            side_panel: true,
            side_tab: SideTab::Align,
            follow: true,
            snap: true,
            spectrum_behind_notes: true,
            note_colours: NoteColours::Reference,
            least_difference: LEAST_DIFFERENCE,
            warp_difference: false,
            reading: false,
            computing: DeviceChoice::Auto,
            output_device: None,
            soundfont: None,
            folders: Folders::default(),
            window_size: None,
            layout: default_layout(),
            welcomed: false,
        }
    }
}

fn known() -> bool {
    true
}

impl Preferences {
    /// Reads them from a folder; what is missing or damaged is as on the first start. A user whose file exists but cannot be read now
    /// is not a newcomer; the file is left alone until the window closes.
    pub fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join(FILE));
        let mut read: Self = match text.as_deref() {
            Ok(text) => serde_json::from_str(text).unwrap_or_else(|_| Self { welcomed: true, ..Self::default() }),
            Err(error) => {
                let is_missing = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
                Self { welcomed: !is_missing, ..Self::default() }
            }
        };
        // A layout of an older version: its panes come back with the missing one.
        if !is_complete(&read.layout) {
            read.layout = default_layout();
        }
        if !(0.5..=3.0).contains(&read.zoom) {
            read.zoom = 1.0;
        }
        if !(LEAST_DIFFERENCE..=1.0).contains(&read.least_difference) {
            read.least_difference = LEAST_DIFFERENCE;
        }
        read.folders.look();
        read
    }

    /// Writes them. That they could not be kept is no reason to disturb anybody.
    pub fn write(&self, folder: &Path) {
        if let Ok(text) = serde_json::to_string_pretty(self)
            && folder::ensure(folder)
        {
            let _ = write_bytes_atomically(&folder.join(FILE), text.as_bytes());
        }
    }

    /// Puts something at the top of the recent list. The demo is always at hand and not listed.
    pub fn remember(&mut self, recent: Recent) {
        if let Recent::Pair(sources) = &recent
            && (sources.recording.path().is_none() || sources.score.path().is_none())
        {
            return;
        }
        self.recent.retain(|other| *other != recent);
        self.recent.insert(0, recent);
        self.recent.truncate(RECENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_come_back_and_damage_is_forgiven() {
        let folder = tempfile::tempdir().unwrap();
        let mut preferences = Preferences { theme: ThemeChoice::Dark, zoom: 1.25, ..Preferences::default() };
        for n in 0..20 {
            preferences.remember(Recent::Session(format!("{n}.agogic").into()));
        }
        preferences.remember(Recent::Session("15.agogic".into()));
        preferences.remember(Recent::Pair(Sources::demo()));
        assert_eq!(preferences.recent.len(), RECENT);
        assert_eq!(preferences.recent[0], Recent::Session("15.agogic".into()));
        preferences.write(folder.path());
        assert_eq!(Preferences::read(folder.path()), preferences);
        std::fs::write(folder.path().join(FILE), "{ half").unwrap();
        assert_eq!(Preferences::read(folder.path()).recent, []);
    }
}
