//! Corrections agree in every place that shows them, and aligning again says what it did.

use std::path::Path;

use agogic::Format;
use agogic::window::{AppState, Command, Document};
use agogic::{Anchor, FixedNote, Method, OnsetMethod, Settings, SlopeLimits};
use eframe::egui::{Event, Key, Modifiers, Rect, pos2};
use egui_kittest::kittest::Queryable;

use super::{Bench, demo_files, folder, open};
use crate::support::{agogic, midi};

/// The demo without its truth: what is doubtful is judged by the recording alone.
fn without_truth(folder: &Path) -> Bench {
    let [audio, score, _] = demo_files(folder);
    let mut bench = Bench::new(folder, vec![audio, score]);
    bench.wait_until_aligned();
    bench.wait("listening", |state| open(state).heard.is_some());
    bench
}

fn wait_until_solved(bench: &mut Bench) {
    let still = |document: &Document| document.moved.is_none() && document.moved_note.is_none();
    bench.wait("solving", |state| state.work.is_none() && still(open(state)));
}

/// A scale in thirds, played by a machine.
fn thirds(folder: &Path) -> Bench {
    let [audio, score] = ["thirds.wav", "thirds.mid"].map(|name| folder.join(name));
    let note = |n: u32, above: u8| (n * 480, 400, 48 + (2 * n % 24) as u8 + above);
    let notes: Vec<_> = (0..40).flat_map(|n| [note(n, 0), note(n, 4)]).collect();
    std::fs::write(&score, midi(500_000, &notes)).unwrap();
    agogic([Path::new("synth"), &score, Path::new("-o"), &audio]).ok();
    let mut bench = Bench::new(folder, vec![audio, score]);
    bench.wait_until_aligned();
    bench.wait("listening", |state| open(state).heard.is_some());
    bench
}

/// A chord in the middle: its moment of the score, and its notes.
fn chord(bench: &Bench) -> (f64, Vec<usize>) {
    bench.read(|state| {
        let notes = &open(state).piece.score.notes;
        let chord = open(state).chord_at(notes[notes.len() / 2].onset_s);
        assert_eq!(chord.len(), 2);
        (notes[chord[0]].onset_s, chord)
    })
}

fn note_onset(bench: &Bench, note: usize) -> f64 {
    bench.read(|state| state.solution().unwrap().alignment.notes[note].onset_s)
}

#[test]
fn a_fixed_chord_is_in_one_place_in_notes_doubts_and_exports() {
    let folder = folder();
    let mut bench = thirds(folder.path());
    let (score_s, chord) = chord(&bench);
    let warp_at = |bench: &Bench| bench.read(|state| state.solution().unwrap().alignment.warp.at(score_s));
    let before = warp_at(&bench);
    let spread: Vec<f64> = chord.iter().map(|&note| note_onset(&bench, note) - before).collect();
    // Far enough for a beat that is much longer than those around it.
    let target = before + 0.3;
    bench.apply(Command::PlaceAnchor(Anchor { score_s, performance_s: target }));
    wait_until_solved(&mut bench);
    assert!((warp_at(&bench) - target).abs() < 1e-9);
    for (&note, spread) in chord.iter().zip(spread) {
        assert!((note_onset(&bench, note) - target - spread).abs() < 1e-9, "note {note} keeps its place in the chord");
        assert_eq!(bench.read(|state| state.solution().unwrap().alignment.notes[note].confidence), 1.0);
    }
    bench.read(|state| {
        let covers = |doubt: &&&_| covers(doubt, target);
        let doubts = open(state).doubts();
        assert!(doubts.iter().find(covers).is_none(), "{doubts:?} against {target}");
    });
    let path = folder.path().join("out.csv");
    bench.apply(Command::Export { format: Format::Csv, path: path.clone() });
    bench.wait("writing", |state| state.notices.iter().any(|notice| notice.text.starts_with("Wrote")));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(&format!("{score_s:.6},{target:.6}\n")), "{target}\n{text}");
}

fn covers(doubt: &agogic::window::Doubt, time_s: f64) -> bool {
    (doubt.start_s - 1e-6..=doubt.end_s + 1e-6).contains(&time_s)
}

#[test]
fn a_single_note_is_nudged_freed_undone_and_saved() {
    let folder = folder();
    let mut bench = thirds(folder.path());
    let (score_s, chord) = chord(&bench);
    bench.apply(Command::Select(Some(score_s)));
    bench.harness.key_press_modifiers(Modifiers::ALT, Key::ArrowUp);
    bench.harness.run_ok();
    assert_eq!(bench.read(|state| open(state).selected_note), Some(chord[0]), "the lowest note first");
    bench.harness.key_press_modifiers(Modifiers::ALT, Key::ArrowUp);
    bench.harness.run_ok();
    let (note, other) = (chord[1], chord[0]);
    assert_eq!(bench.read(|state| open(state).selected_note), Some(note));
    let (before, others) = (note_onset(&bench, note), note_onset(&bench, other));
    bench.harness.key_press_modifiers(Modifiers::COMMAND, Key::Period);
    bench.harness.step();
    wait_until_solved(&mut bench);
    assert!((note_onset(&bench, note) - before - 0.02).abs() < 1e-9);
    assert!((note_onset(&bench, other) - others).abs() < 0.005, "the other note stays");
    assert!(bench.read(|state| state.is_changed() && state.settings().anchors.is_empty() && !state.needs_aligning()));
    let session = folder.path().join("piece.agogic");
    bench.apply(Command::SaveSessionAs(session.clone()));
    bench.wait("saving", |state| !state.is_changed());
    bench.harness.key_press(Key::Delete);
    bench.harness.step();
    wait_until_solved(&mut bench);
    assert!(bench.read(|state| state.settings().fixed_notes.is_empty()));
    bench.apply(Command::Undo);
    assert!((note_onset(&bench, note) - before - 0.02).abs() < 1e-9);
    bench.apply(Command::Undo);
    assert_eq!(note_onset(&bench, note), before);
    assert!(bench.read(|state| state.settings().fixed_notes.is_empty() && state.work.is_none()));
    bench.apply(Command::DiscardChanges(agogic::window::Afterwards::Open(vec![session])));
    bench.wait("opening", |state| state.settings().fixed_notes.len() == 1 && state.solution().is_some());
    assert!((note_onset(&bench, note) - before - 0.02).abs() < 1e-9);
    // Another piece has other notes.
    bench.apply(Command::OpenDemo);
    bench.wait("the demo", |state| state.reference().is_some() && state.solution().is_some());
    assert!(bench.read(|state| state.settings().fixed_notes.is_empty()));
}

fn hold_alt(bench: &Bench, down: bool) {
    let modifiers = if down { Modifiers::ALT } else { Modifiers::NONE };
    bench.harness.event(Event::ModifiersChanged(modifiers));
}

/// Where the row of a note is, found with Alt and clicks: the rows make room for what was heard besides and for a legend.
fn row_of(bench: &mut Bench, note: usize, roll: Rect, x: f32) -> f32 {
    const STEP: f32 = 3.0;
    hold_alt(bench, true);
    let is_note = |y: &f32| {
        bench.harness.hover_at(pos2(x, *y));
        bench.harness.drag_at(pos2(x, *y));
        bench.harness.step();
        bench.harness.drop_at(pos2(x, *y));
        bench.harness.run_ok();
        bench.read(|state| open(state).selected_note == Some(note))
    };
    let mut rows = (1..(roll.height() / STEP) as usize).map(|step| roll.top() + step as f32 * STEP);
    let found = rows.find(is_note).expect("the note is drawn somewhere");
    hold_alt(bench, false);
    found + 1.0
}

#[test]
fn a_note_is_dragged_alone_while_alt_is_held() {
    let folder = folder();
    let mut bench = thirds(folder.path());
    let (_, chord) = chord(&bench);
    let note = chord[1];
    let before = note_onset(&bench, note);
    bench.apply(Command::GoTo(before));
    bench.apply(Command::ToggleSnap);
    let view = bench.read(AppState::view);
    let rect = bench.harness.get_by_label_contains("Notes, playhead").rect();
    let x = |time_s: f64| rect.left() + view.share_of(time_s) as f32 * rect.width();
    let y = row_of(&mut bench, note, rect, x(before + 0.03));
    let (from, to) = (pos2(x(before + 0.03), y), pos2(x(before + 0.13), y));
    bench.harness.hover_at(from);
    bench.harness.step();
    hold_alt(&bench, true);
    bench.harness.drag_at(from);
    bench.harness.step();
    for share in [0.3, 0.7, 1.0] {
        bench.harness.hover_at(from + share * (to - from));
        bench.harness.step();
    }
    assert!(bench.read(|state| open(state).moved_note.is_some_and(|moved| moved.note == note)), "the note is held");
    bench.harness.drop_at(to);
    bench.harness.step();
    hold_alt(&bench, false);
    wait_until_solved(&mut bench);
    let fixed = bench.read(|state| state.settings().fixed_notes.clone());
    assert_eq!(fixed.len(), 1, "{fixed:?}");
    assert!((fixed[0].performance_s - before - 0.1).abs() < 0.01, "{fixed:?} against {before}");
    assert_eq!(note_onset(&bench, note), fixed[0].performance_s);
    assert!(bench.read(|state| state.settings().anchors.is_empty() && state.view() == view));
}

#[test]
fn aligning_again_says_what_changed_or_that_nothing_did() {
    let folder = folder();
    let mut bench = without_truth(folder.path());
    bench.apply(Command::Align);
    bench.wait("aligning", |state| state.work.is_none());
    bench.harness.get_by_label("Nothing changed.");
    assert!(bench.read(|state| !state.is_changed() && open(state).ghost.is_none()));
    // A limit that no passage comes near.
    let slope = |min, max| Settings {
        method: Method::Onsets(OnsetMethod { slope: Some(SlopeLimits { min, max }), ..OnsetMethod::default() }),
        ..Settings::default()
    };
    bench.apply(Command::SetSettings(slope(0.01, 100.0)));
    bench.apply(Command::Align);
    bench.wait("aligning", |state| state.work.is_none() && !state.needs_aligning());
    assert!(
        bench.read(|state| !state.is_changed() && open(state).ghost.is_none()),
        "{:?}",
        bench.read(|s| s.notices.clone())
    );
    bench.apply(Command::SetSettings(Settings {
        method: Method::Onsets(OnsetMethod { ear: None, ..OnsetMethod::default() }),
        ..Settings::default()
    }));
    bench.apply(Command::Align);
    bench.wait("aligning", |state| state.work.is_none() && !state.needs_aligning());
    let onsets = bench.read(|state| state.solution().unwrap().onsets.len());
    let said = bench.read(|state| state.notices.last().unwrap().text.clone());
    assert!(said.contains(&format!("of {onsets} onsets moved, by ")) && said.ends_with(" ms at most."), "{said}");
    assert!(bench.read(|state| state.is_changed() && open(state).ghost.is_some()));
}

#[test]
fn a_worse_alignment_has_less_confidence_and_not_fewer_places_to_check() {
    let folder = folder();
    let mut bench = without_truth(folder.path());
    let figures = |state: &AppState| {
        let solution = state.solution().unwrap();
        let doubtful_s: f64 = open(state).doubts().iter().map(|doubt| doubt.end_s - doubt.start_s).sum();
        (solution.alignment.confidence, open(state).doubts().len(), doubtful_s)
    };
    let good = bench.read(figures);
    let slope = Some(SlopeLimits { min: 0.95, max: 1.05 });
    let method = Method::Onsets(OnsetMethod { slope, ..OnsetMethod::default() });
    bench.apply(Command::SetSettings(Settings { method, ..Settings::default() }));
    bench.apply(Command::Align);
    bench.wait("aligning", |state| state.work.is_none() && !state.needs_aligning());
    let bad = bench.read(figures);
    assert!(bad.0 < good.0 - 0.2, "{good:?} {bad:?}");
    assert!(bad.1 >= good.1, "{good:?} {bad:?}");
    bench.harness.get_by_label("mean confidence of the notes");
    bench.harness.get_by_label(&format!("{:.0} %", (100.0 * bad.0).floor()));
    // Fixing is certain: a corrected note raises what the panel shows.
    let note = FixedNote { note: 0, performance_s: note_onset(&bench, 0) };
    bench.apply(Command::PlaceNote(note));
    wait_until_solved(&mut bench);
    assert_eq!(bench.read(|state| state.solution().unwrap().alignment.notes[0].confidence), 1.0);
}
