//! Other rooms, instruments and microphones, drawn anew for every example: what is learned on a few timbres must hold
//! on all.

mod features;
mod levels;

pub(super) use features::Augmentation;
pub(super) use levels::LevelChange;
