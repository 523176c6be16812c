//! Fine-tuning as the panel shows it: labelled pieces, how to train, how far it is, what came of it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::document::fingerprint::Fingerprint;
use crate::align::settings::{FeatureKind, SHIPPED_EAR, Settings};
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::job::JobContext;
use crate::learning::{EpochRecord, PieceFiles, PieceScores, TrainEvent, TrainParams, TrainingMethod};
use crate::networks::ModelKind;

const PLAN_FILE: &str = "plan.json";
/// One of this many scores is for judging.
const ONE_JUDGE_IN: usize = 4;
/// More points of the loss curve than this are thinned out.
const MOST_LOSSES: usize = 2000;

/// What a labelled piece is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// To learn from.
    Learn,
    /// To judge the epochs by.
    Judge,
}

/// A recording with its score and true alignment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelledPiece {
    /// What it is called.
    pub name: String,
    /// The recording.
    pub audio: PathBuf,
    /// The score.
    pub score: PathBuf,
    /// The true alignment.
    pub truth: PathBuf,
    /// What it is for.
    pub role: Role,
    /// Tells scores apart by what is in them, for performances of one score often have a copy each.
    pub score_hash: u64,
}

impl LabelledPiece {
    /// A piece to learn from.
    pub fn of_files(files: PieceFiles) -> Self {
        let PieceFiles { name, audio, score, truth } = files;
        let score_hash = Fingerprint::of(&JobContext::new(), &score).map_or(0, |fingerprint| fingerprint.fnv1a);
        Self { name, audio, score, truth, role: Role::Learn, score_hash }
    }

    /// As the library knows it.
    pub fn files(&self) -> PieceFiles {
        PieceFiles {
            name: self.name.clone(),
            audio: self.audio.clone(),
            score: self.score.clone(),
            truth: self.truth.clone(),
        }
    }
}

/// What training starts from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// A model that comes with the program, or a file.
    Model(String),
    /// A new network on these features.
    Untrained(FeatureKind),
}

/// What is to be trained and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The labelled pieces.
    pub pieces: Vec<LabelledPiece>,
    /// What training starts from.
    pub start: Start,
    /// The loss.
    pub method: TrainingMethod,
    /// Most passes through the data.
    pub epochs: usize,
    /// Step size.
    pub learning_rate: f64,
    /// Frames of the score in a slice.
    pub slice_frames: usize,
    /// Whether levels, tone, noise, rooms and tempos are drawn anew every epoch.
    pub augmented: bool,
    /// What the new model will be called.
    pub name: String,
}

impl Default for Plan {
    fn default() -> Self {
        let method = TrainingMethod::for_tuning(ModelKind::Ear);
        let suitable = TrainParams::fine_tuning(method);
        Self {
            pieces: Vec::new(),
            start: Start::Model(SHIPPED_EAR.to_owned()),
            method,
            epochs: suitable.epochs,
            learning_rate: suitable.optimiser.learning_rate,
            slice_frames: suitable.slices.score_frames,
            augmented: true,
            name: "tuned".to_owned(),
        }
    }
}

impl Plan {
    /// Starts from another model. One of another kind is trained by another method.
    pub fn start_from(&mut self, start: Start, kind: ModelKind) {
        self.start = start;
        if self.method.kind() != kind {
            self.method = TrainingMethod::for_tuning(kind);
            self.learning_rate = TrainParams::fine_tuning(self.method).optimiser.learning_rate;
        }
    }

    /// Adds a piece. All performances of a score share its role; of new scores, one in four is for judging.
    pub fn add(&mut self, mut piece: LabelledPiece) {
        if self.pieces.iter().any(|other| other.audio == piece.audio && other.truth == piece.truth) {
            return;
        }
        let known = self.pieces.iter().find(|other| other.score_hash == piece.score_hash).map(|other| other.role);
        piece.role = known.unwrap_or_else(|| {
            let mut scores: Vec<u64> = self.pieces.iter().map(|piece| piece.score_hash).collect();
            scores.sort_unstable();
            scores.dedup();
            if scores.len() % ONE_JUDGE_IN == 1 { Role::Judge } else { Role::Learn }
        });
        self.pieces.push(piece);
    }

    /// The pieces of a role.
    pub fn pieces_for(&self, role: Role) -> impl Iterator<Item = &LabelledPiece> {
        self.pieces.iter().filter(move |piece| piece.role == role)
    }

    /// What is still missing, in a sentence.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.pieces_for(Role::Learn).count(), self.pieces_for(Role::Judge).count()) {
            (0, 0) => Some("Add pieces whose alignment is known."),
            (0, _) => Some("No piece is left to learn from."),
            (_, 0) => Some("One piece at least must be kept for judging."),
            _ => None,
        }
    }

    /// Whether a score is on both sides, which makes the judgement too kind.
    pub fn shares_a_score(&self) -> bool {
        self.pieces_for(Role::Learn).any(|a| self.pieces_for(Role::Judge).any(|b| a.score_hash == b.score_hash))
    }

    /// Where the model will be.
    pub fn output(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.safetensors", self.name))
    }

    /// Whether a training of this name was begun and not finished.
    pub fn is_unfinished(&self, folder: &Path) -> bool {
        self.output(folder).with_extension("checkpoint").is_file()
    }

    /// Takes another name if this one is that of a model, or of another training that is not finished: neither is ever
    /// overwritten.
    pub fn take_free_name(&mut self, folder: &Path) {
        self.name.retain(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.'));
        if self.name.trim().is_empty() {
            self.name = Self::default().name;
        }
        let stem = self.name.clone();
        let mut number = 2;
        while self.is_unfinished(folder) || self.output(folder).exists() {
            self.name = format!("{stem}-{number}");
            number += 1;
        }
    }

    /// The plan that was kept in a folder, or a new one.
    pub fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join(PLAN_FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Keeps it. That it could not be kept is no reason to disturb anybody.
    pub fn write(&self, folder: &Path) {
        if let Ok(text) = serde_json::to_vec_pretty(self)
            && super::folder::ensure(folder)
        {
            let _ = write_bytes_atomically(&folder.join(PLAN_FILE), &text);
        }
    }
}

/// What the training is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    Idle,
    /// It trains.
    Running,
    /// It waits.
    Paused,
    /// It was asked to stop and puts what it has in safety.
    Stopping,
    /// It was stopped; what it has learned is in safety.
    Stopped,
}

impl Phase {
    /// Whether a thread is at work.
    pub fn is_busy(self) -> bool {
        matches!(self, Self::Running | Self::Paused | Self::Stopping)
    }
}

/// A finished training.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The new model.
    pub model: PathBuf,
    /// What kind it is.
    pub kind: ModelKind,
    /// What every epoch brought.
    pub history: Vec<EpochRecord>,
    /// Which was best.
    pub best_epoch: usize,
    /// The pieces that it was judged by.
    pub pieces: Vec<PieceScores>,
}

/// Everything about fine-tuning.
#[derive(Debug)]
pub struct Tuning {
    /// What is to be done.
    pub plan: Plan,
    /// A folder or manifest that is being typed.
    pub typed: String,
    /// What is being done.
    pub phase: Phase,
    /// The stage in words, with the time that is left.
    pub stage: String,
    /// How much of it is done.
    pub fraction: f32,
    /// Epochs and losses of single steps.
    pub losses: Vec<[f64; 2]>,
    /// What every epoch brought, with its number.
    pub records: Vec<(usize, EpochRecord)>,
    /// Which was best.
    pub best_epoch: usize,
    /// What came of the last training.
    pub outcome: Option<Outcome>,
    /// The settings before the new model was taken into use.
    pub before_use: Option<Settings>,
    /// The plan of the training that was begun last.
    pub begun: Option<Plan>,
    /// Whether that training was interrupted and can go on.
    pub interrupted: bool,
}

impl Tuning {
    /// A plan and nothing done yet.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            typed: String::new(),
            phase: Phase::Idle,
            stage: String::new(),
            fraction: 0.0,
            losses: Vec::new(),
            records: Vec::new(),
            best_epoch: 0,
            outcome: None,
            before_use: None,
            begun: None,
            interrupted: false,
        }
    }

    /// Fine-tuning as it was left, with the plan and trainings in `folder`.
    pub fn recall(folder: &Path) -> Self {
        let plan = Plan::read(folder);
        let (begun, interrupted) = (Some(plan.clone()), plan.is_unfinished(folder));
        Self { begun, interrupted, ..Self::new(plan) }
    }

    /// Keeps the plan in `folder` for the next start.
    pub fn remember(&self, folder: &Path) {
        let mut plan = self.plan.clone();
        if plan == Plan::default() {
            return;
        }
        if plan.is_unfinished(folder) && !self.is_begun() {
            plan.take_free_name(folder);
        }
        plan.write(folder);
    }

    /// Whether the plan is that of the training begun last: the number of epochs may change, nothing else.
    fn is_begun(&self) -> bool {
        let same = |begun: &Plan| Plan { epochs: self.plan.epochs, ..begun.clone() } == self.plan;
        self.begun.as_ref().is_some_and(same)
    }

    /// Whether training would go on with what was begun.
    pub fn would_go_on(&self) -> bool {
        self.interrupted && self.is_begun()
    }

    /// Takes in what the training tells.
    pub fn take_in(&mut self, event: TrainEvent) {
        match event {
            TrainEvent::Step { epoch, step, steps, loss, .. } => {
                if self.losses.len() >= MOST_LOSSES {
                    self.losses = self.losses.iter().copied().step_by(2).collect();
                }
                self.losses.push([epoch as f64 - 1.0 + step as f64 / steps.max(1) as f64, loss]);
            }
            TrainEvent::Epoch { epoch, record, is_best } => {
                self.records.retain(|(other, _)| *other != epoch);
                self.records.push((epoch, record));
                if is_best {
                    self.best_epoch = epoch;
                }
            }
        }
    }

    /// How many epochs are done.
    pub fn epochs_done(&self) -> usize {
        self.records.last().map_or(0, |(epoch, _)| *epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(name: &str, score: &str) -> LabelledPiece {
        let path = |extension: &str| PathBuf::from(format!("{name}.{extension}"));
        LabelledPiece {
            name: name.to_owned(),
            audio: path("wav"),
            score: score.into(),
            truth: path("csv"),
            role: Role::Learn,
            score_hash: score.parse().unwrap(),
        }
    }

    #[test]
    fn one_score_in_four_is_for_judging_and_no_score_is_split() {
        let mut plan = Plan::default();
        for (name, score) in [("a", "1"), ("b", "2"), ("c", "2"), ("d", "3"), ("e", "4"), ("f", "5"), ("g", "6")] {
            plan.add(piece(name, score));
        }
        plan.add(piece("a", "1"));
        let judges: Vec<&str> = plan.pieces_for(Role::Judge).map(|piece| piece.name.as_str()).collect();
        assert_eq!(judges, ["b", "c", "g"]);
        assert_eq!(plan.pieces.len(), 7);
        assert!(!plan.shares_a_score() && plan.missing().is_none());
        plan.pieces[1].role = Role::Learn;
        assert!(plan.shares_a_score());
    }

    #[test]
    fn a_finished_model_is_never_overwritten_and_a_plan_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut plan = Plan { name: "my/model".to_owned(), ..Plan::default() };
        plan.take_free_name(folder.path());
        assert_eq!(plan.name, "mymodel");
        std::fs::write(plan.output(folder.path()), "weights").unwrap();
        plan.take_free_name(folder.path());
        assert_eq!(plan.name, "mymodel-2");
        std::fs::write(folder.path().join("mymodel-2.checkpoint"), "half").unwrap();
        Plan { epochs: 77, ..plan.clone() }.write(folder.path());
        let mut tuning = Tuning::recall(folder.path());
        tuning.plan.epochs = 78;
        assert!(tuning.would_go_on(), "more epochs are the same training");
        tuning.plan.learning_rate = 0.01;
        assert!(!tuning.would_go_on(), "it is another training's");
        tuning.remember(folder.path());
        assert_eq!(Plan::read(folder.path()).name, "mymodel-2-2");
        plan.add(piece("a", "1"));
        plan.write(folder.path());
        assert_eq!(Plan::read(folder.path()), plan);
        std::fs::write(folder.path().join(PLAN_FILE), "half").unwrap();
        assert_eq!(Plan::read(folder.path()), Plan::default());
    }
}
