//! Everything that the window shows. Panels read it; `update` alone changes it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::document::Document;
use super::document::recovery::Leftover;
use super::document::relink::Reopened;
use super::document::source::{Order, Sources};
use super::document::view_model::{Piece, Reference, Solution};
use super::folders::Purpose;
use super::notice::{Notice, Severity};
use super::pane_scale::PaneScale;
use super::picture::PictureOptions;
use super::playback::{Mix, OutputDevice};
use super::preferences::{NoteColours, Preferences};
use super::staff_look::StaffLook;
use super::system_dialog::Question;
use super::time_view::TimeView;
use super::tuning::{Plan, Tuning};
use super::welcome::Welcome;
use crate::align::settings::Settings;
use crate::devices::DeviceInfo;
use crate::export::Format;

/// What is going on in the background, in words and numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// What is done: "Opening prelude.wav".
    pub title: String,
    /// The stage: "decoding".
    pub stage: String,
    /// Share of the stage that is done.
    pub fraction: f32,
    /// Whether it is over before anybody could read about it.
    pub brief: bool,
}

impl Work {
    /// Work that has just begun.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), stage: "starting".to_owned(), fraction: 0.0, brief: false }
    }
}

/// Files that were dropped and wait for their other half.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Waiting {
    /// A recording without a score.
    pub recording: Option<PathBuf>,
    /// A score without a recording.
    pub score: Option<PathBuf>,
}

/// What is done once unsaved changes are saved or given up.
#[derive(Debug, Clone, PartialEq)]
pub enum Afterwards {
    /// The window closes.
    Quit,
    /// Other files are opened.
    Open(Vec<PathBuf>),
    /// Other files are opened of which something is known.
    OpenIn(Order, Vec<PathBuf>),
    /// The demo is opened.
    OpenDemo,
    /// What a crashed window left is opened.
    Recover,
}

/// A save of the session that is under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Saving {
    /// Where to.
    pub path: PathBuf,
    /// Since when.
    pub since: Instant,
    /// Whether the session, which has changed since, is to be saved there once more, and whether that may replace another file.
    pub again: Option<bool>,
}

/// A file that is to be written.
#[derive(Debug, Clone, PartialEq)]
pub enum Writing {
    /// The session.
    Session(PathBuf),
    /// The alignment.
    Export {
        /// In which format.
        format: Format,
        /// Where to.
        path: PathBuf,
    },
    /// A picture.
    Picture(PictureOptions),
}

impl Writing {
    /// Where to.
    pub fn path(&self) -> &Path {
        match self {
            Self::Session(path) | Self::Export { path, .. } => path,
            Self::Picture(options) => &options.path,
        }
    }

    /// The dialog that asks for it.
    pub fn dialog(&self) -> Dialog {
        let typed = |path: &Path| path.display().to_string();
        match self {
            Self::Session(path) => Dialog::SaveSession { path: typed(path) },
            Self::Export { format, path } => Dialog::Export { format: *format, path: typed(path) },
            Self::Picture(options) => Dialog::Picture(options.clone()),
        }
    }
}

/// A dialog of our own.
#[derive(Debug, Clone, PartialEq)]
pub enum Dialog {
    /// Paths typed by hand, for systems without a file dialog.
    Open {
        /// The recording, or a session.
        recording: String,
        /// The score.
        score: String,
    },
    /// A path typed by hand, where the system shows no file dialog.
    Path {
        /// What is asked for.
        question: Question,
        /// The path so far.
        path: String,
    },
    /// Where to save the session.
    SaveSession {
        /// The path so far.
        path: String,
    },
    /// Writing the alignment.
    Export {
        /// In which format.
        format: Format,
        /// Where to.
        path: String,
    },
    /// A picture of the window or a pane.
    Picture(PictureOptions),
    /// A file of a session was not found.
    Relink(Box<Reopened>),
    /// The manual.
    Manual,
    /// The keys.
    Shortcuts,
    /// Version and licences.
    About,
    /// There are changes that would be lost.
    Unsaved(Afterwards),
    /// There is another file where one is to be written.
    Replace(Writing),
}

/// Hearing.
#[derive(Debug, Clone, PartialEq)]
pub struct Transport {
    /// Whether it plays.
    pub playing: bool,
    /// The playhead, in seconds of the recording.
    pub position_s: f64,
    /// The stretch that was marked.
    pub marked: Option<(f64, f64)>,
    /// Whether it is repeated.
    pub looping: bool,
    /// 0.25 to 1.
    pub speed: f64,
    /// What is heard how loud.
    pub mix: Mix,
    /// Whether a bar is counted before the music begins.
    pub count_in: bool,
    /// Parts of the score that are not heard, by track.
    pub muted: BTreeSet<u16>,
    /// If there are any, only these are heard.
    pub soloed: BTreeSet<u16>,
    /// Whether the score can be heard already.
    pub score_ready: bool,
    /// The kept alignment whose recording is heard; none: the open recording is.
    pub heard: Option<usize>,
    /// The kept alignment whose recording was heard last.
    pub heard_last: Option<usize>,
}

impl Transport {
    /// At the start of another piece, as fast and as loud as before.
    pub fn of_new_piece(&self) -> Self {
        Self { speed: self.speed, mix: self.mix, count_in: self.count_in, ..Self::default() }
    }

    /// Whether a part of the score is heard.
    pub fn sounds(&self, track: u16) -> bool {
        if self.soloed.is_empty() { !self.muted.contains(&track) } else { self.soloed.contains(&track) }
    }
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            playing: false,
            position_s: 0.0,
            marked: None,
            looping: false,
            speed: 1.0,
            mix: Mix::default(),
            count_in: false,
            muted: BTreeSet::new(),
            soloed: BTreeSet::new(),
            score_ready: false,
            heard: None,
            heard_last: None,
        }
    }
}

/// The whole state of the window.
#[derive(Debug)]
pub struct AppState {
    /// What is open.
    pub document: Option<Document>,
    /// Settings for the first piece; those that follow take over the settings of the piece before.
    pub first_settings: Settings,
    /// Fine-tuning.
    pub tuning: Tuning,
    /// What is going on.
    pub work: Option<Work>,
    /// Halves of pairs.
    pub waiting: Waiting,
    /// Hearing.
    pub transport: Transport,
    /// How high the waveform and the notes are drawn.
    pub scale: PaneScale,
    /// How large the staves are, and how far they are scrolled.
    pub staff: StaffLook,
    /// What there is to tell.
    pub notices: Vec<Notice>,
    /// The dialog that is open.
    pub dialog: Option<Dialog>,
    /// The welcome of the first start, while it is shown.
    pub welcome: Option<Welcome>,
    /// The dialog whose paths are being opened: it comes back if they cannot be.
    pub tried: Option<Dialog>,
    /// The file that the user has agreed to replace, in the system's dialog.
    pub may_replace: Option<PathBuf>,
    /// What the system's dialog was asked, and when.
    pub asked: Option<(Question, Instant)>,
    /// What is remembered.
    pub preferences: Preferences,
    /// Devices that sound can go to, as far as they were asked for.
    pub devices: Vec<OutputDevice>,
    /// What can be computed on, once it was asked for.
    pub cards: Vec<DeviceInfo>,
    /// What is done when the session has been saved.
    pub after_saving: Option<Afterwards>,
    /// The save of the session that is under way.
    pub saving: Option<Saving>,
    /// What crashed windows left, to be offered one after the other.
    pub left_behind: Vec<Leftover>,
    /// The picture that is to be written, and whether another file may be replaced.
    pub picture: Option<(PictureOptions, bool)>,
    /// The window should close.
    pub quit: bool,
}

impl AppState {
    /// An empty window.
    pub fn new(preferences: Preferences) -> Self {
        Self {
            document: None,
            first_settings: Settings::default(),
            tuning: Tuning::new(Plan::default()),
            work: None,
            waiting: Waiting::default(),
            transport: Transport::default(),
            scale: PaneScale::default(),
            staff: StaffLook::default(),
            notices: Vec::new(),
            dialog: None,
            welcome: None,
            tried: None,
            may_replace: None,
            asked: None,
            preferences,
            devices: Vec::new(),
            cards: Vec::new(),
            after_saving: None,
            saving: None,
            left_behind: Vec::new(),
            picture: None,
            quit: false,
        }
    }

    /// The piece that is open.
    pub fn piece(&self) -> Option<&Arc<Piece>> {
        self.document.as_ref().map(|document| &document.piece)
    }

    /// Its alignment.
    pub fn solution(&self) -> Option<&Arc<Solution>> {
        self.document.as_ref().and_then(|document| document.solution.as_ref())
    }

    /// What it is compared with.
    pub fn reference(&self) -> Option<&Arc<Reference>> {
        self.document.as_ref().and_then(|document| document.reference.as_ref())
    }

    /// The alignment as it is, or as it would be while an onset is dragged.
    pub fn shown(&self) -> Option<&Arc<Solution>> {
        self.document.as_ref().and_then(Document::shown)
    }

    /// What the colours of the notes tell, of what there is to tell.
    pub fn note_colours(&self) -> NoteColours {
        let judged = self.shown().is_some_and(|solution| solution.played.is_some());
        match self.preferences.note_colours {
            NoteColours::Reference if self.reference().is_some() => NoteColours::Reference,
            NoteColours::Reference | NoteColours::Played if judged => NoteColours::Played,
            _ => NoteColours::Confidence,
        }
    }

    /// How the next alignment is made, with the anchors.
    pub fn settings(&self) -> &Settings {
        self.document.as_ref().map_or(&self.first_settings, |document| &document.settings)
    }

    /// The one time axis.
    pub fn view(&self) -> TimeView {
        self.document.as_ref().map_or_else(|| TimeView::whole(1.0), |document| document.view)
    }

    /// Whether an onset is being dragged.
    pub fn is_dragging(&self) -> bool {
        self.document.as_ref().is_some_and(|document| document.dragging)
    }

    /// Whether closing would lose corrections.
    pub fn is_changed(&self) -> bool {
        self.document.as_ref().is_some_and(Document::is_changed)
    }

    /// Whether the settings are not those of the alignment that is shown.
    pub fn needs_aligning(&self) -> bool {
        self.document.as_ref().is_some_and(Document::needs_aligning)
    }

    /// Adds a notice, unless it is already there.
    pub fn tell(&mut self, notice: Notice) {
        self.notices.retain(|other| other.text != notice.text);
        self.notices.push(notice);
    }

    /// Forgets errors, and what was said of other files: something new is tried.
    pub fn forget_errors(&mut self) {
        self.notices.retain(|notice| notice.severity != Severity::Error && notice.taken.is_none());
    }

    /// The file proposed for something new of the piece: in the folder last used for that, else beside the recording.
    pub fn proposed_name(&self, purpose: Purpose, extension: &str) -> PathBuf {
        let recording = self.piece().and_then(|piece| piece.sources.recording.path()).map(Path::to_owned);
        let beside = recording.unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join("demo"));
        let folder = self.preferences.folders.last(purpose);
        let name = beside.file_name().unwrap_or_default();
        folder.map_or_else(|| beside.clone(), |folder| folder.join(name)).with_extension(extension)
    }

    /// The file proposed to export to: one that no other format proposes, and that is none of the piece's own.
    pub fn proposed_export(&self, format: Format) -> PathBuf {
        let proposed = self.proposed_name(Purpose::Exports, &format.ending());
        let sources = self.piece().map(|piece| &piece.sources);
        let own = |sources: &Sources| {
            let files = [Some(&sources.recording), Some(&sources.score), sources.reference.as_ref()];
            files.into_iter().flatten().any(|source| source.path() == Some(&proposed))
        };
        if !sources.is_some_and(own) {
            return proposed;
        }
        self.proposed_name(Purpose::Exports, &format!("aligned.{}", format.ending()))
    }

    /// The folders that a dialog may start in, the best first: where files of its purpose were last, that of the piece.
    pub fn start_folders(&self, question: &Question) -> Vec<PathBuf> {
        let last = self.preferences.folders.last(Purpose::of(question)).map(Path::to_owned);
        last.into_iter().chain(self.folder()).collect()
    }

    /// The folder of the recording.
    pub fn recording_folder(&self) -> Option<&Path> {
        self.piece().and_then(|piece| piece.sources.recording.path()).and_then(Path::parent)
    }

    /// The folder of the session, or else of the recording.
    pub fn folder(&self) -> Option<PathBuf> {
        let session = self.document.as_ref().and_then(|document| document.session_path.as_deref());
        let file = session.or_else(|| self.piece().and_then(|piece| piece.sources.recording.path()))?;
        let folder = std::path::absolute(file).ok()?.parent()?.to_owned();
        Some(folder)
    }

    /// Where the session is saved, or could be.
    pub fn proposed_session(&self) -> PathBuf {
        let saved = self.document.as_ref().and_then(|document| document.session_path.clone());
        saved.unwrap_or_else(|| self.proposed_name(Purpose::Sessions, "agogic"))
    }

    /// The title of the window.
    pub fn title(&self) -> String {
        let Some(document) = &self.document else { return "Agogic".to_owned() };
        let changed = if document.is_changed() { " (changed)" } else { "" };
        format!("{}{changed} - Agogic", document.name())
    }
}
