//! Everything that the window shows. Panels read it; `update` alone changes it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::document::history::{History, Snapshot};
use super::document::kept::Kept;
use super::document::relink::Reopened;
use super::document::source::Source;
use super::document::view_model::{Doubt, Piece, Reference, Solution, Spectrum};
use super::picture::PictureOptions;
use super::playback::{Mix, OutputDevice};
use super::preferences::Preferences;
use super::system_dialog::Question;
use super::time_view::TimeView;
use super::tuning::{Plan, Tuning};
use crate::align::settings::{Anchor, Settings};
use crate::base::error::Error;
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

/// How grave a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Something was done.
    Info,
    /// Something to know.
    Warning,
    /// Something failed.
    Error,
}

/// How long it is told that something was done.
pub const TOLD_FOR: Duration = Duration::from_secs(8);

/// Something to tell the user, in one sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// How grave.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
    /// More for those who want to know.
    pub details: Option<String>,
    /// Since when it is told.
    pub since: Instant,
}

impl Notice {
    fn new(severity: Severity, text: String, details: Option<String>) -> Self {
        Self { severity, text, details, since: Instant::now() }
    }

    /// Whether it has been read by now: that something was done is no news for long.
    pub fn is_over(&self) -> bool {
        self.severity == Severity::Info && self.since.elapsed() > TOLD_FOR
    }

    /// Something was done.
    pub fn info(text: impl Into<String>) -> Self {
        Self::new(Severity::Info, text.into(), None)
    }

    /// Something to know.
    pub fn warning(text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, text.into(), None)
    }

    /// Something failed.
    pub fn error(error: &Error) -> Self {
        let details = std::error::Error::source(error).map(|source| format!("{source}\n")).unwrap_or_default();
        Self::new(Severity::Error, sentence(error), Some(format!("{details}{error:#?}")))
    }
}

/// An error as a sentence of its own.
fn sentence(error: &Error) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    // A file is called as it is.
    let first_word = text.split([':', ' ']).next().unwrap_or_default();
    let starts_with_file = first_word.contains(['/', '\\', '.']);
    let text = if starts_with_file { text.clone() } else { first.chain(letters).collect() };
    if text.ends_with('.') { text } else { text + "." }
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
    /// The demo is opened.
    OpenDemo,
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
    /// The keys.
    Shortcuts,
    /// Version and licences.
    About,
    /// There are changes that would be lost.
    Unsaved(Afterwards),
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
    /// Whether the score can be heard already.
    pub score_ready: bool,
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
            score_ready: false,
        }
    }
}

/// The whole state of the window.
#[derive(Debug)]
pub struct AppState {
    /// What is open.
    pub piece: Option<Arc<Piece>>,
    /// The recording's spectrum, once it is there.
    pub spectrum: Option<Arc<Spectrum>>,
    /// Its alignment: the last good one, also while another is being found.
    pub solution: Option<Arc<Solution>>,
    /// What the alignment would be if the onset that is dragged were let go.
    pub preview: Option<Arc<Solution>>,
    /// The alignment before the last change.
    pub ghost: Option<Arc<Solution>>,
    /// What is compared with.
    pub reference: Option<Arc<Reference>>,
    /// Where that came from.
    pub reference_source: Option<Source>,
    /// Alignments that were kept to compare.
    pub kept: Vec<Kept>,
    /// Stretches of the score, in its seconds, whose alignment the user called right.
    pub accepted: Vec<(f64, f64)>,
    /// Fine-tuning.
    pub tuning: Tuning,
    /// How the next alignment is made, with the anchors.
    pub settings: Settings,
    /// Undo and redo.
    pub history: History,
    /// The one time axis.
    pub view: TimeView,
    /// What is going on.
    pub work: Option<Work>,
    /// Halves of pairs.
    pub waiting: Waiting,
    /// An anchor that is being dragged, or was and is being solved.
    pub moved: Option<Anchor>,
    /// Whether it is still being dragged.
    pub dragging: bool,
    /// The onset that keys act on, in seconds of the score.
    pub selected: Option<f64>,
    /// Hearing.
    pub transport: Transport,
    /// What there is to tell.
    pub notices: Vec<Notice>,
    /// The dialog that is open.
    pub dialog: Option<Dialog>,
    /// What the system's dialog was asked, and when.
    pub asked: Option<(Question, Instant)>,
    /// What is remembered.
    pub preferences: Preferences,
    /// Devices that sound can go to, as far as they were asked for.
    pub devices: Vec<OutputDevice>,
    /// Where the session is saved.
    pub session_path: Option<PathBuf>,
    /// Counts changes worth saving.
    pub revision: u64,
    /// The last change that is saved.
    pub saved_revision: u64,
    /// The last change that is safe from a crash.
    pub kept_revision: u64,
    /// What is done when the session has been saved.
    pub after_saving: Option<Afterwards>,
    /// What a crashed window left.
    pub left_behind: Option<PathBuf>,
    /// The picture that is to be written.
    pub picture: Option<PictureOptions>,
    /// The window should close.
    pub quit: bool,
}

impl AppState {
    /// An empty window.
    pub fn new(preferences: Preferences) -> Self {
        Self {
            piece: None,
            spectrum: None,
            solution: None,
            preview: None,
            ghost: None,
            reference: None,
            reference_source: None,
            kept: Vec::new(),
            accepted: Vec::new(),
            tuning: Tuning::new(Plan::default()),
            settings: Settings::default(),
            history: History::default(),
            view: TimeView::whole(1.0),
            work: None,
            waiting: Waiting::default(),
            moved: None,
            dragging: false,
            selected: None,
            transport: Transport::default(),
            notices: Vec::new(),
            dialog: None,
            asked: None,
            preferences,
            devices: Vec::new(),
            session_path: None,
            revision: 0,
            saved_revision: 0,
            kept_revision: 0,
            after_saving: None,
            left_behind: None,
            picture: None,
            quit: false,
        }
    }

    /// Whether closing would lose something.
    pub fn is_changed(&self) -> bool {
        self.revision != self.saved_revision
    }

    /// Whether the settings are not those of the alignment that is shown.
    pub fn needs_aligning(&self) -> bool {
        self.piece.is_some() && self.solution.as_ref().is_none_or(|s| s.alignment.settings != self.settings)
    }

    /// What undo would bring back.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { settings: self.settings.clone(), solution: self.solution.clone(), accepted: self.accepted.clone() }
    }

    /// The alignment as it is, or as it would be while an onset is dragged.
    pub fn shown(&self) -> Option<&Arc<Solution>> {
        self.preview.as_ref().or(self.solution.as_ref())
    }

    /// Whether a moment of the score lies in a stretch that the user called right.
    pub fn is_accepted(&self, score_s: f64) -> bool {
        self.accepted.iter().any(|(from, to)| (*from..=*to).contains(&score_s))
    }

    /// The places to look at that the user has not called right.
    pub fn doubts(&self) -> Vec<&Doubt> {
        let Some(solution) = &self.solution else { return Vec::new() };
        let score_s = |doubt: &Doubt| solution.alignment.warp.inverse(0.5 * (doubt.start_s + doubt.end_s));
        solution.doubts.iter().filter(|doubt| !self.is_accepted(score_s(doubt))).collect()
    }

    /// Adds a notice, unless it is already there.
    pub fn tell(&mut self, notice: Notice) {
        self.notices.retain(|other| other.text != notice.text);
        self.notices.push(notice);
    }

    /// Forgets errors: something new is tried.
    pub fn forget_errors(&mut self) {
        self.notices.retain(|notice| notice.severity != Severity::Error);
    }

    /// The performance time of a score time, with the anchor that is being moved.
    pub fn place_of(&self, score_s: f64) -> Option<f64> {
        let moved = self.moved.filter(|moved| moved.score_s == score_s).map(|moved| moved.performance_s);
        moved.or_else(|| self.solution.as_ref().map(|solution| solution.alignment.warp.at(score_s)))
    }

    /// The title of the window.
    pub fn title(&self) -> String {
        let name = match (&self.session_path, &self.piece) {
            (Some(path), _) => super::document::source::file_name(path),
            (None, Some(piece)) => piece.title().to_owned(),
            (None, None) => return "Agogic".to_owned(),
        };
        let changed = if self.is_changed() { " (changed)" } else { "" };
        format!("{name}{changed} - Agogic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_with_a_capital_and_files_as_they_are_called() {
        let file = Error::malformed("broken.flac", "this is no audio", "choose another");
        assert!(sentence(&file).starts_with("broken.flac"), "{}", sentence(&file));
        let words = Error::unsuitable("sound output", "there is none", "plug one in");
        assert!(sentence(&words).starts_with("Sound output"), "{}", sentence(&words));
    }
}
