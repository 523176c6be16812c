//! Files that somebody else changes while a window is open on them: another window, another program, the system.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agogic::Anchor;
use agogic::window::{Afterwards, AppState, Command, Dialog, Severity};
use egui_kittest::kittest::Queryable;

use super::{Bench, demo_files, folder, open};

/// Moves an onset a little and waits until that is solved.
fn correct(bench: &mut Bench, index: usize) {
    let (score_s, performance_s) = bench.onset(index);
    bench.apply(Command::PlaceAnchor(Anchor { score_s, performance_s: performance_s + 0.02 }));
    bench.wait("solving", |state| state.work.is_none() && open(state).moved.is_none());
}

fn save(bench: &mut Bench) {
    bench.apply(Command::SaveSession);
    bench.wait("saving", |state| !state.is_changed());
}

/// A session of the demo's files, with a window that has it open.
fn opened(folder: &Path) -> (Bench, PathBuf) {
    let [audio, score, _] = demo_files(folder);
    let session = folder.join("piece.agogic");
    let mut bench = Bench::new(folder, vec![audio, score]);
    bench.wait_until_aligned();
    bench.apply(Command::SaveSessionAs(session.clone()));
    bench.wait("saving", |state| open(state).session_path.is_some());
    (bench, session)
}

fn warned(state: &AppState, words: &str) -> bool {
    state.notices.iter().any(|notice| notice.severity == Severity::Warning && notice.text.contains(words))
}

#[test]
fn of_two_windows_on_one_session_neither_overwrites_what_the_other_saved_without_a_question() {
    let folder = folder();
    let (mut first, session) = opened(folder.path());
    let mut second = Bench::new(folder.path(), vec![session.clone()]);
    second.wait_until_aligned();
    correct(&mut first, 20);
    save(&mut first);
    let of_first = std::fs::read(&session).unwrap();
    correct(&mut second, 40);
    second.apply(Command::SaveSession);
    second.wait("the question", |state| matches!(state.dialog, Some(Dialog::Replace(_))));
    second.harness.get_by_label_contains("probably in another window or program");
    assert_eq!(std::fs::read(&session).unwrap(), of_first);
    assert!(second.read(AppState::is_changed));
    // Each window's unsaved work is safe in a slot of its own.
    second.wait("autosave", |state| open(state).autosaved_revision == open(state).revision);
    second.harness.get_by_label("Replace").click();
    second.wait("saving", |state| !state.is_changed());
    assert_ne!(std::fs::read(&session).unwrap(), of_first);
    // What this window has written itself is its own again; for the first one it is not.
    correct(&mut second, 60);
    save(&mut second);
    assert!(second.read(|state| state.dialog.is_none()));
    correct(&mut first, 22);
    first.apply(Command::SaveSession);
    first.wait("the question", |state| matches!(state.dialog, Some(Dialog::Replace(_))));
}

#[test]
fn work_recovered_from_a_crash_does_not_replace_a_session_that_was_saved_since() {
    let folder = folder();
    let (mut bench, session) = opened(folder.path());
    correct(&mut bench, 20);
    bench.wait("autosave", |state| open(state).autosaved_revision == open(state).revision);
    drop(bench);
    std::fs::write(&session, std::fs::read_to_string(&session).unwrap() + "\n").unwrap();
    let before = std::fs::read(&session).unwrap();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::Recover);
    bench.wait("recovering", |state| state.settings().anchors.len() == 1 && state.solution().is_some());
    bench.apply(Command::SaveSession);
    bench.wait("the question", |state| matches!(state.dialog, Some(Dialog::Replace(_))));
    assert_eq!(std::fs::read(&session).unwrap(), before);
}

#[test]
fn a_recording_that_changes_while_it_is_open_is_noticed_when_the_session_is_saved_and_when_it_is_opened() {
    let folder = folder();
    let (mut bench, session) = opened(folder.path());
    let recording = folder.path().join("performance.ogg");
    let mut bytes = std::fs::read(&recording).unwrap();
    bytes.push(0);
    std::fs::write(&recording, bytes).unwrap();
    correct(&mut bench, 20);
    save(&mut bench);
    bench.wait("the warning", |state| warned(state, "performance.ogg has changed on disk"));
    bench.close();
    let mut bench = Bench::new(folder.path(), vec![session]);
    bench.wait_until_aligned();
    assert!(bench.read(|state| warned(state, "performance.ogg is not the same file as when the session was saved")));
}

#[test]
fn a_session_is_saved_although_its_recording_has_vanished() {
    let folder = folder();
    let (mut bench, session) = opened(folder.path());
    std::fs::rename(folder.path().join("performance.ogg"), folder.path().join("home/elsewhere.ogg")).unwrap();
    correct(&mut bench, 20);
    save(&mut bench);
    bench.wait("the warning", |state| warned(state, "performance.ogg can no longer be read"));
    bench.close();
    // The session still knows what it was of.
    let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(&session).unwrap()).unwrap();
    assert!(saved["recording"]["fingerprint"]["fnv1a"].is_u64(), "{}", saved["recording"]);
}

#[test]
fn saving_twice_at_once_writes_the_last_change_and_asks_nothing() {
    let folder = folder();
    let (mut bench, session) = opened(folder.path());
    correct(&mut bench, 20);
    let saved = |session: &Path| -> usize {
        let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(session).unwrap()).unwrap();
        saved["settings"]["anchors"].as_array().unwrap().len()
    };
    // Without a frame in between, as when the key is held.
    let press = |index: usize| {
        let (score_s, performance_s) = bench.onset(index);
        let mut window = bench.harness.state().borrow_mut();
        let window = window.as_mut().unwrap();
        window.apply(Command::SaveSession);
        window.apply(Command::PlaceAnchor(Anchor { score_s, performance_s: performance_s + 0.02 }));
        window.apply(Command::SaveSession);
        window.apply(Command::SaveSession);
    };
    for index in [40, 60, 80] {
        press(index);
    }
    bench.wait("saving", |state| !state.is_changed() && state.saving.is_none() && state.work.is_none());
    assert_eq!(bench.read(|state| state.dialog.clone()), None, "nobody else has written to it");
    assert_eq!(saved(&session), 4, "the last save counts");
}

#[test]
fn saving_and_quitting_does_not_wait_for_the_drive_of_the_recording() {
    let folder = folder();
    let (mut bench, _) = opened(folder.path());
    correct(&mut bench, 20);
    // A save that is not followed by anything looks for the recording, and says that it is gone.
    std::fs::remove_file(folder.path().join("performance.ogg")).unwrap();
    bench.apply(Command::SaveAnd(Afterwards::Quit));
    bench.wait("quitting", |state| state.quit);
    assert!(!bench.read(AppState::is_changed));
    assert!(!bench.read(|state| warned(state, "performance.ogg")));
}

/// A window on the demo's files, and a pipe that takes what fits into it and then waits for somebody to read.
#[cfg(unix)]
fn beside_a_full_pipe(folder: &Path) -> (Bench, PathBuf, std::fs::File) {
    let [audio, score, _] = demo_files(folder);
    let mut bench = Bench::new(folder, vec![audio, score]);
    bench.wait_until_aligned();
    let pipe = folder.join("pipe.agogic");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    (bench, pipe, reader)
}

#[cfg(unix)]
#[test]
fn a_save_that_hangs_keeps_the_session_neither_from_being_saved_elsewhere_nor_the_window_from_closing() {
    let folder = folder();
    let (mut bench, pipe, reader) = beside_a_full_pipe(folder.path());
    bench.apply(Command::Keep);
    bench.apply(Command::SaveSessionAs(pipe.clone()));
    // Longer than a save takes.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(2500) {
        bench.harness.step();
    }
    assert!(bench.read(|state| state.saving.is_some()), "the session fits into the pipe");
    bench.apply(Command::SaveSessionAs(pipe));
    assert!(bench.read(|state| warned(state, "pipe.agogic is still being saved")));
    // Nothing that was corrected would be lost, but what is being saved may be.
    bench.apply(Command::Quit);
    assert!(!bench.read(|state| state.quit), "a save that fails must be heard of");
    let elsewhere = folder.path().join("elsewhere.agogic");
    bench.apply(Command::SaveSessionAs(elsewhere.clone()));
    bench.wait("quitting", |state| state.quit);
    assert!(elsewhere.is_file() && bench.read(|state| state.saving.is_none()));
    drop(reader);
}

#[cfg(unix)]
#[test]
fn whoever_quits_twice_does_not_wait_for_a_save_and_can_recover_what_it_had() {
    let folder = folder();
    let (mut bench, pipe, reader) = beside_a_full_pipe(folder.path());
    bench.apply(Command::Keep);
    bench.wait("autosave", |state| open(state).autosaved_revision == open(state).revision);
    bench.apply(Command::SaveSessionAs(pipe));
    bench.apply(Command::Quit);
    assert!(!bench.read(|state| state.quit));
    bench.apply(Command::Quit);
    assert!(bench.read(|state| state.quit));
    // The drive comes back only after the window has given up.
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(12));
        drop(reader);
    });
    bench.close();
    assert!(folder.path().join("home/recovery-0.agogic").is_file());
    release.join().unwrap();
}

#[test]
fn a_save_that_is_under_way_when_the_window_closes_is_finished() {
    let folder = folder();
    let (mut bench, session) = opened(folder.path());
    let before = std::fs::read(&session).unwrap();
    // Nothing that asks a question: an alignment is kept to compare with.
    bench.apply(Command::Keep);
    {
        let mut window = bench.harness.state().borrow_mut();
        window.as_mut().unwrap().apply(Command::SaveSession);
    }
    bench.close();
    assert_ne!(std::fs::read(&session).unwrap(), before);
    assert!(!folder.path().join("home/recovery-0.agogic").exists());
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_kept_for_a_crash_the_window_says_so_and_works() {
    let folder = folder();
    std::fs::write(folder.path().join("home"), "a file where the folder should be").unwrap();
    let mut bench = Bench::first_start(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::Welcome(None));
    assert!(bench.read(|state| warned(state, "would be lost in a crash")));
    correct(&mut bench, 20);
    bench.apply(Command::SaveSessionAs(folder.path().join("piece.agogic")));
    bench.wait("saving", |state| !state.is_changed());
    bench.close();
}

#[test]
fn a_window_that_cannot_be_seen_goes_on_working() {
    let folder = folder();
    let (bench, session) = opened(folder.path());
    let (score_s, performance_s) = bench.onset(20);
    // Minimised or covered: nothing is painted any more.
    let begun = Instant::now();
    let moved = Anchor { score_s, performance_s: performance_s + 0.02 };
    bench.harness.state().borrow_mut().as_mut().unwrap().apply(Command::PlaceAnchor(moved));
    while bench.read(|state| !open(state).is_safe()) {
        bench.harness.state().borrow_mut().as_mut().unwrap().logic(&bench.harness.ctx);
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was autosaved");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(bench.read(|state| state.work.is_none()), "it is solved");
    let kept: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("home/recovery-0.agogic")).unwrap()).unwrap();
    assert_eq!(kept["settings"]["anchors"].as_array().unwrap().len(), 1);
    assert_eq!(kept["saved_as"].as_str().unwrap(), session.display().to_string());
}

#[test]
fn an_autosave_that_failed_is_said_and_tried_again() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    // A folder where the file should be: it cannot be written, whoever runs the test.
    let slot = folder.path().join("home/recovery-0.agogic");
    std::fs::create_dir(&slot).unwrap();
    correct(&mut bench, 20);
    bench.wait("the failure", |state| open(state).autosave_failed);
    assert!(bench.read(|state| warned(state, "would be lost in a crash")));
    assert!(bench.read(|state| !open(state).is_safe()));
    // Said once: who has dismissed it is not told again by the next attempt.
    bench.apply(Command::Dismiss(0));
    bench.harness.state().borrow_mut().as_mut().unwrap().autosave_now();
    for _ in 0..100 {
        bench.harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!bench.read(|state| warned(state, "would be lost in a crash")));
    std::fs::remove_dir(&slot).unwrap();
    bench.wait("another attempt", |state| open(state).is_safe());
    assert!(slot.is_file());
}
