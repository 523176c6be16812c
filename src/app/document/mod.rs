//! What is open: a piece, its alignment, and everything that is saved with them.

pub mod fingerprint;
pub mod history;
pub mod kept;
pub mod recovery;
pub mod relink;
pub mod session;
pub mod source;
pub mod view_model;

use std::path::PathBuf;
use std::sync::Arc;

use self::fingerprint::Fingerprint;
use self::history::{History, Snapshot};
use self::kept::Kept;
use self::recovery::Leftover;
use self::session::{KeptAlignment, Session};
use self::source::{Source, Sources, file_name};
use self::view_model::{Doubt, Piece, Reference, Solution, Spectrum};
use super::time_view::TimeView;
use crate::align::Listening;
use crate::align::settings::{Anchor, FixedNote, Settings};
use crate::base::time::SAME_MOMENT_S;

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
    /// What that file holds, as far as this window knows.
    pub session_holds: Option<Fingerprint>,
    /// The file that it is recovered from, if a crash left it: it holds changes that are not saved.
    pub recovered_from: Option<PathBuf>,
}

impl Opening {
    /// New files with the settings as they are; what was fixed belongs to the old files.
    pub fn plain(settings: &Settings) -> Self {
        let settings = settings.for_other_files();
        Self {
            settings,
            view: None,
            kept: Vec::new(),
            accepted: Vec::new(),
            session_path: None,
            session_holds: None,
            recovered_from: None,
        }
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
    /// Whether it belongs to another step of the history, until the alignment of this one is found again.
    pub is_outdated: bool,
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
    /// The same of a single note.
    pub moved_note: Option<FixedNote>,
    /// Whether it is still being dragged.
    pub dragging: bool,
    /// The onset that keys act on, in seconds of the score.
    pub selected: Option<f64>,
    /// The note of that onset that keys act on instead.
    pub selected_note: Option<usize>,
    /// Where the session is saved.
    pub session_path: Option<PathBuf>,
    /// What that file held when this window last read or wrote it: whatever else it holds came from elsewhere.
    pub session_holds: Option<Fingerprint>,
    /// What it was recovered from, until it is safe elsewhere.
    pub recovered: Option<Leftover>,
    /// Counts changes worth saving.
    pub revision: u64,
    /// The last of them that closing must not lose without a question.
    pub corrected_revision: u64,
    /// The last change that is saved.
    pub saved_revision: u64,
    /// The last change that is safe from a crash.
    pub autosaved_revision: u64,
    /// Whether the last attempt to make changes safe from a crash failed.
    pub autosave_failed: bool,
}

impl Document {
    /// A piece whose files were read. `before` is what was open: of another recording of the same score, the alignments that
    /// were kept can still be compared, beat by beat.
    pub fn new(piece: Arc<Piece>, reference: Option<Arc<Reference>>, opening: Opening, before: Option<Self>) -> Self {
        let Opening { settings, view, mut kept, accepted, session_path, session_holds, recovered_from } = opening;
        let revision = u64::from(recovered_from.is_some());
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
            is_outdated: false,
            view: view
                .map_or_else(|| TimeView::whole(piece.duration_s()), |view| view.of_recording(piece.duration_s())),
            moved: None,
            moved_note: None,
            dragging: false,
            selected: None,
            selected_note: None,
            session_path,
            session_holds,
            recovered: None,
            revision,
            corrected_revision: revision,
            saved_revision: 0,
            autosaved_revision: 0,
            autosave_failed: false,
            piece,
        }
    }

    /// Whether closing would lose corrections.
    pub fn is_changed(&self) -> bool {
        self.corrected_revision > self.saved_revision
    }

    /// Whether a crash would lose nothing.
    pub fn is_safe(&self) -> bool {
        self.revision == self.saved_revision || self.revision == self.autosaved_revision
    }

    /// Something is saved with the session that can be had again: a reference, an alignment kept to compare, a setting.
    pub fn note_addition(&mut self) {
        self.revision += 1;
    }

    /// Something was changed that must not be lost.
    pub fn note_correction(&mut self) {
        self.revision += 1;
        self.corrected_revision = self.revision;
    }

    /// Whether the settings are not those of the alignment that is shown.
    pub fn needs_aligning(&self) -> bool {
        self.solution.as_ref().is_none_or(|solution| solution.alignment.settings != self.settings)
    }

    /// Whether the session file has everything.
    pub fn is_saved(&self) -> bool {
        self.saved_revision == self.revision
    }

    /// What undo would bring back.
    pub fn snapshot(&self) -> Snapshot {
        let (settings, accepted) = (self.settings.clone(), self.accepted.clone());
        let solution = self.solution.clone().filter(|_| !self.is_outdated);
        Snapshot { settings, solution, forgotten: self.is_outdated, accepted }
    }

    /// To be called before a change called `label`: it can be undone, and is worth saving.
    pub fn record(&mut self, label: &str) {
        self.history.record(self.snapshot(), label);
        self.note_correction();
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

    /// The performance time of a note, with the one that is being moved.
    pub fn place_of_note(&self, note: usize) -> Option<f64> {
        let moved = self.moved_note.filter(|moved| moved.note == note).map(|moved| moved.performance_s);
        moved.or_else(|| self.solution.as_ref()?.alignment.notes.get(note).map(|note| note.onset_s))
    }

    /// The notes of the score that begin at a moment of it, from low to high.
    pub fn chord_at(&self, score_s: f64) -> Vec<usize> {
        let notes = &self.piece.score.notes;
        let first = notes.partition_point(|note| note.onset_s < score_s - SAME_MOMENT_S);
        let count = notes[first..].iter().take_while(|note| note.onset_s <= score_s + SAME_MOMENT_S).count();
        let mut chord: Vec<usize> = (first..first + count).collect();
        chord.sort_by_key(|&note| notes[note].pitch);
        chord
    }

    /// Chooses the onset that keys act on.
    pub fn select(&mut self, selected: Option<f64>) {
        (self.selected, self.selected_note) = (selected, None);
    }

    /// Chooses the single note that keys act on.
    pub fn select_note(&mut self, note: usize) {
        if let Some(of_score) = self.piece.score.notes.get(note) {
            (self.selected, self.selected_note) = (Some(of_score.onset_s), Some(note));
        }
    }

    /// To the next higher or lower note of the selected onset, round and round.
    pub fn step_note(&mut self, step: i8) {
        let Some(score_s) = self.selected else { return };
        let chord = self.chord_at(score_s);
        let here = self.selected_note.and_then(|selected| chord.iter().position(|&note| note == selected));
        let next = match here {
            Some(here) => (here as isize + isize::from(step)).rem_euclid(chord.len() as isize) as usize,
            None if step > 0 => 0,
            None => chord.len().saturating_sub(1),
        };
        if let Some(&note) = chord.get(next) {
            self.select_note(note);
        }
    }

    /// Whether the selected note, or else the selected onset, was fixed by hand.
    pub fn selection_is_fixed(&self) -> bool {
        let Settings { anchors, fixed_notes, .. } = &self.settings;
        match (self.selected_note, self.selected) {
            (Some(note), _) => fixed_notes.iter().any(|fixed| fixed.note == note),
            (None, Some(score_s)) => anchors.iter().any(|anchor| (anchor.score_s - score_s).abs() <= SAME_MOMENT_S),
            (None, None) => false,
        }
    }

    /// Ends a move that was not made: nothing is held any more.
    pub fn let_go(&mut self) {
        self.dragging = false;
        (self.moved, self.moved_note, self.preview) = (None, None, None);
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
        session.recording.fingerprint = self.piece.fingerprints.recording;
        session.score.fingerprint = self.piece.fingerprints.score;
        if let (Some(media), Some(reference)) = (&mut session.reference, &self.reference) {
            media.fingerprint = reference.fingerprint;
        }
        session.saved_as.clone_from(&self.session_path);
        session.saved_holds = self.session_holds;
        session
    }
}
