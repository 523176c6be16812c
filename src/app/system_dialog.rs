//! The system's own file dialogs. They are created on the window's thread, as some systems demand, and waited for on another.

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use super::document::source::{FileRole, MIDI, extensions};
use super::folders::which_are_there;

/// What the user is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// A recording, a score, both, or a session.
    OpenFiles,
    /// Another recording of the score that is open.
    OpenRecording,
    /// A ground truth or second alignment.
    OpenReference,
    /// Notes that somebody heard in the recording.
    OpenTranscription,
    /// A SoundFont to compare with.
    OpenSoundFont,
    /// A SoundFont to hear the score with.
    OpenPlaybackSoundFont,
    /// An ear or an extractor.
    OpenModel,
    /// Recordings with their scores and truths, or a manifest.
    AddLabelled,
    /// A folder of labelled pieces.
    AddLabelledFolder,
    /// Where to save the session, with a proposal.
    SaveSession(PathBuf),
    /// Where to export to, with a proposal.
    Export(PathBuf),
    /// Where to write a picture, with a proposal.
    Picture(PathBuf),
    /// A file that a session no longer finds, by its old name.
    Missing(String),
    /// A model to start a training from.
    StartModel,
}

type Answer = Pin<Box<dyn Future<Output = Vec<PathBuf>> + Send>>;

/// A dialog that is open.
pub struct Ask {
    question: Question,
    answer: Answer,
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("question", &self.question).finish_non_exhaustive()
    }
}

/// The folder and the name that a dialog starts with: where the question says, or the first of `folders`, if it is there.
fn start_of(
    question: &Question,
    folders: Vec<PathBuf>,
    is_there: impl Fn(&Path) -> bool,
) -> (Option<PathBuf>, Option<String>) {
    let mut folders = folders.into_iter().filter(|folder| is_there(folder));
    let Some(path) = question.proposed() else { return (folders.next(), None) };
    let typed = path.parent().filter(|typed| !typed.as_os_str().is_empty()).map(Path::to_owned);
    let typed = typed.filter(|typed| is_there(typed));
    (typed.or_else(|| folders.next()), path.file_name().map(|name| name.to_string_lossy().into_owned()))
}

/// Opens a dialog where the question says, or in the first of `folders` that is there. To be called on the window's thread.
pub fn ask(question: Question, folders: Vec<PathBuf>) -> Ask {
    let typed = question.proposed().and_then(Path::parent).map(Path::to_owned);
    let there = which_are_there(folders.iter().cloned().chain(typed).collect());
    let (folder, name) = start_of(&question, folders, |folder| there.contains(folder));
    let mut dialog = rfd::AsyncFileDialog::new();
    if let Some(folder) = folder {
        dialog = dialog.set_directory(folder);
    }
    if let Some(name) = name {
        dialog = dialog.set_file_name(name);
    }
    dialog = dialog.set_title(question.title());
    for (name, extensions) in question.filters() {
        dialog = dialog.add_filter(name, &extensions);
    }
    let answer: Answer = match &question {
        Question::OpenFiles | Question::AddLabelled => {
            let files = dialog.pick_files();
            Box::pin(async move { files.await.unwrap_or_default().iter().map(|file| file.path().to_owned()).collect() })
        }
        Question::AddLabelledFolder => one(dialog.pick_folder()),
        Question::SaveSession(_) | Question::Export(_) | Question::Picture(_) => one(dialog.save_file()),
        _ => one(dialog.pick_file()),
    };
    Ask { question, answer }
}

fn one(answer: impl Future<Output = Option<rfd::FileHandle>> + Send + 'static) -> Answer {
    Box::pin(async move { answer.await.iter().map(|file| file.path().to_owned()).collect() })
}

impl Question {
    /// The path that is proposed, of what is written.
    fn proposed(&self) -> Option<&Path> {
        match self {
            Self::SaveSession(path) | Self::Export(path) | Self::Picture(path) => Some(path),
            _ => None,
        }
    }

    /// What a dialog that asks it is called.
    pub fn title(&self) -> String {
        let title = match self {
            Self::Missing(name) => return format!("Find {name}"),
            Self::OpenFiles => "Open a recording and its score",
            Self::OpenRecording => "Open another recording of the score",
            Self::OpenTranscription => "Open a transcription of the recording",
            Self::OpenReference => "Open a ground truth or another alignment",
            Self::OpenSoundFont | Self::OpenPlaybackSoundFont => "Open a SoundFont",
            Self::OpenModel | Self::StartModel => "Open a model",
            Self::AddLabelled => "Add a recording, its score and its true alignment, or a manifest",
            Self::AddLabelledFolder => "Add a folder of labelled pieces",
            Self::SaveSession(_) => "Save the session",
            Self::Export(_) => "Export",
            Self::Picture(_) => "Save a picture",
        };
        title.to_owned()
    }

    /// Which files are shown, by name and extensions.
    fn filters(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let all = || ("All files", vec!["*"]);
        let [recordings, scores, session] = [FileRole::Recording, FileRole::Score, FileRole::Session];
        match self {
            Self::OpenFiles => {
                vec![("Recordings, scores and sessions", extensions(&[recordings, scores, session])), all()]
            }
            Self::OpenRecording => {
                vec![("Recordings and MIDI performances", [&extensions(&[recordings]), MIDI].concat()), all()]
            }
            Self::OpenTranscription => vec![("MIDI files", MIDI.to_vec()), all()],
            Self::OpenReference => vec![("Alignments", extensions(&[FileRole::Reference]))],
            Self::OpenSoundFont | Self::OpenPlaybackSoundFont => {
                vec![("SoundFonts", extensions(&[FileRole::SoundFont]))]
            }
            Self::OpenModel | Self::StartModel => vec![("Models", extensions(&[FileRole::Model]))],
            Self::Missing(_) | Self::AddLabelled => vec![all()],
            Self::AddLabelledFolder | Self::SaveSession(_) | Self::Export(_) | Self::Picture(_) => Vec::new(),
        }
    }
}

/// Waits for the answer.
pub fn wait(ask: Ask) -> Vec<PathBuf> {
    block_on(ask.answer)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => return answer,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_comes_late_is_waited_for() {
        let mut asked = 0;
        let answer = block_on(std::future::poll_fn(|context| {
            asked += 1;
            let waker = context.waker().clone();
            std::thread::spawn(move || waker.wake());
            if asked < 3 { Poll::Pending } else { Poll::Ready(asked) }
        }));
        assert_eq!(answer, 3);
    }

    #[test]
    fn dialogs_start_where_the_path_says_or_in_the_first_folder_that_is_there() {
        let folders = || vec![PathBuf::from("/gone"), PathBuf::from("/pieces")];
        let start = |question: Question| start_of(&question, folders(), |folder| !folder.starts_with("/gone"));
        assert_eq!(start(Question::OpenFiles), (Some(PathBuf::from("/pieces")), None));
        let typed = Question::Export(PathBuf::from("/elsewhere/take.csv"));
        assert_eq!(start(typed), (Some(PathBuf::from("/elsewhere")), Some("take.csv".to_owned())));
        for path in ["take.agogic", "/gone/take.agogic"] {
            let bare = Question::SaveSession(PathBuf::from(path));
            assert_eq!(start(bare), (Some(PathBuf::from("/pieces")), Some("take.agogic".to_owned())));
        }
    }
}
