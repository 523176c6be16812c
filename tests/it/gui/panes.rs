//! Looking at the panes: views, heights, times, names, the difference of the warp, and hearing another recording.

use std::path::{Path, PathBuf};

use agogic::window::picture::{PictureArea, PictureFormat, PictureOptions};
use agogic::window::{Afterwards, AppState, Command, Dialog, PaneKind};
use eframe::egui::accesskit::Role;
use eframe::egui::{self, Event, Key, Modifiers, MouseWheelUnit, Shape, TouchPhase, vec2};
use egui_kittest::kittest::{NodeT, Queryable};

use super::{Bench, demo_files, folder, open};
use crate::support::agogic;

fn demo(folder: &Path) -> Bench {
    let mut bench = Bench::new(folder, Vec::new());
    bench.wait_until_aligned();
    bench
}

#[test]
fn no_key_or_wheel_shows_blank_time() {
    let folder = folder();
    let mut bench = demo(folder.path());
    let (_, late) = bench.onset(100);
    bench.apply(Command::GoTo(late));
    let inside = |bench: &Bench, what: &str| {
        let view = bench.read(AppState::view);
        assert!(view.start_s >= 0.0 && view.end_s() <= view.duration_s + 1e-9, "blank time after {what}: {view:?}");
    };
    for (name, key, times) in [
        ("Home", Key::Home, 1),
        ("Page Down", Key::PageDown, 3),
        ("Left", Key::ArrowLeft, 4),
        ("End", Key::End, 1),
        ("Right", Key::ArrowRight, 4),
        ("Down", Key::ArrowDown, 20),
    ] {
        for _ in 0..times {
            bench.harness.key_press(key);
            bench.harness.run_ok();
            inside(&bench, name);
        }
    }
    bench.harness.hover_at(bench.place("Recording, playhead", 1.0));
    turn_wheel(&mut bench, -2000.0, Modifiers::NONE);
    inside(&bench, "the wheel");
}

fn turn_wheel(bench: &mut Bench, points: f32, modifiers: Modifiers) {
    bench.harness.event(Event::ModifiersChanged(modifiers));
    bench.harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, points),
        phase: TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers,
    });
    bench.harness.run_ok();
    bench.harness.event(Event::ModifiersChanged(Modifiers::NONE));
    bench.harness.run_ok();
}

#[test]
fn waveform_and_notes_get_higher_by_key_button_and_wheel_and_go_back() {
    let folder = folder();
    let mut bench = demo(folder.path());
    let heights = |bench: &Bench| bench.read(|state| (state.scale.gain, state.scale.pitch_zoom));
    bench.harness.key_press(Key::G);
    bench.harness.key_press(Key::H);
    bench.harness.run_ok();
    let by_key = heights(&bench);
    assert!(by_key.0 > 1.2 && by_key.1 > 1.2, "{by_key:?}");
    for name in ["Waveform higher", "Notes higher"] {
        bench.harness.get_by_label(name).click();
        bench.harness.run_ok();
    }
    let by_button = heights(&bench);
    assert!(by_button.0 > by_key.0 && by_button.1 > by_key.1, "{by_button:?}");
    let view = bench.read(AppState::view);
    for pane in ["Recording, playhead", "Notes, playhead"] {
        let rect = bench.harness.get_by_label_contains(pane).rect();
        bench.harness.hover_at(rect.center());
        bench.harness.step();
        turn_wheel(&mut bench, 60.0, Modifiers::ALT);
    }
    let by_wheel = heights(&bench);
    assert!(by_wheel.0 > by_button.0 && by_wheel.1 > by_button.1, "{by_wheel:?}");
    assert_eq!(bench.read(AppState::view), view, "with Alt the wheel does not scroll");
    bench.harness.key_press_modifiers(Modifiers::ALT, Key::Num0);
    bench.harness.run_ok();
    assert_eq!(heights(&bench), (1.0, 1.0));
}

#[test]
fn a_nudge_and_a_drag_tell_the_time_and_the_move() {
    let folder = folder();
    let mut bench = demo(folder.path());
    bench.harness.key_press(Key::PageDown);
    bench.harness.run_ok();
    bench.harness.key_press_modifiers(Modifiers::SHIFT, Key::Period);
    bench.harness.step();
    bench.wait("solving", |state| state.work.is_none());
    bench.harness.get_by_label_contains("+5.0 ms");
    let (_, before) = bench.onset(60);
    bench.apply(Command::GoTo(before));
    bench.apply(Command::ToggleSnap);
    let (from, to) = (bench.place("Recording, playhead", before), bench.place("Recording, playhead", before + 0.15));
    bench.harness.drag_at(from);
    bench.harness.step();
    for share in [0.3, 0.7, 1.0] {
        bench.harness.hover_at(from + share * (to - from));
        bench.harness.step();
    }
    bench.harness.step();
    let words = bench.read(|state| {
        let place = open(state).moved.unwrap().performance_s;
        format!("{:+.1} ms", 1e3 * (place - before))
    });
    bench.harness.get_by_label_contains(&words);
    let written: Vec<String> = texts(&bench).into_iter().filter(|text| text.contains(&words)).collect();
    assert_eq!(written.len(), 2, "on the ruler and beside the pointer: {written:?}");
    bench.harness.drop_at(to);
    bench.harness.step();
}

/// All words that the last frame has drawn.
fn texts(bench: &Bench) -> Vec<String> {
    fn of(shape: &Shape, found: &mut Vec<String>) {
        match shape {
            Shape::Text(text) => found.push(text.galley.text().to_owned()),
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| of(shape, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    bench.harness.output().shapes.iter().for_each(|clipped| of(&clipped.shape, &mut found));
    found
}

#[test]
fn whatever_takes_the_focus_has_a_name() {
    let folder = folder();
    let bench = demo(folder.path());
    bench.harness.get_by_label("Splitter between Recording and Staff");
    bench.harness.get_by_label("Splitter between Warp and Tempo");
    let nameless: Vec<String> = bench
        .harness
        .root()
        .children_recursive()
        .filter(|node| node.accesskit_node().data().supports_action(egui::accesskit::Action::Focus))
        .filter(|node| node.accesskit_node().label().is_none_or(|label| label.is_empty()))
        .map(|node| format!("{:?}", node.accesskit_node().role()))
        .collect();
    assert!(nameless.is_empty(), "{nameless:?}");
}

#[test]
fn the_focus_is_seen_also_on_buttons_with_a_colour_of_their_own() {
    let folder = folder();
    let mut bench = demo(folder.path());
    let ring = |bench: &Bench, rect: egui::Rect| {
        let is_ring = |shape: &Shape| match shape {
            Shape::Rect(drawn) => {
                drawn.stroke.width >= 2.0
                    && drawn.rect.expand(1.5).contains_rect(rect)
                    && rect.expand(4.0).contains_rect(drawn.rect)
            }
            _ => false,
        };
        bench.harness.output().shapes.iter().any(|clipped| is_ring(&clipped.shape))
    };
    for name in ["Fine-tune", "Play", "Waveform higher"] {
        let rect = bench.harness.get_by_label(name).rect();
        assert!(!ring(&bench, rect), "{name} has no focus yet");
        bench.harness.get_by_label(name).focus();
        bench.harness.run_ok();
        assert!(ring(&bench, rect), "{name} has the focus");
    }
    bench.apply(Command::Show(Dialog::Shortcuts));
    bench.harness.get_by_label("Close").focus();
    bench.harness.run_ok();
    assert!(ring(&bench, bench.harness.get_by_label("Close").rect()), "in a dialog too");
}

fn warp_picture(bench: &mut Bench, name: &str) -> String {
    let path = bench.folder.join(name);
    let options = PictureOptions {
        area: PictureArea::Pane(PaneKind::Warp),
        format: PictureFormat::Svg,
        size: [900, 320],
        detail: 1,
        path: path.clone(),
    };
    bench.apply(Command::SavePicture(options));
    bench.wait("writing", |_| path.is_file());
    std::fs::read_to_string(&path).unwrap()
}

#[test]
fn the_warp_pane_shows_the_difference_instead_and_so_do_pictures() {
    let folder = folder();
    let mut bench = demo(folder.path());
    let curve = warp_picture(&mut bench, "curve.svg");
    assert!(!curve.contains("minus") && !curve.contains(">Difference<"), "pictures have no buttons");
    bench.harness.get_by_label("Difference").click();
    bench.harness.run_ok();
    let picture = warp_picture(&mut bench, "truth.svg");
    assert!(picture.contains(">alignment minus ground truth of the demo<") && picture.contains(" ms<"), "{picture}");
    bench.apply(Command::ForgetReference);
    bench.wait("the end of the comparison", |state| state.reference().is_none());
    assert!(warp_picture(&mut bench, "even.svg").contains("an even tempo"));
    bench.harness.key_press(Key::D);
    bench.harness.run_ok();
    assert!(!bench.read(|state| state.preferences.warp_difference));
}

#[test]
fn the_legend_of_the_notes_covers_none() {
    let folder = folder();
    let mut bench = demo(folder.path());
    bench.apply(Command::SetTheme(agogic::window::ThemeChoice::Light));
    bench.harness.run_ok();
    let legend = bench.harness.output().shapes.iter().find_map(|clipped| match &clipped.shape {
        Shape::Text(text) if text.galley.text() == "only in the alignment" => Some(text.visual_bounding_rect()),
        _ => None,
    });
    let legend = legend.expect("there is a reference, so there is a legend");
    let pane = bench.harness.get_by_label_contains("Notes, playhead").rect();
    assert!(pane.contains(legend.center()));
    // The lowest note of the demo ends above it.
    let lowest = bench.read(|state| state.piece().unwrap().pitches.0);
    let rows = bench.read(|state| f32::from(state.piece().unwrap().pitches.1 - lowest) + 5.0);
    let strip_top = pane.bottom() - 22.0;
    let lowest_note_bottom = pane.top() + (rows - 2.0) / rows * (strip_top - pane.top());
    assert!(lowest_note_bottom < legend.top(), "{lowest_note_bottom} {legend:?}");
}

/// The demo's score, played evenly: another recording of it.
fn even_recording(folder: &Path, score: &Path) -> PathBuf {
    let audio = folder.join("even.wav");
    agogic([Path::new("synth"), score, Path::new("-o"), &audio]).ok();
    audio
}

#[test]
fn two_recordings_are_heard_alternately_at_the_same_bar() {
    let folder = folder();
    let [audio, score, _] = demo_files(folder.path());
    let other = even_recording(folder.path(), &score);
    let mut bench = Bench::new(folder.path(), vec![other, score]);
    bench.wait_until_aligned();
    bench.apply(Command::Keep);
    bench.apply(Command::DiscardChanges(Afterwards::Open(vec![audio])));
    bench.wait("the performance", |state| {
        state.piece().is_some_and(|piece| piece.recording_name == "performance.ogg") && state.solution().is_some()
    });
    bench.harness.get_by_label("Compare recordings").click();
    bench.harness.run_ok();
    bench.harness.get_by_label_contains("Hear even.wav");
    bench.harness.key_press(Key::Escape);
    bench.harness.run_ok();
    let (score_s, here) = bench.onset(60);
    bench.apply(Command::Seek(here));
    bench.harness.key_press(Key::X);
    bench.wait("reading the other recording", |state| state.transport.heard == Some(0));
    let position = |bench: &Bench| bench.read(|state| state.transport.position_s);
    assert!((position(&bench) - here).abs() < 1e-6, "the playhead stays");
    bench.apply(Command::TogglePlay);
    bench.clock.advance(2.0);
    bench.harness.step();
    // Two seconds of the other recording, seen on this one.
    let expected = bench.read(|state| {
        let (this, other) = (&state.solution().unwrap().alignment.warp, &open(state).kept[0].alignment.warp);
        this.at(other.inverse(other.at(score_s) + 2.0))
    });
    assert!((position(&bench) - expected).abs() < 0.03, "{} {expected}", position(&bench));
    bench.harness.key_press(Key::X);
    bench.harness.step();
    assert!(bench.read(|state| state.transport.heard.is_none() && state.transport.playing));
    assert!((position(&bench) - expected).abs() < 0.03, "back at the same place");
    bench.clock.advance(1.0);
    bench.harness.step();
    assert!((position(&bench) - expected - 1.0).abs() < 0.05, "this recording goes on at its own pace");
    bench.harness.key_press(Key::F1);
    bench.harness.run_ok();
    bench.harness.get_by_label_contains("Hear the other recording");
}

#[test]
fn each_export_format_proposes_a_name_of_its_own_and_buttons_stay_where_they_are() {
    let folder = folder();
    let [audio, score, _] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), vec![audio, score]);
    bench.wait_until_aligned();
    let path = |bench: &Bench| match bench.read(|state| state.dialog.clone()) {
        Some(Dialog::Export { path, .. }) => PathBuf::from(path),
        other => panic!("{other:?}"),
    };
    bench.harness.key_press_modifiers(Modifiers::COMMAND, Key::E);
    bench.harness.run_ok();
    assert_eq!(path(&bench), folder.path().join("performance.csv"));
    bench.harness.get_by_label_contains("notes-csv .csv").click();
    bench.harness.run_ok();
    assert_eq!(path(&bench), folder.path().join("performance.notes.csv"));
    let before = bench.harness.get_by_label("Write").rect();
    std::fs::write(path(&bench), "something").unwrap();
    let shown = bench.read(|state| state.dialog.clone()).unwrap();
    bench.apply(Command::Show(shown));
    bench.harness.run_ok();
    assert_eq!(bench.harness.get_by_label("Write").rect(), before, "the buttons stay under the pointer");
}

#[test]
fn open_by_path_takes_what_is_typed_and_keeps_a_path_that_failed() {
    let folder = folder();
    let mut bench = demo(folder.path());
    bench.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
    bench.harness.run_ok();
    let field = bench.harness.get_by_role_and_label(Role::TextInput, "Recording or session");
    assert!(field.is_focused(), "the first field has the cursor");
    let missing = folder.path().join("missing.agogic").display().to_string();
    bench.harness.event(Event::Text(missing.clone()));
    bench.harness.run_ok();
    bench.harness.key_press(Key::Enter);
    bench.wait("failing", |state| !state.notices.is_empty() && state.dialog.is_some());
    bench.read(|state| match &state.dialog {
        Some(Dialog::Open { recording, .. }) => assert_eq!(*recording, missing),
        other => panic!("{other:?}"),
    });
    assert!(bench.harness.query_all_by_label_contains("missing.agogic").count() > 0, "the dialog says what failed");
    bench.apply(Command::CloseDialog);
    bench.apply(Command::OpenDemo);
    bench.wait_until_aligned();
    assert!(bench.read(|state| state.dialog.is_none() && state.tried.is_none()));
}
