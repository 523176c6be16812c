//! What the user can do. Panels and keys make commands, `update` carries them out.

use std::path::PathBuf;

use super::playback::Mix;
use super::preferences::{Recent, ThemeChoice};
use super::state::{Afterwards, Dialog};
use super::system_dialog::Question;
use super::time_view::TimeView;
use crate::config::{Anchor, Settings};
use crate::export::Format;

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Open whatever these files are; half a pair waits for the other half.
    Open(Vec<PathBuf>),
    /// Open the built-in piece.
    OpenDemo,
    /// Open something again.
    OpenRecent(Recent),
    /// Compare with a ground truth or another alignment.
    OpenReference(PathBuf),
    /// Stop comparing.
    ForgetReference,
    /// Show the system's file dialog.
    Ask(Question),
    /// Show a dialog of our own, or change what stands in it.
    Show(Dialog),
    /// Close it.
    CloseDialog,
    /// Save where it was saved before, or ask where.
    SaveSession,
    /// Save here.
    SaveSessionAs(PathBuf),
    /// Write the alignment.
    Export {
        /// In which format.
        format: Format,
        /// Where to.
        path: PathBuf,
    },
    /// Open what a crashed window left.
    Recover,
    /// Throw it away.
    DiscardLeftBehind,
    /// Close the window, asking first if something would be lost.
    Quit,
    /// Go on without saving.
    DiscardChanges(Afterwards),
    /// Save, then go on.
    SaveAnd(Afterwards),
    /// Close a notice.
    Dismiss(usize),
    /// Stop what is going on.
    Cancel,
    /// Esc: cancel work, or else close, clear, deselect.
    Escape,
    /// Align with the settings as they are.
    Align,
    /// Change the settings; the alignment follows on [`Command::Align`].
    SetSettings(Settings),
    /// Scroll or zoom.
    SetView(TimeView),
    /// Zoom around the playhead, or the middle.
    Zoom(f64),
    /// Scroll by a share of the view.
    Scroll(f64),
    /// Show everything.
    Fit,
    /// Show a stretch of the recording and go there.
    GoTo(f64),
    /// To the start or end.
    GoToEdge {
        /// The end.
        end: bool,
    },
    /// The next place that deserves a look.
    NextDoubt,
    /// To the next (1) or previous (-1) onset.
    StepOnset(i8),
    /// Choose the onset that keys act on, by its score time.
    Select(Option<f64>),
    /// An onset is being dragged.
    Drag(Anchor),
    /// It was let go.
    Drop,
    /// Fix a moment.
    PlaceAnchor(Anchor),
    /// Move the selected onset by milliseconds.
    Nudge(f64),
    /// Free the selected anchor.
    DeleteAnchor,
    /// Free all.
    ClearAnchors,
    /// Take back.
    Undo,
    /// Make again.
    Redo,
    /// Play or pause.
    TogglePlay,
    /// Move the playhead.
    Seek(f64),
    /// Mark a stretch.
    Mark(Option<(f64, f64)>),
    /// Repeat the marked stretch, or what is visible.
    ToggleLoop,
    /// Change the speed.
    SetSpeed(f64),
    /// Change what is heard.
    SetMix(Mix),
    /// Change the colours.
    SetTheme(ThemeChoice),
    /// Change the size of everything.
    SetZoom(f32),
    /// Show or hide the side panel.
    ToggleSidePanel,
    /// Whether the view follows the playhead.
    ToggleFollow,
    /// Whether dragged onsets snap.
    ToggleSnap,
    /// Whether the spectrum is drawn behind the notes.
    ToggleSpectrumBehindNotes,
    /// Show or hide a pane.
    TogglePane(super::panes::PaneKind),
    /// Panes as on the first start.
    ResetLayout,
}
