//! One integration binary: the program as its users meet it, and the rules the code keeps.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod batch;
mod batch_workers;
mod bench;
mod cli;
mod devices;
#[cfg(feature = "gui")]
mod gui;
mod interrupt;
mod make_data;
mod notation;
mod options;
mod paths;
mod pipeline;
mod reference;
mod robustness;
mod seeds;
mod support;
mod takes;
mod tidy;
mod training;
