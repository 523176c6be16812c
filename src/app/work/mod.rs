//! Work on threads of its own, so that the window never waits.

mod labels;
pub mod tasks;
mod train_task;
pub mod worker;
