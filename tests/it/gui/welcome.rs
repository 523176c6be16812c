//! The first start, files held over the window, and where dialogs start.

use std::path::Path;

use agogic::Format;
use agogic::window::{AppState, Command, Dialog, Preferences, Purpose, Severity, Welcome};
use eframe::egui::{Event, HoveredFile, Key};
use egui_kittest::kittest::Queryable;

use super::{Bench, demo_files, folder, open};

fn shown(bench: &Bench) -> Option<Welcome> {
    bench.read(|state| state.welcome)
}

#[test]
fn a_newcomer_is_welcomed_once_even_if_the_program_is_killed() {
    let folder = folder();
    let mut bench = Bench::first_start(folder.path(), Vec::new());
    bench.harness.step();
    bench.harness.get_by_label("Welcome to Agogic");
    assert!(Preferences::read(&folder.path().join("home")).welcomed, "it is written before anything can happen");
    // Killed: nothing was settled.
    drop(bench);
    let mut again = Bench::first_start(folder.path(), Vec::new());
    again.wait_until_aligned();
    assert!(again.harness.query_by_label("Welcome to Agogic").is_none());
}

#[test]
fn the_welcome_points_at_three_things_with_the_keyboard_alone() {
    let folder = folder();
    let mut bench = Bench::first_start(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let button = bench.harness.get_by_label("Explore the demo");
    assert!(button.is_focused(), "Enter is enough");
    bench.harness.key_press(Key::Enter);
    bench.harness.run_ok();
    for (number, title) in
        [(1, "Every note appears where it was played"), (2, "Space plays"), (3, "How good it is, and what to check")]
    {
        bench.harness.get_by_label(title);
        bench.harness.get_by_label(&format!("{number} of 3"));
        let next = if number < 3 { "Next" } else { "Done" };
        let buttons: Vec<_> = bench.harness.query_all_by_label(next).collect();
        assert!(buttons.iter().any(|button| button.is_focused()), "{next}");
        bench.harness.key_press(Key::Space);
        bench.harness.run_ok();
        assert!(!bench.read(|state| state.transport.playing), "the welcome has the keys");
    }
    assert_eq!(shown(&bench), None);
    bench.harness.key_press(Key::Space);
    bench.harness.step();
    assert!(bench.read(|state| state.transport.playing), "the window has the keys back");
}

fn click_at(bench: &mut Bench, pos: eframe::egui::Pos2) {
    for pressed in [true, false] {
        let (button, modifiers) = (eframe::egui::PointerButton::Primary, eframe::egui::Modifiers::NONE);
        bench.harness.event(Event::PointerMoved(pos));
        bench.harness.event(Event::PointerButton { pos, button, pressed, modifiers });
        bench.harness.step();
    }
}

#[test]
fn escape_and_a_click_beside_it_close_the_welcome_and_the_help_menu_brings_it_back() {
    let folder = folder();
    let mut bench = Bench::first_start(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.key_press(Key::Escape);
    bench.harness.run_ok();
    assert_eq!(shown(&bench), None);
    bench.harness.get_by_label("Help").click();
    bench.harness.run_ok();
    bench.harness.get_by_label("Show welcome").click();
    bench.harness.run_ok();
    assert_eq!(shown(&bench), Some(Welcome::Greeting));
    click_at(&mut bench, eframe::egui::pos2(20.0, 860.0));
    bench.harness.run_ok();
    assert_eq!(shown(&bench), None);
    bench.apply(Command::Welcome(Some(Welcome::Greeting)));
    bench.harness.get_by_label("Ten-minute tutorial").click();
    bench.harness.run_ok();
    assert!(bench.read(|state| state.welcome.is_none() && state.dialog == Some(Dialog::Manual)));
    bench.harness.get_by_label("Minute 1: start it");
}

#[test]
fn who_comes_with_files_or_lost_work_is_not_kept_by_a_welcome() {
    let folder = folder();
    let files = demo_files(folder.path());
    let mut bench = Bench::first_start(folder.path(), files.to_vec());
    bench.wait_until_aligned();
    assert_eq!(shown(&bench), None);
    let (score_s, performance_s) = bench.onset(20);
    bench.apply(Command::PlaceAnchor(agogic::Anchor { score_s, performance_s: performance_s + 0.02 }));
    bench.wait("solving", |state| state.work.is_none());
    bench.harness.state().borrow_mut().as_mut().unwrap().autosave_now();
    bench.wait("keeping", |state| open(state).autosaved_revision == open(state).revision);
    drop(bench);
    let mut again = Bench::first_start(folder.path(), Vec::new());
    again.wait_until_aligned();
    assert_eq!(shown(&again), None);
    again.harness.get_by_label("Recover it").click();
    again.wait("recovering", |state| state.settings().anchors.len() == 1 && state.solution().is_some());
}

#[test]
fn who_has_a_folder_that_cannot_be_written_is_welcomed_too() {
    let folder = folder();
    // A file where the folder should be.
    std::fs::write(folder.path().join("home"), "in the way").unwrap();
    let mut bench = Bench::first_start(folder.path(), Vec::new());
    bench.wait_until_aligned();
    assert_eq!(shown(&bench), Some(Welcome::Greeting));
    let errors = bench.read(|state| state.notices.iter().filter(|told| told.severity == Severity::Error).count());
    assert_eq!(errors, 0, "{:?}", bench.read(|state| state.notices.clone()));
}

#[test]
fn preferences_of_an_earlier_version_are_not_a_newcomers() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("home")).unwrap();
    std::fs::write(folder.path().join("home/preferences.json"), "{\"theme\": \"dark\"}").unwrap();
    let mut bench = Bench::first_start(folder.path(), Vec::new());
    bench.harness.step();
    assert_eq!(shown(&bench), None);
}

/// What is painted in letters, all together.
fn painted(bench: &Bench) -> String {
    let texts = bench.harness.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
        eframe::egui::Shape::Text(text) => Some(text.galley.text().to_owned()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn files_held_over_the_window_are_told_what_dropping_them_does() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let held = |name: &str| HoveredFile { path: Some(folder.path().join(name)), ..HoveredFile::default() };
    bench.harness.input_mut().hovered_files = vec![held("take.flac"), held("take.mid"), held("cover.jpg")];
    bench.harness.step();
    let said = painted(&bench);
    for words in ["Drop to open and align them", "take.flac   recording", "cover.jpg   not supported"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    bench.harness.input_mut().hovered_files = vec![HoveredFile::default()];
    bench.harness.step();
    assert!(painted(&bench).contains("Together or one after the other"), "where the system tells no names");
    bench.harness.input_mut().hovered_files.clear();
    bench.harness.step();
    assert!(!painted(&bench).contains("Drop"));
}

fn export_path(state: &AppState) -> String {
    match &state.dialog {
        Some(Dialog::Export { path, .. }) => path.clone(),
        other => panic!("{other:?}"),
    }
}

fn export_to(bench: &mut Bench, path: &Path) {
    bench.apply(Command::Export { format: Format::Csv, path: path.to_owned() });
    bench.wait("writing", |state| state.notices.iter().any(|notice| notice.text.starts_with("Wrote")));
    bench.apply(Command::Dismiss(0));
}

fn proposed(bench: &mut Bench) -> String {
    bench.harness.key_press_modifiers(eframe::egui::Modifiers::COMMAND, Key::E);
    bench.harness.run_ok();
    let path = bench.read(export_path);
    bench.apply(Command::CloseDialog);
    path
}

#[test]
fn exports_are_proposed_where_the_last_one_went_also_after_a_restart_and_not_where_nothing_is() {
    let folder = folder();
    let files = demo_files(folder.path());
    let results = folder.path().join("results");
    std::fs::create_dir(&results).unwrap();
    let beside = folder.path().join("performance.csv").display().to_string();
    let mut bench = Bench::new(folder.path(), files.to_vec());
    bench.wait_until_aligned();
    assert_eq!(proposed(&mut bench), beside);
    export_to(&mut bench, &results.join("first.csv"));
    let there = results.join("performance.csv").display().to_string();
    assert_eq!(proposed(&mut bench), there);
    assert_eq!(bench.read(|state| state.preferences.folders.last(Purpose::Pieces).unwrap().to_owned()), folder.path());
    bench.close();

    let mut again = Bench::new(folder.path(), files.to_vec());
    again.wait_until_aligned();
    assert_eq!(proposed(&mut again), there);
    again.close();
    std::fs::remove_dir_all(&results).unwrap();
    let mut gone = Bench::new(folder.path(), files.to_vec());
    gone.wait_until_aligned();
    assert_eq!(proposed(&mut gone), beside, "beside the recording, as at first");
}
