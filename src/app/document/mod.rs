//! What is open: a piece, its alignment, and everything that is saved with them.

pub mod history;
pub mod kept;
pub mod recovery;
pub mod relink;
pub mod session;
pub mod source;
pub mod view_model;

use std::path::PathBuf;
use std::sync::Arc;

use self::history::{History, Snapshot};
use self::kept::Kept;
use self::session::{KeptAlignment, Session};
use self::source::{Source, Sources, file_name};
use self::view_model::{Doubt, Piece, Reference, Solution, Spectrum};
use super::time_view::TimeView;
use crate::align::Listening;
use crate::align::settings::{Anchor, Settings};

/// What a document starts with, beside its files.
#[derive(Debug)]
pub struct Opening {
    /// The settings, with the anchors of a session.
    pub settings: Settings,
    /// What to show; everything if none.
    pub view: Option<TimeView>,
    /// Alignments that were kept.
    pub kept: Vec<Kept>,
    /// Stretches that were called right.
    pub accepted: Vec<(f64, f64)>,
    /// Where the session is saved.
    pub session_path: Option<PathBuf>,
    /// Whether it holds changes that are not saved.
    pub changed: bool,
}

impl Opening {
    /// New files with the settings as they are; anchors belong to the old files.
    pub fn plain(settings: &Settings) -> Self {
        let settings = Settings { anchors: Vec::new(), ..settings.clone() };
        Self { settings, view: None, kept: Vec::new(), accepted: Vec::new(), session_path: None, changed: false }
    }
}

/// What was heard of a recording.
#[derive(Debug, Clone)]
pub struct Heard {
    /// To align it again.
    pub listening: Arc<Listening>,
    /// To draw it.
    pub spectrum: Arc<Spectrum>,
}

impl Heard {
    /// Draws what was listened to.
    pub fn new(listening: Listening) -> Self {
        Self { spectrum: Arc::new(Spectrum::of(listening.spectrum())), listening: Arc::new(listening) }
    }
}

/// The open piece with everything that belongs to it. It is dropped whole when another piece is opened.
#[derive(Debug)]
pub struct Document {
    /// The recording and its score.
    pub piece: Arc<Piece>,
    /// What was heard of the recording, once it was.
    pub heard: Option<Heard>,
    /// The last good alignment, also while another is being found.
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
    /// How the next alignment is made, with the anchors.
    pub settings: Settings,
    /// Undo and redo.
    pub history: History,
    /// The one time axis.
    pub view: TimeView,
    /// An anchor that is being dragged, or was and is being solved.
    pub moved: Option<Anchor>,
    /// Whether it is still being dragged.
    pub dragging: bool,
    /// The onset that keys act on, in seconds of the score.
    pub selected: Option<f64>,
    /// Where the session is saved.
    pub session_path: Option<PathBuf>,
    /// Counts changes worth saving.
    pub revision: u64,
    /// The last change that is saved.
    pub saved_revision: u64,
    /// The last change that is safe from a crash.
    pub kept_revision: u64,
}

impl Document {
    /// A piece whose files were read. `before` is what was open: of another recording of the same score, the alignments that
    /// were kept can still be compared, beat by beat.
    pub fn new(piece: Arc<Piece>, reference: Option<Arc<Reference>>, opening: Opening, before: Option<Self>) -> Self {
        let Opening { settings, view, mut kept, accepted, session_path, changed } = opening;
        if kept.is_empty() {
            let same_score = before.filter(|before| before.piece.score.notes == piece.score.notes);
            kept = same_score.map(|before| before.kept).unwrap_or_default();
        }
        Self {
            heard: None,
            solution: None,
            preview: None,
            ghost: None,
            reference,
            reference_source: piece.sources.reference.clone(),
            kept,
            accepted,
            settings,
            history: History::default(),
            view: view
                .map_or_else(|| TimeView::whole(piece.duration_s()), |view| view.of_recording(piece.duration_s())),
            moved: None,
            dragging: false,
            selected: None,
            session_path,
            revision: u64::from(changed),
            saved_revision: 0,
            kept_revision: 0,
            piece,
        }
    }

    /// Whether closing would lose something.
    pub fn is_changed(&self) -> bool {
        self.revision != self.saved_revision
    }

    /// Whether the settings are not those of the alignment that is shown.
    pub fn needs_aligning(&self) -> bool {
        self.solution.as_ref().is_none_or(|solution| solution.alignment.settings != self.settings)
    }

    /// What undo would bring back.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { settings: self.settings.clone(), solution: self.solution.clone(), accepted: self.accepted.clone() }
    }

    /// To be called before a change called `label`: it can be undone, and is worth saving.
    pub fn record(&mut self, label: &str) {
        self.history.record(self.snapshot(), label);
        self.revision += 1;
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

    /// The performance time of a score time, with the anchor that is being moved.
    pub fn place_of(&self, score_s: f64) -> Option<f64> {
        let moved = self.moved.filter(|moved| moved.score_s == score_s).map(|moved| moved.performance_s);
        moved.or_else(|| self.solution.as_ref().map(|solution| solution.alignment.warp.at(score_s)))
    }

    /// What it is called: its session, or the piece.
    pub fn name(&self) -> String {
        self.session_path.as_deref().map_or_else(|| self.piece.title().to_owned(), file_name)
    }

    /// Everything that is saved of it.
    pub fn session(&self) -> Session {
        let sources = Sources { reference: self.reference_source.clone(), ..self.piece.sources.clone() };
        let kept = |kept: &Kept| KeptAlignment {
            name: kept.name.clone(),
            alignment: (*kept.alignment).clone(),
            recording: kept.recording.clone(),
        };
        let mut session = Session::new(&sources, self.settings.clone());
        session.view = Some(self.view);
        session.accepted.clone_from(&self.accepted);
        session.kept = self.kept.iter().map(kept).collect();
        session.alignment = self.solution.as_ref().map(|solution| solution.alignment.clone());
        session.saved_as.clone_from(&self.session_path);
        session
    }
}
