//! The real window, driven without a screen.

mod corrections;
mod dialogs;
mod differences;
mod hearing;
mod long_use;
mod panels;
mod panes;
mod safety;
mod sections;
mod settings;
mod shared_files;
mod snapshots;
mod soak;
mod staff;
mod takes;
mod welcome;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use agogic::Format;
use agogic::training::PieceFiles;
use agogic::window::playback::{SimulatedClock, SimulatedOutput};
use agogic::window::tuning::{self, LabelledPiece, Plan};
use agogic::window::{AppState, Command, Dialog, Document, PaneKind, Severity, ThemeChoice, Window, WindowOptions};
use agogic::{Anchor, FrameMethod, Method, Settings};
use eframe::egui::accesskit::Role;
use eframe::egui::{self, Key, Modifiers, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

type SharedWindow = Rc<RefCell<Option<Window>>>;

/// A window in a test, with the folder that it keeps its things in and the clock that its sound goes by.
struct Bench {
    harness: Harness<'static, SharedWindow>,
    folder: PathBuf,
    clock: SimulatedClock,
}

impl Bench {
    /// A window of somebody who has been welcomed.
    fn new(folder: &Path, files: Vec<PathBuf>) -> Self {
        let preferences = folder.join("home/preferences.json");
        if !preferences.exists() {
            std::fs::create_dir_all(preferences.parent().unwrap()).unwrap();
            std::fs::write(preferences, "{}").unwrap();
        }
        Self::first_start(folder, files)
    }

    /// A window as the folder has it: of a newcomer, if there is nothing.
    fn first_start(folder: &Path, files: Vec<PathBuf>) -> Self {
        let window: SharedWindow = Rc::default();
        let clock = SimulatedClock::default();
        let options = WindowOptions {
            files,
            user_folder: Some(folder.join("home")),
            output: Box::new(SimulatedOutput::new(clock.clone())),
        };
        let made = Rc::clone(&window);
        let harness = Harness::builder()
            .with_size(vec2(1400.0, 880.0))
            .with_max_steps(40)
            .with_context_setup(move |ctx| *made.borrow_mut() = Some(Window::new(ctx, options)))
            .build_ui_state(
                |ui, window: &mut SharedWindow| {
                    let mut window = window.borrow_mut();
                    let window = window.as_mut().unwrap();
                    window.logic(ui.ctx());
                    window.ui(ui);
                },
                window,
            );
        Self { harness, folder: folder.to_owned(), clock }
    }

    fn read<T>(&self, look: impl FnOnce(&AppState) -> T) -> T {
        look(self.harness.state().borrow().as_ref().unwrap().state())
    }

    fn apply(&mut self, command: Command) {
        self.harness.state().borrow_mut().as_mut().unwrap().apply(command);
        self.harness.run_ok();
    }

    fn wait(&mut self, what: &str, done: impl Fn(&AppState) -> bool) {
        let begun = Instant::now();
        while !self.read(&done) {
            assert!(begun.elapsed() < Duration::from_secs(180), "{what}: {:?}", self.read(|s| s.notices.clone()));
            self.harness.step();
            std::thread::sleep(Duration::from_millis(4));
        }
        self.harness.run_ok();
    }

    fn wait_until_aligned(&mut self) {
        self.wait("aligning", |state| state.solution().is_some() && state.work.is_none());
    }

    fn onset(&self, index: usize) -> (f64, f64) {
        self.read(|state| {
            let onset = state.solution().unwrap().onsets[index];
            (onset.score_s, onset.performance_s)
        })
    }

    /// Where a time is drawn in a pane.
    fn place(&self, pane: &str, time_s: f64) -> egui::Pos2 {
        let rect = self.harness.get_by_label_contains(pane).rect();
        let share = self.read(|state| state.view().share_of(time_s)) as f32;
        pos2(rect.left() + share * rect.width(), rect.center().y)
    }

    fn close(self) {
        self.harness.state().borrow_mut().as_mut().unwrap().settle_before_exit();
    }
}

/// What is open, where something must be.
fn open(state: &AppState) -> &Document {
    state.document.as_ref().unwrap()
}

/// The extractor that the settings name.
fn extractor(state: &AppState) -> Option<String> {
    match &state.settings().method {
        Method::Frames(frames) => frames.extractor.clone(),
        Method::Onsets(_) => None,
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The demo as files.
fn demo_files(folder: &Path) -> [PathBuf; 3] {
    agogic::demo_piece::files().map(|(name, bytes)| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    })
}

/// The demo to learn from, and once more, under another name, to judge by.
fn learn_and_judge_the_demo(plan: &mut Plan, folder: &Path) {
    let [audio, score, truth] = demo_files(folder);
    let copy = folder.join("same truth.csv");
    std::fs::copy(&truth, &copy).unwrap();
    for (name, truth) in [("learned", truth), ("judged", copy)] {
        let (name, audio, score) = (name.to_owned(), audio.clone(), score.clone());
        plan.add(LabelledPiece::of_files(PieceFiles { name, audio, score, truth }));
    }
    plan.pieces[1].role = tuning::Role::Judge;
}

#[test]
fn starts_on_the_demo_and_aligns_it_well() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.get_by_label("Result");
    bench.harness.get_by_label_contains("Against ground truth of the demo");
    let metrics = bench.read(|state| state.solution().unwrap().metrics.unwrap());
    assert!(metrics.time_err_ms < 40.0, "{metrics:?}");
    assert!(!bench.read(AppState::is_changed), "a demo that was only looked at is not worth saving");
}

#[test]
fn space_plays_the_score_too_and_the_playhead_follows() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.get_by_label("Both").click();
    bench.wait("the score's sound", |state| state.transport.score_ready);
    bench.harness.key_press(Key::Space);
    bench.harness.step();
    assert!(bench.read(|state| state.transport.playing));
    bench.clock.advance(2.0);
    bench.harness.step();
    let position = bench.read(|state| state.transport.position_s);
    assert!((position - 2.0).abs() < 0.02, "{position}");
    assert!(bench.clock.peak() > 0.02);
    bench.harness.key_press(Key::Space);
    bench.harness.run();
    assert!(!bench.read(|state| state.transport.playing));
}

#[test]
fn a_bad_file_is_named_in_a_sentence_and_the_old_piece_stays() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let (noise, score) = (folder.path().join("noise.wav"), folder.path().join("empty.mid"));
    std::fs::write(&noise, b"this is no audio at all, only words that go on for a while").unwrap();
    std::fs::write(&score, b"MThd").unwrap();
    for paths in
        [vec![noise.clone(), demo_files(folder.path())[1].clone()], vec![demo_files(folder.path())[0].clone(), score]]
    {
        bench.apply(Command::Open(paths));
        bench.wait("the error", |state| state.notices.iter().any(|notice| notice.severity == Severity::Error));
        bench.read(|state| {
            let notice = state.notices.iter().find(|notice| notice.severity == Severity::Error).unwrap();
            assert!(notice.text.contains("noise.wav") || notice.text.contains("empty.mid"), "{}", notice.text);
            assert!(notice.details.is_some());
            assert!(state.solution().is_some() && state.work.is_none(), "the demo is still there");
        });
        bench.harness.get_by_label("Close").click();
        bench.harness.run();
        assert!(bench.read(|state| state.notices.is_empty()));
    }
    bench.apply(Command::Open(vec![noise, demo_files(folder.path())[1].clone()]));
    bench.wait("the error", |state| !state.notices.is_empty());
    bench.apply(Command::OpenDemo);
    bench.wait_until_aligned();
    assert!(bench.read(|state| state.notices.is_empty()), "what failed before is no news any more");
}

#[test]
fn halves_of_a_pair_wait_for_each_other() {
    let folder = folder();
    let [audio, score, truth] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::Open(vec![audio]));
    bench.wait("the hint", |state| state.notices.iter().any(|n| n.text.contains("needs its score")));
    bench.apply(Command::Open(vec![score]));
    bench.wait("the pair", |state| {
        state.piece().is_some_and(|piece| piece.recording_name == "performance.ogg") && state.solution().is_some()
    });
    assert!(bench.read(|state| state.reference().is_none() && state.preferences.recent.len() == 1));
    bench.apply(Command::OpenReference(truth));
    bench.wait("the comparison", |state| state.solution().is_some_and(|s| s.metrics.is_some()));
    bench.apply(Command::ForgetReference);
    bench.wait("the end of the comparison", |state| state.reference().is_none());
}

#[test]
fn cancel_stops_the_work_and_keeps_the_result() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.state().borrow_mut().as_mut().unwrap().apply(Command::Align);
    bench.harness.step();
    bench.harness.get_by_label("Cancel").click();
    bench.harness.run_ok();
    bench.read(|state| {
        assert!(state.work.is_none() && state.solution().is_some());
        assert!(state.notices.iter().any(|notice| notice.text.starts_with("Cancelled")));
    });
    std::thread::sleep(Duration::from_millis(300));
    bench.harness.run_ok();
    assert!(bench.read(|state| open(state).ghost.is_none()), "the cancelled alignment must not come in late");
}

#[test]
fn a_dragged_onset_becomes_an_anchor_that_is_kept_and_undone() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let (score_s, before) = bench.onset(60);
    bench.apply(Command::GoTo(before));
    bench.apply(Command::Select(None));
    bench.apply(Command::ToggleSnap);
    let (from, to) = (bench.place("Recording, playhead", before), bench.place("Recording, playhead", before + 0.15));
    bench.harness.drag_at(from);
    bench.harness.step();
    for share in [0.3, 0.7, 1.0] {
        bench.harness.hover_at(from + share * (to - from));
        bench.harness.step();
    }
    assert!(bench.read(|state| open(state).dragging), "the onset is held");
    bench.harness.drop_at(to);
    bench.harness.step();
    bench.wait("solving", |state| state.work.is_none() && open(state).moved.is_none());
    let anchors = bench.read(|state| state.settings().anchors.clone());
    assert_eq!(anchors.len(), 1);
    assert!((anchors[0].score_s - score_s).abs() < 1e-9, "{anchors:?} against {score_s}");
    assert!((anchors[0].performance_s - before - 0.15).abs() < 0.02, "{anchors:?} against {before}");
    let after = bench.onset(60).1;
    assert!((after - anchors[0].performance_s).abs() < 0.03, "{after} against {anchors:?}");
    assert!(bench.read(|state| state.is_changed() && open(state).ghost.is_some()));
    bench.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    bench.harness.run_ok();
    assert!(bench.read(|state| state.settings().anchors.is_empty() && state.work.is_none()));
    assert_eq!(bench.onset(60).1, before);
    bench.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    bench.harness.run_ok();
    assert_eq!(bench.onset(60).1, after);
}

#[test]
fn keys_nudge_and_free_the_selected_onset() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.key_press(Key::PageDown);
    bench.harness.run_ok();
    let selected = bench.read(|state| open(state).selected.unwrap());
    let before = bench.read(|state| open(state).place_of(selected).unwrap());
    bench.harness.key_press_modifiers(Modifiers::SHIFT, Key::Period);
    bench.harness.step();
    let anchor = bench.read(|state| state.settings().anchors[0]);
    assert!((anchor.performance_s - before - 0.005).abs() < 1e-9);
    bench.wait("solving", |state| state.work.is_none());
    bench.harness.key_press(Key::Delete);
    bench.harness.step();
    assert!(bench.read(|state| state.settings().anchors.is_empty()));
    bench.wait("solving", |state| state.work.is_none());
}

#[test]
fn exports_what_the_dialog_says() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.key_press_modifiers(Modifiers::COMMAND, Key::E);
    bench.harness.run_ok();
    bench.harness.get_by_label("Export");
    let path = folder.path().join("out.json");
    bench.apply(Command::Show(Dialog::Export { format: Format::Json, path: path.display().to_string() }));
    bench.harness.get_by_label("Write").click();
    bench.wait("writing", |state| state.notices.iter().any(|notice| notice.text.starts_with("Wrote")));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with('{') && text.contains("\"warp\""));
    assert!(bench.read(|state| state.dialog.is_none()));
}

#[test]
fn a_session_is_saved_and_comes_back_as_it_was() {
    let folder = folder();
    let [audio, score, _] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), vec![audio, score]);
    bench.wait_until_aligned();
    let (score_s, performance_s) = bench.onset(30);
    bench.apply(Command::PlaceAnchor(Anchor { score_s, performance_s: performance_s + 0.03 }));
    bench.wait("solving", |state| state.work.is_none());
    bench.apply(Command::Quit);
    bench.harness.get_by_label("Save your changes?");
    assert!(!bench.read(|state| state.quit));
    bench.harness.key_press(Key::Escape);
    bench.harness.run_ok();
    let path = folder.path().join("piece.agogic");
    bench.apply(Command::SaveSessionAs(path.clone()));
    bench.wait("saving", |state| !state.is_changed());
    let onsets = bench.read(|state| state.solution().unwrap().onsets.clone());
    bench.apply(Command::Quit);
    assert!(bench.read(|state| state.quit));
    bench.close();

    let mut again = Bench::new(folder.path(), vec![path.clone()]);
    again.wait_until_aligned();
    again.read(|state| {
        assert_eq!(state.solution().unwrap().onsets, onsets);
        assert_eq!(state.settings().anchors.len(), 1);
        assert_eq!(open(state).session_path.as_deref(), Some(path.as_path()));
        assert!(!state.is_changed() && state.left_behind.is_empty());
    });
}

#[test]
fn work_of_a_crashed_window_is_recovered() {
    let folder = folder();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let (score_s, performance_s) = bench.onset(20);
    bench.apply(Command::PlaceAnchor(Anchor { score_s, performance_s: performance_s + 0.02 }));
    bench.wait("solving", |state| state.work.is_none());
    bench.harness.state().borrow_mut().as_mut().unwrap().autosave_now();
    bench.wait("keeping", |state| open(state).autosaved_revision == open(state).revision);
    // Not closed: as good as a crash.
    drop(bench);

    let mut again = Bench::new(folder.path(), Vec::new());
    again.wait_until_aligned();
    again.harness.get_by_label("Recover it").click();
    again.wait("recovering", |state| state.settings().anchors.len() == 1 && state.solution().is_some());
    assert!(again.read(AppState::is_changed), "recovered work is not saved yet");
}

#[test]
fn settings_wait_for_the_button_and_panes_and_themes_are_remembered() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::SetSettings(Settings {
        method: Method::Frames(FrameMethod::default()),
        ..Settings::default()
    }));
    assert!(bench.read(AppState::needs_aligning));
    // Tall enough that the button need not be scrolled to.
    bench.harness.set_size(eframe::egui::vec2(1200.0, 3000.0));
    bench.harness.run_ok();
    bench.harness.get_by_label("Align again").click();
    bench.wait("aligning", |state| !state.needs_aligning() && state.work.is_none());
    bench.apply(Command::TogglePane(PaneKind::Tempo));
    bench.apply(Command::SetTheme(ThemeChoice::Dark));
    bench.harness.run_ok();
    assert!(bench.harness.query_by_label_contains("Tempo, playhead").is_none());
    bench.apply(Command::DiscardChanges(agogic::window::Afterwards::Quit));
    let home = bench.folder.join("home");
    bench.close();
    let remembered = agogic::window::Preferences::read(&home);
    assert_eq!(remembered.theme, ThemeChoice::Dark);
    let again = Bench::new(folder.path(), Vec::new());
    assert!(again.harness.query_by_label_contains("Tempo, playhead").is_none());
}

#[test]
fn the_view_menu_knows_which_panes_are_shown() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.get_by_label("View").click();
    bench.harness.run_ok();
    let ticked = |bench: &Bench, name: &str| {
        let node = bench.harness.get_by_role_and_label(Role::CheckBox, name);
        node.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    assert!(ticked(&bench, "Tempo") && !ticked(&bench, "Spectrum"));
    bench.harness.get_by_role_and_label(Role::CheckBox, "Spectrum").click();
    bench.harness.run_ok();
    bench.harness.get_by_label_contains("Spectrum, playhead");
}

#[test]
fn keys_are_not_stolen_from_a_text_field() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::Show(Dialog::Open { recording: String::new(), score: String::new() }));
    bench.harness.get_by_role_and_label(Role::TextInput, "Score").focus();
    bench.harness.run_ok();
    bench.harness.get_by_role_and_label(Role::TextInput, "Score").type_text("fn l");
    bench.harness.key_press(Key::Space);
    bench.harness.run_ok();
    bench.read(|state| {
        assert!(
            matches!(&state.dialog, Some(Dialog::Open { score, .. }) if score.starts_with("fn l")),
            "{:?}",
            state.dialog
        );
        assert!(!state.transport.playing && !state.transport.looping);
    });
}
