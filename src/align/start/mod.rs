//! The robust start: a rough warp that is never far off, whatever the tempo, the silence or the applause.
//!
//! The score is rendered as a semitone spectrum straight from its notes and compared with the recording's, first
//! at a coarse rate over everything ([`crate::warping::overlap`]), then finer in a band round what was found.

mod coarse;
mod frames;
mod spectrum;
mod template;

pub use coarse::{Start, compared, distance_along, find, glance};
pub use spectrum::{LogSpectrum, recording_spectrum};
pub use template::{heard_spectrum, take_spectrum};
