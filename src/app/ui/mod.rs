//! What is drawn: panels, panes, keys and colours.

pub mod focus;
#[cfg(test)]
pub(super) mod frame_time_tests;
pub mod keys;
pub mod panels;
pub mod panes;
pub mod places;
pub mod shell;
pub mod theme;
