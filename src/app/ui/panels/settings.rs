//! How to align. Changes wait for the button, so that several can be made at once.

use std::path::{Path, PathBuf};

use eframe::egui::{self, Button, ComboBox, DragValue, Grid, RichText, Ui, vec2};

use super::computing::computing_ui;
use super::side::{COMBO_WIDTH, heading};
use crate::align::settings::{
    Aligner, Ends, FeatureKind, FrameMethod, Method, OnsetMethod, SHIPPED_EAR, Settings, SlopeLimits,
};
use crate::app::command::Command;
use crate::app::document::source::file_name;
use crate::app::state::AppState;
use crate::app::system_dialog::Question;
use crate::app::ui::theme::Palette;
use crate::networks::ModelKind;

const FEATURES: [(FeatureKind, &str); 3] =
    [(FeatureKind::Cqt, "Constant-Q"), (FeatureKind::Chroma, "Chroma"), (FeatureKind::Mel, "Mel bands")];
const ALIGNERS: [(bool, &str); 2] = [(false, "Continuous (GDTW)"), (true, "Classic (DTW)")];
const METHOD_HINT: &str = "Onset by onset: every onset is placed by its own attack, to a few milliseconds. Frame by frame: the published \
         method, which compares features.";
const FEATURES_HINT: &str = "What of the sound is compared. Constant-Q tells semitones apart and suits most music; chroma \
         ignores octaves; mel bands are coarse.";
const ALIGNER_HINT: &str = "Continuous: a smooth curve between the frames. Classic: frame by frame, in steps.";
const EAR_HINT: &str = "A network that has learned to hear onsets. Without it, the spectrum alone is listened to.";
const TRANSCRIPTION_HINT: &str = "A MIDI file with notes that another program, or a person, heard in this recording: they are added to \
         what the ear hears.";
const EXTRACTOR_HINT: &str = "A network that has learned which of these features matter.";
const ENDS: [(Ends, &str); 2] = [(Ends::Free, "Free"), (Ends::Pinned, "Pinned")];
const ENDS_HINT: &str = "Free: the recording may hold more than the score, or only part of it. Pinned: both begin and end \
                         together.";
const METHODS: [(bool, &str); 2] = [(false, "Onset by onset"), (true, "Frame by frame")];

/// Width of the names before the controls, so that all controls stand in one column.
const LABELS: f32 = 58.0;

/// Draws the settings.
pub fn settings_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    heading(ui, "Settings");
    let mut settings = state.settings().clone();
    Grid::new("settings").num_columns(2).min_col_width(LABELS).spacing(vec2(12.0, 8.0)).show(ui, |ui| {
        method_ui(ui, &mut settings.method);
        match &mut settings.method {
            Method::Onsets(onsets) => onsets_ui(ui, state, onsets, commands),
            Method::Frames(frames) => frames_ui(ui, state, frames, commands),
        }
    });
    let take = is_take(state);
    egui::CollapsingHeader::new("Advanced").show(ui, |ui| advanced_ui(ui, &mut settings, take, commands));
    if settings != *state.settings() {
        commands.push(Command::SetSettings(settings));
    }
    ui.add_space(8.0);
    buttons_ui(ui, state, commands);
    ui.add_space(14.0);
    heading(ui, "Computing");
    Grid::new("computing grid").num_columns(2).min_col_width(LABELS).spacing(vec2(12.0, 8.0)).show(ui, |ui| {
        label(ui, "Device", "What alignments and trainings are computed on.");
        computing_ui(ui, state, commands);
        ui.end_row();
    });
    ui.add_space(14.0);
    heading(ui, "Playback");
    Grid::new("playback").num_columns(2).min_col_width(LABELS).spacing(vec2(12.0, 8.0)).show(ui, |ui| {
        label(ui, "Device", "Where sound goes. If it is not connected, the system's own choice is used.");
        device_ui(ui, state, commands);
        ui.end_row();
        label(ui, "Instrument", "The instrument that you hear the score with. It changes nothing in the alignment.");
        let (hint, now) = ("Choose a SoundFont (.sf2) to hear the score with.", state.preferences.soundfont.as_deref());
        if soundfont_ui(ui, "Instrument", hint, now, Question::OpenPlaybackSoundFont, commands) {
            commands.push(Command::SetPlaybackSoundFont(None));
        }
        ui.end_row();
    });
}

fn method_ui(ui: &mut Ui, method: &mut Method) {
    label(ui, "Method", METHOD_HINT);
    let (mut by_frames, before) = (matches!(method, Method::Frames(_)), matches!(method, Method::Frames(_)));
    choice(ui, "Method", &METHODS, &mut by_frames).on_hover_text(METHOD_HINT);
    if by_frames != before {
        *method = if by_frames { Method::Frames(FrameMethod::default()) } else { Method::default() };
    }
    ui.end_row();
}

fn onsets_ui(ui: &mut Ui, state: &AppState, onsets: &OnsetMethod, commands: &mut Vec<Command>) {
    label(ui, "Ear", EAR_HINT);
    // What was played is known: nothing is listened to.
    ui.add_enabled_ui(!is_take(state), |ui| {
        model_ui(ui, state, ModelKind::Ear, onsets.ear.as_deref(), commands);
    });
    ui.end_row();
}

fn is_take(state: &AppState) -> bool {
    state.piece().is_some_and(|piece| piece.is_take())
}

fn transcription_ui(ui: &mut Ui, now: &mut Option<PathBuf>, commands: &mut Vec<Command>) {
    label(ui, "Transcription", TRANSCRIPTION_HINT);
    ui.horizontal(|ui| {
        let shown = now.as_deref().map_or_else(|| "None".to_owned(), file_name);
        let button = ui.add(Button::new(&shown).truncate()).accessible_name(format!("Transcription: {shown}"));
        if button.on_hover_text(TRANSCRIPTION_HINT).clicked() {
            commands.push(Command::Ask(Question::OpenTranscription));
        }
        if now.is_some() && ui.small_button("Without").on_hover_text("Listen without it").clicked() {
            *now = None;
        }
    });
    ui.end_row();
}

fn frames_ui(ui: &mut Ui, state: &AppState, frames: &mut FrameMethod, commands: &mut Vec<Command>) {
    label(ui, "Features", FEATURES_HINT);
    choice(ui, "Features", &FEATURES, &mut frames.features).on_hover_text(FEATURES_HINT);
    ui.end_row();
    label(ui, "Extractor", EXTRACTOR_HINT);
    model_ui(ui, state, ModelKind::Extractor, frames.extractor.as_deref(), commands);
    ui.end_row();
    label(ui, "Aligner", ALIGNER_HINT);
    let (mut classic, before) = (frames.aligner == Aligner::Dtw, frames.aligner == Aligner::Dtw);
    choice(ui, "Aligner", &ALIGNERS, &mut classic).on_hover_text(ALIGNER_HINT);
    if classic != before {
        frames.aligner = if classic { Aligner::Dtw } else { Aligner::default() };
    }
    ui.end_row();
    label(ui, "Ends", ENDS_HINT);
    choice(ui, "Ends", &ENDS, &mut frames.ends).on_hover_text(ENDS_HINT);
    ui.end_row();
    label(ui, "SoundFont", "The instrument that the score is synthesised with to compare it with the recording.");
    let hint = "Choose a SoundFont (.sf2): one that sounds like the instrument of the recording can help.";
    if soundfont_ui(ui, "SoundFont", hint, frames.soundfont.as_deref(), Question::OpenSoundFont, commands) {
        frames.soundfont = None;
    }
    ui.end_row();
}

const SYSTEM_DEVICE: &str = "System default";
/// Longer names are cut off in the list.
const WIDEST_DEVICE: f32 = 300.0;

fn device_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let now = state.preferences.output_device.as_ref();
    let shown = now.map_or(SYSTEM_DEVICE, |device| &device.name);
    let combo = ComboBox::from_id_salt("device").selected_text(shown).width(COMBO_WIDTH).truncate().show_ui(ui, |ui| {
        // Some systems call devices by whole sentences.
        ui.set_max_width(WIDEST_DEVICE);
        if ui.selectable_label(now.is_none(), SYSTEM_DEVICE).clicked() {
            commands.push(Command::ChooseDevice(None));
        }
        let absent = now.filter(|now| !state.devices.contains(now));
        for device in state.devices.iter().chain(absent) {
            let entry = Button::selectable(now == Some(device), &device.name).truncate();
            if ui.add(entry).on_hover_text(format!("{}\n{}", device.name, device.id)).clicked() {
                commands.push(Command::ChooseDevice(Some(device.clone())));
            }
        }
    });
    // The list is asked for when it is opened: devices come and go.
    if combo.response.clicked() {
        commands.push(Command::ListDevices);
    }
    combo.response.accessible_name("Device").on_hover_text("Where sound goes.");
}

/// A choice among the models of a kind.
fn model_ui(ui: &mut Ui, state: &AppState, kind: ModelKind, now: Option<&str>, commands: &mut Vec<Command>) {
    let (name, hint, shipped): (_, _, &[&str]) = match kind {
        ModelKind::Ear => ("Ear", EAR_HINT, &[SHIPPED_EAR, "small"]),
        ModelKind::Extractor => ("Extractor", EXTRACTOR_HINT, &["mel", "cqt", "chroma"]),
    };
    let shown = now.map_or_else(|| "None".to_owned(), |model| file_name(model.as_ref()));
    let combo = ComboBox::from_id_salt(name).selected_text(shown).width(COMBO_WIDTH).truncate().show_ui(ui, |ui| {
        if ui.selectable_label(now.is_none(), "None").clicked() {
            commands.push(Command::ChooseModel(None));
        }
        for name in shipped {
            if ui.selectable_label(now == Some(name), format!("{name} (built in)")).clicked() {
                commands.push(Command::ChooseModel(Some((*name).to_owned())));
            }
        }
        if let Some(outcome) = state.tuning.outcome.as_ref().filter(|outcome| outcome.kind == kind) {
            let path = outcome.model.display().to_string();
            if ui.selectable_label(now == Some(path.as_str()), file_name(&outcome.model)).clicked() {
                commands.push(Command::ChooseModel(Some(path)));
            }
        }
        if ui.selectable_label(false, "Open a model…").clicked() {
            commands.push(Command::Ask(Question::OpenModel));
        }
    });
    combo.response.accessible_name(name).on_hover_text(hint);
}

fn buttons_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        let wanted = state.needs_aligning() && state.work.is_none();
        let text = RichText::new("Align again").color(if wanted { palette.on_accent } else { palette.ink });
        let button = if wanted { Button::new(text).fill(palette.accent) } else { Button::new(text) };
        if ui.add_enabled(state.document.is_some(), button).on_hover_text("With these settings (Ctrl+R)").clicked() {
            commands.push(Command::Align);
        }
        let fresh = Settings::default().with_corrections_of(state.settings());
        let reset = ui.add_enabled(fresh != *state.settings(), Button::new("Reset"));
        if reset.on_hover_text("All settings as at first; fixed onsets and notes stay.").clicked() {
            commands.push(Command::SetSettings(fresh));
        }
    });
}

fn label(ui: &mut Ui, text: &str, hint: &str) {
    ui.label(text).on_hover_text(hint);
}

fn choice<T: Copy + PartialEq>(ui: &mut Ui, name: &str, entries: &[(T, &str)], value: &mut T) -> egui::Response {
    let shown = entries.iter().find(|(entry, _)| entry == value).map_or("", |(_, name)| name);
    let combo = ComboBox::from_id_salt(name).selected_text(shown).width(COMBO_WIDTH).truncate().show_ui(ui, |ui| {
        for (entry, name) in entries {
            ui.selectable_value(value, *entry, *name);
        }
    });
    combo.response.accessible_name(name)
}

/// A button that asks for a SoundFont, and one that goes back to the built-in piano: whether that was pressed.
fn soundfont_ui(
    ui: &mut Ui,
    name: &str,
    hint: &str,
    now: Option<&Path>,
    question: Question,
    commands: &mut Vec<Command>,
) -> bool {
    let shown = now.map_or_else(|| "Built-in piano".to_owned(), file_name);
    ui.horizontal(|ui| {
        let button = ui.add(Button::new(&shown).truncate()).accessible_name(format!("{name}: {shown}"));
        if button.on_hover_text(hint).clicked() {
            commands.push(Command::Ask(question));
        }
        now.is_some() && ui.small_button("Built-in").on_hover_text("Back to the built-in piano").clicked()
    })
    .inner
}

fn advanced_ui(ui: &mut Ui, settings: &mut Settings, take: bool, commands: &mut Vec<Command>) {
    Grid::new("advanced").num_columns(2).spacing(vec2(12.0, 8.0)).show(ui, |ui| {
        match &mut settings.method {
            Method::Onsets(onsets) => {
                slope_ui(ui, &mut onsets.slope);
                if !take {
                    transcription_ui(ui, &mut onsets.transcription, commands);
                }
            }
            Method::Frames(frames) => advanced_frames_ui(ui, frames),
        }
        label(ui, "Search width", "How far, in seconds, the curve may stray from the first rough one.");
        optional(ui, "search width", &mut settings.band_s, 5.0, |ui, band| {
            let field = DragValue::new(band).speed(0.1).range(0.001..=3600.0).suffix(" s");
            ui.add(field).accessible_name("Search width").on_hover_text("Seconds to either side.");
        });
        ui.end_row();
    });
}

fn advanced_frames_ui(ui: &mut Ui, frames: &mut FrameMethod) {
    if let Aligner::Gdtw { lambda, slope } = &mut frames.aligner {
        label(
            ui,
            "Smoothness λ",
            "How much sudden changes of tempo cost. Higher: a smoother curve. Lower: follows every note.",
        );
        optional(ui, "smoothness", lambda, frames.features.default_lambda(), |ui, value| {
            let field = ui.add(DragValue::new(value).speed(0.01).range(0.0..=100.0)).accessible_name("Smoothness");
            field.on_hover_text("Weight of changes of tempo: zero or more.");
        });
        ui.end_row();
        slope_ui(ui, slope);
    }
    label(ui, "Frame step", "Samples between frames, at 22,050 Hz. Smaller: finer and slower.");
    let field = ui.add(DragValue::new(&mut frames.hop).speed(8).range(64..=8192)).accessible_name("Frame step");
    field.on_hover_text("64 to 8192 samples; 1024 are 46 ms.");
    ui.end_row();
}

fn slope_ui(ui: &mut Ui, slope: &mut Option<SlopeLimits>) {
    let hint = "How much time a second of the score may take at least and at most, relative to the average.";
    label(ui, "Tempo limits", hint);
    optional(ui, "tempo limits", slope, SlopeLimits { min: 0.2, max: 5.0 }, |ui, slope| {
        let least = DragValue::new(&mut slope.min).speed(0.01).range(0.0..=slope.max - 0.01);
        let hint = "Least time for a second of the score, as a share of the average: the fastest passage.";
        ui.add(least).accessible_name("Least time").on_hover_text(hint);
        ui.label("to");
        let most = DragValue::new(&mut slope.max).speed(0.05).range(slope.min + 0.01..=1000.0);
        let hint = "Most time for a second of the score, as a share of the average: the slowest passage.";
        ui.add(most).accessible_name("Most time").on_hover_text(hint);
    });
    ui.end_row();
}

/// A value that is chosen for the user while the box is ticked.
fn optional<T: Copy>(ui: &mut Ui, name: &str, value: &mut Option<T>, usual: T, edit: impl FnOnce(&mut Ui, &mut T)) {
    ui.horizontal(|ui| {
        let mut automatic = value.is_none();
        let auto = ui.checkbox(&mut automatic, "auto").accessible_name(format!("Automatic {name}"));
        if auto.on_hover_text("Let Agogic choose.").changed() {
            *value = if automatic { None } else { Some(usual) };
        }
        if let Some(value) = value {
            edit(ui, value);
        }
    });
}
