//! What was played differently, in the real window.

use std::path::{Path, PathBuf};

use agogic::window::picture::{PictureArea, PictureFormat, PictureOptions};
use agogic::window::{Command, DifferenceKind, NoteColours, PaneKind};
use egui_kittest::kittest::Queryable;
use serde_json::{Value, json};

use super::{Bench, demo_files, folder, open};

/// A session of the demo in which three notes were not played, for one of them another one was, and one was added.
fn session(folder: &Path) -> PathBuf {
    let [audio, score, _] = demo_files(folder);
    let mut bench = Bench::new(folder, vec![audio, score]);
    bench.wait_until_aligned();
    let path = folder.join("piece.agogic");
    bench.apply(Command::SaveSessionAs(path.clone()));
    bench.wait("saving", |state| open(state).session_path.is_some());
    bench.close();
    let mut session: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let alignment = &mut session["alignment"];
    for note in alignment["notes"].as_array_mut().unwrap() {
        note["verdict"] = json!({ "verdict": "played", "confidence": 0.98 });
        note["offset_confidence"] = json!(0.7);
    }
    let at = |index: usize, alignment: &Value| alignment["notes"][index]["onset_s"].as_f64().unwrap();
    alignment["notes"][20]["verdict"] = json!({ "verdict": "missing", "confidence": 0.91 });
    alignment["notes"][50]["verdict"] = json!({ "verdict": "missing", "confidence": 0.6 });
    alignment["notes"][80]["verdict"] = json!({ "verdict": { "other_pitch": { "pitch": 61 } }, "confidence": 0.8 });
    let (instead_s, added_s) = (at(80, alignment), at(100, alignment) + 0.07);
    let extra = |pitch: u8, onset_s: f64, instead_of: Option<usize>| {
        json!({ "pitch": pitch, "performance_onset_s": onset_s, "performance_offset_s": onset_s + 0.2,
                "confidence": 0.85, "instead_of": instead_of })
    };
    alignment["extra_notes"] = json!([extra(61, instead_s, Some(80)), extra(97, added_s, None)]);
    std::fs::write(&path, serde_json::to_vec(&session).unwrap()).unwrap();
    path
}

#[test]
fn what_was_played_differently_is_listed_heard_and_filtered() {
    let folder = folder();
    let path = session(folder.path());
    let mut bench = Bench::new(folder.path(), vec![path]);
    bench.wait_until_aligned();
    let kinds = bench.read(|state| {
        assert_eq!(state.note_colours(), NoteColours::Played);
        let kinds: Vec<DifferenceKind> = state.solution().unwrap().differences.iter().map(|row| row.kind).collect();
        kinds
    });
    use DifferenceKind::{Extra, Missing, OtherPitch};
    assert_eq!(kinds, [Missing, Missing, OtherPitch, Extra]);
    bench.harness.get_by_label("2 of 176 notes not played, 1 added, 1 at another pitch");
    bench.harness.get_by_label_contains("not played, 60 %");
    bench.harness.get_by_label_contains("C#7 added, 85 %");
    let expected_s = bench.read(|state| state.solution().unwrap().alignment.notes[20].onset_s);
    bench.harness.get_by_label_contains("not played, 91 %").click();
    bench.harness.step();
    bench.read(|state| {
        assert!(state.transport.playing, "a click plays it");
        let before_s = expected_s - state.transport.position_s;
        assert!((0.0..1.0).contains(&before_s), "from a little before: {before_s}");
        assert!((0.0..1.0).contains(&state.view().share_of(expected_s)));
    });
    bench.apply(Command::TogglePlay);
    bench.apply(Command::ShowDifferencesFrom(0.9));
    bench.harness.get_by_label_contains("not played, 91 %");
    assert!(bench.harness.query_by_label_contains("not played, 60 %").is_none());
    assert!(bench.harness.query_by_label_contains("added, 85 %").is_none());
}

#[test]
fn a_reference_and_what_was_played_differently_are_shown_in_turn() {
    let folder = folder();
    let path = session(folder.path());
    let mut bench = Bench::new(folder.path(), vec![path]);
    bench.wait_until_aligned();
    let [.., truth] = demo_files(folder.path());
    bench.apply(Command::OpenReference(truth));
    bench.wait("comparing", |state| state.reference().is_some() && state.work.is_none());
    assert_eq!(bench.read(agogic::window::AppState::note_colours), NoteColours::Reference);
    let options = PictureOptions {
        area: PictureArea::Pane(PaneKind::PianoRoll),
        format: PictureFormat::Svg,
        size: [1000, 400],
        detail: 1,
        path: PathBuf::new(),
    };
    let legend = |bench: &Bench| {
        let window = bench.harness.state().borrow();
        let drawing = window.as_ref().unwrap().picture(&bench.harness.ctx, &options);
        String::from_utf8(drawing.encode(PictureFormat::Svg).unwrap()).unwrap()
    };
    let compared = legend(&bench);
    bench.apply(Command::ColourNotes(NoteColours::Played));
    let played = legend(&bench);
    bench.apply(Command::ColourNotes(NoteColours::Confidence));
    let sure = legend(&bench);
    let has = |svg: &str, words: &str| svg.contains(words);
    assert!(has(&compared, "only in the reference") && !has(&compared, "not in the score"));
    assert!(has(&played, "played, not in the score") && !has(&played, "only in the reference"));
    assert!(!has(&sure, "only in the reference") && !has(&sure, "not in the score"));
}

#[test]
fn where_nobody_listened_for_notes_the_window_says_so() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::SetSettings(agogic::Settings {
        method: agogic::Method::Frames(agogic::FrameMethod::default()),
        ..agogic::Settings::default()
    }));
    bench.apply(Command::Align);
    bench.wait("aligning", |state| !state.needs_aligning() && state.work.is_none());
    bench.harness.get_by_label("Only the onset method with an ear hears which notes were played.");
    assert!(bench.read(|state| state.note_colours() != NoteColours::Played));
}
