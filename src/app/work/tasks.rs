//! What worker threads do.

use std::path::PathBuf;
use std::sync::Arc;

use super::classify::classify;
use super::worker::{Event, Slot};
use super::writing::MayReplace;
use super::{labels, reading, train_task, writing};
use crate::align::result::Alignment;
use crate::align::settings::{Method, Settings};
use crate::align::{Listening, Performance, Stopwatch, realign};
use crate::app::document::Heard;
use crate::app::document::recovery::{Leftover, RecoveryFile};
use crate::app::document::relink::Reopened;
use crate::app::document::session::Session;
use crate::app::document::source::{Order, Source, Sources};
use crate::app::document::view_model::{Piece, Reference, Solution};
use crate::app::picture::{Drawing, PictureOptions};
use crate::app::playback::ListDevices;
use crate::app::state::Writing;
use crate::app::system_dialog::{self, Ask};
use crate::app::tuning::Plan;
use crate::audio::AudioClip;
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::devices::devices;
use crate::export::{ExportInput, Format};
use crate::learning::Control;
use crate::networks::Device;
use crate::networks::open_card;
use crate::score::{SoundFont, SynthParams, synthesise_mapped};

/// A job.
#[derive(Debug)]
pub enum Task {
    /// Reads the files of a piece and aligns them.
    Open {
        /// The files.
        sources: Sources,
        /// How to align.
        settings: Settings,
        /// What a MIDI performance is heard with; none is the built-in piano.
        soundfont: Option<PathBuf>,
        /// An alignment of the same files and settings that need not be found again.
        known: Option<Box<Alignment>>,
    },
    /// Reads a session and looks for its files.
    Reopen {
        /// The session file.
        file: PathBuf,
        /// Where it will be saved.
        saved_as: Option<PathBuf>,
    },
    /// Takes a file for one that a session no longer finds.
    Offer {
        /// The session.
        reopened: Box<Reopened>,
        /// The file.
        file: PathBuf,
        /// Whether it may hold something else.
        confirmed: bool,
    },
    /// Asks the system which devices sound can go to.
    Devices(ListDevices),
    /// Asks which devices can be computed on.
    Cards,
    /// Aligns a piece that is open.
    Align {
        /// The piece.
        piece: Arc<Piece>,
        /// What was heard of it, if it was.
        heard: Option<Heard>,
        /// How to align.
        settings: Settings,
        /// What to compare with.
        reference: Option<Arc<Reference>>,
    },
    /// Solves the stretch around a moment again.
    Section {
        /// The piece.
        piece: Arc<Piece>,
        /// What was heard of it.
        listening: Arc<Listening>,
        /// The alignment so far.
        solution: Arc<Solution>,
        /// Its settings with the new anchors.
        settings: Settings,
        /// What to compare with.
        reference: Option<Arc<Reference>>,
        /// The moment, in seconds of the score.
        at_s: f64,
        /// Whether it only shows what would be, while the onset is dragged.
        preview: bool,
    },
    /// Shows an alignment that was kept.
    Adopt {
        /// The piece.
        piece: Arc<Piece>,
        /// The alignment.
        alignment: Box<Alignment>,
        /// What to compare with.
        reference: Option<Arc<Reference>>,
    },
    /// Compares with something else, or nothing.
    Compare {
        /// The piece.
        piece: Arc<Piece>,
        /// What is compared.
        solution: Arc<Solution>,
        /// The reference.
        with: CompareWith,
    },
    /// Listens to the recording.
    Listen {
        /// The piece.
        piece: Arc<Piece>,
        /// What it is listened to for.
        method: Method,
    },
    /// Reads another recording of the score, to be heard.
    Decode {
        /// Where it is.
        source: Source,
        /// What a MIDI performance is heard with; none is the built-in piano.
        soundfont: Option<PathBuf>,
    },
    /// Lets a MIDI performance be heard with another instrument.
    Perform {
        /// The piece.
        piece: Arc<Piece>,
        /// What it is heard with; none is the built-in piano.
        soundfont: Option<PathBuf>,
    },
    /// Plays the score in the recording's time.
    Sound {
        /// The piece.
        piece: Arc<Piece>,
        /// Its alignment.
        solution: Arc<Solution>,
        /// What plays it; none is the built-in piano.
        soundfont: Option<PathBuf>,
        /// Parts that are not played, by track.
        silent: Vec<u16>,
    },
    /// Writes an alignment.
    Export {
        /// The piece.
        piece: Arc<Piece>,
        /// Its alignment.
        solution: Arc<Solution>,
        /// What it was compared with.
        reference: Option<Arc<Reference>>,
        /// In which format.
        format: Format,
        /// Where to.
        path: PathBuf,
        /// Whether another file may be replaced.
        replace: bool,
    },
    /// Saves the session.
    Save {
        /// The files of the piece.
        sources: Sources,
        /// What.
        session: Box<Session>,
        /// Where.
        path: PathBuf,
        /// The last change that is in it.
        revision: u64,
        /// What may be replaced.
        replace: MayReplace,
    },
    /// Looks whether the files of a piece still hold what was read.
    Check(Arc<Piece>),
    /// Keeps the session safe from a crash.
    Autosave {
        /// What.
        session: Box<Session>,
        /// Where.
        file: RecoveryFile,
        /// The last change that is in it.
        revision: u64,
    },
    /// Asks the user for files with the system's dialog.
    Dialog(Ask),
    /// Writes a picture.
    Picture {
        /// The files of the piece.
        sources: Sources,
        /// What was drawn.
        drawing: Box<Drawing>,
        /// In which format, and where to.
        options: PictureOptions,
        /// Whether another file may be replaced.
        replace: bool,
    },
    /// Finds out what files are good for.
    Classify {
        /// The files.
        paths: Vec<PathBuf>,
        /// What is known of them.
        order: Order,
        /// Whether changes may be lost.
        discard: bool,
    },
    /// Takes away this window's session: nobody needs to recover it.
    Forget(RecoveryFile),
    /// Takes away the session of a crashed window: it is safe elsewhere, or not wanted.
    ForgetLeftover(Leftover),
    /// Finds labelled pieces in files or folders.
    FindLabelled(Vec<PathBuf>),
    /// Makes labelled pieces of the open one.
    Label {
        /// The piece.
        piece: Arc<Piece>,
        /// Its alignment.
        solution: Arc<Solution>,
        /// Stretches of the score that were called right.
        accepted: Vec<(f64, f64)>,
        /// Where labels are kept.
        folder: PathBuf,
    },
    /// Reads a model.
    OpenModel {
        /// Its name, or its file.
        model: String,
        /// What for.
        purpose: ModelPurpose,
    },
    /// Trains a model.
    Train {
        /// What and how.
        plan: Box<Plan>,
        /// Where models are kept.
        folder: PathBuf,
        /// Whether it goes on with what was begun under its name; else it gets a free one.
        goes_on: bool,
        /// To pause it.
        control: Arc<Control>,
    },
}

/// What a model is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPurpose {
    /// To be chosen in the settings.
    Settings,
    /// To be chosen, and the piece to be aligned with it.
    Alignment,
    /// To start a training from it.
    Training,
}

/// What an alignment is compared with.
#[derive(Debug, Clone)]
pub enum CompareWith {
    /// No longer with anything.
    Nothing,
    /// A ground truth or an alignment in a file.
    Source(Source),
    /// Another alignment of the piece.
    Other(Reference),
}

impl Task {
    /// Where it runs.
    pub fn slot(&self) -> Slot {
        match self {
            Self::Section { preview: true, .. } => Slot::Drag,
            Self::Open { .. }
            | Self::Reopen { .. }
            | Self::Offer { .. }
            | Self::Align { .. }
            | Self::Section { .. }
            | Self::Adopt { .. }
            | Self::Compare { .. } => Slot::Align,
            Self::Devices(_) => Slot::Devices,
            Self::Cards => Slot::Cards,
            Self::Listen { .. } => Slot::Listen,
            Self::Decode { .. } => Slot::Other,
            Self::Perform { .. } => Slot::Perform,
            Self::Sound { .. } => Slot::Sound,
            Self::Export { .. } | Self::Picture { .. } => Slot::Export,
            Self::Save { .. } => Slot::Save,
            Self::Autosave { .. } | Self::Forget(_) => Slot::Autosave,
            Self::OpenModel { .. } => Slot::Model,
            Self::Check(_) => Slot::Check,
            Self::Classify { .. } | Self::FindLabelled(_) | Self::Label { .. } | Self::ForgetLeftover(_) => Slot::Files,
            Self::Dialog(_) => Slot::Dialog,
            Self::Train { .. } => Slot::Train,
        }
    }

    /// Whether it computes so much that a device may help.
    pub fn computes(&self) -> bool {
        matches!(
            self,
            Self::Open { .. } | Self::Align { .. } | Self::Section { .. } | Self::Listen { .. } | Self::Train { .. }
        )
    }

    /// For the name of its thread.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Reopen { .. } => "reopen",
            Self::Offer { .. } => "offer",
            Self::Devices(_) => "devices",
            Self::Cards => "cards",
            Self::Align { .. } => "align",
            Self::Section { .. } => "section",
            Self::Adopt { .. } => "adopt",
            Self::Compare { .. } => "compare",
            Self::Listen { .. } => "listen",
            Self::Decode { .. } => "decode",
            Self::Perform { .. } => "perform",
            Self::Sound { .. } => "sound",
            Self::Export { .. } => "export",
            Self::Save { .. } => "save",
            Self::Check(_) => "check",
            Self::Autosave { .. } => "autosave",
            Self::Dialog(_) => "dialog",
            Self::Picture { .. } => "picture",
            Self::Classify { .. } => "classify",
            Self::Forget(_) | Self::ForgetLeftover(_) => "forget",
            Self::FindLabelled(_) => "find-labelled",
            Self::Label { .. } => "label",
            Self::OpenModel { .. } => "open-model",
            Self::Train { .. } => "train",
        }
    }
}

/// Does a job and tells what came of it.
pub fn run(ctx: &JobContext, device: &Device, task: Task, tell: &dyn Fn(Event)) -> Result<()> {
    match task {
        Task::Open { sources, settings, soundfont, known } => {
            let reading::Read { piece, reference, bad_reference, silent_soundfont } =
                reading::read(ctx, sources, soundfont.as_deref())?;
            silent_soundfont.into_iter().for_each(|error| tell(Event::Notice(error.to_string())));
            let (piece, reference) = (Arc::new(piece), reference.map(Arc::new));
            tell(Event::Opened { piece: Arc::clone(&piece), reference: reference.clone(), bad_reference });
            let known = known.filter(|known| known.notes.len() == piece.score.notes.len());
            let (alignment, heard) = match known {
                Some(known) => (*known, None),
                None => reading::align_piece(ctx, device, &piece, None, &settings)?,
            };
            let solution = Arc::new(Solution::new(&piece, alignment, reference.as_deref()));
            tell(Event::Solved { solution, heard, again: false });
        }
        Task::Reopen { file, saved_as } => {
            ctx.report("looking for its files", 0.0)?;
            tell(Event::Reopened(Box::new(Reopened::read(ctx, &file, saved_as)?)));
        }
        Task::Offer { mut reopened, file, confirmed } => {
            ctx.report("reading", 0.0)?;
            reopened.offer(ctx, &file, confirmed)?;
            tell(Event::Reopened(reopened));
        }
        Task::Devices(list) => tell(Event::Devices(list())),
        Task::Cards => tell(Event::Cards(devices())),
        Task::Align { piece, heard, settings, reference } => {
            let (alignment, heard) = reading::align_piece(ctx, device, &piece, heard, &settings)?;
            let solution = Arc::new(Solution::new(&piece, alignment, reference.as_deref()));
            tell(Event::Solved { solution, heard, again: true });
        }
        Task::Section { piece, listening, solution, settings, reference, at_s, preview } => {
            let alignment = realign(ctx, &piece.score, &listening, &solution.alignment, &settings, at_s)?;
            let solution = Arc::new(Solution::new(&piece, alignment, reference.as_deref()));
            let solved = |solution| Event::Solved { solution, heard: None, again: false };
            tell(if preview { Event::Previewed(solution) } else { solved(solution) });
        }
        Task::Adopt { piece, alignment, reference } => {
            let solution = Arc::new(Solution::new(&piece, *alignment, reference.as_deref()));
            tell(Event::Solved { solution, heard: None, again: false });
        }
        Task::Compare { piece, solution, with } => {
            let (source, reference) = match with {
                CompareWith::Nothing => (None, None),
                CompareWith::Source(source) => {
                    let reference = reading::read_reference(ctx, &source, &piece.score)?;
                    (Some(source), Some(reference))
                }
                CompareWith::Other(reference) => (None, Some(reference)),
            };
            let compared = Solution::new(&piece, solution.alignment.clone(), reference.as_ref());
            tell(Event::Compared { source, reference: reference.map(Arc::new), solution: Arc::new(compared) });
        }
        Task::Listen { piece, method } => {
            let watch = &mut Stopwatch::default();
            let listening = Listening::new(ctx, &piece.performance, &piece.score, &method, device, watch)?;
            tell(Event::Listened(Heard::new(listening)));
        }
        Task::Decode { source, soundfont } => {
            let clip = reading::perform(ctx, &source, soundfont.as_deref())?.sound;
            tell(Event::Decoded { source, clip });
        }
        Task::Perform { piece, soundfont } => {
            if let Performance::Take(take) = &piece.performance {
                let sound = take.play(ctx, SoundFont::load(soundfont.as_deref())?)?;
                let performed = Arc::new(piece.sounding(Arc::new(sound)));
                tell(Event::Performed { before: piece, performed });
            }
        }
        Task::Sound { piece, solution, soundfont, silent } => {
            let alignment = &solution.alignment;
            let mut score = piece.score.clone();
            // What was left out with its section would sound all at once where it was.
            let mut placed = alignment.notes.iter().map(|note| note.confidence > 0.0);
            score.notes.retain(|note| placed.next() != Some(false) && !silent.contains(&note.track));
            if score.notes.is_empty() {
                let silence = vec![0.0; piece.recording.samples.len()];
                tell(Event::Sound(Arc::new(AudioClip { samples: silence, sample_rate: piece.recording.sample_rate })));
                return Ok(());
            }
            let soundfont = SoundFont::load(soundfont.as_deref())?;
            let params = SynthParams { soundfont, sample_rate: piece.recording.sample_rate, ..SynthParams::default() };
            let clip = synthesise_mapped(ctx, &score, &params, &|second| alignment.warp.at(second))?;
            tell(Event::Sound(Arc::new(clip)));
        }
        Task::Export { piece, solution, reference, format, path, replace } => {
            let input = ExportInput {
                score: &piece.score,
                alignment: &solution.alignment,
                reference: reference.as_ref().map(|reference| &reference.times),
                metrics: solution.metrics.as_ref(),
                recording_rate: piece.recording_rate,
            };
            let writing = Writing::Export { format, path: writing::absolute(&path) };
            tell(writing::write(ctx, writing, &piece.sources, MayReplace::anything_if(replace), |path| {
                write_bytes_atomically(path, &format.exporter().render(&input)?)?;
                Ok(Event::Written(path.to_owned()))
            })?);
        }
        Task::Save { sources, mut session, path, revision, replace } => {
            // Only recovery files need these.
            (session.saved_as, session.saved_holds) = (None, None);
            let writing = Writing::Session(writing::absolute(&path));
            tell(writing::write(ctx, writing, &sources, replace, |path| {
                let holds = session.write(ctx, path)?;
                Ok(Event::Saved { path: path.to_owned(), revision, holds })
            })?);
        }
        Task::Check(piece) => tell(Event::Checked(writing::changed_files(ctx, &piece)?)),
        Task::Autosave { session, file, revision } => {
            file.write(ctx, *session)?;
            tell(Event::Autosaved(revision));
        }
        Task::Dialog(ask) => tell(Event::Picked(system_dialog::wait(ask))),
        Task::Picture { sources, drawing, mut options, replace } => {
            options.path = writing::absolute(&options.path);
            let format = options.format;
            tell(writing::write(ctx, Writing::Picture(options), &sources, MayReplace::anything_if(replace), |path| {
                write_bytes_atomically(path, &drawing.encode(format)?)?;
                Ok(Event::Written(path.to_owned()))
            })?);
        }
        Task::Classify { paths, order, discard } => {
            tell(Event::Classified { found: classify(paths, order), order, discard });
        }
        Task::Forget(file) => {
            file.remove();
            tell(Event::Forgotten);
        }
        Task::ForgetLeftover(leftover) => {
            leftover.remove();
            tell(Event::Forgotten);
        }
        Task::FindLabelled(paths) => tell(Event::Labelled { pieces: labels::of_files(&paths)?, from_files: true }),
        Task::Label { piece, solution, accepted, folder } => {
            let pieces = labels::of_piece(&piece, &solution, &accepted, &folder)?;
            tell(Event::Labelled { pieces, from_files: false });
        }
        Task::OpenModel { model, purpose } => {
            let card = Box::new(open_card(&model)?);
            tell(Event::ModelOpened { model, card, purpose });
        }
        Task::Train { mut plan, folder, goes_on, control } => {
            if !goes_on {
                plan.take_free_name(&folder);
                tell(Event::TrainingNamed(plan.name.clone()));
            }
            plan.write(&folder);
            let trained = train_task::run(ctx, device, &plan, &folder, &control, tell);
            tell(Event::TrainingKept(plan.is_unfinished(&folder)));
            tell(Event::Trained(Box::new(trained?)));
        }
    }
    Ok(())
}
