//! What files that are opened together are to one another: of two MIDI files one may be what was played.

use std::path::{Path, PathBuf};

use super::writing;
use crate::align::is_take;
use crate::app::document::source::{FileRole, Order, need_no_recording, role_by_name, role_of};
use crate::score::Score;

/// What files are good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// The files with what each is good for.
    pub files: Vec<(FileRole, PathBuf)>,
    /// Whether it was guessed which of two MIDI files was played.
    pub guessed: bool,
    /// Files of unknown kinds, which the others can do without.
    pub ignored: Vec<PathBuf>,
}

/// Finds out what files are good for. A MIDI file is a score, unless there is no recording and `order` or another MIDI file says
/// that it was played.
pub fn classify(paths: Vec<PathBuf>, order: Order) -> Classified {
    let with_role = |path: PathBuf| (role_of(&path), writing::absolute(&path));
    let mut files: Vec<(FileRole, PathBuf)> = paths.into_iter().map(with_role).collect();
    let ignored = leave_out_unknown(&mut files);
    let of_role = |wanted: FileRole| (0..files.len()).filter(|&index| files[index].0 == wanted).collect::<Vec<_>>();
    let (scores, recordings) = (of_role(FileRole::Score), of_role(FileRole::Recording));
    let mut guessed = false;
    // Notation is never what was played.
    let midi: Vec<usize> = scores.iter().copied().filter(|&index| is_take(&files[index].1)).collect();
    let take = match (order, midi.as_slice()) {
        _ if !recordings.is_empty() => None,
        (Order::Performance, [first, ..]) | (Order::PerformanceFirst, [first, _, ..]) => Some(*first),
        (Order::Any | Order::PerformanceFirst, [only]) if scores.len() > 1 => Some(*only),
        (Order::Any, [first, second, ..]) => {
            guessed = true;
            let is_first = is_freer(&files[*first].1, &files[*second].1);
            Some(if is_first { *first } else { *second })
        }
        _ => None,
    };
    if let Some(take) = take {
        files[take].0 = FileRole::Recording;
    }
    Classified { files, guessed, ignored }
}

/// Takes out files whose kind is unknown, a cover or a text, where nothing says that one is the recording.
fn leave_out_unknown(files: &mut Vec<(FileRole, PathBuf)>) -> Vec<PathBuf> {
    let is_unknown = |(role, path): &(FileRole, PathBuf)| *role == FileRole::Recording && role_by_name(path).is_none();
    let known: Vec<FileRole> = files.iter().filter(|file| !is_unknown(file)).map(|(role, _)| *role).collect();
    if !need_no_recording(&known) {
        return Vec::new();
    }
    files.extract_if(.., |file| is_unknown(file)).map(|(_, path)| path).collect()
}

/// Whether the first of two MIDI files is the one that was played rather than written: its onsets keep less to the beat. Where
/// neither can be read it is, for the performance is named first elsewhere too.
fn is_freer(first: &Path, second: &Path) -> bool {
    let of = |path: &Path| Score::read(path).map_or(0.0, |score| regularity(&score));
    of(first) <= of(second)
}

/// How much of a file looks written rather than played, 0 to 1: onsets on the beat, its halves, thirds and so on, and notes of
/// chords that begin at the very same tick.
fn regularity(score: &Score) -> f64 {
    let notes = &score.notes;
    let count = notes.len().max(1) as f64;
    let regular = notes.iter().filter(|note| score.is_on_grid(note.onset_tick)).count() as f64 / count;
    let together = notes.windows(2).filter(|pair| pair[0].onset_tick == pair[1].onset_tick).count() as f64 / count;
    0.5 * (regular + together)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A MIDI file with 480 ticks a quarter note and notes at ticks.
    fn file(folder: &Path, name: &str, onsets: &[u64]) -> PathBuf {
        let mut events = Vec::new();
        let mut before = 0;
        for (index, &onset) in onsets.iter().enumerate() {
            let delta = onset - before;
            events.extend([0x80 | (delta >> 7) as u8, (delta & 127) as u8, 0x90, 60 + index as u8 % 12, 64]);
            before = onset;
        }
        events.extend(b"\x83\x60\xff\x2f\0");
        let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk".to_vec();
        bytes.extend((events.len() as u32).to_be_bytes());
        bytes.extend(events);
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn takes(classified: &Classified) -> Vec<&Path> {
        let takes = classified.files.iter().filter(|(role, _)| *role == FileRole::Recording);
        takes.map(|(_, path)| path.as_path()).collect()
    }

    #[test]
    fn of_two_midi_files_dropped_together_the_freer_one_was_played() {
        let folder = tempfile::tempdir().unwrap();
        let score = file(folder.path(), "a.mid", &[0, 240, 240, 480, 640, 800, 960]);
        let take = file(folder.path(), "b.mid", &[3, 251, 262, 497, 633, 811, 977]);
        for paths in [vec![score.clone(), take.clone()], vec![take.clone(), score.clone()]] {
            let classified = classify(paths, Order::Any);
            assert_eq!(takes(&classified), [take.as_path()]);
            assert!(classified.guessed);
        }
        let given = classify(vec![score.clone(), take.clone()], Order::PerformanceFirst);
        assert_eq!((takes(&given), given.guessed), (vec![score.as_path()], false));
        assert_eq!(takes(&classify(vec![score.clone()], Order::Performance)), [score.as_path()]);
        assert!(takes(&classify(vec![take.clone()], Order::PerformanceFirst)).is_empty(), "one alone is a score");
    }

    #[test]
    fn notation_is_the_score_of_a_midi_file_beside_it_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let take = file(folder.path(), "b.mid", &[0, 480, 960]);
        let score = folder.path().join("a.musicxml");
        std::fs::write(&score, "<score-partwise>").unwrap();
        for paths in [vec![score.clone(), take.clone()], vec![take.clone(), score.clone()]] {
            for order in [Order::Any, Order::PerformanceFirst] {
                let classified = classify(paths.clone(), order);
                assert_eq!((takes(&classified), classified.guessed), (vec![take.as_path()], false));
            }
        }
        assert!(takes(&classify(vec![score], Order::Performance)).is_empty());
    }

    #[test]
    fn files_of_unknown_kinds_are_left_out_where_one_cannot_be_the_recording() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["a.mid", "b.mid"].map(|name| file(folder.path(), name, &[0, 480, 960]));
        let [audio, cover, bare] = ["a.flac", "cover.jpg", "take"].map(|name| folder.path().join(name));
        let classified = classify(vec![audio.clone(), first.clone(), cover.clone()], Order::Any);
        assert_eq!((takes(&classified), &classified.ignored), (vec![audio.as_path()], &vec![cover.clone()]));
        let classified = classify(vec![first.clone(), second, cover.clone()], Order::Any);
        assert_eq!((takes(&classified).len(), &classified.ignored), (1, &vec![cover]));
        let classified = classify(vec![bare.clone(), first], Order::Any);
        assert_eq!((takes(&classified), &classified.ignored), (vec![bare.as_path()], &Vec::new()));
    }

    #[test]
    fn beside_a_recording_every_midi_file_is_a_score() {
        let folder = tempfile::tempdir().unwrap();
        let take = file(folder.path(), "b.mid", &[3, 251, 262]);
        let audio = folder.path().join("a.wav");
        let classified = classify(vec![take, audio.clone()], Order::Any);
        assert_eq!((takes(&classified), classified.guessed), (vec![audio.as_path()], false));
    }
}
