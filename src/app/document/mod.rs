//! What is open: the piece, its alignment, and everything that is saved with them.

pub mod history;
pub mod kept;
pub mod recovery;
pub mod relink;
pub mod session;
pub mod source;
pub mod view_model;
