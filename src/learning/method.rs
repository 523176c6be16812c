//! The ways to train, by the kind of network.

use serde::{Deserialize, Serialize};

use super::extractor::ExtractorMethod;
use super::losses::WarpLoss;
use crate::networks::ModelKind;

/// How a network is trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrainingMethod {
    /// An ear.
    Ear(EarMethod),
    /// An extractor.
    Extractor(ExtractorMethod),
}

/// How an ear is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EarMethod {
    /// From the notes that were played, or those of the score at the times of the alignment: where each of them begins.
    Notes,
    /// Through the alignment: by the error of the onsets that are placed with it.
    Alignment,
}

impl TrainingMethod {
    /// How a model of a kind is adapted to a few pieces if nothing else is said: an ear by when each note begins, of which it has to say
    /// more than an alignment can show; an extractor by the error of the alignment.
    pub fn for_tuning(kind: ModelKind) -> Self {
        match kind {
            ModelKind::Ear => Self::Ear(EarMethod::Notes),
            ModelKind::Extractor => Self::Extractor(ExtractorMethod::decdtw(WarpLoss::TimeErr)),
        }
    }

    /// The kind of network that it trains.
    pub fn kind(self) -> ModelKind {
        match self {
            Self::Ear(_) => ModelKind::Ear,
            Self::Extractor(_) => ModelKind::Extractor,
        }
    }

    /// The name, as the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ear(EarMethod::Notes) => "notes",
            Self::Ear(EarMethod::Alignment) => "alignment",
            Self::Extractor(method) => method.name(),
        }
    }
}
