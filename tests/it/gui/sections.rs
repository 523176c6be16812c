//! The strip of sections above the ruler.

use agogic::window::{AppState, Command};
use agogic::{Method, OnsetMethod, Path, Settings};
use egui_kittest::kittest::Queryable;

use super::{Bench, folder};
use crate::paths;

fn letters(state: &AppState) -> String {
    state.solution().unwrap().alignment.sections.iter().map(|section| section.label.as_str()).collect()
}

fn wait_for(bench: &mut Bench, expected: &str) {
    let expected = expected.to_owned();
    bench.wait("the other way", move |state| {
        state.work.is_none() && state.solution().is_some() && letters(state) == expected
    });
}

#[test]
fn sections_are_shown_as_played_and_repeats_are_left_out_and_put_back() {
    let folder = folder();
    let files = paths::files(folder.path());
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    assert!(bench.harness.query_by_label_contains("Section ").is_none(), "the demo has no repeats");
    // The spectrum alone is quick and enough.
    let method = Method::Onsets(OnsetMethod { ear: None, ..OnsetMethod::default() });
    bench.apply(Command::SetSettings(Settings { method, ..Settings::default() }));
    bench.apply(Command::Open(files.to_vec()));
    bench.wait("the piece", |state| state.piece().is_some_and(|piece| piece.recording_name == "take.wav"));
    wait_for(&mut bench, "AB");
    bench.harness.get_by_label_contains("Section A, bars 1 to 8, 0:00.0 to 0:16.");
    bench.harness.get_by_label_contains("Section B, bars 9 to 16");
    // Two repeats are left out: the first is put back.
    bench.harness.get_by_label("Put back section A, bars 1 to 8, which was not played").click();
    bench.harness.run_ok();
    wait_for(&mut bench, "AAB");
    let asked = bench.read(|state| state.settings().method.clone());
    let Method::Onsets(OnsetMethod { path: Path::Sections(labels), .. }) = asked else { panic!("{asked:?}") };
    assert_eq!(labels, ["A", "A", "B"]);
    // A click on a section shows what can be done with it.
    bench.harness.get_by_label_contains("Section B, bars 9 to 16").click();
    bench.harness.run_ok();
    bench.harness.get_by_label("Play it once more").click();
    bench.harness.run_ok();
    wait_for(&mut bench, "AABB");
    bench.harness.get_by_label_contains("Section B, bars 9 to 16, 0:1").click();
    bench.harness.run_ok();
    bench.harness.get_by_label("As the recording suggests").click();
    bench.harness.run_ok();
    wait_for(&mut bench, "AB");
    // Undo brings the way back that was asked for.
    bench.apply(Command::Undo);
    bench.wait("the way before", |state| state.work.is_none() && letters(state) == "AABB");
    bench.close();
}
