//! Work on threads of its own, so that the window never waits.

pub mod tasks;
mod train_task;
pub mod worker;
