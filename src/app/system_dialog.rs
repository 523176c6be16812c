//! The system's own file dialogs. They are created on the window's thread, as some systems demand, and waited for on another.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// What the user is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// A recording, a score, both, or a session.
    OpenFiles,
    /// A ground truth or second alignment.
    OpenReference,
    /// A SoundFont to compare with.
    OpenSoundFont,
    /// A SoundFont to hear the score with.
    OpenPlaybackSoundFont,
    /// A learned extractor.
    OpenModel,
    /// Recordings with their scores and truths, or a manifest.
    AddLabelled,
    /// A folder of labelled pieces.
    AddLabelledFolder,
    /// Where to save the session.
    SaveSession(String),
    /// Where to export to, with a proposal for the name.
    Export(String),
    /// Where to write a picture, with a proposal for the name.
    Picture(String),
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

/// Opens a dialog. To be called on the window's thread.
pub fn ask(question: Question) -> Ask {
    let dialog = rfd::AsyncFileDialog::new();
    let answer: Answer = match &question {
        Question::OpenFiles => {
            let dialog = dialog
                .set_title("Open a recording and its score")
                .add_filter("Recordings, MIDI scores and sessions", OPENABLE)
                .add_filter("All files", &["*"]);
            let files = dialog.pick_files();
            Box::pin(async move { files.await.unwrap_or_default().iter().map(|file| file.path().to_owned()).collect() })
        }
        Question::OpenReference => {
            let dialog = dialog.set_title("Open a ground truth or another alignment");
            let file = dialog.add_filter("Alignments", &["csv", "json", "txt", "align", "match"]).pick_file();
            Box::pin(async move { file.await.iter().map(|file| file.path().to_owned()).collect() })
        }
        Question::OpenSoundFont | Question::OpenPlaybackSoundFont => {
            let file = dialog.set_title("Open a SoundFont").add_filter("SoundFonts", &["sf2"]).pick_file();
            Box::pin(async move { file.await.iter().map(|file| file.path().to_owned()).collect() })
        }
        Question::Missing(name) => {
            let file = dialog.set_title(format!("Find {name}")).add_filter("All files", &["*"]).pick_file();
            Box::pin(async move { file.await.iter().map(|file| file.path().to_owned()).collect() })
        }
        Question::OpenModel | Question::StartModel => {
            let dialog = dialog.set_title("Open a learned extractor");
            let file = dialog.add_filter("Models", &["safetensors"]).pick_file();
            Box::pin(async move { file.await.iter().map(|file| file.path().to_owned()).collect() })
        }
        Question::AddLabelled => {
            let dialog = dialog.set_title("Add a recording, its score and its true alignment, or a manifest");
            let files = dialog.add_filter("All files", &["*"]).pick_files();
            Box::pin(async move { files.await.unwrap_or_default().iter().map(|file| file.path().to_owned()).collect() })
        }
        Question::AddLabelledFolder => {
            let folder = dialog.set_title("Add a folder of labelled pieces").pick_folder();
            Box::pin(async move { folder.await.iter().map(|file| file.path().to_owned()).collect() })
        }
        Question::SaveSession(name) | Question::Export(name) | Question::Picture(name) => {
            let title = match question {
                Question::Export(_) => "Export",
                Question::Picture(_) => "Save a picture",
                _ => "Save the session",
            };
            let file = dialog.set_title(title).set_file_name(name).save_file();
            Box::pin(async move { file.await.iter().map(|file| file.path().to_owned()).collect() })
        }
    };
    Ask { question, answer }
}

const OPENABLE: &[&str] = &[
    "wav", "flac", "mp3", "ogg", "oga", "m4a", "mp4", "aac", "aif", "aiff", "caf", "mkv", "webm", "mid", "midi",
    "agogic",
];

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
}
