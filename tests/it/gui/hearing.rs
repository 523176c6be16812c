//! Hearing the score: parts, count-in, whole bars.

use agogic::window::Command;
use agogic::{Method, OnsetMethod, Settings};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;

use super::{Bench, folder};
use crate::support::{Run, program};

#[test]
fn parts_are_muted_and_soloed_and_the_score_is_played_anew() {
    let folder = folder();
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/notation/scale.musicxml");
    let (score, take) = (folder.path().join("scale.musicxml"), folder.path().join("take.wav"));
    std::fs::copy(fixture, &score).unwrap();
    program().arg("synth").arg(&score).arg("-o").arg(&take).output().map(Run::from).unwrap().ok();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let method = Method::Onsets(OnsetMethod { ear: None, ..OnsetMethod::default() });
    bench.apply(Command::SetSettings(Settings { method, ..Settings::default() }));
    bench.apply(Command::Open(vec![take, score]));
    bench.wait("the piece", |state| {
        state.piece().is_some_and(|piece| piece.recording_name == "take.wav") && state.solution().is_some()
    });
    bench.harness.get_by_label("Score").click();
    bench.wait("the score's sound", |state| state.transport.score_ready);
    bench.harness.get_by_label("Parts").click();
    bench.harness.run_ok();
    bench.harness.get_by_label("Mute Piano").click();
    bench.harness.run_ok();
    assert!(bench.read(|state| !state.transport.sounds(0) && state.transport.sounds(1)));
    bench.wait("the score without the piano", |state| state.transport.score_ready);
    bench.harness.get_by_label("Solo Piano").click();
    bench.harness.run_ok();
    assert!(bench.read(|state| state.transport.sounds(0) && !state.transport.sounds(1)), "what is solo is heard");
    bench.wait("the piano alone", |state| state.transport.score_ready);
    bench.close();
}

#[test]
fn a_bar_is_counted_and_whole_bars_are_repeated() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let bars: Vec<f64> = bench.read(|state| {
        let beats = state.solution().unwrap().beats.iter();
        beats.filter(|beat| beat.beat == 1).map(|beat| beat.performance_s).collect()
    });
    bench.apply(Command::Seek(bars[2] + 0.1));
    bench.harness.key_press_modifiers(Modifiers::SHIFT, Key::L);
    bench.harness.run_ok();
    let marked =
        |bench: &Bench| bench.read(|state| state.transport.marked.filter(|_| state.transport.looping)).unwrap();
    assert_eq!(marked(&bench), (bars[2], bars[3]));
    bench.apply(Command::Mark(Some((bars[2] + 0.1, bars[4] - 0.1))));
    bench.apply(Command::LoopBars);
    assert_eq!(marked(&bench), (bars[2], bars[4]));
    bench.apply(Command::Mark(None));
    bench.harness.get_by_label("Parts").click();
    bench.harness.run_ok();
    bench.harness.get_by_label("Count in one bar").click();
    bench.harness.run_ok();
    bench.apply(Command::Seek(bars[2]));
    bench.apply(Command::TogglePlay);
    let bar_s = bars[3] - bars[2];
    bench.clock.advance(0.5 * bar_s);
    bench.harness.step();
    let waited = bench.read(|state| state.transport.position_s);
    assert!((waited - bars[2]).abs() < 0.05, "the playhead waits at {waited}");
    bench.clock.advance(1.5 * bar_s);
    bench.harness.step();
    assert!(bench.read(|state| state.transport.position_s) > bars[2] + 0.3 * bar_s);
    bench.close();
}
