//! The window itself: polls, paints, applies. It knows nothing of the system it runs on, so that tests can drive it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use eframe::egui::{self, Frame, Margin, Panel, Ui};

use super::command::Command;
use super::playback::{Output, Player};
use super::preferences::{Preferences, ThemeChoice};
use super::recovery;
use super::state::{AppState, Severity, TOLD_FOR};
use super::theme::{self, Palette};
use super::update::{self, Services};
use super::worker::Worker;
use super::{keys, panels, panes};

/// How often unsaved changes are made safe from a crash.
const AUTOSAVE_EVERY: Duration = Duration::from_secs(15);

/// What a window is made with.
pub struct WindowOptions {
    /// Files to open; the demo if there are none.
    pub files: Vec<PathBuf>,
    /// Where preferences and recovery files live; nothing is remembered without.
    pub user_folder: Option<PathBuf>,
    /// Where sound goes.
    pub output: Box<dyn Output>,
}

/// Where to write it, and what was on the screen.
type Picture = (PathBuf, Arc<egui::ColorImage>);

/// The application.
pub struct Window {
    state: AppState,
    services: Services,
    files: Vec<PathBuf>,
    begun: bool,
    last_autosave: Instant,
    shown_title: String,
    pictures: (Sender<Picture>, Receiver<Picture>),
}

impl Window {
    /// Makes the window; nothing is opened before the first frame.
    pub fn new(ctx: &egui::Context, options: WindowOptions) -> Self {
        theme::install(ctx);
        let preferences = options.user_folder.as_deref().map(Preferences::read).unwrap_or_default();
        let mut state = AppState::new(preferences);
        let found = options.user_folder.as_deref().map(recovery::take_slot).unwrap_or_default();
        state.left_behind = found.left_behind;
        let wake = ctx.clone();
        let services = Services {
            worker: Worker::new(move || wake.request_repaint()),
            player: Player::new(options.output),
            user_folder: options.user_folder,
            recovery: found.slot,
            listening: None,
            training: Arc::default(),
            opening: None,
        };
        state.tuning = update::recall_plan(&services);
        Self {
            state,
            services,
            files: options.files,
            begun: false,
            last_autosave: Instant::now(),
            shown_title: String::new(),
            pictures: channel(),
        }
    }

    /// What is shown.
    pub fn state(&self) -> &AppState {
        &self.state
    }

    /// Carries out a command as if a panel had sent it.
    pub fn apply(&mut self, command: Command) {
        update::apply(&mut self.state, &mut self.services, command);
    }

    /// One frame.
    pub fn ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.before_painting(&ctx);
        let mut commands = Vec::new();
        self.paint(ui, &mut commands);
        commands.extend(keys::commands(&ctx, &self.state));
        if commands.is_empty() && !self.state.transport.playing {
            self.after_painting(&ctx);
            return;
        }
        for command in commands {
            self.apply(command);
        }
        ctx.request_repaint();
        self.after_painting(&ctx);
    }

    /// Makes unsaved changes safe from a crash at once.
    pub fn autosave_now(&mut self) {
        update::autosave(&mut self.state, &mut self.services);
    }

    /// To be called once when the window closes.
    pub fn settle_before_exit(&mut self) {
        update::settle_before_exit(&self.state, &self.services);
    }

    fn before_painting(&mut self, ctx: &egui::Context) {
        if !self.begun {
            self.begun = true;
            let files = std::mem::take(&mut self.files);
            self.apply(if files.is_empty() { Command::OpenDemo } else { Command::Open(files) });
        }
        update::take_in(&mut self.state, &mut self.services);
        update::follow_playhead(&mut self.state, &mut self.services);
        self.take_picture(ctx);
        let dropped: Vec<PathBuf> =
            ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        if !dropped.is_empty() {
            self.apply(Command::Open(dropped));
        }
        if ctx.input(|input| input.viewport().close_requested()) && !self.state.quit && self.state.is_changed() {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.apply(Command::Quit);
        }
        if self.last_autosave.elapsed() > AUTOSAVE_EVERY {
            self.last_autosave = Instant::now();
            update::autosave(&mut self.state, &mut self.services);
        }
        if self.state.is_changed() {
            ctx.request_repaint_after(AUTOSAVE_EVERY);
        }
        update::forget_old_news(&mut self.state);
        if self.state.notices.iter().any(|notice| notice.severity == Severity::Info) {
            ctx.request_repaint_after(TOLD_FOR);
        }
    }

    /// Asks for a picture of the window, and writes those that were taken.
    fn take_picture(&mut self, ctx: &egui::Context) {
        while let Ok((path, image)) = self.pictures.1.try_recv() {
            update::write_picture(&mut self.services, image.size, image.as_raw().to_vec(), path);
        }
        // The dialog that asked for it is gone from this frame on.
        if let Some(path) = self.state.picture.take() {
            let (sender, wake) = (self.pictures.0.clone(), ctx.clone());
            ctx.request_screenshot(move |image| {
                // The window may be closing.
                let _ = sender.send((path, image));
                wake.request_repaint();
            });
        }
    }

    fn after_painting(&mut self, ctx: &egui::Context) {
        let preferences = &self.state.preferences;
        let theme = match preferences.theme {
            ThemeChoice::System => egui::ThemePreference::System,
            ThemeChoice::Light => egui::ThemePreference::Light,
            ThemeChoice::Dark => egui::ThemePreference::Dark,
        };
        if ctx.options(|options| options.theme_preference) != theme {
            ctx.set_theme(theme);
        }
        if (ctx.zoom_factor() - preferences.zoom).abs() > 1e-3 {
            ctx.set_zoom_factor(preferences.zoom);
        }
        let title = self.state.title();
        if title != self.shown_title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.shown_title = title;
        }
        let size = ctx.content_rect().size() * ctx.zoom_factor();
        self.state.preferences.window_size = Some([size.x, size.y]);
        if self.state.quit {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    fn paint(&mut self, ui: &mut Ui, commands: &mut Vec<Command>) {
        let palette = Palette::of(ui);
        let bar = Frame::new().fill(palette.panel);
        let state = &self.state;
        Panel::top("menu").frame(bar.inner_margin(Margin::symmetric(4, 4))).show(ui, |ui| {
            panels::menu_ui(ui, state, commands);
        });
        Panel::bottom("transport")
            .exact_size(46.0)
            .resizable(false)
            .frame(bar.inner_margin(Margin::symmetric(4, 4)))
            .show(ui, |ui| panels::transport_ui(ui, state, commands));
        if state.preferences.side_panel {
            let frame = bar.inner_margin(Margin { left: 14, right: 12, top: 0, bottom: 0 });
            Panel::right("side").default_size(300.0).size_range(240.0..=460.0).frame(frame).show(ui, |ui| {
                panels::side_ui(ui, state, commands);
            });
        }
        Panel::top("ruler").frame(Frame::NONE).resizable(false).show_separator_line(false).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            panels::ruler_ui(ui, state, commands);
        });
        // Where panes are is the dock's own business, like the place of a scroll bar: it is not changed by commands.
        let mut layout = std::mem::replace(&mut self.state.preferences.layout, egui_tiles::Tree::empty(egui::Id::NULL));
        let state = &self.state;
        egui::CentralPanel::default().frame(Frame::new().fill(palette.window)).show(ui, |ui| {
            panes::panes_ui(ui, &mut layout, state, commands);
        });
        self.state.preferences.layout = layout;
        let ctx = ui.ctx().clone();
        panels::notices_ui(&ctx, &self.state, commands);
        panels::dialogs_ui(&ctx, &self.state, commands);
        panels::drop_hint_ui(&ctx);
    }
}
