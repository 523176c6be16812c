//! What the user can do. Panels and keys make commands, `update` carries them out.

use std::path::PathBuf;

use super::document::source::Order;
use super::pane_scale::PaneScale;
use super::picture::PictureOptions;
use super::playback::{Mix, OutputDevice};
use super::preferences::{NoteColours, Recent, SideTab, ThemeChoice};
use super::staff_look::StaffLook;
use super::state::{Afterwards, Dialog, Writing};
use super::system_dialog::Question;
use super::time_view::TimeView;
use super::tuning::Plan;
use super::welcome::Welcome;
use crate::align::settings::{Anchor, FixedNote, Path, Settings};
use crate::devices::DeviceChoice;
use crate::export::Format;

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Open whatever these files are; half a pair waits for the other half.
    Open(Vec<PathBuf>),
    /// Open files of which something is known.
    OpenIn(Order, Vec<PathBuf>),
    /// Open the built-in piece.
    OpenDemo,
    /// Open something again.
    OpenRecent(Recent),
    /// Compare with a ground truth or another alignment.
    OpenReference(PathBuf),
    /// Compare with an alignment that was kept.
    CompareWithKept(usize),
    /// Stop comparing.
    ForgetReference,
    /// Show the system's file dialog.
    Ask(Question),
    /// The path that was typed where the system shows no file dialog.
    Answer(Question, PathBuf),
    /// Show a dialog of our own, or change what stands in it.
    Show(Dialog),
    /// Show the welcome, go on in it, or close it.
    Welcome(Option<Welcome>),
    /// Close it.
    CloseDialog,
    /// Save where it was saved before, or ask where.
    SaveSession,
    /// Save here, asking before another file is replaced.
    SaveSessionAs(PathBuf),
    /// Write the alignment, asking before another file is replaced.
    Export {
        /// In which format.
        format: Format,
        /// Where to.
        path: PathBuf,
    },
    /// Write a picture of the window or a pane, asking before another file is replaced.
    SavePicture(PictureOptions),
    /// Write it although there is another file.
    Replace(Writing),
    /// Take this file for the one that a session no longer finds.
    Relink {
        /// The file.
        file: PathBuf,
        /// Whether it will do although it holds something else.
        confirmed: bool,
    },
    /// Open a session without the file that it no longer finds.
    OpenWithout,
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
    /// Read the score's repeats another way, and align again.
    ChoosePath(Path),
    /// Scroll or zoom.
    SetView(TimeView),
    /// Zoom around the playhead, or the middle.
    Zoom(f64),
    /// Scroll by a share of the view.
    Scroll(f64),
    /// Show everything.
    Fit,
    /// Draw the waveform so many times as high.
    ScaleWaveform(f32),
    /// Draw the notes so many times as high.
    ScaleNotes(f32),
    /// Change how high the waveform and the notes are drawn.
    SetScale(PaneScale),
    /// Change how large the staves are and how far they are scrolled.
    SetStaffLook(StaffLook),
    /// Show the staves wrapped for reading, or along the recording.
    ToggleReading,
    /// Show the curve of the warp, or its difference from the reference.
    ToggleWarpDifference,
    /// Show a stretch of the recording and go there.
    GoTo(f64),
    /// The same, and hear it from a little before.
    PlayFrom(f64),
    /// What the colours of the notes tell.
    ColourNotes(NoteColours),
    /// Show what was played differently if it is at least this likely.
    ShowDifferencesFrom(f32),
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
    /// Choose the single note that keys act on.
    SelectNote(usize),
    /// To the next higher (1) or lower (-1) note of the selected onset.
    StepNote(i8),
    /// To the next (1) or previous (-1) note of the selected note's voice.
    StepInVoice(i8),
    /// An onset is being dragged.
    Drag(Anchor),
    /// A single note is being dragged.
    DragNote(FixedNote),
    /// It was let go.
    Drop,
    /// Fix a moment.
    PlaceAnchor(Anchor),
    /// Fix a single note.
    PlaceNote(FixedNote),
    /// Move the selected onset or note by milliseconds.
    Nudge(f64),
    /// Free the selected anchor or note.
    DeleteAnchor,
    /// Free all.
    ClearAnchors,
    /// Call the marked stretch, or what is visible, right (or no longer so).
    Accept {
        /// Whether it is right.
        right: bool,
    },
    /// Keep the alignment to compare others with.
    Keep,
    /// Show or hide the curves of a kept alignment.
    ToggleKept(usize),
    /// Make a kept alignment the one that is shown, with its settings.
    AdoptKept(usize),
    /// Throw a kept alignment away.
    ForgetKept(usize),
    /// Keep the alignment and choose another recording of the same score.
    OpenOtherRecording,
    /// Give a kept alignment another name.
    RenameKept(usize, String),
    /// Take a learned extractor, by name or file, or none.
    ChooseModel(Option<String>),
    /// Change what is to be trained, and how.
    SetPlan(Plan),
    /// Start training from a model, by name or file.
    StartFrom(String),
    /// Type the name of a folder or manifest with labelled pieces.
    TypeLabelled(String),
    /// Add labelled pieces: a folder, a manifest, or a recording with its score and truth.
    AddLabelled(Vec<PathBuf>),
    /// Add the open piece as it is aligned now.
    AddCurrent,
    /// Train, or go on training.
    StartTraining,
    /// Pause, or go on.
    PauseTraining(bool),
    /// Stop; what was learned is kept in safety.
    StopTraining,
    /// End a stopped training with its best epoch.
    KeepBest,
    /// Align with the model that was trained.
    UseTrained,
    /// Go back to the settings before that.
    RollBack,
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
    /// Repeat whole bars: those of the marked stretch, or the one at the playhead.
    LoopBars,
    /// Whether a bar is counted before the music begins.
    ToggleCountIn,
    /// Hear the score without a part, or with it again.
    MuteTrack(u16),
    /// Hear of the score only this part and others that are so, or no longer.
    SoloTrack(u16),
    /// Change the speed.
    SetSpeed(f64),
    /// Change what is heard.
    SetMix(Mix),
    /// Play the score with a SoundFont; none is the built-in piano.
    SetPlaybackSoundFont(Option<PathBuf>),
    /// Hear the recording of a kept alignment instead of the open one, at the same moment of the score; none: the open one.
    Hear(Option<usize>),
    /// Hear the other recording: the open one if another is heard, else the last that was.
    HearOther,
    /// Ask the system which devices sound can go to.
    ListDevices,
    /// Send sound to a device; none is the system's choice.
    ChooseDevice(Option<OutputDevice>),
    /// Ask which devices can be computed on.
    ListCards,
    /// Compute on another device from now on.
    ComputeOn(DeviceChoice),
    /// Change the colours.
    SetTheme(ThemeChoice),
    /// Change the size of everything.
    SetZoom(f32),
    /// Show or hide the side panel.
    ToggleSidePanel,
    /// Show a part of the side panel.
    ShowSide(SideTab),
    /// Whether the view follows the playhead.
    ToggleFollow,
    /// Whether dragged onsets snap.
    ToggleSnap,
    /// Whether the spectrum is drawn behind the notes.
    ToggleSpectrumBehindNotes,
    /// Show or hide a pane.
    TogglePane(super::ui::panes::PaneKind),
    /// Panes as on the first start.
    ResetLayout,
}
