//! The window itself: polls, paints, applies. It knows nothing of the system it runs on, so that tests can drive it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::{self, Ui};

use super::SMALLEST_SIZE;
use super::command::Command;
use super::document::recovery::{self, Recovery};
use super::document::source::Order;
use super::notice::{Notice, Severity, TOLD_FOR};
use super::picture::{self, Drawing, PictureOptions};
use super::placement;
use super::playback::{Output, Player};
use super::preferences::{Preferences, ThemeChoice};
use super::state::AppState;
use super::tuning::Tuning;
use super::ui::theme;
use super::ui::{focus, keys, panels, shell};
use super::update::{self, Services};
use super::welcome::Welcome;
use super::work::worker::Worker;

/// How long after a change it is made safe from a crash.
const AUTOSAVE_AFTER: Duration = Duration::from_secs(2);

/// How long after a failure that is tried again.
const AUTOSAVE_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// What a window is made with.
pub struct WindowOptions {
    /// Files to open; the demo if there are none.
    pub files: Vec<PathBuf>,
    /// Where preferences and recovery files live; nothing is remembered without.
    pub user_folder: Option<PathBuf>,
    /// Where sound goes.
    pub output: Box<dyn Output>,
}

/// The application.
pub struct Window {
    state: AppState,
    services: Services,
    files: Vec<PathBuf>,
    begun: bool,
    placed: bool,
    /// Since when there are changes that a crash would lose.
    unsafe_since: Option<Instant>,
    shown_title: String,
}

impl Window {
    /// Makes the window; nothing is opened before the first frame.
    pub fn new(ctx: &egui::Context, options: WindowOptions) -> Self {
        theme::install(ctx);
        let preferences = options.user_folder.as_deref().map(Preferences::read).unwrap_or_default();
        let mut state = AppState::new(preferences);
        let recovery = recovery_slot(&mut state, options.user_folder.as_deref());
        if let Some(folder) = options.user_folder.as_deref().filter(|_| options.files.is_empty()) {
            welcome_newcomer(&mut state, folder);
        }
        let wake = ctx.clone();
        let mut player = Player::new(options.output);
        player.choose(state.preferences.output_device.clone());
        let mut worker = Worker::new(move || wake.request_repaint());
        worker.compute_on(state.preferences.computing);
        let services = Services {
            worker,
            player,
            user_folder: options.user_folder,
            recovery,
            score_sound: None,
            training: Arc::default(),
            opening: None,
        };
        state.tuning = Tuning::recall(&services.models_folder());
        Self {
            state,
            services,
            files: options.files,
            begun: false,
            placed: false,
            unsafe_since: None,
            shown_title: String::new(),
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

    /// What goes on whether or not the window can be seen: to be called before every frame, and now and then while it is
    /// minimised or covered.
    pub fn logic(&mut self, ctx: &egui::Context) {
        if !self.begun {
            self.begun = true;
            let files = std::mem::take(&mut self.files);
            self.apply(if files.is_empty() {
                Command::OpenDemo
            } else {
                Command::OpenIn(Order::PerformanceFirst, files)
            });
        }
        self.place(ctx);
        update::take_in(&mut self.state, &mut self.services);
        update::follow_playhead(&mut self.state, &mut self.services);
        self.ask_before_closing(ctx);
        self.autosave_soon(ctx);
        update::forget_old_news(&mut self.state);
        if self.state.notices.iter().any(|notice| notice.severity == Severity::Info) {
            ctx.request_repaint_after(TOLD_FOR);
        }
        let title = self.state.title();
        if title != self.shown_title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.shown_title = title;
        }
        if self.state.quit {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
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
        update::autosave(&self.state, &mut self.services);
    }

    /// To be called once when the window closes: preferences are written, a save that is under way comes to its end, and nothing
    /// is left to recover unless that fails.
    pub fn settle_before_exit(&mut self) {
        if let Some(folder) = &self.services.user_folder {
            self.state.preferences.write(folder);
            self.state.tuning.remember(&self.services.models_folder());
        }
        let was_saving = self.state.saving.is_some();
        update::finish(&mut self.state, &mut self.services);
        let is_lost = was_saving && self.state.document.as_ref().is_some_and(|document| !document.is_saved());
        if let Some(recovery) = self.services.recovery.as_ref().filter(|_| !is_lost) {
            recovery.clear();
        }
    }

    fn before_painting(&mut self, ctx: &egui::Context) {
        if let Some((options, replace)) = self.state.picture.take() {
            let drawing = Box::new(self.picture(ctx, &options));
            update::write_picture(&self.state, &mut self.services, drawing, options, replace);
        }
        let dropped: Vec<PathBuf> =
            ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        if !dropped.is_empty() {
            self.apply(Command::Welcome(None));
            self.apply(Command::Open(dropped));
        }
    }

    /// A window that is closed with unsaved changes asks first, and where it can be seen.
    fn ask_before_closing(&mut self, ctx: &egui::Context) {
        let unsaved = self.state.is_changed() || self.state.saving.is_some();
        if ctx.input(|input| input.viewport().close_requested()) && !self.state.quit && unsaved {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            ctx.send_viewport_cmd(egui::ViewportCommand::Minimized(false));
            ctx.send_viewport_cmd(egui::ViewportCommand::Focus);
            self.apply(Command::Quit);
        }
    }

    /// Makes changes safe a little after they were made. While there are none, nothing is painted for it.
    fn autosave_soon(&mut self, ctx: &egui::Context) {
        let at_risk = self.state.document.as_ref().filter(|document| !document.is_safe());
        let Some(document) = at_risk.filter(|_| self.services.recovery.is_some()) else {
            self.unsafe_since = None;
            return;
        };
        let wait = if document.autosave_failed { AUTOSAVE_AGAIN_AFTER } else { AUTOSAVE_AFTER };
        let since = *self.unsafe_since.get_or_insert_with(Instant::now);
        let left = wait.saturating_sub(since.elapsed());
        if left.is_zero() {
            self.unsafe_since = None;
            update::autosave(&self.state, &mut self.services);
        }
        ctx.request_repaint_after(if left.is_zero() { AUTOSAVE_AFTER } else { left });
    }

    /// Brings a window that does not fit the monitor onto it, once the system has told how large that is.
    fn place(&mut self, ctx: &egui::Context) {
        let (monitor, inner, outer, maximised) = ctx.input(|input| {
            let viewport = input.viewport();
            let maximised = viewport.maximized == Some(true) || viewport.fullscreen == Some(true);
            (viewport.monitor_size, viewport.inner_rect, viewport.outer_rect, maximised)
        });
        let (Some(monitor), false) = (monitor.filter(|size| size.min_elem() > 1.0), self.placed) else { return };
        self.placed = true;
        let inner = inner.map_or(ctx.content_rect().size(), |inner| inner.size());
        let Some(placement) = placement::fitted(monitor, inner, outer).filter(|_| !maximised) else { return };
        let least = placement.inner_size.min(egui::Vec2::from(SMALLEST_SIZE));
        ctx.send_viewport_cmd(egui::ViewportCommand::MinInnerSize(least));
        ctx.send_viewport_cmd(egui::ViewportCommand::InnerSize(placement.inner_size));
        if let Some(position) = placement.position {
            ctx.send_viewport_cmd(egui::ViewportCommand::OuterPosition(position));
        }
    }

    /// A picture of what the window of `ctx` shows now.
    pub fn picture(&self, ctx: &egui::Context, options: &PictureOptions) -> Drawing {
        picture::draw(ctx, &self.state, options)
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
        let size = ctx.content_rect().size() * ctx.zoom_factor();
        self.state.preferences.window_size = Some([size.x, size.y]);
    }

    fn paint(&mut self, ui: &mut Ui, commands: &mut Vec<Command>) {
        // Where panes are is the dock's own business, like the place of a scroll bar: it is not changed by commands.
        let mut layout = self.state.preferences.layout.clone();
        shell::window_ui(ui, &self.state, &mut layout, commands);
        self.state.preferences.layout = layout;
        let ctx = ui.ctx().clone();
        panels::notices_ui(&ctx, &self.state, commands);
        panels::dialogs_ui(&ctx, &self.state, commands);
        panels::welcome_ui(&ctx, &self.state, commands);
        panels::drop_hint_ui(&ctx, &self.state);
        focus::focus_ui(&ctx);
    }
}

/// Takes a slot for what a crash would lose. Where there is none the window works all the same, and says so.
fn recovery_slot(state: &mut AppState, user_folder: Option<&Path>) -> Option<Recovery> {
    let cause = match user_folder {
        Some(folder) => {
            let found = recovery::take_slot(folder);
            state.left_behind = found.left_behind;
            match found.slot {
                Ok(slot) => return Some(slot),
                Err(cause) => format!("nothing can be kept in {}, because {cause}", folder.display()),
            }
        }
        None => "there is no home folder".to_owned(),
    };
    state.tell(Notice::warning(format!(
        "Unsaved changes would be lost in a crash: {cause}. Set AGOGIC_HOME to another folder."
    )));
    None
}

/// Shows the welcome once in the life of a user's folder. That it was is written at once, so that it stays so whatever happens to
/// the program; where nothing can be written it comes back, which is no harm. Lost work to be offered comes first.
fn welcome_newcomer(state: &mut AppState, folder: &Path) {
    if state.preferences.welcomed || !state.left_behind.is_empty() {
        return;
    }
    state.preferences.welcomed = true;
    state.preferences.write(folder);
    state.welcome = Some(Welcome::Greeting);
}
