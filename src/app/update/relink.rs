//! Opening sessions, whose files may have moved.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Services;
use super::files::start;
use crate::app::document::Opening;
use crate::app::document::kept::Kept;
use crate::app::document::relink::Reopened;
use crate::app::document::source::file_name;
use crate::app::notice::Notice;
use crate::app::preferences::Recent;
use crate::app::state::{AppState, Dialog, Work};
use crate::app::work::tasks::Task;

/// Reads a session and looks for its files; `saved_as` is none for what a crash has left.
pub(super) fn open(state: &mut AppState, services: &mut Services, file: &Path, saved_as: Option<PathBuf>) {
    state.work = Some(Work::new(format!("Opening {}", file_name(file))));
    state.forget_errors();
    services.opening = None;
    services.worker.start(Task::Reopen { file: file.to_owned(), saved_as });
}

/// Goes on with a session, or asks for the first file that is missing.
pub(super) fn reopened(state: &mut AppState, services: &mut Services, reopened: Box<Reopened>) {
    state.tried = None;
    let Some(sources) = reopened.sources() else {
        state.work = None;
        state.dialog = Some(Dialog::Relink(reopened));
        return;
    };
    let Reopened { session, file, saved_as, holds, changed, same_media, .. } = *reopened;
    for sentence in changed {
        state.tell(Notice::warning(sentence));
    }
    let recovered_from = saved_as.is_none().then_some(file);
    if let Some(saved_as) = &saved_as {
        state.preferences.remember(Recent::Session(saved_as.clone()));
    }
    let opening = Opening {
        settings: session.settings,
        view: session.view,
        kept: session
            .kept
            .into_iter()
            .map(|kept| Kept::new(kept.name, Arc::new(kept.alignment), kept.recording))
            .collect(),
        accepted: session.accepted,
        // A recovery file knows what the session that it is of held.
        session_holds: if saved_as.is_some() { Some(holds) } else { session.saved_holds },
        // From where a relative path was meant is not known.
        session_path: saved_as.or(session.saved_as.filter(|path| path.is_absolute())),
        recovered_from,
    };
    start(state, services, sources, opening, session.alignment.filter(|_| same_media));
}

/// Takes a file for the one that the dialog asks for.
pub(super) fn offer(state: &mut AppState, services: &mut Services, file: PathBuf, confirmed: bool) {
    if let Some(Dialog::Relink(mut reopened)) = state.dialog.take() {
        state.forget_errors();
        reopened.typed = file.display().to_string();
        state.tried = Some(Dialog::Relink(reopened.clone()));
        state.work = Some(Work::new(format!("Reading {}", file_name(&file))));
        services.worker.start(Task::Offer { reopened, file, confirmed });
    }
}

/// Opens the session without the file that the dialog asks for.
pub(super) fn go_without(state: &mut AppState, services: &mut Services) {
    if let Some(Dialog::Relink(mut asked)) = state.dialog.take() {
        asked.go_without();
        reopened(state, services, asked);
    }
}
