//! What dropping files on the window would do, judged by their names alone while they are held over it.

use std::path::PathBuf;

use super::document::source::{FileRole, file_name, is_midi_by_name, need_no_recording, role_by_name};
use super::preferences::SideTab;
use super::state::{AppState, Dialog};

/// More files than this are counted.
const MOST_LISTED: usize = 6;

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropHint {
    /// What would happen.
    pub title: String,
    /// Every file with what it is taken for.
    pub files: Vec<(String, &'static str)>,
}

/// What to say of files; `None` stands for one whose name the system does not tell.
pub fn drop_hint(files: &[Option<PathBuf>], state: &AppState) -> DropHint {
    let Some(paths) = files.iter().cloned().collect::<Option<Vec<PathBuf>>>() else {
        let title = "Drop a recording or a MIDI performance and its score\nTogether or one after the other".to_owned();
        return DropHint { title, files: Vec::new() };
    };
    let ignored = need_no_recording(&paths.iter().filter_map(|path| role_by_name(path)).collect::<Vec<_>>());
    let word = |path: &PathBuf| (file_name(path), words(role_by_name(path), ignored));
    let mut listed: Vec<_> = paths.iter().take(MOST_LISTED).map(word).collect();
    if paths.len() > MOST_LISTED {
        listed.push((format!("and {} more", paths.len() - MOST_LISTED), ""));
    }
    DropHint { title: title(&paths, state), files: listed }
}

fn words(role: Option<FileRole>, ignored: bool) -> &'static str {
    match role {
        Some(FileRole::Recording) => "recording",
        Some(FileRole::Score) => "score",
        Some(FileRole::Reference) => "ground truth or another alignment",
        Some(FileRole::Session) => "session",
        Some(FileRole::Model) => "model",
        Some(FileRole::SoundFont) => "SoundFont",
        None if ignored => "not supported",
        None => "unknown kind, tried as a recording",
    }
}

fn title(paths: &[PathBuf], state: &AppState) -> String {
    if let (Some(Dialog::Relink(asked)), [_]) = (&state.dialog, paths)
        && let Some(missing) = asked.missing()
    {
        return format!("Drop it to use it as {}", file_name(&missing.was));
    }
    let roles = roles(paths);
    let count = |wanted: FileRole| roles.iter().filter(|&&role| role == wanted).count();
    let (recordings, scores) = (count(FileRole::Recording), count(FileRole::Score));
    let replaces = count(FileRole::Session) + recordings + scores > 0;
    let title = if count(FileRole::Session) > 0 {
        "Drop to open the session".to_owned()
    } else if recordings > 0 && scores > 0 {
        "Drop to open and align them".to_owned()
    } else if scores > 1 {
        // Notation is never what was played.
        match paths.iter().filter(|path| is_midi_by_name(path)).count() {
            0 => "Drop them, then drop the recording".to_owned(),
            1 => "Drop to align the MIDI performance with its score".to_owned(),
            _ => "Drop to open them: the one with freer timing is used as the performance".to_owned(),
        }
    } else if recordings > 0 {
        match other_half(state, false) {
            Some(score) => format!("Drop to align it with {score}"),
            None => "Drop it, then drop its score".to_owned(),
        }
    } else if scores > 0 {
        match (&state.waiting.score, other_half(state, true)) {
            (Some(earlier), _) if state.waiting.recording.is_none() => {
                format!("Drop to open it with {}", file_name(earlier))
            }
            (_, Some(recording)) => format!("Drop to align {recording} with it"),
            (_, None) => "Drop it, then drop its recording".to_owned(),
        }
    } else if count(FileRole::Reference) > 0 {
        "Drop to compare the alignment with it".to_owned()
    } else if count(FileRole::Model) > 0 {
        let training = state.preferences.side_tab == SideTab::Tune;
        if training { "Drop to train from this model" } else { "Drop to align with this model" }.to_owned()
    } else {
        "Drop to hear the score with this SoundFont".to_owned()
    };
    if replaces && state.is_changed() {
        format!("{title}\nYou will be asked to save your changes first")
    } else {
        title
    }
}

/// What the files are; those of unknown kinds are recordings or nothing.
fn roles(paths: &[PathBuf]) -> Vec<FileRole> {
    let known: Vec<FileRole> = paths.iter().filter_map(|path| role_by_name(path)).collect();
    let unknown = if need_no_recording(&known) { 0 } else { paths.len() - known.len() };
    [known, vec![FileRole::Recording; unknown]].concat()
}

/// What a file that comes alone would be opened with: what waits, or what is open.
fn other_half(state: &AppState, recording: bool) -> Option<String> {
    let waiting = if recording { &state.waiting.recording } else { &state.waiting.score };
    let sources = state.piece().map(|piece| &piece.sources);
    let open = sources.map(|sources| if recording { &sources.recording } else { &sources.score });
    waiting.as_deref().or_else(|| open?.path()).map(file_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::preferences::Preferences;

    fn hint(names: &[&str], state: &AppState) -> DropHint {
        drop_hint(&names.iter().map(|name| Some(PathBuf::from(name))).collect::<Vec<_>>(), state)
    }

    #[test]
    fn every_kind_of_file_is_told_what_dropping_it_does() {
        let mut state = AppState::new(Preferences::default());
        for (names, title, kind) in [
            (vec!["a.flac", "a.mid"], "open and align", "recording"),
            (vec!["a.mid", "b.mid"], "freer timing", "score"),
            (vec!["A.WAV"], "then drop its score", "recording"),
            (vec!["a.musicxml"], "then drop its recording", "score"),
            (vec!["truth.csv"], "compare", "ground truth or another alignment"),
            (vec!["a.agogic"], "open the session", "session"),
            (vec!["mine.safetensors"], "align with this model", "model"),
            (vec!["piano.sf2"], "hear the score", "SoundFont"),
            (vec!["a.mid", "a.musicxml"], "align the MIDI performance", "score"),
            (vec!["letter.pdf"], "then drop its score", "unknown kind, tried as a recording"),
            (vec!["take", "a.mid"], "open and align", "unknown kind, tried as a recording"),
            (vec!["cover.jpg", "a.flac", "a.mid"], "open and align", "not supported"),
            (vec!["cover.jpg", "a.mid", "b.mid"], "freer timing", "not supported"),
        ] {
            let said = hint(&names, &state);
            assert!(said.title.contains(title), "{names:?}: {said:?}");
            assert_eq!(said.files.first().map(|file| file.1), Some(kind), "{names:?}");
        }
        state.waiting.score = Some(PathBuf::from("/x/waiting.mid"));
        assert_eq!(hint(&["a.flac"], &state).title, "Drop to align it with waiting.mid");
        assert_eq!(hint(&["b.mid"], &state).title, "Drop to open it with waiting.mid");
        state.preferences.side_tab = SideTab::Tune;
        assert!(hint(&["mine.safetensors"], &state).title.contains("train"));
    }

    #[test]
    fn where_names_are_not_told_the_hint_is_general_and_many_files_are_counted() {
        let state = AppState::new(Preferences::default());
        let general = drop_hint(&[None, Some(PathBuf::from("a.wav"))], &state);
        assert!(general.files.is_empty() && general.title.contains("a recording"));
        let many = hint(&["1.wav", "2.wav", "3.wav", "4.wav", "5.wav", "6.wav", "7.wav", "8.wav"], &state);
        assert_eq!(many.files.last().unwrap().0, "and 2 more");
    }
}
