//! Nothing is lost: crashes, files that would be replaced, changes that were discarded too soon.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agogic::Anchor;
use agogic::Format;
use agogic::window::picture::PictureOptions;
use agogic::window::{Afterwards, AppState, Command, Dialog, Severity};
use eframe::egui::{Key, Modifiers, ViewportId};
use egui_kittest::kittest::Queryable;

use super::{Bench, demo_files, folder, open};

/// Moves an onset a little and waits until that is solved.
fn correct(bench: &mut Bench, index: usize) {
    let (score_s, performance_s) = bench.onset(index);
    bench.apply(Command::PlaceAnchor(Anchor { score_s, performance_s: performance_s + 0.02 }));
    bench.wait("solving", |state| state.work.is_none() && open(state).moved.is_none());
}

fn wait_until_safe(bench: &mut Bench) {
    bench.wait("autosave", |state| open(state).autosaved_revision == open(state).revision);
}

fn kept_sessions(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder.join("home")).unwrap().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "agogic")).count()
}

/// A window that crashes with the onset at `index` corrected.
fn crash(folder: &Path, index: usize) -> f64 {
    let mut bench = Bench::new(folder, Vec::new());
    bench.wait_until_aligned();
    correct(&mut bench, index);
    wait_until_safe(&mut bench);
    bench.onset(index).0
}

#[test]
fn every_crashed_session_is_offered_until_it_is_taken_or_declined() {
    let folder = folder();
    crash(folder.path(), 20);
    let declined = crash(folder.path(), 20);
    let taken = crash(folder.path(), 40);
    assert_eq!(kept_sessions(folder.path()), 3);
    // Killed while the offer shows.
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.get_by_label("Recover it");
    drop(bench);

    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    assert_eq!(bench.read(|state| state.left_behind.len()), 3);
    bench.harness.get_by_label("Recover it").click();
    let recovered = |state: &AppState| state.settings().anchors.first().map(|anchor| anchor.score_s);
    bench.wait("recovering", |state| recovered(state) == Some(taken) && state.solution().is_some());
    assert!(bench.read(AppState::is_changed));
    // Only once it is safe in this window's slot does the leftover go: one in that slot, two to offer.
    wait_until_safe(&mut bench);
    bench.wait("forgetting", |_| kept_sessions(folder.path()) == 3);
    assert!(bench.read(|state| open(state).recovered.is_none() && state.left_behind.len() == 2));
    bench.harness.get_by_label("Discard it").click();
    bench.wait("declining", |state| state.left_behind.len() == 1 && kept_sessions(folder.path()) == 2);
    // The next one takes the place of what was recovered: that is asked about first.
    bench.harness.get_by_label("Recover it").click();
    bench.harness.run_ok();
    bench.harness.get_by_label("Save your changes?");
    bench.harness.get_by_label("Discard").click();
    bench.wait("recovering", |state| recovered(state) == Some(declined) && state.solution().is_some());
    assert!(bench.read(|state| state.left_behind.is_empty() && state.is_changed()));
}

#[test]
fn a_change_is_safe_two_seconds_later_and_then_the_window_is_idle() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.wait("listening", |state| open(state).heard.is_some());
    correct(&mut bench, 20);
    let begun = Instant::now();
    wait_until_safe(&mut bench);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    bench.apply(Command::Keep);
    wait_until_safe(&mut bench);
    bench.apply(Command::Dismiss(0));
    bench.harness.run_ok();
    // What was asked for before the autosave may still wake the window once.
    std::thread::sleep(Duration::from_millis(2500));
    bench.harness.run_ok();
    bench.harness.step();
    let delay = bench.harness.output().viewport_output[&ViewportId::ROOT].repaint_delay;
    assert!(delay > Duration::from_secs(5), "the window wants to be painted again in {delay:?}");
}

/// The same file, as seen from the folder that the tests run in.
fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap();
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    up.join(path.strip_prefix("/").unwrap())
}

#[cfg(unix)]
#[test]
fn recovered_work_is_saved_to_the_session_that_it_was_made_in() {
    let folder = folder();
    let [audio, score, _] = demo_files(folder.path());
    let session = folder.path().join("piece.agogic");
    let mut bench = Bench::new(folder.path(), vec![relative(&audio), relative(&score)]);
    bench.wait_until_aligned();
    bench.apply(Command::SaveSessionAs(relative(&session)));
    bench.wait("saving", |state| open(state).session_path.is_some());
    assert!(bench.read(|state| open(state).session_path.as_ref().unwrap().is_absolute()));
    bench.close();
    // Opened by a relative path as well.
    let mut bench = Bench::new(folder.path(), vec![relative(&session)]);
    bench.wait_until_aligned();
    correct(&mut bench, 20);
    wait_until_safe(&mut bench);
    drop(bench);

    let before = std::fs::read(&session).unwrap();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.get_by_label("Recover it").click();
    bench.wait("recovering", |state| state.settings().anchors.len() == 1 && state.solution().is_some());
    let saved_as = bench.read(|state| open(state).session_path.clone().unwrap());
    assert!(saved_as.is_absolute(), "{}", saved_as.display());
    bench.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    bench.harness.step();
    bench.wait("saving", |state| !state.is_changed());
    assert!(bench.read(|state| state.dialog.is_none()), "its own file is replaced without a question");
    let after = std::fs::read(&session).unwrap();
    assert_ne!(before, after);
    assert!(String::from_utf8_lossy(&after).contains("\"performance_s\""));
}

#[test]
fn no_other_file_is_replaced_without_a_question() {
    let folder = folder();
    let [audio, score, truth] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), vec![audio, score.clone(), truth.clone()]);
    bench.wait_until_aligned();
    let precious = |name: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, "precious").unwrap();
        path
    };
    let [session, export, picture] = ["other.agogic", "other.csv", "other.png"].map(precious);
    let picture_options = bench.read(|state| PictureOptions { path: picture.clone(), ..PictureOptions::first(state) });
    let without_extension = folder.path().join("other");
    for command in [
        Command::SaveSessionAs(session.clone()),
        Command::SaveSessionAs(without_extension),
        Command::Export { format: Format::Csv, path: export.clone() },
        Command::SavePicture(picture_options),
    ] {
        bench.apply(command.clone());
        bench.wait("the question", |state| matches!(state.dialog, Some(Dialog::Replace(_))));
        bench.harness.get_by_label("Cancel").click();
        bench.harness.run_ok();
        assert!(bench.read(|state| state.dialog.is_none()), "{command:?}");
    }
    for path in [&session, &export, &picture] {
        assert_eq!(std::fs::read_to_string(path).unwrap(), "precious");
    }
    bench.apply(Command::Export { format: Format::Csv, path: export.clone() });
    bench.wait("the question", |state| matches!(state.dialog, Some(Dialog::Replace(_))));
    bench.harness.get_by_label("Choose another name").click();
    bench.harness.run_ok();
    assert!(bench.read(|state| matches!(state.dialog, Some(Dialog::Export { .. }))), "the dialog comes back");
    bench.apply(Command::Export { format: Format::Csv, path: export.clone() });
    bench.wait("the question", |state| matches!(state.dialog, Some(Dialog::Replace(_))));
    bench.harness.get_by_label("Replace").click();
    bench.wait("writing", |state| state.notices.iter().any(|notice| notice.text.starts_with("Wrote")));
    assert_ne!(std::fs::read_to_string(&export).unwrap(), "precious");
    // The files of the piece are never replaced.
    let before = std::fs::read(&truth).unwrap();
    bench.apply(Command::Export { format: Format::Csv, path: truth.clone() });
    bench.wait("the refusal", |state| state.notices.iter().any(|notice| notice.severity == Severity::Error));
    assert_eq!(std::fs::read(&truth).unwrap(), before);
}

#[test]
fn a_save_that_was_cancelled_closes_no_window_later() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    correct(&mut bench, 20);
    bench.apply(Command::SaveAnd(Afterwards::Quit));
    bench.harness.get_by_label("Save session");
    bench.harness.get_by_label("Cancel").click();
    bench.harness.run_ok();
    bench.apply(Command::SaveSessionAs(folder.path().join("piece.agogic")));
    bench.wait("saving", |state| !state.is_changed());
    assert!(!bench.read(|state| state.quit));
}

#[test]
fn a_failed_open_after_discard_keeps_the_piece_and_its_mark() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    correct(&mut bench, 20);
    let noise = folder.path().join("noise.wav");
    std::fs::write(&noise, b"this is no audio at all, only words that go on for a while").unwrap();
    bench.apply(Command::Open(vec![noise, demo_files(folder.path())[1].clone()]));
    bench.wait("the question", |state| matches!(state.dialog, Some(Dialog::Unsaved(_))));
    bench.harness.get_by_label("Discard").click();
    bench.wait("the error", |state| state.notices.iter().any(|notice| notice.severity == Severity::Error));
    assert!(bench.read(|state| state.is_changed() && state.settings().anchors.len() == 1));
    bench.apply(Command::Quit);
    bench.harness.get_by_label("Save your changes?");
}

#[test]
fn a_reference_and_kept_alignments_are_saved_but_are_not_unsaved_corrections() {
    let folder = folder();
    let [audio, score, truth] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), vec![audio, score]);
    bench.wait_until_aligned();
    bench.apply(Command::OpenReference(truth));
    bench.wait("comparing", |state| state.reference().is_some() && state.work.is_none());
    bench.apply(Command::Keep);
    bench.apply(Command::Keep);
    bench.apply(Command::RenameKept(0, "mine".to_owned()));
    bench.apply(Command::ForgetKept(1));
    assert!(!bench.read(AppState::is_changed));
    wait_until_safe(&mut bench);
    let session = folder.path().join("piece.agogic");
    bench.apply(Command::SaveSessionAs(session.clone()));
    bench.wait("saving", |state| open(state).session_path.is_some());
    bench.apply(Command::Quit);
    assert!(bench.read(|state| state.quit && state.dialog.is_none()), "no question");
    bench.close();
    let mut again = Bench::new(folder.path(), vec![session]);
    again.wait_until_aligned();
    assert!(again.read(|state| state.reference().is_some() && open(state).kept[0].name == "mine"));
}

#[test]
fn a_bad_truth_file_does_not_keep_a_pair_from_opening() {
    let folder = folder();
    let [audio, score, truth] = demo_files(folder.path());
    std::fs::write(&truth, "this is no alignment").unwrap();
    let mut bench = Bench::new(folder.path(), vec![audio, score, truth]);
    bench.wait_until_aligned();
    bench.read(|state| {
        assert_eq!(state.piece().unwrap().recording_name, "performance.ogg");
        assert!(state.reference().is_none());
        let told =
            |notice: &&agogic::window::Notice| notice.severity == Severity::Error && notice.text.contains("truth.csv");
        assert_eq!(state.notices.iter().filter(told).count(), 1, "{:?}", state.notices);
    });
}
