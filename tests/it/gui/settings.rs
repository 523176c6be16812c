//! Nothing in the settings panel is ignored: every control changes the result on the demo, or is refused with a notice.

use std::collections::BTreeSet;

use agogic::window::{AppState, Command, Preferences, Severity, SideTab};
use agogic::{Aligner, DeviceChoice, FrameMethod, Method, OnsetMethod, Settings};
use eframe::egui::accesskit::Role;
use egui_kittest::kittest::{NodeT, Queryable};

use super::{Bench, folder, open};
use crate::options::other_soundfont;

/// What is done to a control.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// An entry of a list is chosen.
    Choose(&'static str, &'static str),
    /// A box is ticked, or no longer.
    Tick(&'static str),
    /// A number is set, after its box was ticked if it has one.
    Set(Option<&'static str>, &'static str, f64),
}

use Act::{Choose, Set, Tick};

/// Buttons that change no setting.
const BUTTONS: [&str; 2] = ["Align again", "Reset"];

/// Every control between the headings of the panel.
fn controls(bench: &Bench) -> BTreeSet<String> {
    let heading = |name: &str| bench.harness.get_by_role_and_label(Role::Label, name).rect();
    let (top, bottom) = (heading("Settings").top(), heading("Computing").top());
    let left = heading("Settings").left() - 4.0;
    let roles = [Role::ComboBox, Role::CheckBox, Role::SpinButton, Role::Button, Role::TextInput, Role::Slider];
    let inside = bench.harness.root().children_recursive().filter(|node| {
        let is_control = roles.contains(&node.accesskit_node().role());
        is_control && {
            let rect = node.rect();
            rect.top() >= top && rect.bottom() <= bottom && rect.left() >= left
        }
    });
    inside.map(|node| node.accesskit_node().label().unwrap_or_default().to_string()).collect()
}

fn act(bench: &mut Bench, what: Act) {
    match what {
        Choose(list, entry) => {
            bench.harness.get_by_role_and_label(Role::ComboBox, list).click_accesskit();
            bench.harness.run_ok();
            bench.harness.get_all_by_label(entry).last().unwrap().click_accesskit();
            bench.harness.run_ok();
            // A pointer that chooses closes the list, assistive technology does not.
            if bench.harness.query_all_by_label(entry).next().is_some() {
                bench.harness.get_by_role_and_label(Role::ComboBox, list).click_accesskit();
            }
        }
        Tick(name) => bench.harness.get_by_role_and_label(Role::CheckBox, name).click_accesskit(),
        Set(automatic, name, value) => {
            if let Some(automatic) = automatic {
                act(bench, Tick(automatic));
            }
            bench.harness.get_by_role_and_label(Role::SpinButton, name).set_value_accesskit(value);
        }
    }
    bench.harness.run_ok();
}

fn align(bench: &mut Bench) {
    bench.harness.get_by_label("Align again").click_accesskit();
    bench.harness.step();
    bench.wait("aligning", |state| state.work.is_none());
}

/// Where every note was put, and how sure that is.
fn result(bench: &Bench) -> Vec<(f64, f64, f64)> {
    bench.read(|state| {
        let notes = &state.solution().unwrap().alignment.notes;
        notes.iter().map(|note| (note.onset_s, note.offset_s, note.confidence)).collect()
    })
}

fn demo(folder: &std::path::Path) -> Bench {
    let mut bench = Bench::new(folder, Vec::new());
    bench.wait_until_aligned();
    bench.harness.get_by_label("Advanced").click_accesskit();
    bench.harness.run_ok();
    bench
}

/// Walks over the controls of a method: each changes the result, and there is none beside them.
fn walk(bench: &mut Bench, method: &Method, acts: &[Act]) {
    let usual = Settings { method: method.clone(), ..Settings::default() };
    bench.apply(Command::SetSettings(usual.clone()));
    align(bench);
    let (before, mut seen) = (result(bench), controls(bench));
    for what in acts {
        bench.apply(Command::SetSettings(usual.clone()));
        act(bench, *what);
        bench.wait("the setting", AppState::needs_aligning);
        // What other controls there are with another method is another walk.
        if !matches!(what, Choose("Method" | "Aligner", _)) {
            seen.extend(controls(bench));
        }
        align(bench);
        assert!(
            !bench.read(AppState::needs_aligning),
            "{what:?} was used: {:?}",
            bench.read(|state| state.notices.clone())
        );
        assert_ne!(result(bench), before, "{what:?}");
    }
    let walked = acts.iter().flat_map(|what| match what {
        Choose(name, _) | Tick(name) => vec![*name],
        Set(automatic, name, _) => automatic.iter().copied().chain([*name]).collect(),
    });
    let known: BTreeSet<String> = walked.chain(BUTTONS).map(str::to_owned).collect();
    // Files are chosen in other tests.
    let chooses_file = |name: &&String| match method {
        Method::Frames(_) => name.starts_with("SoundFont: "),
        Method::Onsets(_) => name.starts_with("Transcription: "),
    };
    let forgotten: Vec<&String> = seen.iter().filter(|name| !known.contains(*name) && !chooses_file(name)).collect();
    assert!(forgotten.is_empty(), "{forgotten:?} changes nothing that is tested");
    assert!(known.iter().all(|name| seen.contains(name)), "{known:?} of which some are not there: {seen:?}");
    bench.apply(Command::SetSettings(usual));
}

const TEMPO: Option<&str> = Some("Automatic tempo limits");
const WIDTH: Option<&str> = Some("Automatic search width");

#[test]
fn every_control_of_the_onset_method_changes_the_result() {
    let folder = folder();
    let mut bench = demo(folder.path());
    let acts = [
        Choose("Method", "Frame by frame"),
        Choose("Ear", "None"),
        Set(TEMPO, "Least time", 0.95),
        Set(TEMPO, "Most time", 1.05),
        Set(WIDTH, "Search width", 0.004),
    ];
    walk(&mut bench, &Method::default(), &acts);
    // Reset goes back to what was there at first.
    let usual = result(&bench);
    act(&mut bench, acts[1]);
    bench.harness.get_by_label("Reset").click_accesskit();
    bench.harness.run_ok();
    align(&mut bench);
    assert_ne!(result(&bench), usual, "the last result was of the walk's last control");
    assert_eq!(bench.read(|state| state.settings().clone()), Settings::default());
}

#[test]
fn every_control_of_the_frame_method_changes_the_result() {
    let folder = folder();
    let mut bench = demo(folder.path());
    let acts = [
        Choose("Method", "Onset by onset"),
        Choose("Features", "Chroma"),
        Choose("Extractor", "chroma (built in)"),
        Choose("Aligner", "Classic (DTW)"),
        Choose("Ends", "Pinned"),
        Set(Some("Automatic smoothness"), "Smoothness", 100.0),
        Set(TEMPO, "Least time", 0.95),
        Set(TEMPO, "Most time", 1.05),
        Set(None, "Frame step", 512.0),
        Set(WIDTH, "Search width", 0.05),
    ];
    walk(&mut bench, &Method::Frames(FrameMethod::default()), &acts);
    act(&mut bench, acts[3]);
    let classic = controls(&bench);
    for name in ["Smoothness", "Least time", "Automatic smoothness", "Automatic tempo limits"] {
        assert!(!classic.contains(name), "{name} belongs to the other aligner");
    }
    assert!(bench.read(|state| match &state.settings().method {
        Method::Frames(frames) => frames.aligner == Aligner::Dtw,
        Method::Onsets(_) => false,
    }));
}

#[test]
fn the_soundfont_of_the_method_changes_the_result_and_that_of_the_playback_does_not() {
    let folder = folder();
    let mut bench = demo(folder.path());
    let other = folder.path().join("other.sf2");
    std::fs::write(&other, other_soundfont()).unwrap();
    let frames = |soundfont| Method::Frames(FrameMethod { soundfont, ..FrameMethod::default() });
    bench.apply(Command::SetSettings(Settings { method: frames(None), ..Settings::default() }));
    align(&mut bench);
    let before = result(&bench);
    // What the system's dialog would bring.
    bench.apply(Command::SetSettings(Settings { method: frames(Some(other.clone())), ..Settings::default() }));
    align(&mut bench);
    assert_ne!(result(&bench), before);
    bench.harness.get_by_label("SoundFont: other.sf2");
    bench.harness.get_by_label("Built-in").click_accesskit();
    bench.harness.run_ok();
    align(&mut bench);
    assert_eq!(result(&bench), before);
    let missing = folder.path().join("missing.sf2");
    bench.apply(Command::SetSettings(Settings { method: frames(Some(missing.clone())), ..Settings::default() }));
    align(&mut bench);
    let refused = |state: &AppState| {
        state.notices.iter().any(|n| n.severity == Severity::Error && n.text.contains("missing.sf2"))
    };
    assert!(bench.read(refused));
    assert_eq!(result(&bench), before, "what was found before is still there");
    bench.apply(Command::SetSettings(Settings { method: frames(None), ..Settings::default() }));

    bench.apply(Command::SetPlaybackSoundFont(Some(other.clone())));
    bench.harness.get_by_label("Instrument: other.sf2");
    assert!(!bench.read(AppState::needs_aligning));
    bench.harness.get_by_label("Score").click();
    bench.wait("the score's sound", |state| state.transport.score_ready);
    bench.apply(Command::SetPlaybackSoundFont(Some(missing)));
    bench.wait("the built-in piano", |state| state.preferences.soundfont.is_none() && state.transport.score_ready);
    bench.apply(Command::SetPlaybackSoundFont(Some(other.clone())));
    bench.close();
    assert_eq!(agogic::window::Preferences::read(&folder.path().join("home")).soundfont, Some(other));
}

#[test]
fn every_control_says_what_it_is_for() {
    let folder = folder();
    let mut bench = demo(folder.path());
    // Tall enough that no control has to be scrolled to.
    bench.harness.set_size(eframe::egui::vec2(1200.0, 3000.0));
    bench.harness.run_ok();
    for method in [Method::default(), Method::Frames(FrameMethod::default())] {
        bench.apply(Command::SetSettings(Settings { method, ..Settings::default() }));
        for name in controls(&bench).iter().filter(|name| !BUTTONS.contains(&name.as_str())) {
            let control = |bench: &Bench| {
                let nodes = bench.harness.root().children_recursive();
                let named = nodes.filter(|node| node.accesskit_node().label().as_deref() == Some(name));
                let mut controls = named.filter(|node| node.accesskit_node().role() != Role::Label);
                controls.next().unwrap().rect().center()
            };
            let place = control(&bench);
            bench.harness.hover_at(place);
            // The tooltip comes after a moment.
            for _ in 0..60 {
                bench.harness.step();
            }
            let tooltips = bench.harness.root().children_recursive();
            let shown = tooltips.filter(|node| node.accesskit_node().role() == Role::Tooltip).count();
            assert!(shown > 0, "{name}");
        }
    }
    assert!(bench.read(|state| open(state).solution.is_some()));
}

#[test]
fn the_device_is_chosen_in_either_panel_kept_and_gives_the_same_alignment() {
    let folder = folder();
    let mut bench = demo(folder.path());
    act(&mut bench, Choose("Computed on", "CPU"));
    assert_eq!(bench.read(|state| state.preferences.computing), DeviceChoice::Cpu);
    // By frames: a card made of software would listen with an ear for minutes.
    let align_by = |bench: &mut Bench, method: Method| {
        bench.apply(Command::SetSettings(Settings { method, ..Settings::default() }));
        align(bench);
    };
    let frames = Method::Frames(FrameMethod::default());
    align_by(&mut bench, frames.clone());
    let usual = result(&bench);
    if DeviceChoice::Gpu.is_built_in() {
        bench.apply(Command::ShowSide(SideTab::Tune));
        // The list names the card as soon as its driver has answered.
        bench.harness.get_by_role_and_label(Role::ComboBox, "Computed on").click_accesskit();
        bench.harness.run_ok();
        bench.wait("the cards", |state| !state.cards.is_empty());
        let card = bench.read(|state| state.cards.get(1).map(|card| card.name.clone())).unwrap_or_default();
        bench.harness.run_ok();
        let entries = bench.harness.root().children_recursive();
        let is_card = |label: &str| label.starts_with("GPU") && label.ends_with(&card);
        let named = entries.filter(|node| node.accesskit_node().label().is_some_and(|label| is_card(&label)));
        named.last().unwrap().click_accesskit();
        bench.harness.run_ok();
        assert_eq!(bench.read(|state| state.preferences.computing), DeviceChoice::Gpu);
        bench.apply(Command::ShowSide(SideTab::Align));
        // Another method and back.
        align_by(&mut bench, Method::Onsets(OnsetMethod { ear: None, ..OnsetMethod::default() }));
        align_by(&mut bench, frames);
        let found = result(&bench);
        let worst = usual.iter().zip(&found).map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
        assert!(usual.len() == found.len() && worst < 1e-4, "{worst}");
    }
    bench.close();
    let kept = Preferences::read(&folder.path().join("home")).computing;
    assert_eq!(kept, if DeviceChoice::Gpu.is_built_in() { DeviceChoice::Gpu } else { DeviceChoice::Cpu });
}
