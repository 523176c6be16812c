//! Pictures, missing files, devices and models of one's own in the real window.

use std::path::PathBuf;

use agogic::Device;
use agogic::training::open_model;
use agogic::window::picture::{PictureArea, PictureFormat, PictureOptions};
use agogic::window::playback::OutputDevice;
use agogic::window::tuning::Start;
use agogic::window::{Afterwards, Command, Dialog, PaneKind, Preferences, Severity, SideTab};
use eframe::egui::accesskit::Role as AccessRole;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;

use super::{Bench, demo_files, extractor, folder, open};

#[test]
fn a_picture_is_written_as_the_dialog_says() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.harness.key_press_modifiers(Modifiers::COMMAND, Key::P);
    bench.harness.run_ok();
    bench.harness.get_by_label("Save a picture");
    let mut options = bench.read(|state| match &state.dialog {
        Some(Dialog::Picture(options)) => options.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(options.area, PictureArea::Panes);
    options.path = folder.path().join("picture.png");
    let pixels = options.size.map(|side| side * options.detail);
    std::fs::write(&options.path, "something").unwrap();
    bench.apply(Command::Show(Dialog::Picture(options.clone())));
    bench.harness.get_by_label(&format!("{} × {} pixels", pixels[0], pixels[1]));
    bench.harness.get_by_label("Save").click();
    bench.wait("the question", |state| matches!(state.dialog, Some(Dialog::Replace(_))));
    bench.harness.get_by_label("Replace picture.png?");
    bench.harness.get_by_label("Replace").click();
    bench.wait("writing", |state| state.notices.iter().any(|notice| notice.text.starts_with("Wrote")));
    let file = std::fs::File::open(&options.path).unwrap();
    let info = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap().info().size();
    assert_eq!([info.0, info.1], pixels);

    let vector = PictureOptions {
        area: PictureArea::Pane(PaneKind::PianoRoll),
        format: PictureFormat::Svg,
        size: [900, 320],
        detail: 1,
        path: folder.path().join("notes.svg"),
    };
    bench.apply(Command::SavePicture(vector.clone()));
    bench.wait("writing", |_| vector.path.is_file());
    let text = std::fs::read_to_string(&vector.path).unwrap();
    assert!(text.starts_with("<svg") && text.contains("width=\"900\"") && text.ends_with("</svg>\n"));
    for words in [">agrees with the reference<", ">C4<", "<image ", ">Notes<"] {
        assert!(text.contains(words), "{words}");
    }
    assert!(!text.contains(">Tempo<") && !text.contains("\"NaN"), "one pane alone, all of it at a place");
}

/// A saved session whose recording, score and reference are in another folder.
fn session_with_files(folder: &std::path::Path) -> (PathBuf, [PathBuf; 3]) {
    let media = folder.join("media");
    std::fs::create_dir(&media).unwrap();
    let files = demo_files(&media);
    let mut bench = Bench::new(folder, files.to_vec());
    bench.wait_until_aligned();
    let path = folder.join("piece.agogic");
    bench.apply(Command::SaveSessionAs(path.clone()));
    bench.wait("saving", |state| open(state).session_path.is_some());
    bench.close();
    (path, files)
}

#[test]
fn a_missing_recording_is_asked_for_and_another_one_needs_a_confirmation() {
    let folder = folder();
    let (session, [audio, _, truth]) = session_with_files(folder.path());
    // Beside the session it would be found by its content.
    let elsewhere = folder.path().join("another folder").join("elsewhere.ogg");
    std::fs::create_dir(elsewhere.parent().unwrap()).unwrap();
    std::fs::rename(&audio, &elsewhere).unwrap();
    std::fs::remove_file(&truth).unwrap();
    let mut bench = Bench::new(folder.path(), vec![session.clone()]);
    bench.wait("asking", |state| matches!(state.dialog, Some(Dialog::Relink(_))));
    bench.harness.get_by_label("Where is performance.ogg?");
    assert!(bench.harness.query_by_label("Open without it").is_none(), "there is nothing to show without a recording");
    let field = bench.harness.get_by_role_and_label(AccessRole::TextInput, "File");
    assert!(field.is_focused(), "the path can be typed at once");
    let nowhere = folder.path().join("nowhere.ogg");
    bench.apply(Command::Relink { file: nowhere.clone(), confirmed: false });
    bench.wait("failing", |state| state.notices.iter().any(|notice| notice.severity == Severity::Error));
    bench.read(|state| match &state.dialog {
        Some(Dialog::Relink(asked)) => {
            assert_eq!(asked.typed, nowhere.display().to_string(), "it need not be typed again")
        }
        other => panic!("{other:?}"),
    });
    let other = folder.path().join("other.wav");
    std::fs::write(&other, "something else").unwrap();
    bench.apply(Command::Relink { file: other, confirmed: false });
    bench.wait("comparing", |state| matches!(&state.dialog, Some(Dialog::Relink(asked)) if asked.different.is_some()));
    bench.harness.get_by_label("Another file?");
    bench.harness.get_by_label("Use it anyway");
    bench.apply(Command::Relink { file: elsewhere, confirmed: false });
    bench.wait(
        "asking for the reference",
        |state| matches!(&state.dialog, Some(Dialog::Relink(asked)) if asked.different.is_none()),
    );
    bench.harness.get_by_label("Where is truth.csv?");
    bench.harness.get_by_label("Open without it").click();
    bench.harness.run_ok();
    bench.wait("opening", |state| state.solution().is_some() && state.work.is_none());
    bench.read(|state| {
        assert_eq!(open(state).session_path.as_deref(), Some(session.as_path()));
        assert!(state.dialog.is_none() && state.reference().is_none() && !state.is_changed());
        assert_eq!(state.piece().unwrap().recording_name, "elsewhere.ogg");
    });
}

#[test]
fn sound_goes_to_the_device_that_was_chosen_and_its_absence_is_told_once() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::ListDevices);
    bench.wait("devices", |state| state.devices.len() == 2);
    let device = bench.read(|state| state.devices[1].clone());
    bench.apply(Command::ChooseDevice(Some(device.clone())));
    bench.apply(Command::TogglePlay);
    assert!(bench.read(|state| state.notices.is_empty() && state.transport.playing));
    bench.clock.advance(0.5);
    bench.apply(Command::TogglePlay);
    let home = bench.folder.join("home");
    bench.close();
    let mut remembered = Preferences::read(&home);
    assert_eq!(remembered.output_device, Some(device));

    remembered.output_device = Some(OutputDevice { id: "gone".to_owned(), name: "Headphones".to_owned() });
    remembered.write(&home);
    let mut again = Bench::new(folder.path(), Vec::new());
    again.wait_until_aligned();
    let told = |bench: &Bench| {
        bench.read(|state| {
            let about = |notice: &&agogic::window::Notice| notice.text.contains("Headphones is not connected");
            state.notices.iter().filter(about).filter(|notice| notice.severity == Severity::Warning).count()
        })
    };
    again.apply(Command::TogglePlay);
    assert_eq!(told(&again), 1);
    assert!(again.read(|state| state.transport.playing), "it plays all the same");
    again.apply(Command::TogglePlay);
    again.apply(Command::Dismiss(0));
    again.apply(Command::TogglePlay);
    assert_eq!(told(&again), 0);
}

#[test]
fn a_model_of_ones_own_can_be_the_start_of_a_training() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let own = folder.path().join("mine.safetensors");
    open_model("chroma", &Device::Cpu).unwrap().save(&own).unwrap();
    bench.apply(Command::ShowSide(SideTab::Tune));
    // Dropped on the window while the part is shown, or chosen there.
    bench.apply(Command::Open(vec![own.clone()]));
    let start = Start::Model(own.display().to_string());
    bench.wait("the model", |state| state.tuning.plan.start == start);
    bench.harness.get_by_role_and_label(AccessRole::ComboBox, "Start from");
    let damaged = folder.path().join("damaged.safetensors");
    std::fs::write(&damaged, "nothing").unwrap();
    bench.apply(Command::StartFrom(damaged.display().to_string()));
    bench.wait("the error", |state| state.notices.iter().any(|notice| notice.text.contains("damaged")));
    assert_eq!(bench.read(|state| state.tuning.plan.start.clone()), start, "the other one stays");
    bench.apply(Command::ShowSide(SideTab::Align));
    bench.apply(Command::DiscardChanges(Afterwards::Open(vec![own.clone()])));
    let own = own.display().to_string();
    bench.wait("the model", |state| extractor(state).as_ref() == Some(&own));
}

#[test]
fn the_manual_shows_its_pages_and_the_licences_those_of_the_packages() {
    let folder = folder();
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    bench.apply(Command::Show(Dialog::Manual));
    bench.harness.step();
    let page = "GDTW: the warp as an optimum";
    assert_eq!(bench.harness.query_all_by_label(page).count(), 1, "in the contents");
    bench.harness.get_by_label(page).click_accesskit();
    bench.harness.run_steps(3);
    assert_eq!(bench.harness.query_all_by_label(page).count(), 2, "in the contents and as a heading");
    bench.harness.get_by_label("Close").click_accesskit();
    bench.harness.run_steps(2);
    assert!(bench.read(|state| state.dialog.is_none()));
    bench.apply(Command::Show(Dialog::About));
    bench.harness.step();
    bench.harness.get_by_label("Packages that it is built with").click_accesskit();
    bench.harness.run_steps(20);
    bench.harness.get_by_label("Agogic is built with the following packages.");
}
