//! Fine-tuning: labelled pieces, how to train, what comes of it.

use std::path::PathBuf;

use eframe::egui::{self, Button, ComboBox, DragValue, Frame, Grid, Margin, ProgressBar, RichText, TextEdit, Ui, vec2};

use super::chart::{Series, chart_ui};
use super::computing::computing_ui;
use super::dialogs::main_button;
use super::side::{COMBO_WIDTH, compact, heading, soft, subheading};
use crate::align::settings::{FeatureKind, SHIPPED_EAR};
use crate::app::command::Command;
use crate::app::document::source::file_name;
use crate::app::state::AppState;
use crate::app::system_dialog::Question;
use crate::app::tuning::{Outcome, Phase, Plan, Role, Start, Tuning};
use crate::app::ui::theme::{self, Palette};
use crate::learning::{EarMethod, ExtractorMethod, TrainParams, TrainingMethod, WarpLoss};
use crate::networks::ModelKind;

const METHODS: [(TrainingMethod, &str); 7] = [
    (TrainingMethod::Ear(EarMethod::Notes), "From the notes"),
    (TrainingMethod::Ear(EarMethod::Alignment), "Through the alignment"),
    (TrainingMethod::Extractor(ExtractorMethod::decdtw(WarpLoss::TimeErr)), "DecDTW, TimeErr"),
    (TrainingMethod::Extractor(ExtractorMethod::decdtw(WarpLoss::TimeDev)), "DecDTW, TimeDev"),
    (TrainingMethod::Extractor(ExtractorMethod::SoftDtw { gamma: 1.0 }), "Soft-DTW"),
    (TrainingMethod::Extractor(ExtractorMethod::AlongTruth), "Along the truth"),
    (TrainingMethod::Extractor(ExtractorMethod::Dilate { alpha: 0.0, gamma: 0.1 }), "DILATE"),
];
const UNTRAINED: [(FeatureKind, &str); 3] = [
    (FeatureKind::Cqt, "new, on constant-Q"),
    (FeatureKind::Chroma, "new, on chroma"),
    (FeatureKind::Mel, "new, on mel bands"),
];
const SHIPPED: [(&str, ModelKind); 5] = [
    (SHIPPED_EAR, ModelKind::Ear),
    ("small", ModelKind::Ear),
    ("mel", ModelKind::Extractor),
    ("cqt", ModelKind::Extractor),
    ("chroma", ModelKind::Extractor),
];

/// Draws the part.
pub fn tuning_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    heading(ui, "Fine-tune");
    let tuning = &state.tuning;
    let busy = tuning.phase.is_busy();
    ui.add_enabled_ui(!busy, |ui| {
        pieces_ui(ui, state, commands);
        ui.add_space(8.0);
        plan_ui(ui, state, commands);
    });
    ui.add_space(8.0);
    run_ui(ui, tuning, commands);
    if let Some(outcome) = &tuning.outcome {
        ui.add_space(8.0);
        outcome_ui(ui, tuning, outcome, commands);
    }
    if !tuning.records.is_empty() || !tuning.losses.is_empty() || busy {
        ui.add_space(8.0);
        curves_ui(ui, tuning);
    }
}

fn pieces_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let plan = &state.tuning.plan;
    let palette = Palette::of(ui);
    subheading(ui, "Labelled pieces");
    if plan.pieces.is_empty() {
        soft(ui, "Pieces whose alignment is known: files with a ground truth, or the open piece once it is corrected.");
    }
    let mut changed = None;
    for (index, piece) in plan.pieces.iter().enumerate() {
        ui.horizontal(|ui| {
            let judges = piece.role == Role::Judge;
            let (word, hint) = if judges {
                ("judge", "Kept back to judge by. Click to learn from it.")
            } else {
                ("learn", "Learned from. Click to keep it back for judging.")
            };
            let ink = if judges { palette.on_accent } else { palette.ink };
            let fill = if judges { palette.accent } else { palette.button };
            let chip = Button::new(RichText::new(word).size(11.0).color(ink)).fill(fill).min_size(vec2(46.0, 20.0));
            if ui.add(chip).on_hover_text(hint).clicked() {
                let mut plan = plan.clone();
                plan.pieces[index].role = if judges { Role::Learn } else { Role::Judge };
                changed = Some(plan);
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if ui
                    .add(Button::new(RichText::new("×").size(15.0).color(palette.soft_ink)).frame(false))
                    .on_hover_text("Take it off the list")
                    .clicked()
                {
                    let mut plan = plan.clone();
                    plan.pieces.remove(index);
                    changed = Some(plan);
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    let files =
                        format!("{}\n{}\n{}", piece.audio.display(), piece.score.display(), piece.truth.display());
                    ui.add(egui::Label::new(&piece.name).truncate()).on_hover_text(files);
                });
            });
        });
    }
    if let Some(plan) = changed {
        commands.push(Command::SetPlan(plan));
    }
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        let ready = state.solution().is_some();
        let hint =
            "Adds the passages of the open piece that you called right (A), or else all of it as it is aligned now.";
        if ui.add_enabled(ready, compact("Add this piece")).on_hover_text(hint).clicked() {
            commands.push(Command::AddCurrent);
        }
        let hint = "A recording, its score and its true alignment, chosen together; or a CSV list of such.";
        if ui.add(compact("Files…")).on_hover_text(hint).clicked() {
            commands.push(Command::Ask(Question::AddLabelled));
        }
        let hint = "A folder with one subfolder per piece: audio.*, score.*, alignment.*.";
        if ui.add(compact("Folder…")).on_hover_text(hint).clicked() {
            commands.push(Command::Ask(Question::AddLabelledFolder));
        }
    });
    typed_ui(ui, &state.tuning, commands);
    if plan.shares_a_score() {
        let text = "A score is both learned from and judged by: the judgement will be too kind.";
        ui.add(egui::Label::new(RichText::new(text).color(palette.reference)).wrap());
    }
}

/// A path typed by hand, for systems without a file dialog.
fn typed_ui(ui: &mut Ui, tuning: &Tuning, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let mut typed = tuning.typed.clone();
        let width = ui.available_width() - 54.0;
        let field = TextEdit::singleline(&mut typed).hint_text("or type a folder or list").desired_width(width);
        let field = ui.add(field).accessible_name("Folder or list of labelled pieces");
        if field.changed() {
            commands.push(Command::TypeLabelled(typed.clone()));
        }
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let ready = !typed.trim().is_empty();
        if (ui.add_enabled(ready, compact("Add")).clicked() || entered) && ready {
            commands.push(Command::AddLabelled(vec![PathBuf::from(typed.trim())]));
        }
    });
}

fn plan_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let tuning = &state.tuning;
    let mut plan = tuning.plan.clone();
    subheading(ui, "Training");
    Grid::new("plan").num_columns(2).spacing(vec2(12.0, 7.0)).show(ui, |ui| {
        ui.label("Start from").on_hover_text("The model that is adapted, with its features; or a new one.");
        start_choice(ui, tuning, &mut plan, commands);
        ui.end_row();
        ui.label("Method").on_hover_text(
            "What is made smaller. Through the alignment and DecDTW: the error of the alignment itself. From the \
             notes: what is misheard of single notes. The others are the published alternatives.",
        );
        method_choice(ui, &mut plan);
        ui.end_row();
        ui.label("Epochs").on_hover_text("Most passes through the pieces. The best one is kept.");
        ui.add(DragValue::new(&mut plan.epochs).range(1..=500)).accessible_name("Epochs");
        ui.end_row();
        ui.label("Learning rate").on_hover_text("Step size. Larger learns faster and forgets more.");
        let rate = DragValue::new(&mut plan.learning_rate)
            .speed(1e-5)
            .range(1e-7..=0.1)
            .custom_formatter(|n, _| format!("{n:.0e}"));
        ui.add(rate).accessible_name("Learning rate");
        ui.end_row();
        if plan.method.kind() == ModelKind::Extractor {
            ui.label("Slice length").on_hover_text("Frames of the score that are aligned at once; 256 are 12 seconds.");
            ui.add(DragValue::new(&mut plan.slice_frames).range(32..=1024)).accessible_name("Slice length");
            ui.end_row();
        }
        if TrainParams::of(plan.method).augmented {
            ui.label("Variation").on_hover_text("Draws other levels, tone, noise, rooms and tempos every epoch.");
            ui.checkbox(&mut plan.augmented, "vary the sound");
            ui.end_row();
        }
        ui.label("Device").on_hover_text("What alignments and trainings are computed on.");
        computing_ui(ui, state, commands);
        ui.end_row();
        ui.label("Name").on_hover_text("What the new model is called. A finished model is never overwritten.");
        ui.add(TextEdit::singleline(&mut plan.name).desired_width(140.0)).accessible_name("Name of the model");
        ui.end_row();
    });
    if plan != tuning.plan {
        commands.push(Command::SetPlan(plan));
    }
}

fn start_choice(ui: &mut Ui, tuning: &Tuning, plan: &mut Plan, commands: &mut Vec<Command>) {
    let shown = match &plan.start {
        Start::Model(name) => file_name(name.as_ref()),
        Start::Untrained(kind) => {
            UNTRAINED.iter().find(|(other, _)| other == kind).map_or("", |(_, name)| name).to_owned()
        }
    };
    let combo = ComboBox::from_id_salt("start").selected_text(shown).width(COMBO_WIDTH).truncate().show_ui(ui, |ui| {
        let trained = tuning.outcome.as_ref().map(|outcome| (outcome.model.display().to_string(), outcome.kind));
        let own = own_model(&tuning.plan.start).map(|own| (own.to_owned(), tuning.plan.method.kind()));
        let files = [&own, &trained].into_iter().flatten().take(if own == trained { 1 } else { 2 });
        let shipped =
            SHIPPED.iter().map(|(name, kind)| (format!("{name} (built in)"), Start::Model((*name).to_owned()), *kind));
        let files = files.map(|(path, kind)| (file_name(path.as_ref()), Start::Model(path.clone()), *kind));
        let new = UNTRAINED.iter().map(|(of, name)| ((*name).to_owned(), Start::Untrained(*of), ModelKind::Extractor));
        for (name, start, kind) in shipped.chain(files).chain(new) {
            let entry = ui.selectable_label(plan.start == start, format!("{name}, {}", kind.name()));
            if entry.clicked() {
                plan.start_from(start, kind);
            }
        }
        let hint = "A model file of your own (.safetensors). It can also be dropped on the window.";
        if ui.selectable_label(false, "Open a model…").on_hover_text(hint).clicked() {
            commands.push(Command::Ask(Question::StartModel));
        }
    });
    combo.response.accessible_name("Start from");
}

/// The file that training starts from, if it is none of the built-in ones.
fn own_model(start: &Start) -> Option<&str> {
    match start {
        Start::Model(name) if SHIPPED.iter().all(|(shipped, _)| shipped != name) => Some(name),
        Start::Model(_) | Start::Untrained(_) => None,
    }
}

fn method_choice(ui: &mut Ui, plan: &mut Plan) {
    let shown = METHODS.iter().find(|(method, _)| *method == plan.method).map_or("", |(_, name)| name);
    let combo = ComboBox::from_id_salt("method").selected_text(shown).width(COMBO_WIDTH).truncate().show_ui(ui, |ui| {
        let kind = plan.method.kind();
        for (method, name) in METHODS.into_iter().filter(|(method, _)| method.kind() == kind) {
            ui.selectable_value(&mut plan.method, method, name);
        }
    });
    combo.response.accessible_name("Method");
}

fn run_ui(ui: &mut Ui, tuning: &Tuning, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    match tuning.phase {
        Phase::Idle | Phase::Stopped => {
            let missing = tuning.plan.missing();
            if let Some(missing) = missing {
                soft(ui, missing);
            } else if tuning.would_go_on() {
                soft(ui, "An unfinished training of this name is kept; it goes on where it stopped.");
            }
            ui.horizontal(|ui| {
                let word = if tuning.would_go_on() { "Go on" } else { "Train" };
                if main_button(ui, word, missing.is_none()) {
                    commands.push(Command::StartTraining);
                }
                let hint = "Ends this training with its best epoch so far.";
                let best = tuning.phase == Phase::Stopped && tuning.would_go_on() && tuning.epochs_done() > 0;
                if best && ui.button("Keep the best").on_hover_text(hint).clicked() {
                    commands.push(Command::KeepBest);
                }
            });
        }
        Phase::Running | Phase::Paused | Phase::Stopping => {
            let words = match tuning.phase {
                Phase::Paused => "Paused".to_owned(),
                Phase::Stopping => "Putting what was learned in safety…".to_owned(),
                _ => format!("{}…", capital(&tuning.stage)),
            };
            ui.label(words);
            ui.add(ProgressBar::new(tuning.fraction).desired_height(4.0).fill(palette.accent));
            ui.add_enabled_ui(tuning.phase != Phase::Stopping, |ui| {
                ui.horizontal(|ui| {
                    let paused = tuning.phase == Phase::Paused;
                    if ui.button(if paused { "Resume" } else { "Pause" }).clicked() {
                        commands.push(Command::PauseTraining(!paused));
                    }
                    let hint =
                        "Stops; every finished step is kept, so that it can go on later or end with its best epoch.";
                    if ui.button("Stop").on_hover_text(hint).clicked() {
                        commands.push(Command::StopTraining);
                    }
                });
            });
        }
    }
}

fn curves_ui(ui: &mut Ui, tuning: &Tuning) {
    let palette = Palette::of(ui);
    let epochs = tuning.plan.epochs.max(tuning.epochs_done()) as f64;
    let judged: Vec<[f64; 2]> = tuning.records.iter().map(|(n, record)| [*n as f64, record.time_err_ms]).collect();
    let best = judged.iter().find(|point| point[0] == tuning.best_epoch as f64).copied();
    let series = Series {
        name: "Validation TimeErr",
        points: judged,
        marked: best,
        unit: " ms",
        colour: palette.wave_core,
        dots: true,
    };
    chart_ui(ui, &series, epochs);
    ui.add_space(2.0);
    let means: Vec<[f64; 2]> = tuning.records.iter().skip(1).map(|(n, r)| [*n as f64, r.training_loss]).collect();
    let points = if tuning.losses.is_empty() { means } else { smoothed(&tuning.losses) };
    let series =
        Series { name: "Training loss", points, marked: None, unit: "", colour: palette.wave_core, dots: false };
    chart_ui(ui, &series, epochs);
}

/// A running mean, for losses of single steps jump about.
fn smoothed(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut mean = points[0][1];
    points
        .iter()
        .map(|point| {
            mean += 0.25 * (point[1] - mean);
            [point[0], mean]
        })
        .collect()
}

fn outcome_ui(ui: &mut Ui, tuning: &Tuning, outcome: &Outcome, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    Frame::new().fill(palette.canvas).corner_radius(7).inner_margin(Margin::symmetric(10, 8)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        subheading(ui, &file_name(&outcome.model));
        soft(ui, format!("Best of {} epochs is {}.", outcome.history.len().saturating_sub(1), outcome.best_epoch));
        Grid::new("before and after").num_columns(3).spacing(vec2(10.0, 4.0)).show(ui, |ui| {
            for head in ["TimeErr", "before", "after"] {
                ui.label(RichText::new(head).small().color(palette.soft_ink));
            }
            ui.end_row();
            for piece in &outcome.pieces {
                let left = egui::Layout::left_to_right(egui::Align::Center);
                ui.allocate_ui_with_layout(vec2(118.0, 18.0), left, |ui| {
                    ui.set_min_width(118.0);
                    ui.add(egui::Label::new(&piece.name).truncate()).on_hover_text(&piece.name);
                });
                let cell = |value: Option<f64>| value.map_or("too short".to_owned(), |ms| format!("{ms:.1} ms"));
                ui.label(cell(piece.before_ms));
                ui.label(RichText::new(cell(piece.after_ms)).family(theme::strong_family()));
                ui.end_row();
            }
        });
        ui.add_space(4.0);
        if tuning.before_use.is_none() {
            if main_button(ui, "Use the new model", true) {
                commands.push(Command::UseTrained);
            }
            soft(ui, "Aligns the open piece with it. No other model is changed.");
        } else {
            if ui.button("Roll back").clicked() {
                commands.push(Command::RollBack);
            }
            soft(ui, "Goes back to the settings from before the new model was used.");
        }
    });
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect()
}
