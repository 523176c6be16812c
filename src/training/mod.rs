//! Training of the extractor.

mod adam;

pub use adam::{Adam, AdamParams};
