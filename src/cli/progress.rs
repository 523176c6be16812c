//! Progress on stderr: a bar by stage when it is a terminal, nothing otherwise.

use std::io::IsTerminal;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressStyle};

use crate::job::JobContext;

/// A context whose progress is drawn on stderr, unless `quiet` or not a terminal. Ctrl-C cancels it.
pub fn interactive_context(quiet: bool) -> JobContext {
    let ctx = if quiet || !std::io::stderr().is_terminal() { JobContext::new() } else { drawing_context() };
    let on_interrupt = ctx.clone();
    // A second handler cannot be set; then Ctrl-C ends the program the usual way, which loses nothing either.
    let _ = ctrlc::set_handler(move || on_interrupt.cancel());
    ctx
}

fn drawing_context() -> JobContext {
    let bar = ProgressBar::new(1000);
    let style = ProgressStyle::with_template("{msg:>22} {bar:32} {percent:>3} %");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    let stage = Mutex::new(String::new());
    JobContext::with_progress(move |progress| {
        if let Ok(mut current) = stage.lock()
            && *current != progress.stage
        {
            progress.stage.clone_into(&mut current);
            bar.set_message(current.clone());
        }
        bar.set_position((progress.fraction * 1000.0) as u64);
        if progress.fraction >= 1.0 {
            bar.finish_and_clear();
        }
    })
}
