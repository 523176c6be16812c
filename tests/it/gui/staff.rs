//! The staff pane: selecting, dragging, names, reading, pictures.

use std::path::PathBuf;

use agogic::window::picture::{PictureArea, PictureFormat, PictureOptions};
use agogic::window::{AppState, Command, PaneKind};
use eframe::egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::{NodeT, Queryable};

use super::{Bench, folder, open};

/// The demo, looked at closely around an onset; with the name of that onset's highest note.
fn demo_at(folder: &std::path::Path, onset: usize) -> (Bench, usize, String) {
    let mut bench = Bench::new(folder, Vec::new());
    bench.wait_until_aligned();
    bench.wait("listening", |state| open(state).heard.is_some());
    let (score_s, performance_s) = bench.onset(onset);
    bench.apply(Command::GoTo(performance_s));
    let (note, onset_s) = bench.read(|state| {
        let note = *open(state).chord_at(score_s).last().unwrap();
        (note, state.solution().unwrap().alignment.notes[note].onset_s)
    });
    (bench, note, format!(", {onset_s:.2} seconds"))
}

#[test]
fn a_click_on_a_head_selects_its_note_in_every_pane() {
    let folder = folder();
    let (mut bench, note, name) = demo_at(folder.path(), 20);
    bench.harness.get_by_label_contains(&name).click();
    bench.harness.run_ok();
    assert_eq!(bench.read(|state| open(state).selected_note), Some(note));
    let (onset_s, position_s) =
        bench.read(|state| (state.solution().unwrap().alignment.notes[note].onset_s, state.transport.position_s));
    assert!((onset_s - position_s).abs() < 1e-6, "the playhead goes there: {onset_s} {position_s}");
    let score_s = bench.read(|state| open(state).piece.score.notes[note].onset_s);
    assert_eq!(bench.read(|state| open(state).selected), Some(score_s));
}

#[test]
fn names_tell_pitch_bar_beat_and_time() {
    let folder = folder();
    let (mut bench, note, name) = demo_at(folder.path(), 16);
    let label = bench.harness.get_by_label_contains(&name).accesskit_node().label().unwrap();
    let position = bench.read(|state| {
        let score = &open(state).piece.score;
        score.position(&score.notes[note])
    });
    assert!(label.contains(&format!(", bar {} beat {}, ", position.bar, position.beat)), "{label}");
    assert!(label.starts_with(|step: char| ('A'..='G').contains(&step)), "{label}");
    bench.harness.get_by_label_contains(&name).click_accesskit();
    bench.harness.run_ok();
    assert_eq!(bench.read(|state| open(state).selected_note), Some(note), "without a pointer");
}

#[test]
fn dragging_a_head_moves_its_onset_as_in_the_roll() {
    let folder = folder();
    let (mut bench, note, name) = demo_at(folder.path(), 24);
    bench.apply(Command::ToggleSnap);
    let from = bench.harness.get_by_label_contains(&name).rect().center();
    let to = from + vec2(25.0, 0.0);
    bench.harness.drag_at(from);
    bench.harness.step();
    for share in [0.4, 0.8, 1.0] {
        bench.harness.hover_at(from + share * (to - from));
        bench.harness.step();
    }
    assert!(bench.read(AppState::is_dragging));
    bench.harness.drop_at(to);
    bench.harness.step();
    bench.wait("solving", |state| state.work.is_none());
    let (anchors, onset_s) =
        bench.read(|state| (open(state).settings.anchors.clone(), open(state).piece.score.notes[note].onset_s));
    assert_eq!(anchors.len(), 1);
    assert!((anchors[0].score_s - onset_s).abs() < 1e-6, "{anchors:?} {onset_s}");
    bench.apply(Command::Undo);
    assert!(bench.read(|state| open(state).settings.anchors.is_empty()));
}

#[test]
fn keys_go_from_note_to_note_of_a_voice() {
    let folder = folder();
    let (mut bench, note, name) = demo_at(folder.path(), 20);
    bench.harness.get_by_label_contains(&name).click();
    bench.harness.run_ok();
    bench.harness.key_press_modifiers(Modifiers::ALT, Key::ArrowRight);
    bench.harness.run_ok();
    let next = bench.read(|state| open(state).selected_note).unwrap();
    assert_ne!(next, note);
    assert!(bench.read(|state| {
        let notes = &open(state).piece.score.notes;
        notes[next].onset_s > notes[note].onset_s
    }));
    bench.harness.key_press_modifiers(Modifiers::ALT, Key::ArrowLeft);
    bench.harness.run_ok();
    assert_eq!(bench.read(|state| open(state).selected_note), Some(note));
}

#[test]
fn reading_wraps_the_staves_seeks_by_click_and_follows_the_music() {
    let folder = folder();
    let (mut bench, note, _) = demo_at(folder.path(), 4);
    bench.harness.key_press(Key::R);
    bench.harness.run_ok();
    bench.harness.get_by_label_contains("Staff to read");
    let onset_s = bench.read(|state| state.solution().unwrap().alignment.notes[note].onset_s);
    bench.apply(Command::Seek(0.0));
    bench.harness.get_by_label_contains(&format!(", {onset_s:.2} seconds")).click();
    bench.harness.run_ok();
    assert!((bench.read(|state| state.transport.position_s) - onset_s).abs() < 1e-6);
    assert_eq!(bench.read(|state| open(state).selected_note), Some(note));
    bench.apply(Command::Seek(0.0));
    bench.harness.key_press(Key::Space);
    bench.harness.step();
    bench.clock.advance(43.0);
    for _ in 0..40 {
        bench.harness.step();
    }
    assert!(bench.read(|state| state.transport.playing || state.transport.position_s > 40.0));
    assert!(bench.read(|state| state.staff.read_to) > 0.0, "the last systems are scrolled into sight");
    bench.harness.get_by_label("Read the staves in lines").click();
    bench.harness.run_ok();
    assert!(!bench.read(|state| state.preferences.reading));
    bench.harness.get_by_label_contains("Staff, playhead");
}

#[test]
fn pictures_have_the_staves_as_outlines() {
    let folder = folder();
    let (bench, _, _) = demo_at(folder.path(), 20);
    let area = PictureArea::Pane(PaneKind::Staff);
    let options =
        PictureOptions { area, format: PictureFormat::Svg, size: [900, 260], detail: 1, path: PathBuf::new() };
    let window = bench.harness.state().borrow();
    let drawing = window.as_ref().unwrap().picture(&bench.harness.ctx, &options);
    let svg = String::from_utf8(drawing.encode(PictureFormat::Svg).unwrap()).unwrap();
    let curves = svg.matches("<path d=\"M").count();
    assert!(curves > 40, "clefs and heads are outlines: {curves}");
    assert!(
        !svg.contains(|letter: char| ('\u{E000}'..='\u{F8FF}').contains(&letter)),
        "no letter needs the music font"
    );
}
