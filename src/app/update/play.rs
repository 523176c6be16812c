//! Hearing.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Services, hear};
use crate::app::document::view_model::Piece;
use crate::app::notice::Notice;
use crate::app::playback::{Click, CountIn, Mix, OutputDevice, PlayerNews, Tracks};
use crate::app::state::{AppState, Transport};
use crate::app::work::tasks::Task;
use crate::app::work::worker::Slot;
use crate::audio::AudioClip;

pub(super) fn toggle(state: &mut AppState, services: &mut Services) {
    if state.transport.playing {
        services.player.pause();
        state.transport.playing = false;
        state.transport.position_s = hear::from_heard(state, services.player.position_s());
        return;
    }
    let Some(piece) = state.piece() else { return };
    if state.transport.position_s >= piece.duration_s() - 0.01 {
        state.transport.position_s = 0.0;
    }
    if let (true, Some((from, to))) = (state.transport.looping, state.transport.marked)
        && !(from..to).contains(&state.transport.position_s)
    {
        state.transport.position_s = from;
    }
    services.player.seek(hear::to_heard(state, state.transport.position_s));
    if let Some(count_in) = count_in(state).filter(|_| state.transport.count_in) {
        services.player.engine().set_count_in(count_in);
    }
    let news = services.player.play();
    state.transport.playing = services.player.is_playing();
    tell(state, news);
}

/// A bar as it is played from the playhead on: as many beats as it has, each as long as the next one.
fn count_in(state: &AppState) -> Option<CountIn> {
    let beats = &state.solution()?.beats;
    let next = beats.partition_point(|beat| beat.performance_s <= state.transport.position_s + 1e-3);
    let here = next.saturating_sub(1).min(beats.len().checked_sub(2)?);
    let beat_s = beats[here + 1].performance_s - beats[here].performance_s;
    let first = beats[..=here].iter().rposition(|beat| beat.beat == 1).unwrap_or(0);
    let of_bar = beats[first + 1..].iter().take_while(|beat| beat.beat != 1).count() as u32 + 1;
    Some(CountIn::new(of_bar, beat_s / state.transport.speed))
}

/// Repeats the bars that the marked stretch touches, or the one at the playhead.
pub(super) fn loop_bars(state: &mut AppState, services: &mut Services) {
    let here = state.transport.position_s;
    let (from, to) = state.transport.marked.unwrap_or((here, here));
    let Some(solution) = state.solution() else { return };
    let bars = solution.beats.iter().filter(|beat| beat.beat == 1).map(|beat| beat.performance_s);
    let bars: Vec<f64> = bars.collect();
    let first = bars.partition_point(|&bar| bar <= from + 1e-3).saturating_sub(1);
    let last = bars.partition_point(|&bar| bar < to - 1e-3).max(first + 1);
    let begin = bars.get(first).copied().unwrap_or(0.0);
    let end = bars.get(last).copied().unwrap_or(state.view().duration_s);
    mark(state, services, Some((begin, end)));
    state.transport.looping = state.transport.marked.is_some();
    sync_loop(state, services);
}

/// Changes which parts of the score are heard.
pub(super) fn hear_parts(state: &mut AppState, services: &mut Services, change: impl FnOnce(&mut Transport)) {
    change(&mut state.transport);
    new_solution(state, services);
}

pub(super) fn seek(state: &mut AppState, services: &mut Services, time_s: f64) {
    let time_s = time_s.clamp(0.0, state.view().duration_s);
    state.transport.position_s = time_s;
    services.player.seek(hear::to_heard(state, time_s));
}

/// Plays from a little before a moment, so that it does not come as a surprise.
pub(super) fn from_before(state: &mut AppState, services: &mut Services, time_s: f64) {
    const BEFORE_S: f64 = 0.6;
    seek(state, services, time_s - BEFORE_S);
    if !state.transport.playing {
        toggle(state, services);
    }
}

pub(super) fn mark(state: &mut AppState, services: &mut Services, marked: Option<(f64, f64)>) {
    let duration_s = state.view().duration_s;
    let within = |time: f64| time.clamp(0.0, duration_s);
    state.transport.marked = marked.map(|(a, b)| (within(a.min(b)), within(a.max(b)))).filter(|(a, b)| b - a > 0.05);
    if state.transport.marked.is_none() {
        state.transport.looping = false;
    }
    sync_loop(state, services);
}

pub(super) fn toggle_loop(state: &mut AppState, services: &mut Services) {
    state.transport.looping = !state.transport.looping;
    if state.transport.looping && state.transport.marked.is_none() {
        let view = state.view();
        state.transport.marked = Some((view.start_s.max(0.0), view.end_s().min(view.duration_s)));
    }
    sync_loop(state, services);
}

pub(super) fn sync_loop(state: &AppState, services: &Services) {
    let marked = state.transport.marked.filter(|_| state.transport.looping);
    let looped = marked.map(|(from, to)| (hear::to_heard(state, from), hear::to_heard(state, to)));
    services.player.engine().set_loop(looped);
}

pub(super) fn set_speed(state: &mut AppState, services: &mut Services, speed: f64) {
    state.transport.speed = speed.clamp(0.25, 1.0);
    services.player.engine().set_speed(state.transport.speed);
}

pub(super) fn set_mix(state: &mut AppState, services: &mut Services, mix: Mix) {
    // The score is played in the time of the open recording.
    if mix.balance > 0.0 {
        hear::hear(state, services, None);
    }
    state.transport.mix = mix;
    services.player.engine().set_mix(mix);
    want_score_sound(state, services);
}

/// Makes the score sound if it is to be heard and does not sound yet.
fn want_score_sound(state: &AppState, services: &mut Services) {
    let wanted = state.transport.mix.balance > 0.0 && !state.transport.score_ready;
    if let (true, Some(piece), Some(solution)) = (wanted, state.piece(), state.solution())
        && !services.worker.is_busy(Slot::Sound)
    {
        let soundfont = state.preferences.soundfont.clone();
        let tracks = piece.tracks().into_iter().map(|(track, _)| track);
        let silent = tracks.filter(|&track| !state.transport.sounds(track)).collect();
        let (piece, solution) = (Arc::clone(piece), Arc::clone(solution));
        services.worker.start(Task::Sound { piece, solution, soundfont, silent });
    }
}

/// Plays the score with another SoundFont, or the built-in piano.
pub(super) fn set_soundfont(state: &mut AppState, services: &mut Services, soundfont: Option<PathBuf>) {
    state.preferences.soundfont = soundfont.clone();
    new_solution(state, services);
    if let Some(piece) = state.piece().filter(|piece| piece.is_take()).cloned() {
        services.worker.start(Task::Perform { piece, soundfont });
    }
}

/// A MIDI performance is heard with another instrument.
pub(super) fn performed(state: &mut AppState, services: &mut Services, before: &Arc<Piece>, performed: Arc<Piece>) {
    if let Some(document) = state.document.as_mut().filter(|document| Arc::ptr_eq(&document.piece, before)) {
        document.piece = performed;
        set_tracks(state, services);
    }
}

/// The score could not be played with the SoundFont that was chosen: it is with the built-in piano.
pub(super) fn no_soundfont(state: &mut AppState, services: &mut Services) {
    if state.preferences.soundfont.is_some() {
        set_soundfont(state, services, None);
    }
}

/// A solution that was not heard before: the score has to be played anew, and clicks have moved.
pub(super) fn new_solution(state: &mut AppState, services: &mut Services) {
    services.worker.cancel(Slot::Sound);
    state.transport.score_ready = false;
    services.score_sound = None;
    set_tracks(state, services);
    want_score_sound(state, services);
}

pub(super) fn score_sounds(state: &mut AppState, services: &mut Services, score: Arc<AudioClip>) {
    state.transport.score_ready = true;
    services.score_sound = Some(score);
    set_tracks(state, services);
}

/// Gives the player what is heard: the open recording with its score, or another recording alone.
pub(super) fn set_tracks(state: &AppState, services: &Services) {
    let beats = state.solution().into_iter().flat_map(|solution| &solution.beats);
    let click = |time_s, beat| Click { time_s, accent: beat == 1 };
    let (tracks, mix) = match (hear::heard(state), state.piece()) {
        (Some((kept, clip)), Some(piece)) => {
            let warp = &kept.alignment.warp;
            let clicks = piece.beats.iter().map(|beat| click(warp.at(beat.second), beat.beat)).collect();
            let recording = Some(Arc::clone(clip));
            let mix = Mix { balance: 0.0, split: false, ..state.transport.mix };
            (Tracks { recording, score: None, clicks: Arc::new(clicks) }, mix)
        }
        _ => {
            let clicks = beats.map(|beat| click(beat.performance_s, beat.beat)).collect();
            let recording = state.piece().map(|piece| Arc::clone(&piece.recording));
            let score = services.score_sound.clone();
            (Tracks { recording, score, clicks: Arc::new(clicks) }, state.transport.mix)
        }
    };
    let mut engine = services.player.engine();
    engine.set_tracks(tracks);
    engine.set_mix(mix);
}

/// To be called every frame: moves the playhead, turns the page.
pub fn follow_playhead(state: &mut AppState, services: &mut Services) {
    if !state.transport.playing {
        return;
    }
    state.transport.position_s = hear::from_heard(state, services.player.position_s());
    let news = services.player.poll();
    tell(state, news);
    state.transport.playing = services.player.is_playing();
    if let Some(document) = state.document.as_mut().filter(|document| state.preferences.follow && !document.dragging) {
        document.view = document.view.following(state.transport.position_s);
    }
}

/// Asks for the devices there are, elsewhere: some systems take their time.
pub(super) fn list_devices(services: &mut Services) {
    if !services.worker.is_busy(Slot::Devices) {
        services.worker.start(Task::Devices(services.player.lister()));
    }
}

pub(super) fn choose_device(state: &mut AppState, services: &mut Services, device: Option<OutputDevice>) {
    state.preferences.output_device.clone_from(&device);
    let news = services.player.choose(device);
    tell(state, news);
}

fn tell(state: &mut AppState, news: Option<PlayerNews>) {
    match news {
        Some(PlayerNews::NoSound(reason)) => {
            let mut letters = reason.chars();
            let reason: String = letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect();
            state.tell(Notice::warning(format!("{reason}.")));
        }
        Some(PlayerNews::OtherDevice(name)) => {
            let text = format!("{name} is not connected: sound goes to the system's device until it is back.");
            state.tell(Notice::warning(text));
        }
        Some(PlayerNews::Ended) | None => {}
    }
}
