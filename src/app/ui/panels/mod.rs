//! One file per panel. A panel draws the state and collects commands; it changes nothing itself.

mod about;
mod bar_marks;
mod canvas;
mod chart;
mod compare;
mod computing;
mod curve;
mod dialogs;
mod differences;
mod drop_hint;
mod export_window;
mod heights;
mod icons;
mod manual;
mod menu;
mod note_grip;
mod notices;
mod onset_tag;
mod open_dialog;
mod parts_menu;
mod piano_roll;
mod picture_dialog;
mod relink_dialog;
mod results;
mod roll_notes;
mod ruler;
mod section_strip;
mod settings;
mod shortcuts;
mod side;
mod spectrum;
mod staff;
mod tempo;
mod transport;
mod tuning;
mod uncertainty;
mod warp;
mod warp_difference;
mod waveform;
mod welcome;

pub use canvas::{GUTTER, leave_out_controls};
pub use dialogs::dialogs_ui;
pub use drop_hint::drop_hint_ui;
pub use heights::STEP as HEIGHT_STEP;
pub use menu::{export_dialog, menu_ui};
pub use notices::notices_ui;
pub use piano_roll::piano_roll_ui;
pub use ruler::ruler_ui;
pub use section_strip::section_strip_ui;
use section_strip::{STRIP_HEIGHT, has_section_strip};

use crate::app::state::AppState;
pub use side::side_ui;
pub use spectrum::{forget_spectrum_tiles, spectrum_ui};
pub use staff::staff_ui;
pub use tempo::tempo_ui;
pub use transport::transport_ui;
pub use warp::warp_ui;
pub use waveform::waveform_ui;
pub use welcome::welcome_ui;

/// How high the ruler is with the strip of sections above it.
pub fn ruler_height(state: &AppState) -> f32 {
    ruler::RULER_HEIGHT + if has_section_strip(state) { STRIP_HEIGHT } else { 0.0 }
}

/// A time as people read it: 1:02.3, or with milliseconds.
pub fn clock(seconds: f64, decimals: usize) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    let unit = 10f64.powi(decimals as i32);
    let total = (seconds.abs() * unit).round() / unit;
    let (minutes, rest) = ((total / 60.0).floor(), total % 60.0);
    let width = if decimals == 0 { 2 } else { 3 + decimals };
    format!("{sign}{minutes}:{rest:0width$.decimals$}")
}

/// A pitch as musicians call it.
pub fn pitch_name(pitch: u8) -> String {
    const NAMES: [&str; 12] = ["C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"];
    format!("{}{}", NAMES[usize::from(pitch % 12)], i32::from(pitch / 12) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_over_and_middle_c_is_c4() {
        assert_eq!(clock(59.96, 1), "1:00.0");
        assert_eq!(clock(0.0, 3), "0:00.000");
        assert_eq!(clock(-1.5, 1), "-0:01.5");
        assert_eq!(clock(125.4, 0), "2:05");
        assert_eq!(pitch_name(60), "C4");
        assert_eq!(pitch_name(70), "Bb4");
    }
}
