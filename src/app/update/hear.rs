//! Which recording is heard: the open one, or another one of the same score whose alignment was kept. The playhead stays at the
//! same moment of the score.

use std::sync::Arc;

use super::{Services, play};
use crate::app::document::Document;
use crate::app::document::kept::Kept;
use crate::app::document::source::Source;
use crate::app::notice::Notice;
use crate::app::state::AppState;
use crate::app::work::tasks::Task;
use crate::audio::AudioClip;

/// The kept alignment at an index, if it is of another recording.
fn other(document: &Document, index: usize) -> Option<&Kept> {
    document.kept.get(index).filter(|kept| !kept.is_of(&document.piece.recording_name))
}

/// The kept alignment whose recording is heard, with that recording; none if it is the open one.
pub(super) fn heard(state: &AppState) -> Option<(&Kept, &Arc<AudioClip>)> {
    let kept = other(state.document.as_ref()?, state.transport.heard?)?;
    Some((kept, kept.clip.as_ref()?))
}

/// A time of the open recording as a time of the one that is heard.
pub(super) fn to_heard(state: &AppState, time_s: f64) -> f64 {
    match (heard(state), state.solution()) {
        (Some((kept, _)), Some(solution)) => kept.alignment.warp.at(solution.alignment.warp.inverse(time_s)),
        _ => time_s,
    }
}

/// A time of the recording that is heard as a time of the open one.
pub(super) fn from_heard(state: &AppState, time_s: f64) -> f64 {
    match (heard(state), state.solution()) {
        (Some((kept, _)), Some(solution)) => {
            let place = solution.alignment.warp.at(kept.alignment.warp.inverse(time_s));
            place.clamp(0.0, state.view().duration_s)
        }
        _ => time_s,
    }
}

/// Changes which recording is heard, once it is read.
pub(super) fn hear(state: &mut AppState, services: &mut Services, index: Option<usize>) {
    let Some(index) = index else {
        switch(state, services, None);
        return;
    };
    let Some(kept) = state.document.as_ref().and_then(|document| other(document, index)) else { return };
    match (&kept.clip, &kept.recording) {
        (Some(_), _) => switch(state, services, Some(index)),
        (None, Some(source)) => {
            let source = source.clone();
            state.tell(Notice::info(format!("Reading {}.", source.name("the demo"))));
            let soundfont = state.preferences.soundfont.clone();
            services.worker.start(Task::Decode { source, soundfont });
        }
        (None, None) => {
            let name = &kept.alignment.provenance.recording.name;
            let text = format!("The file of {name} is not known: open it again and keep its alignment (K).");
            state.tell(Notice::warning(text));
        }
    }
}

/// The other recording was read: it is heard at once.
pub(super) fn decoded(state: &mut AppState, services: &mut Services, source: &Source, clip: &Arc<AudioClip>) {
    let Some(document) = &mut state.document else { return };
    let mut first = None;
    for (index, kept) in document.kept.iter_mut().enumerate() {
        if kept.recording.as_ref() == Some(source) && !kept.is_of(&document.piece.recording_name) {
            kept.clip = Some(Arc::clone(clip));
            first.get_or_insert(index);
        }
    }
    if let Some(index) = first {
        switch(state, services, Some(index));
    }
}

/// Between the open recording and the other one that was heard last, or the first there is.
pub(super) fn hear_other(state: &mut AppState, services: &mut Services) {
    if state.transport.heard.is_some() {
        switch(state, services, None);
        return;
    }
    let Some(document) = &state.document else { return };
    let last = state.transport.heard_last.filter(|index| other(document, *index).is_some());
    match last.or_else(|| (0..document.kept.len()).find(|index| other(document, *index).is_some())) {
        Some(index) => hear(state, services, Some(index)),
        None => state.tell(Notice::info(
            "There is no other recording to hear: open one with the Compare button beside the recording's name.",
        )),
    }
}

fn switch(state: &mut AppState, services: &mut Services, heard: Option<usize>) {
    if state.transport.heard == heard {
        return;
    }
    if state.transport.playing {
        state.transport.position_s = from_heard(state, services.player.position_s());
    }
    state.transport.heard_last = heard.or(state.transport.heard);
    state.transport.heard = heard;
    play::set_tracks(state, services);
    play::seek(state, services, state.transport.position_s);
    play::sync_loop(state, services);
}
