//! Learned networks: what they hear and how they are stored. Training is [`learning`](crate::learning)'s.

mod card;
mod checkpoint_file;
mod convolution;
pub mod ear;
pub(crate) mod examples;
mod extractor;
pub mod gru;
mod import;
mod model;
mod model_file;
pub(crate) mod ops;
mod panels;
mod pickle;

pub use candle_core::Device;
pub use card::{EarSpec, ExtractorSpec, ModelCard, ModelKind, ProblemWeights, Spec};
pub use ear::Ear;
pub use extractor::{Extractor, Gru, Side};
pub use import::import;
pub use model::{Model, open_card, open_ear, open_extractor, open_model, shipped_cards};
