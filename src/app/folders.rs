//! The folders that files were last taken from and put into, one for each purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::system_dialog::Question;

/// What files are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Recordings, scores and sessions to open, transcriptions and missing files too.
    Pieces,
    /// Ground truths and other alignments.
    References,
    /// Sessions that are saved.
    Sessions,
    /// Alignments and pictures that are written.
    Exports,
    /// SoundFonts.
    SoundFonts,
    /// Models.
    Models,
    /// Pieces to learn from.
    Labelled,
}

impl Purpose {
    /// What the answer to a question is for.
    pub fn of(question: &Question) -> Self {
        match question {
            Question::OpenFiles | Question::OpenRecording | Question::OpenTranscription | Question::Missing(_) => {
                Self::Pieces
            }
            Question::OpenReference => Self::References,
            Question::SaveSession(_) => Self::Sessions,
            Question::Export(_) | Question::Picture(_) => Self::Exports,
            Question::OpenSoundFont | Question::OpenPlaybackSoundFont => Self::SoundFonts,
            Question::OpenModel | Question::StartModel => Self::Models,
            Question::AddLabelled | Question::AddLabelledFolder => Self::Labelled,
        }
    }
}

/// The folder last used for each purpose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Folders {
    last: BTreeMap<Purpose, PathBuf>,
    /// Those that were not there when they were looked for: a drive that is not plugged in may be so again another day.
    #[serde(skip)]
    gone: BTreeSet<Purpose>,
}

impl Folders {
    /// The folder last used, if it is there.
    pub fn last(&self, purpose: Purpose) -> Option<&Path> {
        self.last.get(&purpose).filter(|_| !self.gone.contains(&purpose)).map(PathBuf::as_path)
    }

    /// A file was taken from its folder, or put there. One whose name is not Unicode could not be written to the preferences.
    pub fn remember(&mut self, purpose: Purpose, file: &Path) {
        if let Some(folder) = file.parent().filter(|folder| folder.is_absolute() && folder.to_str().is_some()) {
            self.last.insert(purpose, folder.to_owned());
            self.gone.remove(&purpose);
        }
    }

    /// A file of the piece in `own` was written. A user who writes beside the recording will want that for the next piece too,
    /// wherever it is; only another folder is remembered.
    pub fn remember_written(&mut self, purpose: Purpose, file: &Path, own: Option<&Path>) {
        if own.is_some() && file.parent() == own {
            self.last.remove(&purpose);
        } else {
            self.remember(purpose, file);
        }
    }

    /// Finds out which of them are still there.
    pub fn look(&mut self) {
        let there = which_are_there(self.last.values().cloned().collect());
        self.gone =
            self.last.iter().filter(|(_, folder)| !there.contains(*folder)).map(|(purpose, _)| *purpose).collect();
    }
}

/// How long a drive has to answer before it counts as gone: the window waits for it.
const LONGEST_LOOK: Duration = Duration::from_millis(250);

/// Those of the folders that are there. A drive that does not answer is not waited for.
pub fn which_are_there(folders: Vec<PathBuf>) -> BTreeSet<PathBuf> {
    let (sender, answers) = channel();
    let mut asked = 0;
    for folder in folders {
        let sender = sender.clone();
        let look = move || sender.send(folder.is_dir().then_some(folder));
        asked += usize::from(std::thread::Builder::new().name("agogic-look".to_owned()).spawn(look).is_ok());
    }
    let end = Instant::now() + LONGEST_LOOK;
    let in_time = (0..asked).map_while(|_| answers.recv_timeout(end.saturating_duration_since(Instant::now())).ok());
    in_time.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_purpose_has_its_folder_and_one_that_is_gone_comes_back_with_its_drive() {
        let place = tempfile::tempdir().unwrap();
        let [music, drive] = ["music", "drive"].map(|name| place.path().join(name));
        std::fs::create_dir_all(&music).unwrap();
        let mut folders = Folders::default();
        folders.remember(Purpose::Pieces, &music.join("a.wav"));
        folders.remember(Purpose::Exports, &drive.join("a.csv"));
        folders.remember(Purpose::Models, Path::new("relative.safetensors"));
        let stored = serde_json::to_string(&folders).unwrap();
        let mut read: Folders = serde_json::from_str(&stored).unwrap();
        read.look();
        assert_eq!(read.last(Purpose::Pieces), Some(music.as_path()));
        assert_eq!(read.last(Purpose::Exports), None, "it is gone");
        assert_eq!(read.last(Purpose::Models), None, "a relative folder means another place tomorrow");
        assert_eq!(serde_json::to_string(&read).unwrap(), stored, "what is gone today is not forgotten");
        std::fs::create_dir_all(&drive).unwrap();
        read.look();
        assert_eq!(read.last(Purpose::Exports), Some(drive.as_path()));
    }

    #[test]
    fn writing_beside_the_recording_stays_beside_the_recording() {
        let (own, other) = (Path::new("/music"), Path::new("/results"));
        let mut folders = Folders::default();
        folders.remember_written(Purpose::Exports, &own.join("a.csv"), Some(own));
        assert_eq!(folders.last(Purpose::Exports), None);
        folders.remember_written(Purpose::Exports, &other.join("a.csv"), Some(own));
        assert_eq!(folders.last(Purpose::Exports), Some(other));
        folders.remember_written(Purpose::Exports, &own.join("a.csv"), Some(own));
        assert_eq!(folders.last(Purpose::Exports), None);
    }
}
