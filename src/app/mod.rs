//! The desktop window, on egui.
//!
//! Panels (`ui`) draw `state` and emit `command`s; `update` alone changes the state. Long work runs on named threads
//! (`work`) whose events carry the id of their job. All panes share one `time_view`.

mod command;
pub(crate) mod document;
mod drop_hint;
mod folder;
mod folders;
mod manual;
mod notice;
mod pane_scale;
pub mod picture;
mod placement;
pub mod playback;
mod preferences;
mod staff_look;
mod state;
mod system_dialog;
mod time_view;
pub mod tuning;
mod ui;
mod update;
mod welcome;
mod window;
mod work;

use std::path::PathBuf;

use eframe::egui;

pub use command::Command;
pub use document::Document;
pub use document::kept::Kept;
pub use document::source::Order;
pub use document::view_model::{Difference, DifferenceKind, Doubt};
pub use folders::{Folders, Purpose};
pub use notice::{Notice, Severity};
pub use preferences::{NoteColours, Preferences, Recent, SideTab, ThemeChoice};
pub use state::{Afterwards, AppState, Dialog, Writing};
pub use ui::panes::PaneKind;
pub use welcome::Welcome;
pub use window::{Window, WindowOptions};

use crate::base::error::{Error, Result};

const SMALLEST_SIZE: [f32; 2] = [820.0, 560.0];
const FIRST_SIZE: [f32; 2] = [1440.0, 900.0];

/// Opens the window on `files`, or on the demo if there are none, and returns when it is closed.
pub fn open(files: Vec<PathBuf>) -> Result<()> {
    check_display()?;
    let user_folder = folder::user_folder();
    let remembered = user_folder.as_deref().map(Preferences::read).unwrap_or_default();
    let size = remembered.window_size.filter(|size| size.iter().zip(SMALLEST_SIZE).all(|(size, least)| *size >= least));
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_app_id("agogic")
            .with_title("Agogic")
            .with_inner_size(size.unwrap_or(FIRST_SIZE))
            .with_min_inner_size(SMALLEST_SIZE)
            .with_drag_and_drop(true),
        renderer: eframe::Renderer::Glow,
        ..eframe::NativeOptions::default()
    };
    let create = move |creation: &eframe::CreationContext<'_>| {
        let output = Box::new(playback::DeviceOutput::default());
        let window = Window::new(&creation.egui_ctx, WindowOptions { files, user_folder, output });
        Ok(Box::new(Native(window)) as Box<dyn eframe::App>)
    };
    eframe::run_native("Agogic", options, Box::new(create))
        .map_err(|error| no_window(without_place(&error.to_string())))
}

/// The toolkit's errors may name the line of its own source that they come from.
fn without_place(error: &str) -> &str {
    let after_place = error.rsplit_once(".rs:").and_then(|(_, rest)| rest.split_once(": "));
    after_place.map_or(error, |(_, words)| words)
}

/// The window as eframe wants it.
struct Native(Window);

impl eframe::App for Native {
    fn logic(&mut self, ctx: &egui::Context, _: &mut eframe::Frame) {
        self.0.logic(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        self.0.ui(ui);
    }

    fn on_exit(&mut self, _: Option<&eframe::glow::Context>) {
        self.0.settle_before_exit();
    }
}

/// Where windows need a display server, looks for one first: the toolkit's own message would not say what to do.
fn check_display() -> Result<()> {
    let needs_server = cfg!(all(unix, not(target_os = "macos")));
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if needs_server && !["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"].iter().any(|name| is_set(name)) {
        return Err(no_window("there is no display (DISPLAY and WAYLAND_DISPLAY are not set)"));
    }
    Ok(())
}

fn no_window(cause: &str) -> Error {
    Error::unsuitable(
        "cannot open the window",
        cause,
        "run `agogic align AUDIO SCORE` to align without a window, or `agogic --help`",
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_error_of_the_toolkit_does_not_name_its_source() {
        let error =
            "winit EventLoopError: os error at /x/y/src/linux/mod.rs:788: Failed to open connection to X server";
        assert_eq!(super::without_place(error), "Failed to open connection to X server");
        assert_eq!(super::without_place("no OpenGL: too old"), "no OpenGL: too old");
    }
}
