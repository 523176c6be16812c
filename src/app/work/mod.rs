//! Work on threads of its own, so that the window never waits.

pub mod classify;
mod computing;
mod labels;
mod reading;
pub mod tasks;
mod train_task;
pub mod worker;
pub mod writing;
