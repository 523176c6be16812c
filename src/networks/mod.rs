//! Learned features: a recurrent network for each side, whose weights come from a model file.

mod autograd;
mod card;
mod checkpoint_file;
mod device;
pub mod ear;
pub mod gru;
mod import;
mod model;
mod panels;
mod pickle;
mod shipped;
mod tensor_gru;
pub mod weights;

pub use autograd::encode_tensor;
pub use card::ModelCard;
pub use device::DeviceChoice;
pub use import::import;
pub use model::{Extractor, Gru, Side};
pub use shipped::{open_model, shipped_cards};
