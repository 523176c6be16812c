//! Progress on stderr: a bar by stage when it is a terminal, nothing otherwise.

use std::io::IsTerminal;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressStyle};

use crate::base::job::JobContext;

/// A context whose progress is drawn, and the bar that draws it. Dropping it takes the bar off the screen.
pub struct Interactive {
    /// What the work reports to.
    pub ctx: JobContext,
    bar: Option<ProgressBar>,
}

impl Interactive {
    /// Progress goes to stderr, unless `quiet` or not a terminal. Ctrl-C cancels; a second one does not wait.
    pub fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| ProgressBar::new(1000));
        let ctx = bar.as_ref().map_or_else(JobContext::new, drawing_context);
        let on_interrupt = ctx.clone();
        let interrupt = move || {
            if on_interrupt.is_cancelled() {
                std::process::exit(super::CANCELLED.into());
            }
            on_interrupt.cancel();
        };
        // A second handler cannot be set; then Ctrl-C ends the program the usual way, which loses nothing either.
        let _ = ctrlc::set_handler(interrupt);
        Self { ctx, bar }
    }
}

impl Drop for Interactive {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn drawing_context(bar: &ProgressBar) -> JobContext {
    let bar = bar.clone();
    let style = ProgressStyle::with_template("{msg:>26} {bar:32} {percent:>3} %");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    let stage = Mutex::new(String::new());
    JobContext::with_progress(move |progress| {
        if let Ok(mut current) = stage.lock()
            && (*current != progress.stage || bar.is_finished())
        {
            progress.stage.clone_into(&mut current);
            // A bar that has been cleared draws nothing until it is told to begin again.
            bar.reset();
            bar.set_message(current.clone());
        }
        bar.set_position((progress.fraction * 1000.0) as u64);
        if progress.fraction >= 1.0 {
            bar.finish_and_clear();
        }
    })
}
