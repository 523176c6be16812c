//! MIDI performances and transcriptions in the window.

use std::path::{Path, PathBuf};

use agogic::window::{Afterwards, AppState, Command, Order, Severity};
use agogic::{Method, OnsetMethod, Performance, Settings};
use eframe::egui::Key;
use egui_kittest::kittest::{NodeT, Queryable};

use super::{Bench, demo_files, folder, open};
use crate::options::other_soundfont;
use crate::takes::Take;

/// A performance of the demo's score, as a file beside it.
fn files(folder: &Path) -> (PathBuf, PathBuf) {
    let take = folder.join("my take.mid");
    std::fs::write(&take, Take::new().bytes()).unwrap();
    (take, demo_files(folder)[1].clone())
}

fn is_open(state: &AppState, performance: &str) -> bool {
    let aligned = state.solution().is_some() && state.work.is_none();
    aligned && state.piece().is_some_and(|piece| piece.recording_name == performance)
}

/// Checks that what is open is the take, each note at its own time.
fn assert_exact(bench: &Bench) {
    bench.read(|state| {
        assert!(matches!(open(state).piece.performance, Performance::Take(_)));
        for (found, played) in state.solution().unwrap().alignment.notes.iter().zip(Take::new().notes) {
            let Some(played) = played else { continue };
            assert!((found.onset_s - played.0).abs() < 2e-4, "{} {}", found.onset_s, played.0);
        }
    });
}

#[test]
fn of_two_midi_files_dropped_at_once_the_freer_is_the_performance_and_they_can_be_swapped() {
    let folder = folder();
    let (take, score) = files(folder.path());
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    // What the window does with files that are dropped on it.
    bench.apply(Command::Open(vec![score.clone(), take.clone()]));
    bench.wait("the take", |state| is_open(state, "my take.mid"));
    assert_exact(&bench);
    bench.harness.get_by_label("my take.mid was taken for the performance, score.mid for its score.");
    bench.harness.get_by_label("Swap").click();
    bench.wait("the other way round", |state| is_open(state, "score.mid"));
    assert!(bench.harness.query_by_label("Swap").is_none(), "it was asked for: that is no news");
    // And back, as the menu does it.
    bench.apply(Command::OpenIn(Order::PerformanceFirst, vec![take, score]));
    bench.wait("the take", |state| is_open(state, "my take.mid"));
    assert_exact(&bench);
}

#[test]
fn a_midi_performance_is_seen_and_heard_and_corrected_like_a_recording() {
    let folder = folder();
    let (take, score) = files(folder.path());
    // The first one given is the performance.
    let mut bench = Bench::new(folder.path(), vec![take, score]);
    bench.wait_until_aligned();
    assert_exact(&bench);
    assert!(bench.read(|state| state.notices.iter().all(|notice| notice.taken.is_none())), "nothing was guessed");
    bench.wait("the spectrum", |state| open(state).heard.is_some());
    bench.harness.key_press(Key::Space);
    bench.harness.step();
    bench.clock.advance(3.0);
    bench.harness.step();
    assert!(bench.clock.peak() > 0.02, "the take sounds");
    bench.harness.key_press(Key::Space);
    bench.harness.run();

    // Another instrument changes what is heard and nothing else.
    let before = bench.read(|state| open(state).piece.recording.clone());
    let other = folder.path().join("other.sf2");
    std::fs::write(&other, other_soundfont()).unwrap();
    bench.apply(Command::SetPlaybackSoundFont(Some(other)));
    bench.wait("the other sound", |state| open(state).piece.recording.samples != before.samples);
    bench.apply(Command::SetPlaybackSoundFont(Some(folder.path().join("missing.sf2"))));
    bench.wait("the built-in piano", |state| open(state).piece.recording.samples == before.samples);
    assert!(bench.read(|state| state.notices.iter().any(|notice| notice.text.contains("missing.sf2"))));
    assert_exact(&bench);

    // An onset that is moved by hand stays there, the others at their notes.
    let (score_s, performance_s) = bench.onset(30);
    let moved = agogic::Anchor { score_s, performance_s: performance_s + 0.05 };
    bench.apply(Command::PlaceAnchor(moved));
    bench.wait("solving", |state| state.work.is_none() && open(state).moved.is_none());
    assert!((bench.onset(30).1 - moved.performance_s).abs() < 1e-9);
    let notes = bench.read(|state| {
        let fixed = open(state).chord_at(score_s);
        let notes = &state.solution().unwrap().alignment.notes;
        (0..notes.len()).filter(|note| !fixed.contains(note)).map(|note| (note, notes[note])).collect::<Vec<_>>()
    });
    let played = Take::new().notes;
    for (note, found) in notes {
        let Some(played) = played[note] else { continue };
        assert!((found.onset_s - played.0).abs() < 2e-4, "note {note} begins at {}", found.onset_s);
        assert!((found.offset_s - played.1).abs() < 2e-4, "note {note} ends at {}", found.offset_s);
    }
}

#[test]
fn two_midi_files_one_after_the_other_are_a_pair_and_another_take_of_the_score_is_opened_beside_it() {
    let folder = folder();
    let (take, score) = files(folder.path());
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::Open(vec![take.clone()]));
    bench.wait("the hint", |state| state.notices.iter().any(|n| n.text.contains("or a MIDI performance")));
    bench.apply(Command::Open(vec![score.clone()]));
    bench.wait("the pair", |state| is_open(state, "my take.mid"));
    assert_exact(&bench);
    // A recording takes the place of the take; the take is opened again as another performance of the score.
    bench.apply(Command::Open(vec![demo_files(folder.path())[0].clone()]));
    bench.wait("the recording", |state| is_open(state, "performance.ogg"));
    bench.apply(Command::OpenIn(Order::Performance, vec![take]));
    bench.wait("the take", |state| is_open(state, "my take.mid"));
    assert_exact(&bench);
    assert_eq!(bench.read(|state| state.piece().unwrap().score_name.clone()), "score.mid");
}

#[test]
fn a_session_of_a_midi_performance_comes_back_and_finds_it_where_it_was_moved() {
    let folder = folder();
    let (take, score) = files(folder.path());
    let session = folder.path().join("take.agogic");
    let mut bench = Bench::new(folder.path(), vec![take.clone(), score.clone()]);
    bench.wait_until_aligned();
    bench.apply(Command::SaveSessionAs(session.clone()));
    bench.wait("saving", |state| open(state).session_path.is_some());
    bench.apply(Command::OpenDemo);
    bench.wait("the demo", |state| is_open(state, "demo performance.ogg"));
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let moved = elsewhere.join("renamed.mid");
    std::fs::rename(&take, &moved).unwrap();
    bench.apply(Command::DiscardChanges(Afterwards::Open(vec![session])));
    bench.wait("the question", |state| state.dialog.is_some());
    bench.apply(Command::Relink { file: moved, confirmed: false });
    bench.wait("the session", |state| is_open(state, "renamed.mid"));
    assert_exact(&bench);
    // Opened again from the list of what was opened last, each file is what it was.
    let recent = bench.read(|state| state.preferences.recent.clone());
    assert!(!recent.is_empty());
}

#[test]
fn a_bad_midi_performance_is_named_and_cannot_be_learned_from() {
    let folder = folder();
    let (take, score) = files(folder.path());
    let empty = folder.path().join("empty.mid");
    std::fs::write(&empty, crate::support::midi(500_000, &[])).unwrap();
    let mut bench = Bench::new(folder.path(), vec![take, score.clone()]);
    bench.wait_until_aligned();
    let error = |state: &AppState, word: &str| {
        state.notices.iter().any(|notice| notice.severity == Severity::Error && notice.text.contains(word))
    };
    bench.apply(Command::OpenIn(Order::PerformanceFirst, vec![empty, score]));
    bench.wait("the error", |state| error(state, "the performance has no notes"));
    assert!(bench.read(|state| is_open(state, "my take.mid")), "the take stays");
    bench.apply(Command::AddCurrent);
    bench.wait("the refusal", |state| error(state, "no sound to learn from"));
}

#[test]
fn a_transcription_changes_the_alignment_of_its_recording_and_goes_with_it() {
    let folder = folder();
    let [audio, score, _] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), vec![audio, score.clone()]);
    bench.wait_until_aligned();
    let onsets = |bench: &Bench| {
        bench
            .read(|state| state.solution().unwrap().alignment.notes.iter().map(|note| note.onset_s).collect::<Vec<_>>())
    };
    let usual = onsets(&bench);
    // Every note of the alignment, 40 ms later.
    let late: Vec<_> = bench.read(|state| {
        let notes = state.piece().unwrap().score.notes.iter().zip(&state.solution().unwrap().alignment.notes);
        notes.map(|(note, found)| (((found.onset_s + 0.04) * 1e4) as u32, 1000, note.pitch)).collect()
    });
    let heard = folder.path().join("heard.mid");
    std::fs::write(&heard, crate::support::midi(48_000, &late)).unwrap();
    let method = |transcription| Method::Onsets(OnsetMethod { transcription, ..OnsetMethod::default() });
    bench.apply(Command::SetSettings(Settings { method: method(Some(heard)), ..Settings::default() }));
    bench.apply(Command::Align);
    bench.wait("aligning", |state| state.work.is_none() && !state.needs_aligning());
    assert_ne!(onsets(&bench), usual);
    bench.harness.get_by_label("Advanced").click_accesskit();
    bench.harness.run_ok();
    bench.harness.get_by_label("Transcription: heard.mid");
    bench.harness.get_by_label("Without").click_accesskit();
    bench.harness.run_ok();
    bench.apply(Command::Align);
    bench.wait("aligning", |state| state.work.is_none() && !state.needs_aligning());
    assert_eq!(onsets(&bench), usual);
    let missing = folder.path().join("missing.mid");
    bench.apply(Command::SetSettings(Settings { method: method(Some(missing)), ..Settings::default() }));
    bench.apply(Command::Align);
    bench.wait("the refusal", |state| state.notices.iter().any(|notice| notice.text.contains("missing.mid")));
    // It belongs to this recording: another one is opened without it, and a MIDI performance knows its notes.
    bench.apply(Command::DiscardChanges(Afterwards::OpenIn(Order::Performance, vec![files(folder.path()).0])));
    bench.wait("the take", |state| is_open(state, "my take.mid"));
    assert!(bench.harness.query_by_label_contains("Transcription: ").is_none());
    let ear = bench.harness.get_by_role_and_label(eframe::egui::accesskit::Role::ComboBox, "Ear");
    assert!(ear.accesskit_node().is_disabled(), "nothing is listened to");
}
